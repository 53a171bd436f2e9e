from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.statistics import finite_population
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.statistics.finite_population import hypergeometric

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
    """Try every K with exact fractions: the definition as it stands."""
    k, n, population = row
    half = (1 - Fraction(level)) / 2
    values = range(k, population - n + k + 1)
    lower = min(K for K in values if tail(K, k, n, population) > half)
    upper = max(K for K in values if 1 - tail(K, k + 1, n, population) > half)
    return (lower / population, upper / population) if population else (0.0, 1.0)


@pytest.mark.parametrize(("row", "limits"), [
    ((4, 10, 100), (0.14, 0.72)), ((56, 200, 1000), (0.226, 0.340)),
])  # fmt: skip
def test_known_limits(row: Row, limits: tuple[float, float]) -> None:
    k, n, population = row
    assert tuple(map(float, hypergeometric(k, n, population=population))) == limits


def test_by_hand() -> None:
    # one draw of four, a success: P(X_1 >= 1) = K/4 > 0.025 from K = 1, at most 4 of 4
    lower, upper = hypergeometric([1, 0], [1, 1], population=[4, 4])
    assert (lower.tolist(), upper.tolist()) == ([0.25, 0.0], [1.0, 0.75])


def test_a_tail_of_exactly_half_alpha_is_too_small() -> None:
    # P(X_K >= 1) = K/40 is 1/40 = alpha/2 at K = 1
    assert float(hypergeometric(1, 1, population=40)[0]) == 2 / 40
    assert float(hypergeometric(0, 1, population=40)[1]) == 38 / 40
    # two of two at 90 %: C(4,2) / C(16,2) = 6/120 at K = 4, and (1 - 0.9) / 2 rounds down
    assert float(hypergeometric(2, 2, population=16, confidence=0.9)[0]) == 5 / 16


@given(st.lists(rows(), min_size=1, max_size=8), st.sampled_from(LEVELS))
def test_agrees_with_exact_fractions(given_rows: list[Row], level: str) -> None:
    k, n, population = (list(column) for column in zip(*given_rows, strict=True))
    lower, upper = hypergeometric(k, n, population=population, confidence=float(level))
    expected = [slow_limits(row, level) for row in given_rows]
    assert list(zip(lower.tolist(), upper.tolist(), strict=True)) == expected


@pytest.mark.parametrize("row", [(3, 40, 700), (39, 40, 700), (0, 40, 700), (120, 300, 700)])
def test_agrees_with_exact_fractions_in_larger_populations(row: Row) -> None:
    k, n, population = row
    found = tuple(map(float, hypergeometric(k, n, population=population)))
    assert found == slow_limits(row, "0.95")


@pytest.mark.parametrize(("n", "population"), [(6, 25), (20, 25), (13, 60)])
@pytest.mark.parametrize("level", LEVELS)
def test_coverage_is_never_below_the_level(n: int, population: int, level: str) -> None:
    lower, upper = hypergeometric(
        np.arange(n + 1), n, population=population, confidence=float(level)
    )
    for K in range(population + 1):
        held = [k for k in range(n + 1) if lower[k] <= K / population <= upper[k]]
        chance = sum((tail(K, k, n, population) - tail(K, k + 1, n, population)) for k in held)
        assert chance >= Fraction(level)


@given(rows(largest=2000))
def test_laws(row: Row) -> None:
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
def test_the_estimate_is_less_than_one_of_the_population_outside(level: float) -> None:
    n, k = (part.ravel() for part in np.meshgrid(np.arange(1, 51), np.arange(51)))
    k, n = k[k <= n], n[k <= n]
    lower, upper = hypergeometric(k, n, population=50, confidence=level)
    outside = np.maximum(lower - k / n, k / n - upper)
    assert outside.max() < 1 / 50
    if level == 0.9:  # one missing of 50: P(X >= 48) = 2/50 < alpha/2 if the 50 hold 48
        assert outside.max() > 0


def test_98_of_99_from_100() -> None:
    # P(X >= 98) = 2/100 < alpha/2 if the 100 hold 98: they hold 99, since one is a failure
    lower, upper = hypergeometric(98, 99, population=100)
    assert (float(lower), float(upper)) == (0.99, 0.99)


def test_all_drawn_leaves_no_doubt_and_none_drawn_says_nothing() -> None:
    lower, upper = hypergeometric([3, 0, 0, 7], [7, 0, 0, 7], population=[7, 7, 0, 7])
    assert (lower.tolist(), upper.tolist()) == ([3 / 7, 0.0, 0.0, 1.0], [3 / 7, 1.0, 1.0, 1.0])


def test_small_part_of_a_huge_population_is_nearly_binomial() -> None:
    found = hypergeometric([0, 12, 50], 50, population=2 * 10**9)
    assert np.allclose(found, clopper_pearson([0, 12, 50], 50), atol=1e-6)


def test_result_belongs_to_its_row_whatever_the_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    k, n, population = [4, 0, 9, 30, 2], [10, 5, 9, 60, 3], [100, 9, 400, 61, 1000]
    whole = hypergeometric(k, n, population=population)
    monkeypatch.setattr(finite_population, "_CHUNK", 2)
    parts = hypergeometric(k[::-1], n[::-1], population=population[::-1])
    assert [limit.tolist() for limit in whole] == [limit[::-1].tolist() for limit in parts]


def test_no_rows_and_shapes() -> None:
    empty = np.array([], dtype=np.int64)
    assert hypergeometric(empty, empty, population=empty)[0].shape == (0,)
    assert hypergeometric([[1], [2]], [3, 4], population=9)[1].shape == (2, 2)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"in 1 rows, such as n = 5 of 4.*without replacement"):
        hypergeometric([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match="k = 3, n = 2"):
        hypergeometric(3, 2, population=9)
    with pytest.raises(ValueError, match="confidence"):
        hypergeometric(1, 2, population=9, confidence=1.0)
