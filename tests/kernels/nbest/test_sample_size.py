""""""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from itertools import combinations, product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest import sample_size as planning_power
from pipeline.kernels.nbest.sample_size import (
    Design,
    comparison_power,
    expected_width,
    outcomes,
    predictive_power,
    size_for_power,
    size_for_width,
    smallest_size,
)
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.intervals import INTERVALS

SMALL = Design(n=6, apart=4, candidates=11, alpha=0.3)


@cache
def verdict(design: Design, k1: int, n1: int, k2: int, n2: int) -> str:
    if not (n1 and n2):
        return "untested"
    p = TESTS.get(design.test).p_values([k1], [n1], [k2], [n2], alternative=design.alternative)[0]
    difference = design.apart / design.n * (k1 / n1 - k2 / n2)
    if p >= design.alpha or abs(difference) < design.margin - 1e-9 or difference == 0:
        return "none"
    return "first" if difference > 0 else "second"


def slow_power(design: Design, size: int, true_1: int, true_2: int) -> dict[str, float]:
    """Draw every sample: D1 are the candidates 0, 1 ..., D2 the next ones, TPs in front."""
    d = design.apart
    verdicts = []
    for sample in combinations(range(design.candidates), size):
        first, second = [x for x in sample if x < d], [x - d for x in sample if d <= x < 2 * d]
        hits = sum(x < true_1 for x in first), sum(x < true_2 for x in second)
        verdicts.append(verdict(design, hits[0], len(first), hits[1], len(second)))
    return {v: verdicts.count(v) / len(verdicts) for v in ("first", "second", "untested")}


@pytest.mark.parametrize("design", [
    SMALL, SMALL._replace(test="boschloo"), SMALL._replace(test="fisher_mid_p"),
    SMALL._replace(alternative="greater"), SMALL._replace(margin=0.6),
])  # fmt: skip
@pytest.mark.parametrize(("size", "true_1", "true_2"), [(6, 4, 1), (9, 1, 3), (3, 2, 2)])
def test_power_agrees_with_all_samples(design: Design, size: int, true_1: int, true_2: int) -> None:
    result = comparison_power(design, size=size, precision_1=true_1 / 4, precision_2=true_2 / 4)
    expected = slow_power(design, size, true_1, true_2)
    for name, value in expected.items():
        assert getattr(result, name) == pytest.approx(value, abs=1e-8)
    assert result.standard_error == 0.0


def test_simulation_agrees_with_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    design = Design(n=100, apart=40, candidates=500)
    setting: dict[str, Any] = {"size": 120, "precision_1": 0.6, "precision_2": 0.3}
    exact = comparison_power(design, **setting)
    monkeypatch.setattr(planning_power, "_MOST_TABLES", 0)
    simulated = comparison_power(design, **setting)
    assert exact.standard_error == 0.0 < simulated.standard_error < 0.006
    assert simulated.first == pytest.approx(exact.first, abs=4 * simulated.standard_error)
    assert simulated.second == pytest.approx(exact.second, abs=1e-3)


def test_simulated_full_annotation_is_deterministic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # 15 and 8 of 20: p = 0.054; a draw less in either set could give a mark
    monkeypatch.setattr(planning_power, "_MOST_TABLES", 0)
    design = Design(n=30, apart=20, candidates=60)
    full = comparison_power(design, size=60, precision_1=0.75, precision_2=0.4)
    assert full == (0.0, 0.0, 0.0, 0.0)


def test_the_seed_fixes_the_simulation() -> None:
    design = Design(n=500, apart=300, candidates=5000)
    first, again, other = (
        comparison_power(design, size=800, precision_1=0.4, precision_2=0.3, seed=seed)
        for seed in ("s", "s", "t")
    )
    assert first == again != other
    assert first.standard_error > 0


@pytest.mark.long
def test_the_level_is_kept_and_both_sides_mirror() -> None:
    design = Design(n=100, apart=40, candidates=400)
    null = comparison_power(design, size=100, precision_1=0.5, precision_2=0.5)
    assert null.first == pytest.approx(null.second, rel=1e-6)
    assert null.first + null.second < 0.05
    one = comparison_power(design, size=100, precision_1=0.6, precision_2=0.2)
    two = comparison_power(design, size=100, precision_1=0.2, precision_2=0.6)
    assert (one.first, one.second) == pytest.approx((two.second, two.first), rel=1e-6)


def test_empty_samples_have_no_power_and_complete_ones_full_power() -> None:
    nothing = comparison_power(SMALL, size=0, precision_1=1, precision_2=0)
    assert nothing == (0.0, 0.0, 1.0, 0.0)
    full = comparison_power(SMALL, size=11, precision_1=1, precision_2=0)
    assert full.first == pytest.approx(1.0)


def test_the_size_for_power_is_the_smallest() -> None:
    design = Design(n=40, apart=20, candidates=80)
    size = size_for_power(design, goal=0.7, precision_1=0.2, precision_2=0.7)
    assert size is not None
    power = [
        comparison_power(design, size=s, precision_1=0.2, precision_2=0.7).second
        for s in (size - 1, size)
    ]
    assert power[0] < 0.7 <= power[1]
    assert size_for_power(design, goal=0.9, precision_1=0.5, precision_2=0.45) is None


def slow_predictive(
    design: Design, size: int, pilot: tuple[int, int, int, int], before: int
) -> float:
    """Simulate candidate by candidate."""
    bits, marks, runs = random.Random(4), 0, 1200
    k, n = pilot[::2], pilot[1::2]
    for _ in range(runs):
        pool: list[tuple[int, bool]] = []
        for side in (0, 1):
            p = bits.betavariate(k[side] + 0.5, n[side] - k[side] + 0.5)
            pool += [(side, bits.random() < p) for _ in range(design.apart - n[side])]
        pool += [(2, False)] * (design.candidates - before - len(pool))
        further = bits.sample(pool, size - before)
        hits = [k[side] + further.count((side, True)) for side in (0, 1)]
        draws = [n[side] + sum(x[0] == side for x in further) for side in (0, 1)]
        marks += verdict(design, hits[0], draws[0], hits[1], draws[1]) == "first"
    return marks / runs


@pytest.mark.long
def test_predictive_power_agrees_with_a_loop() -> None:
    design = Design(n=40, apart=25, candidates=100)
    pilot = (4, 6, 1, 5)
    expected = slow_predictive(design, 60, pilot, 20)
    result = predictive_power(design, size=60, pilot=pilot, pilot_size=20)
    assert result.first == pytest.approx(expected, abs=0.055)
    assert 0 < result.standard_error < 0.006


def test_the_pilot_is_part_of_the_larger_sample() -> None:
    design = Design(n=40, apart=25, candidates=100)
    for pilot, first in (((9, 10, 1, 10), 1.0), ((5, 10, 4, 10), 0.0)):
        stays = predictive_power(design, size=30, pilot=pilot, pilot_size=30, replicates=50)
        assert (stays.first, stays.second) == (first, 0.0)
    complete = predictive_power(
        design, size=80, pilot=(20, 25, 5, 25), pilot_size=50, replicates=50
    )
    assert complete.first == 1.0  # D1 and D2 are completely drawn


@pytest.mark.parametrize(("change", "message"), [
    ({"apart": 0}, "apart = 0, n = 6"), ({"apart": 7}, "apart = 7, n = 6"), ({"candidates": 7}, "2 apart"),
])  # fmt: skip
def test_impossible_designs_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        comparison_power(SMALL._replace(**change), size=1, precision_1=0, precision_2=0)


def test_wrong_sizes_precisions_and_pilots_are_refused() -> None:
    with pytest.raises(ValueError, match="sample of 12"):
        comparison_power(SMALL, size=12, precision_1=0, precision_2=0)
    with pytest.raises(ValueError, match="precision must be in"):
        comparison_power(SMALL, size=1, precision_1=0, precision_2=2)
    with pytest.raises(ValueError, match="power must be"):
        size_for_power(SMALL, goal=80, precision_1=0, precision_2=1)
    for pilot, before in (((3, 2, 0, 0), 5), ((1, 5, 0, 0), 6), ((1, 2, 1, 2), 3)):
        with pytest.raises(ValueError, match="pilot"):
            predictive_power(SMALL, size=8, pilot=pilot, pilot_size=before)


def slow_outcomes(
    n: int, candidates: int, size: int, true: int, *, replacement: bool
) -> dict[tuple[int, int], float]:
    """Draw every possible sample; the list holds the first candidates, the TPs first of all."""
    everyone = range(candidates)
    samples = product(everyone, repeat=size) if replacement else combinations(everyone, size)
    outcome_counts = Counter((sum(x < n for x in s), sum(x < true for x in s)) for s in samples)
    return {outcome: times / outcome_counts.total() for outcome, times in outcome_counts.items()}


@given(st.data(), st.booleans())
def test_outcomes_agree_with_all_samples(data: st.DataObject, replacement: bool) -> None:
    candidates = data.draw(st.integers(1, 6))
    n = data.draw(st.integers(1, candidates))
    true = data.draw(st.integers(0, n))
    size = data.draw(st.integers(0, 4 if replacement else candidates))
    result = outcomes(
        n=n, candidates=candidates, size=size, precision=true / n, replacement=replacement
    )
    table = {(int(a), int(b)): float(p) for a, b, p in zip(*result, strict=True)}
    expected = slow_outcomes(n, candidates, size, true, replacement=replacement)
    assert table == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("method", sorted(INTERVALS))
def test_the_expected_width_agrees_with_that_by_hand(method: str) -> None:
    # 1 of 2 in a list of 2 from 4, two draws: n^ = 0, 1, 2 with 1/6, 4/6, 1/6
    result = expected_width(n=2, candidates=4, size=2, precision=0.5, method=method)
    limits = INTERVALS.get(method)([0, 0, 1, 1], [0, 1, 1, 2], population=[2] * 4)
    chances = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
    lower, upper = (sum(c * x for c, x in zip(chances, side, strict=True)) for side in limits)
    assert result["n_sampled"] == pytest.approx(1.0)
    assert result["empty"] == pytest.approx(1 / 6)
    assert (result["lower"], result["upper"]) == pytest.approx((lower, upper))
    assert result["width"] == pytest.approx(upper - lower)
    covered = sum(c for c, a, b in zip(chances, *limits, strict=True) if a <= 0.5 <= b)
    assert result["coverage"] == pytest.approx(covered)


@pytest.mark.parametrize("precision", [0.05, 0.27, 0.6])
def test_coverage_of_the_exact_intervals_is_kept(precision: float) -> None:
    for method in ("clopper_pearson", "hypergeometric"):
        result = expected_width(
            n=200, candidates=1000, size=150, precision=precision, method=method
        )
        assert result["coverage"] >= 0.95
    narrow = expected_width(
        n=200, candidates=1000, size=150, precision=precision, method="jeffreys"
    )
    assert narrow["width"] < result["width"] + 0.02
    assert result["n_sampled"] == pytest.approx(30, rel=1e-9)


def test_full_annotation_has_no_width_in_a_finite_population() -> None:
    full: dict[str, Any] = {"n": 50, "candidates": 80, "size": 80, "precision": 0.5}
    assert expected_width(**full, method="hypergeometric")["width"] == 0.0
    assert expected_width(**full)["width"] > 0.2
    nothing = expected_width(n=50, candidates=80, size=0, precision=0.5)
    assert (nothing["width"], nothing["empty"]) == (1.0, 1.0)


@pytest.mark.parametrize("method", ["clopper_pearson", "hypergeometric"])
def test_the_size_for_a_width_is_the_smallest(method: str) -> None:
    setting: dict[str, Any] = {"n": 100, "candidates": 400, "precision": 0.3, "method": method}
    size = size_for_width(width=0.25, **setting)
    assert size is not None
    widths = [expected_width(size=s, **setting)["width"] for s in (size - 1, size)]
    assert widths[1] <= 0.25 < widths[0]


def test_the_size_with_replacement_is_the_smallest() -> None:
    setting: dict[str, Any] = {"n": 100, "candidates": 400, "precision": 0.3, "replacement": True}
    size = size_for_width(width=0.25, **setting)
    assert size is not None
    widths = [expected_width(size=s, **setting)["width"] for s in (size - 1, size)]
    assert widths[1] <= 0.25 < widths[0]
    assert size != size_for_width(width=0.25, n=100, candidates=400, precision=0.3)


def test_an_unreachable_width_has_no_size() -> None:
    assert size_for_width(width=0.05, n=100, candidates=400, precision=0.3) is None
    full = size_for_width(
        width=0.001, n=100, candidates=400, precision=0.3, method="hypergeometric"
    )
    assert full is not None
    assert full > 390


@given(st.integers(1, 50), st.integers(0, 60), st.integers(0, 60))
def test_the_smallest_size_agrees_with_a_search(least: int, more: int, threshold: int) -> None:
    most = least + more
    expected = next((x for x in range(least, most + 1) if x >= threshold), None)
    assert smallest_size(lambda size: size >= threshold, least, most) == expected
    assert smallest_size(lambda size: size > 0, 5, 4) is None


@pytest.mark.parametrize(("change", "message"), [
    ({"n": 0}, "list of 0 from 100"), ({"n": 101}, "list of 101"), ({"size": 101}, "sample of 101"),
    ({"size": -1}, "sample of -1"), ({"precision": 30}, "precision must be in"),
    ({"method": "wald"}, "unknown interval 'wald'"),
])  # fmt: skip
def test_wrong_arguments_of_widths_are_refused(change: dict[str, object], message: str) -> None:
    arguments: dict[str, Any] = {"n": 10, "candidates": 100, "size": 20, "precision": 0.5, **change}
    with pytest.raises(ValueError, match=message):
        expected_width(**arguments)
    with pytest.raises(ValueError, match="width must be in"):
        size_for_width(width=10, n=10, candidates=100, precision=0.5)
