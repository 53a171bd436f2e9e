"""M-1 mappings against all mappings of small instances, and each move against sets."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types import mapping
from pipeline.kernels.clustering.types.mapping import (
    Neighbours,
    UnionState,
    climb,
    complete_mapping,
    edge_weights,
    is_separable,
    macro_moves,
    many_to_one,
    one_to_one,
    overlap,
)
from pipeline.kernels.clustering.types.measures import Patterns, macro_i
from tests.kernels.clustering.types.type_twin import (
    MAPPED,
    WORKED,
    Sets,
    every_1_1_mapping,
    every_mapping,
    instances,
    patterns_of,
    random_set,
)


def worked_example(place: int) -> Patterns:
    gold, induced, *_ = WORKED[place]
    n, m = (1 + max(set().union(*sets)) for sets in (gold, induced))
    return patterns_of(gold, induced, n, m)


@pytest.mark.parametrize("place", range(len(WORKED)))
def test_many_to_one_mappings_of_worked_examples_are_optimal(place: int) -> None:
    patterns, values = worked_example(place), WORKED[place][3]
    for name, value in zip(("MacroI", "MicroI", "MicroC"), values, strict=True):
        measure = TYPE_MEASURES.get(name).score
        result = many_to_one(Neighbours(patterns), name, seed="s")
        assert measure(patterns, result.mapping).value == Fraction(value), name


def test_a_single_climb_can_end_below_the_best() -> None:
    neighbours = Neighbours(worked_example(4))
    start = overlap(neighbours.patterns).argmax(axis=1)
    end = climb(neighbours, "MacroI", start)
    assert macro_i(neighbours.patterns, end).value == Fraction(6, 7)
    result = many_to_one(neighbours, "MacroI", seed="s")
    assert macro_i(neighbours.patterns, result.mapping).value == Fraction(7, 8)
    assert not result.exact
    assert result.starts == 22
    assert 0 < result.reached < 22


@pytest.mark.long
def test_values_are_between_the_1_1_mapping_and_the_best() -> None:
    above = 0
    for gold, induced, n, m in instances(300, seed=3):
        patterns = patterns_of(gold, induced, n, m)
        neighbours = Neighbours(patterns)
        for name, twin in MAPPED.items():
            result = many_to_one(neighbours, name, restarts=0, kicks=0, seed="s")
            value = twin(gold, induced, result.mapping.tolist())
            best = max(twin(gold, induced, h) for h in every_mapping(m, n))
            least = twin(gold, induced, one_to_one(patterns, name).tolist())
            assert least <= value <= best
            assert value == best or not result.exact
            above += value > least
    assert above > 240


def slow_climb(gold: Sets, induced: Sets, n: int, name: str, start: list[int]) -> list[int]:
    """Take the best move, of equal ones the first cluster and class, while one improves."""
    h = start
    while True:
        moves = [[*h[:k], c, *h[k + 1 :]] for k in range(len(h)) for c in range(n)]
        values = [MAPPED[name](gold, induced, each) for each in moves]
        if max(values) <= MAPPED[name](gold, induced, h):
            return h
        h = moves[values.index(max(values))]


@pytest.mark.parametrize("name", MAPPED)
def test_a_climb_takes_the_first_of_the_best_moves(name: str) -> None:
    bits = np.random.default_rng(11)
    for gold, induced, n, m in instances(150, seed=12):
        start = bits.integers(n, size=m)
        end = climb(Neighbours(patterns_of(gold, induced, n, m)), name, start)
        assert end.tolist() == slow_climb(gold, induced, n, name, start.tolist())


@pytest.mark.parametrize("name", MAPPED)
def test_a_climb_ends_where_no_move_improves(name: str) -> None:
    for gold, induced, n, m in instances(60, seed=6):
        end = climb(Neighbours(patterns_of(gold, induced, n, m)), name, np.zeros(m, dtype=np.int64))
        value = MAPPED[name](gold, induced, end.tolist())
        for k, c in np.ndindex(m, n):
            moved = [*end.tolist()]
            moved[k] = c
            assert MAPPED[name](gold, induced, moved) <= value


def test_ties_prefer_the_first_cluster_then_class() -> None:
    # both clusters may move to class 1 or 2 with equal profit; afterwards the other is right
    patterns = patterns_of([{1, 2}, {1, 2}], [{0}, {1}], 3, 2)
    state = UnionState(Neighbours(patterns), np.array([0, 0]))
    assert np.ptp(macro_moves(state)[:, 1:]) == 0
    end = climb(Neighbours(patterns), "MacroI", np.array([0, 0]))
    assert end.tolist() == [1, 1]


def test_mappings_are_optimal_for_one_cluster_per_item() -> None:
    for gold, induced, n, m in instances(200, seed=7, most_clusters=1):
        patterns = patterns_of(gold, induced, n, m)
        for name in ("MacroI", "MicroI"):
            result = many_to_one(Neighbours(patterns), name, seed="s")
            best = max(MAPPED[name](gold, induced, h) for h in every_mapping(m, n))
            assert (result.exact, result.starts, result.reached) == (True, None, None)
            assert MAPPED[name](gold, induced, result.mapping.tolist()) == best


def test_micro_i_weighs_entries_unlike_macro_i() -> None:
    # two items share class 1, but a single class is worth more than one of five
    gold = [{0}, {1, 2, 3, 4}, {1, 5, 6, 7}]
    patterns = patterns_of(gold, [{0}] * 3, 8, 1)
    assert many_to_one(Neighbours(patterns), "MacroI", seed="s").mapping.tolist() == [1]
    assert many_to_one(Neighbours(patterns), "MicroI", seed="s").mapping.tolist() == [0]


def test_separable_instances_are_recognised() -> None:
    single = patterns_of([{0}, {1}], [{0}, set()], 2, 1)
    double = patterns_of([{0}, {1}], [{0, 1}, {1}], 2, 2)
    assert [is_separable(single, name) for name in MAPPED] == [True, True, False]
    assert not any(is_separable(double, name) for name in MAPPED)
    one_class = patterns_of([{0}, {0}], [{0, 1}, {1}], 1, 2)
    assert all(is_separable(one_class, name) for name in MAPPED)
    nothing = patterns_of([{0}, {1}], [set(), set()], 2, 0)
    assert all(is_separable(nothing, name) for name in MAPPED)


def test_the_number_of_starts_depends_on_the_options() -> None:
    neighbours = Neighbours(worked_example(4))
    assert many_to_one(neighbours, "MacroI", restarts=3, seed="s").starts == 5
    many = worked_example(4)._replace(counts=np.full(5, 2001))
    assert many_to_one(Neighbours(many), "MacroI", seed="s").starts == 7
    for wrong in ({"restarts": -1}, {"kicks": -1}):
        with pytest.raises(ValueError, match=f"-1 {next(iter(wrong))}"):
            many_to_one(neighbours, "MacroI", seed="s", **wrong)


def hard(bits: np.random.Generator) -> Patterns:
    """Items on which the starts of MicroC often end at different values."""
    gold = [random_set(bits, 4, least=1, most=2) for _ in range(14)]
    induced = [random_set(bits, 5, least=1, most=3) for _ in range(14)]
    return patterns_of(gold, induced, 4, 5)


def test_fewer_kicks_are_made_if_most_starts_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    bits, numbers_of_kicks = np.random.default_rng(5), list[int]()

    def no_kicks(_neighbours: Neighbours, _measure: str, best: Any, *_: Any, **options: Any) -> Any:
        numbers_of_kicks.append(options["kicks"])
        return best

    monkeypatch.setattr(mapping, "_climb_with_kicks", no_kicks)
    for _ in range(8):
        result = many_to_one(Neighbours(hard(bits)), "MicroC", restarts=4, seed="s")
        assert result.reached is not None
        assert numbers_of_kicks[-1] == (25 if result.reached >= 3 else 200)
    assert set(numbers_of_kicks) == {25, 200}


@pytest.mark.parametrize("name", MAPPED)
def test_forgotten_mappings_are_counted_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bits = np.random.default_rng(6)
    for _ in range(3):
        neighbours = Neighbours(hard(bits))
        first = many_to_one(neighbours, name, kicks=40, restarts=2, seed="s")
        with monkeypatch.context() as patch:
            patch.setattr(mapping, "_KEPT_CELLS", 0)
            anew = many_to_one(neighbours, name, kicks=40, restarts=2, seed="s")
        assert anew.mapping.tolist() == first.mapping.tolist()


@pytest.mark.long
def test_kicks_lead_from_local_optima_to_the_best() -> None:
    """If climbs from two starts miss the best mapping of all, kicks find it."""
    bits, score, stuck = np.random.default_rng(5), TYPE_MEASURES.get("MicroC").score, 0
    for _ in range(6):
        neighbours = Neighbours(hard(bits))
        values = [score(neighbours.patterns, np.array(h)).value for h in every_mapping(5, 4)]
        climbed = many_to_one(neighbours, "MicroC", restarts=0, kicks=0, seed="s").mapping
        stuck += score(neighbours.patterns, climbed).value < max(values)
        kicked = many_to_one(neighbours, "MicroC", restarts=0, seed="s").mapping
        assert score(neighbours.patterns, kicked).value == max(values)
    assert stuck > 1


# 1-1 mappings against all 1-1 mappings of small instances.


@pytest.mark.parametrize("place", range(len(WORKED)))
def test_one_to_one_mappings_of_worked_examples_are_optimal(place: int) -> None:
    gold, induced, values, _ = WORKED[place]
    n, m = (1 + max(set().union(*sets)) for sets in (gold, induced))
    patterns = patterns_of(gold, induced, n, m)
    for name, value in zip(("MacroI", "MicroI", "MicroC"), values, strict=True):
        measure = TYPE_MEASURES.get(name).score
        assert measure(patterns, one_to_one(patterns, name)).value == Fraction(value), name


@pytest.mark.long
def test_no_other_1_1_mapping_is_better() -> None:
    for gold, induced, n, m in instances(1500, seed=1, most_clusters=3):
        patterns = patterns_of(gold, induced, n, m)
        for name, twin in MAPPED.items():
            h = one_to_one(patterns, name)
            assert tuple(h.tolist()) in set(every_1_1_mapping(m, n))
            best = max(twin(gold, induced, each) for each in every_1_1_mapping(m, n))
            assert twin(gold, induced, h.tolist()) == best, (name, gold, induced)


def test_completion_never_lowers_a_measure() -> None:
    for gold, induced, n, m in instances(300, seed=2, most_clusters=3):
        patterns = patterns_of(gold, induced, n, m)
        for name, twin in MAPPED.items():
            h = one_to_one(patterns, name)
            whole = complete_mapping(h, overlap(patterns))
            assert (whole >= 0).all()
            assert twin(gold, induced, whole.tolist()) >= twin(gold, induced, h.tolist())


def test_completion_prefers_the_first_class() -> None:
    assert complete_mapping(np.array([-1, 1]), np.array([[2, 2], [0, 0]])).tolist() == [0, 1]


def test_edge_weights_agree_with_those_by_hand() -> None:
    patterns = patterns_of([{0}, {0, 1}], [{0}, {0, 1}], 2, 2)
    assert edge_weights(patterns, "MacroI").tolist() == [[2, 1], [1, 1]]
    # denominators 2 and 4: times 4, 4 items of F = 2/2 and 2/4
    assert edge_weights(patterns, "MicroI").tolist() == [[6, 2], [2, 2]]
    expected = [[2 * 2 * 2 / 4, 2 * 2 * 1 / 3], [2 * 1 * 1 / 3, 2 * 1 * 1 / 2]]
    assert edge_weights(patterns, "MicroC").tolist() == expected
    with pytest.raises(KeyError):
        edge_weights(patterns, "Macro")


def test_one_to_one_mapping_without_clusters_is_empty() -> None:
    patterns = patterns_of([{0}], [set()], 1, 0)
    assert one_to_one(patterns, "MicroI").shape == (0,)
