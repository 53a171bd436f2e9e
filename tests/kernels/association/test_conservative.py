"""Conservative estimates against exact values, closed forms, and their laws."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.association.log_tails import log_odds_limit, poisson_limit
from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells
from tests.kernels.association.exact_limits import LIMITS


def scores(name: str, *cells: Cells) -> list[float | None]:
    table = [(c.f, c.f1, c.f2, c.n) for c in cells]
    frame = pl.LazyFrame(table, schema=dict.fromkeys(SIGNATURE, pl.Int64), orient="row")
    return score(frame, measures=[name]).collect().get_column(name).to_list()


@pytest.mark.parametrize("name", sorted(LIMITS))
@pytest.mark.parametrize("cells", [
    Cells(146, 382, 4047, 406159), Cells(1, 5, 1, 110_086_004_640), Cells(3, 3, 3, 9),
    Cells(69, 18_100_535_427, 69, 46_333_689_108), Cells(11_377, 14_799, 11_377, 14_803),
    Cells(10**10 + 10**6, 10**11, 10**11, 10**12), Cells(2 * 10**6, 10**7, 10**9, 10**9 + 1),
    Cells(2, 10**6, 10**6, 10**8), Cells(10**10 - 10**6, 10**11, 10**11, 10**12),
], ids=str)  # fmt: skip
def test_agrees_with_integrals_at_sixty_digits(name: str, cells: Cells) -> None:
    exact = LIMITS[name](cells)
    assert exact is not None
    assert scores(name, cells) == [pytest.approx(float(exact), rel=1e-12, abs=1e-15)]


def test_one_token() -> None:
    """P(X >= 1) = 1 - exp(-m) = 1 - (1-p)^n has closed inverses."""
    (mi,) = scores("mi_conf_2", Cells(1, 10, 10, 1000))
    assert mi == pytest.approx(math.log10(-math.log1p(-0.005) / 0.1), rel=1e-14)
    (lrc,) = scores("positive_lrc", Cells(1, 10, 21, 1000))
    p = -math.expm1(math.log(0.95) / 21)
    assert lrc == pytest.approx(math.log2(99 * p / (1 - p)), rel=1e-14)


def test_always_together() -> None:
    """O21 = 0: the lower limit of n out of n successes is alpha^(1/n)."""
    (lrc,) = scores("lrc", Cells(8, 86, 8, 177))
    p = 0.025 ** (1 / 8)
    assert lrc == pytest.approx(math.log2(91 / 86 * p / (1 - p)), rel=1e-13)


@given(k=st.integers(1, 10**12), misses=st.integers(0, 10**12))
def test_limits_stay_below_the_estimates(k: int, misses: int) -> None:
    (limit,), (shortfall,), (logarithm,) = poisson_limit(np.array([float(k)]), 0.025)
    assert 0 < limit < k
    assert logarithm == pytest.approx(math.log(limit), rel=1e-14, abs=1e-14)
    assert limit + shortfall == pytest.approx(k, rel=1e-15)
    (lower,) = log_odds_limit(np.array([float(k)]), np.array([float(misses)]), 0.025)
    (higher,) = log_odds_limit(np.array([float(k)]), np.array([float(misses)]), 0.05)
    assert lower < higher < (math.log(k / misses) if misses else math.inf)


def test_lrc_is_zero_where_the_interval_contains_zero_and_keeps_the_sign_elsewhere() -> None:
    independent, more, less = Cells(12, 100, 100, 1000), Cells(40, 100, 100, 1000), Cells(
        1, 400, 100, 1000
    )  # fmt: skip
    assert scores("lrc", independent) == [0]
    for cells, sign in ((more, 1), (less, -1)):
        (found,) = scores("lrc", cells)
        assert found is not None
        assert found * sign > 0
    (unclamped,) = scores("positive_lrc", less)
    assert unclamped is not None
    assert unclamped < 0


def test_degenerate_tables() -> None:
    never, absent, alone, everything = (
        Cells(0, 3, 4, 20), Cells(0, 0, 4, 20), Cells(2, 5, 2, 5), Cells(2, 2, 5, 5),
    )  # fmt: skip
    assert scores("mi_conf_2", never, absent) == [-math.inf, None]
    assert scores("positive_lrc", never, absent, alone) == [-math.inf, None, None]
    assert scores("lrc", absent, alone) == [None, None]
    assert scores("lrc", everything) == [0]
    assert all(scores(name) == [] for name in LIMITS)
