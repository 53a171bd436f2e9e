"""Likelihoods where they are near 1, by hand, and as sums of all tables."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.kernels.association.scoring import score
from tests.kernels.association.cells import Cells
from tests.kernels.association.exact_tails import TAILS

NAMES = [name for name in sorted(TAILS) if "likelihood" in name]


def scores(name: str, *cells: Cells) -> list[float]:
    table = [(c.f, c.f1, c.f2, c.n) for c in cells]
    frame = pl.LazyFrame(table, schema=dict.fromkeys(SIGNATURE, pl.Int64), orient="row")
    return score(frame, measures=[name]).collect().get_column(name).to_list()


def test_by_hand() -> None:
    """O = 1, 0, 0, 1: E11 = 1/2; C(1,1) C(1,0) / C(2,1) = 1/2; 2!/1 (1/4)^2 = 1/8."""
    cells = Cells(1, 1, 1, 2)
    p = {name: 10 ** -scores(name, cells)[0] for name in NAMES}
    assert p["hypergeometric_likelihood_pv"] == pytest.approx(1 / 2, rel=1e-14)
    assert p["multinomial_likelihood_pv"] == pytest.approx(1 / 8, rel=1e-14)
    assert p["binomial_likelihood_pv"] == pytest.approx(2 * 0.25 * 0.75, rel=1e-14)
    assert p["poisson_likelihood_pv"] == pytest.approx(math.exp(-0.5) / 2, rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("cells", [
    Cells(0, 1, 1, 10**9), Cells(10, 10, 10**9 - 1, 10**9), Cells(0, 30, 50, 10**12),
    Cells(146, 382, 4047, 406159), Cells(10**10, 10**11, 10**11, 10**12),
    Cells(10**11, 10**11, 10**11, 10**12), Cells(40, 100, 40, 100), Cells(0, 40, 60, 100),
], ids=str)  # fmt: skip
def test_agrees_with_sixty_digits_at_the_extremes(name: str, cells: Cells) -> None:
    exact = float(TAILS[name](cells))
    assert scores(name, cells) == [pytest.approx(exact, rel=1e-12, abs=0)]


@given(n=st.integers(1, 40), data=st.data())
def test_hypergeometric_likelihoods_of_all_tables_add_up_to_one(
    n: int, data: st.DataObject
) -> None:
    f1, f2 = data.draw(st.integers(0, n)), data.draw(st.integers(0, n))
    every = [Cells(f, f1, f2, n) for f in range(max(0, f1 + f2 - n), min(f1, f2) + 1)]
    found = scores("hypergeometric_likelihood_pv", *every)
    assert sum(10**-each for each in found) == pytest.approx(1, rel=1e-13)


def test_one_possible_table_gives_zero() -> None:
    """But the multinomial law lets the margins vary: 2 of 5 with one row is C(5,2) .4^2 .6^3."""
    for name in set(NAMES) - {"poisson_likelihood_pv"}:
        assert math.copysign(1, scores(name, Cells(5, 5, 5, 5))[0]) == 1
        assert scores(name, Cells(5, 5, 5, 5)) == [0]
    assert scores("hypergeometric_likelihood_pv", Cells(2, 5, 2, 5)) == [0]
    p = 10 ** -scores("multinomial_likelihood_pv", Cells(2, 5, 2, 5))[0]
    assert p == pytest.approx(10 * 0.4**2 * 0.6**3, rel=1e-14)
    assert scores("poisson_likelihood_pv", Cells(0, 0, 4, 9)) == [0]
