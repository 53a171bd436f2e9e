"""Common functions of measures against 60-digit values."""

from __future__ import annotations

import math

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import deviance, log_of_ratio, xlogy

mpmath.mp.dps = 60


def one(expression: pl.Expr, **values: float) -> float:
    return pl.DataFrame({k: [float(v)] for k, v in values.items()}).select(expression).item()


@given(x=st.integers(1, 10**9), d=st.integers(-(10**9), 10**9))
def test_deviance_agrees_with_sixty_digits(x: int, d: int) -> None:
    m = x - d
    if m <= 0:
        return
    exact = x * mpmath.log(mpmath.mpf(x) / m) + m - x
    assert abs(one(deviance("x", "m", "d"), x=x, m=m, d=d) - exact) <= 2e-14 * abs(exact)


@pytest.mark.parametrize(
    ("x", "m", "d", "value"), [(0, 2, -2, 2), (3, 3, 0, 0), (1, 0, 1, math.inf)]
)
def test_deviance_has_these_values_at_the_edges(x: float, m: float, d: float, value: float) -> None:
    assert one(deviance("x", "m", "d"), x=x, m=m, d=d) == value


@given(x=st.integers(1, 10**12), y=st.integers(1, 10**12))
def test_log_ratios_agree_with_sixty_digits(x: int, y: int) -> None:
    exact = mpmath.log(mpmath.mpf(x) / y) / mpmath.log(10)
    assert abs(one(log_of_ratio("x", "y", "d", base=10), x=x, y=y, d=x - y) - exact) <= 4e-15 * abs(
        exact
    )


def test_log_ratios_have_these_values_at_the_edges() -> None:
    assert one(log_of_ratio("x", "y", "d"), x=0, y=2, d=-2) == -math.inf
    assert one(log_of_ratio("x", "y", "d"), x=2, y=0, d=2) == math.inf


def test_zero_times_log_zero_is_zero() -> None:
    assert one(xlogy("x", "y"), x=0, y=0) == 0
