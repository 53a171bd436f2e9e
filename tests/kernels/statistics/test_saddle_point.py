from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.statistics.fisher import (
    bd0,
    log_binomial_pmf,
    log_hypergeometric_pmf,
    stirlerr,
    stirling_remainder,
)

EXACT = mpmath.MPContext()
EXACT.dps = 60
PROBABLE = 1e-13  # of the pmf itself, where it is not tiny
RELATIVE = 1e-14  # of the log pmf, in the far tails


def log_choose(n: int, k: int) -> mpmath.mpf:
    return EXACT.loggamma(n + 1) - EXACT.loggamma(k + 1) - EXACT.loggamma(n - k + 1)


def exact_hypergeometric(k: int, good: int, bad: int, draws: int) -> float:
    ways = log_choose(good, k) + log_choose(bad, draws - k)
    return float(ways - log_choose(good + bad, draws))


def exact_binomial(k: int, n: int, p: float) -> float:
    ln_p, ln_q = EXACT.log(EXACT.mpf(p)), EXACT.log(1 - EXACT.mpf(p))
    return float(log_choose(n, k) + k * ln_p + (n - k) * ln_q)


@st.composite
def hypergeometric_cases(draw: st.DrawFn) -> tuple[int, int, int, int]:
    size = st.integers(0, 9).flatmap(lambda digits: st.integers(0, 10**digits))
    good, bad = draw(size), draw(size)
    draws = draw(st.integers(0, good + bad))
    return draw(st.integers(max(0, draws - bad), min(good, draws))), good, bad, draws


@pytest.mark.parametrize("n", [1, 2, 7, 15, 16, 17, 40, 1000, 10**9, 10**15])
def test_stirlerr_equals_its_definition(n: int) -> None:
    exact = EXACT.loggamma(n + 1) - EXACT.log(2 * EXACT.pi * n) / 2 - n * EXACT.log(n) + n
    assert stirlerr(n) == pytest.approx(float(exact), rel=1e-15, abs=0)


def test_stirlerr_keeps_its_shape_and_is_infinite_at_zero() -> None:
    assert stirlerr([[0, 1], [20, 30]]).shape == (2, 2)
    assert stirlerr(0) == np.inf


def test_stirling_remainder_completes_the_factorial() -> None:
    n = np.array([1, 2, 3, 10, 20])
    factorials = np.exp(n * np.log(n) - n + stirling_remainder(n))
    assert factorials == pytest.approx([1, 2, 6, 3628800, 2432902008176640000], rel=1e-13, abs=0)
    assert stirling_remainder(0) == 0


@given(st.floats(1e-3, 1e9), st.floats(-0.999, 3) | st.floats(-1e-6, 1e-6))
def test_bd0_equals_its_definition(expected: float, relative: float) -> None:
    x = expected * (1 + relative)
    exact_x, exact_m = EXACT.mpf(x), EXACT.mpf(expected)
    exact = exact_x * EXACT.log(exact_x / exact_m) + exact_m - exact_x
    assert bd0(x, expected) == pytest.approx(float(exact), rel=5e-15, abs=0)


@pytest.mark.parametrize("v", [0.005, 0.02, 0.05, 0.09, 0.12, 0.1499, 0.1501, 0.2, 0.5])
def test_bd0_where_the_series_takes_over(v: float) -> None:
    x = np.arange(100.0, 200.0)
    for sign in (1, -1):
        m = x * (1 - sign * v) / (1 + sign * v)  # (x - m) / (x + m) is v or -v
        pairs = [(EXACT.mpf(a), EXACT.mpf(b)) for a, b in zip(x, m, strict=True)]
        exact = [float(a * EXACT.log(a / b) + b - a) for a, b in pairs]
        assert bd0(x, m) == pytest.approx(exact, rel=2e-15, abs=0)


def test_bd0_at_its_borders() -> None:
    assert bd0([0, 5, 0, 5], [0, 5, 7, 0]).tolist() == [0, 0, 7, np.inf]


@given(hypergeometric_cases())
def test_hypergeometric_agrees_with_sixty_digits(case: tuple[int, int, int, int]) -> None:
    exact = exact_hypergeometric(*case)
    assert log_hypergeometric_pmf(*case) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)


@pytest.mark.parametrize("sigmas", [-6, -1, 0, 0.5, 3, 8])
@pytest.mark.parametrize(("good", "bad", "draws"), [
    (10**9, 10**9, 10**9), (10**9, 7 * 10**8, 3 * 10**5), (123_456_789, 987_654_321, 31_415_926),
    (987_654_321, 876_543_219, 765_432_187),
])  # fmt: skip
def test_hypergeometric_near_its_mode_with_huge_counts(
    good: int, bad: int, draws: int, sigmas: float
) -> None:
    total = good + bad
    spread = np.sqrt(draws * (good / total) * (bad / total) * (1 - draws / total))
    k = round(draws * good / total + sigmas * spread)
    log_pmf = log_hypergeometric_pmf(k, good, bad, draws)
    assert log_pmf == pytest.approx(exact_hypergeometric(k, good, bad, draws), abs=2e-13)


@given(
    st.integers(0, 9).flatmap(lambda digits: st.integers(1, 10**digits)),
    st.floats(0, 1),
    st.floats(1e-6, 0.5),
)
def test_binomial_agrees_with_sixty_digits(n: int, share: float, p: float) -> None:
    k = round(n * share)
    exact = exact_binomial(k, n, p)
    assert log_binomial_pmf(k, n, p, 1 - p) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)
    assert log_binomial_pmf(n - k, n, 1 - p, p) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)


@pytest.mark.parametrize("p", [0.3, 1e-3, 0.49999])
@pytest.mark.parametrize("sigmas", [-5, 0, 2, 6])
def test_binomial_near_its_mode_with_huge_counts(p: float, sigmas: float) -> None:
    n = 10**9
    k = round(n * p + sigmas * np.sqrt(n * p * (1 - p)))
    exact = exact_binomial(k, n, p)
    assert log_binomial_pmf(k, n, p, 1 - p) == pytest.approx(exact, abs=1e-13)


def test_small_cases_by_hand() -> None:
    # C(4,k) C(4,4-k) / C(8,4) = 1, 16, 36, 16, 1 of 70; C(3,k) 2^(3-k) / 3^3 for p = 1/3
    tables = np.exp(log_hypergeometric_pmf(np.arange(5), 4, 4, 4))
    assert tables * 70 == pytest.approx([1, 16, 36, 16, 1], rel=1e-14, abs=0)
    tosses = np.exp(log_binomial_pmf(np.arange(4), 3, 1 / 3, 2 / 3))
    assert tosses * 27 == pytest.approx([8, 12, 6, 1], rel=1e-14, abs=0)


def test_outside_the_support_is_impossible() -> None:
    assert log_binomial_pmf([-1, 4], 3, 0.5, 0.5).tolist() == [-np.inf, -np.inf]
    # of 5 good and 2 bad ones, 4 draws hold at least 2 good ones
    assert log_hypergeometric_pmf([-1, 1, 5], 5, 2, 4).tolist() == [-np.inf] * 3
    assert log_hypergeometric_pmf(0, 2, 2, 5) == -np.inf


def test_certain_outcomes() -> None:
    assert log_binomial_pmf([0, 1, 3, 2], 3, [0, 0, 1, 1], [1, 1, 0, 0]).tolist() == [
        0, -np.inf, 0, -np.inf,
    ]  # fmt: skip
    assert log_binomial_pmf(0, 0, 0.3, 0.7) == 0
    certain = log_hypergeometric_pmf([0, 4, 0, 9, 0], [0, 9, 9, 9, 0], [5, 0, 5, 5, 0],
                                     [3, 4, 0, 14, 0])  # fmt: skip
    assert certain == pytest.approx(np.zeros(5), abs=1e-15)
    assert np.all(certain <= 0)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 120))
def test_probabilities_add_up_to_one(good: int, bad: int, draws: int) -> None:
    draws = min(draws, good + bad)
    k = np.arange(-1, draws + 2)
    assert np.exp(log_hypergeometric_pmf(k, good, bad, draws)).sum() == pytest.approx(1, abs=1e-13)


def test_arguments_broadcast_and_may_be_empty() -> None:
    assert log_hypergeometric_pmf(np.arange(3)[:, None], [4, 5], 6, 3).shape == (3, 2)
    assert log_hypergeometric_pmf([], [], [], []).shape == (0,)
    assert log_binomial_pmf([], 3, 0.5, 0.5).shape == (0,)
