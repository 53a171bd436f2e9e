""""""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pipeline.kernels.statistics import finite_population
from pipeline.kernels.statistics.finite_population import (
    finite_population_test,
    hypergeometric,
    hypergeometric_shortest,
)
from pipeline.kernels.statistics.fisher import fisher_two_sided
from pipeline.kernels.statistics.intervals import INTERVALS, clopper_pearson

Table = tuple[int, int, int, int, int]


@st.composite
def tables(draw: st.DrawFn, largest: int = 12) -> Table:
    size = draw(st.integers(1, largest))
    n1, n2 = draw(st.integers(1, size)), draw(st.integers(1, size))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2, size


def pmf(k: int, K: int, n: int, size: int) -> Fraction:
    return Fraction(comb(K, k) * comb(size - K, n - k), comb(size, n))


def statistic(k1: int, n1: int, k2: int, n2: int) -> float:
    p = (k1 + k2) / (n1 + n2)
    return abs(k1 / n1 - k2 / n2) / sqrt(p * (1 - p)) if 0 < p < 1 else 0.0


def slow_p(table: Table) -> float:
    """Look at every table for every K that the draws allow, with exact fractions."""
    k1, n1, k2, n2, size = table
    observed, worst = statistic(k1, n1, k2, n2), Fraction(0)
    for K in range(max(k1, k2), size - max(n1 - k1, n2 - k2) + 1):
        chance = sum(
            (pmf(a, K, n1, size) * pmf(b, K, n2, size)
             for a, b in product(range(n1 + 1), range(n2 + 1))
             if statistic(a, n1, b, n2) >= observed * (1 - 1e-9)),
            Fraction(0),
        )  # fmt: skip
        worst = max(worst, chance)
    return float(worst)


def one(table: Table) -> float:
    k1, n1, k2, n2, size = table
    return float(finite_population_test([k1], [n1], [k2], [n2], size=size)[0])


def every(n1: int, n2: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all tables of a design and their p-values."""
    k1, k2 = (part.ravel() for part in np.meshgrid(range(n1 + 1), range(n2 + 1), indexing="ij"))
    return k1, k2, finite_population_test(k1, n1, k2, n2, size=size)


def rejection_probability(p: np.ndarray, design: tuple[int, int, int], K1: int, K2: int) -> float:
    """Return the probability of p <= 5 %, exactly."""
    n1, n2, size = design
    first = hypergeom.pmf(np.arange(n1 + 1), size, K1, n1)
    second = hypergeom.pmf(np.arange(n2 + 1), size, K2, n2)
    return float(np.outer(first, second).ravel()[p <= 0.05].sum())


def test_p_values_agree_with_those_by_hand() -> None:
    # one of one and none of one, of 2 each: K = 1, both draws differ with 1/2
    assert one((1, 1, 0, 1, 2)) == pytest.approx(0.5)
    # two of two and none of two, of 3 each: K is 2 or 3 in D1, 0 or 1 in D2
    assert one((2, 2, 0, 2, 3)) == 0.0
    # of 4 each: K = 2 alone is possible, P(2, 0) + P(0, 2) = 2/36
    assert one((2, 2, 0, 2, 4)) == pytest.approx(2 / 36)


@given(tables())
def test_p_values_agree_with_the_definition(table: Table) -> None:
    assert one(table) == pytest.approx(slow_p(table), rel=1e-9, abs=1e-15)


@given(tables(largest=40))
def test_p_values_are_symmetric(table: Table) -> None:
    k1, n1, k2, n2, size = table
    p = one(table)
    assert 0.0 <= p <= 1.0
    assert p == pytest.approx(one((k2, n2, k1, n1, size)), rel=1e-9)
    assert p == pytest.approx(one((n1 - k1, n1, n2 - k2, n2, size)), rel=1e-9)


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_statistic_falls_along_a_row(n1: int, n2: int) -> None:
    statistics = finite_population._statistic(n1, n2)
    assert np.all(np.diff(statistics, axis=1) <= 1e-12)
    assert np.all(np.diff(statistics, axis=0) >= -1e-12)


@pytest.mark.parametrize(("n1", "n2", "size"), [(12, 12, 60), (20, 14, 40), (5, 30, 50)])
def test_the_test_keeps_its_level_for_any_true_positives(n1: int, n2: int, size: int) -> None:
    p = every(n1, n2, size)[2]
    sizes = [rejection_probability(p, (n1, n2, size), K, K) for K in range(size + 1)]
    assert max(sizes) <= 0.05 + 1e-12
    assert max(sizes) > 0.03


@pytest.mark.parametrize(("n", "size", "gain"), [(12, 60, 1.1), (25, 50, 1.6), (40, 50, 1.9)])
def test_the_test_has_more_power_than_fishers(n: int, size: int, gain: float) -> None:
    """30 % against 50 % of the candidates; the gain grows with the share that is judged."""
    k1, k2, p = every(n, n, size)
    K1, K2 = round(0.3 * size), round(0.5 * size)
    power = rejection_probability(p, (n, n, size), K1, K2)
    fisher = fisher_two_sided(k1, np.full(len(k1), n), k2, np.full(len(k1), n))
    assert power > gain * rejection_probability(fisher, (n, n, size), K1, K2)


def test_p_values_of_full_annotation_are_0_or_1() -> None:
    assert finite_population_test([7, 7], [9, 9], [3, 7], [9, 9], size=9).tolist() == [0.0, 1.0]


def test_degenerate_tables_have_p_values_of_1_or_none() -> None:
    p = finite_population_test([0, 0, 2, 3], [0, 4, 2, 3], [0, 0, 2, 3], [3, 0, 2, 3], size=9)
    assert np.isnan(p).tolist() == [True, True, False, False]
    assert p[2:].tolist() == [1.0, 1.0]
    assert finite_population_test([], [], [], [], size=[]).shape == (0,)


def test_blocks_do_not_change_p_values(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ([3, 9, 0, 3], [10, 20, 5, 10], [6, 2, 4, 6], [10, 15, 7, 10])
    sizes = [30, 40, 30, 31]
    whole = finite_population_test(*columns, size=sizes)
    monkeypatch.setattr(finite_population, "_CELLS", 100)
    parts = finite_population_test(*(column[::-1] for column in columns), size=sizes[::-1])
    assert whole == pytest.approx(parts[::-1], rel=1e-12)


@pytest.mark.parametrize(
    ("size", "n"),
    [(40, 3), (300, 299), (300, 300), (1200, 130), (2000, 1), (5000, 500), (900, 600)],
)
def test_probabilities_agree_with_exact_fractions(size: int, n: int) -> None:
    first = max(0, size // 2 - 5)
    rows = {0: finite_population._chances(size, n, 0, 3)}
    rows[first] = finite_population._chances(size, n, first, size // 2 + 1)
    for start, chances in rows.items():
        for K, k in product(range(start, start + len(chances)), {0, 1, n // 2, n - 1, n}):
            exact = float(pmf(k, K, n, size)) if K - k <= size - n else 0.0
            assert chances[K - start, k] == pytest.approx(exact, rel=1e-14, abs=1e-290)


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="in 1 table "):
        finite_population_test([5], [4], [0], [3], size=9)
    with pytest.raises(ValueError, match="for example n = 5 of 4"):
        finite_population_test([1], [5], [0], [3], size=4)


def test_p_values_of_fully_judged_sets_are_0_or_1() -> None:
    p = finite_population_test([3, 3, 0], [5, 5, 0], [3, 2, 0], [5, 5, 0], size=[5, 5, 0])
    assert p[:2].tolist() == [1.0, 0.0]
    assert np.isnan(p[2])


Row = tuple[int, int, int]
LEVELS = ["0.5", "0.8", "0.9", "0.95", "0.99"]


@st.composite
def rows(draw: st.DrawFn, largest: int = 60) -> Row:
    population = draw(st.integers(0, largest))
    n = draw(st.integers(0, population))
    return draw(st.integers(0, n)), n, population


def tail(K: int, k: int, n: int, population: int) -> Fraction:
    ways = sum(comb(K, x) * comb(population - K, n - x) for x in range(k, n + 1))
    return Fraction(ways, comb(population, n))


def slow_limits(row: Row, level: str) -> tuple[float, float]:
    """Try every K with exact fractions, by the definition."""
    k, n, population = row
    half = (1 - Fraction(level)) / 2
    values = range(k, population - n + k + 1)
    lower = min(K for K in values if tail(K, k, n, population) > half)
    upper = max(K for K in values if 1 - tail(K, k + 1, n, population) > half)
    return (lower / population, upper / population) if population else (0.0, 1.0)


@pytest.mark.parametrize(("row", "limits"), [
    ((4, 10, 100), (0.14, 0.72)), ((56, 200, 1000), (0.226, 0.340)),
])  # fmt: skip
def test_hypergeometric_limits_have_their_published_values(
    row: Row, limits: tuple[float, float]
) -> None:
    k, n, population = row
    assert tuple(map(float, hypergeometric(k, n, population=population))) == limits


def test_hypergeometric_limits_agree_with_those_by_hand() -> None:
    # one draw of four, a success: P(X_1 >= 1) = K/4 > 0.025 from K = 1, at most 4 of 4
    lower, upper = hypergeometric([1, 0], [1, 1], population=[4, 4])
    assert (lower.tolist(), upper.tolist()) == ([0.25, 0.0], [1.0, 0.75])


def test_tails_of_exactly_half_alpha_are_excluded() -> None:
    # P(X_K >= 1) = K/40 is 1/40 = alpha/2 at K = 1
    assert float(hypergeometric(1, 1, population=40)[0]) == 2 / 40
    assert float(hypergeometric(0, 1, population=40)[1]) == 38 / 40
    # two of two at 90 %: C(4,2) / C(16,2) = 6/120 at K = 4, and (1 - 0.9) / 2 rounds down
    assert float(hypergeometric(2, 2, population=16, confidence=0.9)[0]) == 5 / 16


@given(st.lists(rows(), min_size=1, max_size=8), st.sampled_from(LEVELS))
def test_hypergeometric_limits_agree_with_exact_fractions(
    given_rows: list[Row], level: str
) -> None:
    k, n, population = (list(column) for column in zip(*given_rows, strict=True))
    lower, upper = hypergeometric(k, n, population=population, confidence=float(level))
    expected = [slow_limits(row, level) for row in given_rows]
    assert list(zip(lower.tolist(), upper.tolist(), strict=True)) == expected


@pytest.mark.parametrize("row", [(3, 40, 700), (39, 40, 700), (0, 40, 700), (120, 300, 700)])
def test_hypergeometric_limits_are_exact_in_larger_populations(row: Row) -> None:
    k, n, population = row
    limits = tuple(map(float, hypergeometric(k, n, population=population)))
    assert limits == slow_limits(row, "0.95")


@pytest.mark.parametrize(("n", "population"), [(6, 25), (20, 25), (13, 60)])
@pytest.mark.parametrize("level", LEVELS)
def test_hypergeometric_limits_keep_their_level(n: int, population: int, level: str) -> None:
    lower, upper = hypergeometric(
        np.arange(n + 1), n, population=population, confidence=float(level)
    )
    for K in range(population + 1):
        outcomes = [k for k in range(n + 1) if lower[k] <= K / population <= upper[k]]
        chance = sum((tail(K, k, n, population) - tail(K, k + 1, n, population)) for k in outcomes)
        assert chance >= Fraction(level)


@given(rows(largest=2000))
def test_hypergeometric_limits_obey_the_laws(row: Row) -> None:
    k, n, population = row
    lower, upper = hypergeometric([k, n - k], n, population=population)
    assert 0 <= lower[0] <= upper[0] <= 1
    if n:
        assert lower[0] - 1 / population < k / n < upper[0] + 1 / population
        assert round(lower[0] * population) == population - round(upper[1] * population)
        outer = clopper_pearson(k, n)
        assert lower[0] >= outer[0] - 1 / population
        assert upper[0] <= outer[1] + 1 / population


@pytest.mark.parametrize("level", [0.001, 0.1, 0.5, 0.9, 0.95, 0.99])
def test_the_estimate_is_at_most_one_member_outside_the_limits(level: float) -> None:
    n, k = (part.ravel() for part in np.meshgrid(np.arange(1, 51), np.arange(51)))
    k, n = k[k <= n], n[k <= n]
    lower, upper = hypergeometric(k, n, population=50, confidence=level)
    outside = np.maximum(lower - k / n, k / n - upper)
    assert outside.max() < 1 / 50
    if level == 0.9:  # one missing of 50: P(X >= 48) = 2/50 < alpha/2 if the 50 hold 48
        assert outside.max() > 0


def test_98_of_99_draws_from_100_determine_the_share() -> None:
    # P(X >= 98) = 2/100 < alpha/2 if the 100 hold 98: they hold 99, since one is a failure
    lower, upper = hypergeometric(98, 99, population=100)
    assert (float(lower), float(upper)) == (0.99, 0.99)


def test_complete_and_empty_samples_have_trivial_limits() -> None:
    lower, upper = hypergeometric([3, 0, 0, 7], [7, 0, 0, 7], population=[7, 7, 0, 7])
    assert (lower.tolist(), upper.tolist()) == ([3 / 7, 0.0, 0.0, 1.0], [3 / 7, 1.0, 1.0, 1.0])


def test_limits_in_a_huge_population_are_nearly_binomial() -> None:
    limits = hypergeometric([0, 12, 50], 50, population=2 * 10**9)
    assert np.allclose(limits, clopper_pearson([0, 12, 50], 50), atol=1e-6)


def test_chunks_do_not_change_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    k, n, population = [4, 0, 9, 30, 2], [10, 5, 9, 60, 3], [100, 9, 400, 61, 1000]
    whole = hypergeometric(k, n, population=population)
    monkeypatch.setattr(finite_population, "_CHUNK", 2)
    parts = hypergeometric(k[::-1], n[::-1], population=population[::-1])
    assert [limit.tolist() for limit in whole] == [limit[::-1].tolist() for limit in parts]


def test_limits_broadcast_and_may_be_empty() -> None:
    empty = np.array([], dtype=np.int64)
    assert hypergeometric(empty, empty, population=empty)[0].shape == (0,)
    assert hypergeometric([[1], [2]], [3, 4], population=9)[1].shape == (2, 2)


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(ValueError, match=r"in 1 row, for example n = 5 of 4.*without replacement"):
        hypergeometric([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match="k = 3, n = 2"):
        hypergeometric(3, 2, population=9)
    with pytest.raises(ValueError, match="confidence"):
        hypergeometric(1, 2, population=9, confidence=1.0)


def pmf_of_the_shortest(K: int, k: int, n: int, population: int) -> Fraction:
    return Fraction(comb(K, k) * comb(population - K, n - k), comb(population, n))


def coverage(sets: list[set[int]], K: int, n: int, population: int) -> Fraction:
    return sum(
        (pmf_of_the_shortest(K, k, n, population) for k in range(n + 1) if K in sets[k]),
        Fraction(0),
    )


def slow_limits_of_the_shortest(n: int, population: int, level: str) -> list[tuple[int, int]]:
    """Keep a set of K for each outcome; remove one at a time while all K are still covered."""
    half = (1 - Fraction(level)) / 2
    sets = [
        {K for K in range(population + 1)
         if sum(pmf_of_the_shortest(K, x, n, population) for x in range(k, n + 1)) > half
         and sum(pmf_of_the_shortest(K, x, n, population) for x in range(k + 1)) > half}
        for k in range(n + 1)
    ]  # fmt: skip
    order, changed = sorted(range(n + 1), key=lambda k: (abs(2 * k - n), k)), True
    while changed:
        changed = False
        for k in order:
            while len(sets[k]) > 1 and (k == n or min(sets[k]) < min(sets[k + 1])):
                K, smaller = min(sets[k]), [set(one) for one in sets]
                smaller[k].discard(K)
                smaller[n - k].discard(population - K)
                worst = min(coverage(smaller, each, n, population) for each in (K, population - K))
                if not smaller[k] or worst < Fraction(level):
                    break
                sets, changed = smaller, True
    return [(min(one), max(one)) for one in sets]


def whole_limits(n: int, population: int, level: float) -> list[tuple[int, int]]:
    limits = hypergeometric_shortest(np.arange(n + 1), n, population=population, confidence=level)
    lower, upper = (np.rint(limit * population).astype(int).tolist() for limit in limits)
    return list(zip(lower, upper, strict=True))


def test_the_shortest_intervals_have_their_published_limits() -> None:
    # Wang's construction, (M, n) = (100, 10): k = 0..5
    expected = [(0, 29), (1, 39), (5, 50), (10, 60), (16, 70), (24, 76)]
    assert whole_limits(10, 100, 0.95)[:6] == expected
    assert whole_limits(50, 500, 0.95)[15] == (94, 218)


@pytest.mark.parametrize(("n", "population", "lowest"), [
    (10, 100, 0.9509), (50, 500, None), (499, 500, None), (250, 500, None), (37, 2000, None),
])  # fmt: skip
@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_shortest_intervals_keep_their_level(
    n: int, population: int, lowest: float | None, level: float
) -> None:
    K, limits = np.arange(population + 1), np.array(whole_limits(n, population, level))
    contains = (limits[:, :1] <= K) & (limits[:, 1:] >= K)
    chances = hypergeom.pmf(np.arange(n + 1)[:, None], population, K[None, :], n)
    covered = (contains * chances).sum(axis=0)
    assert covered.min() >= level - 1e-9
    if lowest and level == 0.95:
        assert round(covered.min(), 4) == lowest


@given(st.data(), st.sampled_from(LEVELS))
def test_the_shortest_intervals_agree_with_exact_fractions(data: st.DataObject, level: str) -> None:
    population = data.draw(st.integers(1, 22))
    n = data.draw(st.integers(1, population))
    assert whole_limits(n, population, float(level)) == slow_limits_of_the_shortest(
        n, population, level
    )


@given(st.data(), st.sampled_from(LEVELS))
def test_the_shortest_intervals_obey_the_laws(data: st.DataObject, level: str) -> None:
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


def test_the_shortest_intervals_cannot_be_shortened() -> None:
    n, population, level = 12, 60, "0.95"
    limits = whole_limits(n, population, float(level))
    sets = [set(range(low, high + 1)) for low, high in limits]
    for k, (low, _) in enumerate(limits):
        if low < bound_above(limits, k):
            fewer = [set(one) for one in sets]
            fewer[k].discard(low)
            fewer[n - k].discard(population - low)
            assert coverage(fewer, low, n, population) < Fraction(level)


def bound_above(limits: list[tuple[int, int]], k: int) -> int:
    return limits[k + 1][0] if k + 1 < len(limits) else limits[k][1]


def test_the_shortest_intervals_are_shorter_in_total() -> None:
    shortest = hypergeometric_shortest(np.arange(51), 50, population=500)
    equal_tails = hypergeometric(np.arange(51), 50, population=500)
    widths = [float((upper - lower).sum()) for lower, upper in (shortest, equal_tails)]
    assert widths[0] < 0.98 * widths[1]


def test_the_shortest_intervals_may_be_trivial() -> None:
    limits = hypergeometric_shortest([3, 0, 0, 7], [7, 0, 0, 7], population=[7, 7, 0, 7])
    assert [limit.tolist() for limit in limits] == [[3 / 7, 0, 0, 1], [3 / 7, 1, 1, 1]]


def test_the_shortest_intervals_broadcast_and_are_registered() -> None:
    empty = np.array([], dtype=np.int64)
    assert hypergeometric_shortest(empty, empty, population=empty)[0].shape == (0,)
    registered = INTERVALS.get("hypergeometric_shortest")
    lower, upper = registered([[4], [15]], [[10, 20], [50, 20]], population=[[100], [500]])
    assert lower.shape == upper.shape == (2, 2)
    assert (lower[0, 0], upper[0, 0], lower[1, 0], upper[1, 0]) == (0.16, 0.7, 94 / 500, 218 / 500)


def test_wrong_counts_are_refused_by_the_shortest_intervals() -> None:
    with pytest.raises(ValueError, match="for example n = 5 of 4"):
        hypergeometric_shortest([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match=r"of 1,000,000, not 2,000,000 \(1 row\)"):
        hypergeometric_shortest(1, 2, population=2_000_000)
    with pytest.raises(ValueError, match="confidence"):
        hypergeometric_shortest(1, 2, population=9, confidence=0.0)
