"""1-1 mappings against all 1-1 mappings of small instances."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.mapping import (
    completed,
    edge_weights,
    one_to_one,
    overlap,
    reciprocals,
)
from tests.kernels.clustering.types.type_twin import (
    MAPPED,
    WORKED,
    every_1_1,
    instances,
    patterns_of,
)


@pytest.mark.parametrize("place", range(len(WORKED)))
def test_worked_examples(place: int) -> None:
    gold, induced, values, _ = WORKED[place]
    n, m = (1 + max(set().union(*sets)) for sets in (gold, induced))
    patterns = patterns_of(gold, induced, n, m)
    for name, value in zip(("MacroI", "MicroI", "MicroC"), values, strict=True):
        measure = TYPE_MEASURES.get(name).score
        assert measure(patterns, one_to_one(patterns, name)).value == Fraction(value), name


@pytest.mark.long
def test_no_1_1_mapping_is_better() -> None:
    for gold, induced, n, m in instances(1500, seed=1, most_clusters=3):
        patterns = patterns_of(gold, induced, n, m)
        for name, twin in MAPPED.items():
            h = one_to_one(patterns, name)
            assert tuple(h.tolist()) in set(every_1_1(m, n))
            best = max(twin(gold, induced, each) for each in every_1_1(m, n))
            assert twin(gold, induced, h.tolist()) == best, (name, gold, induced)


def test_completion_never_lowers_a_measure() -> None:
    for gold, induced, n, m in instances(300, seed=2, most_clusters=3):
        patterns = patterns_of(gold, induced, n, m)
        for name, twin in MAPPED.items():
            h = one_to_one(patterns, name)
            whole = completed(h, overlap(patterns))
            assert (whole >= 0).all()
            assert twin(gold, induced, whole.tolist()) >= twin(gold, induced, h.tolist())


def test_completion_ties_go_to_the_first_class() -> None:
    assert completed(np.array([-1, 1]), np.array([[2, 2], [0, 0]])).tolist() == [0, 1]


def test_weights_by_hand() -> None:
    patterns = patterns_of([{0}, {0, 1}], [{0}, {0, 1}], 2, 2)
    assert edge_weights(patterns, "MacroI").tolist() == [[2, 1], [1, 1]]
    # denominators 2 and 4: times 4, 4 items of F = 2/2 and 2/4
    assert edge_weights(patterns, "MicroI").tolist() == [[6, 2], [2, 2]]
    expected = [[2 * 2 * 2 / 4, 2 * 2 * 1 / 3], [2 * 1 * 1 / 3, 2 * 1 * 1 / 2]]
    assert edge_weights(patterns, "MicroC").tolist() == expected
    with pytest.raises(KeyError):
        edge_weights(patterns, "Macro")


def test_reciprocals_are_whole_if_sums_stay_exact() -> None:
    assert reciprocals(np.array([2, 3, 4]), items=9).tolist() == [0, 0, 6, 4, 3]
    wide = np.arange(1, 60)
    assert 4 * math.lcm(*wide.tolist()) > 2**53
    assert reciprocals(wide, items=1)[2] == 0.5


def test_nothing_induced() -> None:
    patterns = patterns_of([{0}], [set()], 1, 0)
    assert one_to_one(patterns, "MicroI").shape == (0,)
