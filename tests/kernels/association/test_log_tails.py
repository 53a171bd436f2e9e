"""Measures on discrete distributions and their limits against 60-digit values, over all magnitudes."""

from __future__ import annotations

import math

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.log_tails import normal_two_sided, one_sided
from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells, frame, signatures
from tests.kernels.association.exact import LIMITS
from tests.kernels.association.exact_tails import TAILS

TWINS = {**TAILS, **LIMITS}


def values(name: str, *cells: Cells) -> list[float | None]:
    return score(frame(*cells), measures=[name]).collect().get_column(name).to_list()


@pytest.mark.long
@given(data=st.data())
@pytest.mark.parametrize("name", sorted(TWINS))
def test_tail_measures_agree_with_sixty_digits(name: str, data: st.DataObject) -> None:
    cell_tables = signatures(10**8 if name in TAILS else 10**12)  # exact tails are slow
    rows = data.draw(st.lists(cell_tables, min_size=4, max_size=8))
    slack = 1e-14 if name in LIMITS else 1e-290  # a logarithm near 0; near 1 - 1e-290
    for cells, value in zip(rows, values(name, *rows), strict=True):
        exact = TWINS[name](cells)
        assert (value is None) == (exact is None), cells
        if value is not None and exact is not None:
            close = abs(value - exact) <= 1e-11 * abs(exact) + slack
            assert close, (cells, value, mpmath.nstr(exact, 20))


# Normal tails against 60-digit values, over all distances.

mpmath.mp.dps = 60
LN10 = mpmath.log(10)


def tails(z: float) -> tuple[float, float]:
    frame = pl.DataFrame({"z": [z, 1.0]})
    both = frame.with_columns(both=normal_two_sided(pl.col("z") * pl.col("z")))
    return both.select("both", one=one_sided(pl.col("z"), pl.col("both"))).row(0)


@given(size=st.floats(-12, 12), sign=st.sampled_from([-1.0, 1.0]))
def test_normal_tails_agree_with_sixty_digits(size: float, sign: float) -> None:
    z = sign * 10.0**size
    x = mpmath.mpf(z * z)
    p = mpmath.erfc(mpmath.sqrt(x / 2))
    near = x < 1
    both = -(mpmath.log1p(-mpmath.erf(mpmath.sqrt(x / 2))) if near else mpmath.log(p))
    one = -mpmath.log(p / 2) if z > 0 else -mpmath.log1p(-p / 2)
    logarithms = tails(z)
    for value, exact in zip(logarithms, (both / LN10, one / LN10), strict=True):
        assert abs(value - exact) <= 1e-12 * abs(exact) + 1e-300, (z, value, mpmath.nstr(exact, 20))


def test_normal_tails_are_exact_at_zero_and_infinity() -> None:
    assert tails(0.0) == (0.0, pytest.approx(math.log10(2), rel=1e-15))
    assert tails(float("inf")) == (float("inf"), float("inf"))
    assert tails(float("-inf")) == (float("inf"), 0.0)
    assert all(math.isnan(value) for value in tails(float("nan")))
