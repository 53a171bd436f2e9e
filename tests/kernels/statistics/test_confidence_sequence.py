from __future__ import annotations

from fractions import Fraction
from math import comb, prod

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.sequential import confidence_sequence

Row = tuple[int, int, int]


@st.composite
def rows(draw: st.DrawFn, largest: int = 80) -> Row:
    population = draw(st.integers(1, largest))
    n = draw(st.integers(0, population))
    return draw(st.integers(0, n)), n, population


def rising(a: Fraction, m: int) -> Fraction:
    """Return a (a + 1) .. (a + m - 1)."""
    return prod((a + each for each in range(m)), start=Fraction(1))


def beta_binomial(x: int, n: int, a: Fraction, b: Fraction) -> Fraction:
    return comb(n, x) * rising(a, x) * rising(b, n - x) / rising(a + b, n)


def slow_limits(row: Row, confidence: float, a: float, b: float) -> tuple[float, float]:
    """Try every T by the ratio of prior to posterior as it stands, in fractions."""
    k, n, size = row
    one, other, alpha = Fraction(a), Fraction(b), 1 - Fraction(str(confidence))
    kept = [
        T for T in range(k, size - n + k + 1)
        if beta_binomial(T, size, one, other) * alpha
        < beta_binomial(T - k, size - n, one + k, other + n - k)
    ]  # fmt: skip
    assert kept == list(range(kept[0], kept[-1] + 1))
    return kept[0] / size, kept[-1] / size


@pytest.mark.parametrize(("row", "limits"), [
    ((2, 10, 100), (2, 62)), ((15, 50, 500), (70, 253)),
    ((24, 100, 1000), (128, 385)), ((60, 200, 2000), (412, 816)),
])  # fmt: skip
def test_known_limits(row: Row, limits: tuple[int, int]) -> None:
    k, n, size = row
    lower, upper = confidence_sequence(k, n, population=size)
    assert (float(lower) * size, float(upper) * size) == pytest.approx(limits)


@given(rows(), st.sampled_from([0.5, 0.9, 0.95]), st.sampled_from([(1, 1), (0.5, 0.5), (3, 7)]))
@example((1, 15, 24), 0.5, (3, 7))  # the ratio is exactly 1/alpha at T = 5
def test_agrees_with_the_ratio_for_every_total(
    row: Row, confidence: float, prior: tuple[float, float]
) -> None:
    k, n, size = row
    found = confidence_sequence(k, n, population=size, confidence=confidence, prior=prior)
    assert tuple(map(float, found)) == slow_limits(row, confidence, *prior)


@pytest.mark.parametrize("T", [0, 1, 4, 13, 20, 39, 40])
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_it_misses_at_any_time_with_probability_alpha_at_most(T: int, confidence: float) -> None:
    """Exactly, by following all samples that were never missed from one draw to the next."""
    size = 40
    never = np.array([1.0])  # by successes so far
    for n in range(1, size + 1):
        k = np.arange(n)
        hit = np.clip((T - k) / (size - n + 1), 0.0, 1.0)
        after = np.append(never * (1 - hit), 0.0) + np.append(0.0, never * hit)
        lower, upper = confidence_sequence(
            np.arange(n + 1), n, population=size, confidence=confidence
        )
        kept = (np.rint(lower * size) <= T) & (np.rint(upper * size) >= T)
        never = after * kept
    assert never.sum() >= confidence


@given(rows(largest=3000))
def test_laws(row: Row) -> None:
    k, n, size = row
    lower, upper = confidence_sequence([k, n - k], n, population=size)
    assert round(lower[0] * size) == size - round(upper[1] * size)
    assert 0 <= lower[0] <= upper[0] <= 1
    if n:
        assert lower[0] - 1 / size < k / n < upper[0] + 1 / size
    one_look = hypergeometric(k, n, population=size)
    assert upper[0] - lower[0] >= one_look[1] - one_look[0] - 1e-12


def test_how_much_wider_than_one_look() -> None:
    k, n, size = np.array([[2, 15, 24, 60], [10, 50, 100, 200], [100, 500, 1000, 2000]])
    wide, one = confidence_sequence(k, n, population=size), hypergeometric(k, n, population=size)
    times = (wide[1] - wide[0]) / (one[1] - one[0])
    assert 1.15 < times.min() < times.max() < 1.65


def test_degenerate() -> None:
    lower, upper = confidence_sequence([0, 3, 0], [0, 7, 0], population=[9, 7, 0])
    assert (lower.tolist(), upper.tolist()) == ([0, 3 / 7, 0], [1, 3 / 7, 1])
    assert confidence_sequence([], [], population=[])[0].shape == (0,)
    assert confidence_sequence([[1], [2]], [3, 4], population=9)[1].shape == (2, 2)


def test_huge_populations() -> None:
    lower, upper = confidence_sequence(12, 50, population=10**9)
    # P(X_T = 12) is binomial then: alpha / 51 where the limit is
    for p in (float(lower), float(upper)):
        assert comb(50, 12) * p**12 * (1 - p) ** 38 == pytest.approx(0.05 / 51, rel=1e-5)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="such as n = 5 of 4"):
        confidence_sequence([1, 1], [2, 5], population=4)
    with pytest.raises(ValueError, match="confidence"):
        confidence_sequence(1, 2, population=9, confidence=1.0)
    with pytest.raises(ValueError, match="above 0"):
        confidence_sequence(1, 2, population=9, prior=(0.0, 1.0))
