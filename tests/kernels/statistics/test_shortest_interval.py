from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pipeline.kernels.statistics.finite_population import hypergeometric, hypergeometric_shortest
from pipeline.kernels.statistics.intervals import INTERVALS

LEVELS = ["0.5", "0.8", "0.9", "0.95", "0.99"]


def pmf(K: int, k: int, n: int, population: int) -> Fraction:
    return Fraction(comb(K, k) * comb(population - K, n - k), comb(population, n))


def coverage(held: list[set[int]], K: int, n: int, population: int) -> Fraction:
    return sum((pmf(K, k, n, population) for k in range(n + 1) if K in held[k]), Fraction(0))


def slow_limits(n: int, population: int, level: str) -> list[tuple[int, int]]:
    """Keep a set of K for each outcome, take one and look whether all K are still covered."""
    half = (1 - Fraction(level)) / 2
    held = [
        {K for K in range(population + 1)
         if sum(pmf(K, x, n, population) for x in range(k, n + 1)) > half
         and sum(pmf(K, x, n, population) for x in range(k + 1)) > half}
        for k in range(n + 1)
    ]  # fmt: skip
    order, changed = sorted(range(n + 1), key=lambda k: (abs(2 * k - n), k)), True
    while changed:
        changed = False
        for k in order:
            while len(held[k]) > 1 and (k == n or min(held[k]) < min(held[k + 1])):
                K, kept = min(held[k]), [set(one) for one in held]
                kept[k].discard(K)
                kept[n - k].discard(population - K)
                worst = min(coverage(kept, each, n, population) for each in (K, population - K))
                if not kept[k] or worst < Fraction(level):
                    break
                held, changed = kept, True
    return [(min(one), max(one)) for one in held]


def whole_limits(n: int, population: int, level: float) -> list[tuple[int, int]]:
    found = hypergeometric_shortest(np.arange(n + 1), n, population=population, confidence=level)
    lower, upper = (np.rint(limit * population).astype(int).tolist() for limit in found)
    return list(zip(lower, upper, strict=True))


def test_known_limits() -> None:
    # Wang's construction, (M, n) = (100, 10): k = 0..5
    expected = [(0, 29), (1, 39), (5, 50), (10, 60), (16, 70), (24, 76)]
    assert whole_limits(10, 100, 0.95)[:6] == expected
    assert whole_limits(50, 500, 0.95)[15] == (94, 218)


@pytest.mark.parametrize(("n", "population", "lowest"), [
    (10, 100, 0.9509), (50, 500, None), (499, 500, None), (250, 500, None), (37, 2000, None),
])  # fmt: skip
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_coverage_is_never_below_the_level(
    n: int, population: int, lowest: float | None, level: float
) -> None:
    K, limits = np.arange(population + 1), np.array(whole_limits(n, population, level))
    held = (limits[:, :1] <= K) & (limits[:, 1:] >= K)
    chances = hypergeom.pmf(np.arange(n + 1)[:, None], population, K[None, :], n)
    covered = (held * chances).sum(axis=0)
    assert covered.min() >= level - 1e-9
    if lowest and level == 0.95:
        assert round(covered.min(), 4) == lowest


@given(st.data(), st.sampled_from(LEVELS))
def test_agrees_with_exact_fractions(data: st.DataObject, level: str) -> None:
    population = data.draw(st.integers(1, 22))
    n = data.draw(st.integers(1, population))
    assert whole_limits(n, population, float(level)) == slow_limits(n, population, level)


@given(st.data(), st.sampled_from(LEVELS))
def test_laws(data: st.DataObject, level: str) -> None:
    population = data.draw(st.integers(1, 400))
    n = data.draw(st.integers(0, population))
    k = np.arange(n + 1)
    lower, upper = hypergeometric_shortest(k, n, population=population, confidence=float(level))
    outer = hypergeometric(k, n, population=population, confidence=float(level))
    assert np.all(lower >= outer[0])
    assert np.all(upper <= outer[1])
    assert np.all(lower <= upper)
    assert np.all(np.diff(lower) >= 0)
    assert np.all(np.diff(upper) >= 0)
    failures = np.rint(upper * population).astype(int)[::-1]
    assert (np.rint(lower * population).astype(int) == population - failures).all()


def test_nothing_more_can_be_taken() -> None:
    n, population, level = 12, 60, "0.95"
    limits = whole_limits(n, population, float(level))
    held = [set(range(low, high + 1)) for low, high in limits]
    for k, (low, _) in enumerate(limits):
        if low < held_above(limits, k):
            fewer = [set(one) for one in held]
            fewer[k].discard(low)
            fewer[n - k].discard(population - low)
            assert coverage(fewer, low, n, population) < Fraction(level)


def held_above(limits: list[tuple[int, int]], k: int) -> int:
    return limits[k + 1][0] if k + 1 < len(limits) else limits[k][1]


def test_it_is_shorter_on_the_whole() -> None:
    shortest = hypergeometric_shortest(np.arange(51), 50, population=500)
    equal_tails = hypergeometric(np.arange(51), 50, population=500)
    widths = [float((upper - lower).sum()) for lower, upper in (shortest, equal_tails)]
    assert widths[0] < 0.98 * widths[1]


def test_all_drawn_leaves_no_doubt_and_none_drawn_says_nothing() -> None:
    found = hypergeometric_shortest([3, 0, 0, 7], [7, 0, 0, 7], population=[7, 7, 0, 7])
    assert [limit.tolist() for limit in found] == [[3 / 7, 0, 0, 1], [3 / 7, 1, 1, 1]]


def test_shapes_designs_and_the_registry() -> None:
    empty = np.array([], dtype=np.int64)
    assert hypergeometric_shortest(empty, empty, population=empty)[0].shape == (0,)
    registered = INTERVALS.get("hypergeometric_shortest")
    lower, upper = registered([[4], [15]], [[10, 20], [50, 20]], population=[[100], [500]])
    assert lower.shape == upper.shape == (2, 2)
    assert (lower[0, 0], upper[0, 0], lower[1, 0], upper[1, 0]) == (0.16, 0.7, 94 / 500, 218 / 500)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="such as n = 5 of 4"):
        hypergeometric_shortest([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match=r"up to 1,000,000, not 2,000,000 \(1 rows\)"):
        hypergeometric_shortest(1, 2, population=2_000_000)
    with pytest.raises(ValueError, match="confidence"):
        hypergeometric_shortest(1, 2, population=9, confidence=0.0)
