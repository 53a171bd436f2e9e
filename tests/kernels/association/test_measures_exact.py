"""Every closed form against rational or 60-digit values, everywhere."""

from __future__ import annotations

import math
from typing import Any, cast

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association.measures.effect_sizes import conservative_log_ratio, mikolov
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES
from tests.kernels.association.cells import Cells, frame, independent, signatures, small, tables
from tests.kernels.association.exact import EXACT, ROUNDED
from tests.kernels.association.exact_limits import LIMITS
from tests.kernels.association.exact_tails import TAILS

WITHOUT_TWIN = {"random"}
ELSEWHERE = {*TAILS, *LIMITS}
"""Measures on discrete distributions: `test_measures_tails`."""


def test_every_measure_has_an_exact_twin() -> None:
    missing = set(MEASURES) - set(EXACT) - WITHOUT_TWIN - ELSEWHERE
    assert not missing, "add it to RATIOS in exact_ratios.py, or to the list of its kind beside it"
    found = {name for name in {*EXACT, *ELSEWHERE} if name in MEASURES}
    assert found == {*EXACT, *ELSEWHERE}, "a twin of no measure: remove it"


def check(rows: list[Cells]) -> None:
    found = score(frame(*rows), measures=sorted(EXACT)).collect()
    wrong = [
        f"{name}{cells}: {value!r}, exactly {mpmath.nstr(exact, 20)}"
        for cells, scores in zip(rows, found.iter_rows(named=True), strict=True)
        for name, twin in EXACT.items()
        if not agree(value := scores[name], exact := twin(cells), size(name, cells))
    ]
    assert not wrong, "\n".join(wrong)


def size(name: str, cells: Cells) -> float:
    return ROUNDED[name](cells) if name in ROUNDED else 0.0


def agree(value: float | None, exact: mpmath.mpf | None, cancelled: float) -> bool:
    if value is None or exact is None:
        return value is exact
    if mpmath.isinf(exact) or math.isinf(value):
        return value == exact
    # 1e-300: p-values near 1 end where floating point does.
    return bool(abs(value - exact) <= 1e-11 * abs(exact) + 1e-14 * cancelled + 1e-300)


@given(rows=st.lists(tables, min_size=1, max_size=12))
def test_exact_value(rows: list[Cells]) -> None:
    check(rows)


@given(rows=st.lists(signatures(most=100, least=0), min_size=1, max_size=12))
def test_exact_value_in_small_tables(rows: list[Cells]) -> None:
    """Zero cells and full margins, O11 = 0 among them."""
    check(rows)


@given(rows=st.lists(st.one_of(small(), independent()), min_size=1, max_size=30))
def test_exact_value_at_independence(rows: list[Cells]) -> None:
    """Small tables, O11 = E11 in half of them, where a signed statistic has no sign."""
    check(rows)


def test_yates_at_independence() -> None:
    found = score(frame(Cells(2, 80, 40, 1600)), measures=["all"]).collect().row(0, named=True)
    assert found["chi_squared_corr_tt"] == pytest.approx(0.13495277, rel=1e-7)
    assert found["chi_squared_corr_tt_pv"] == pytest.approx(0.14669665, rel=1e-7)
    assert found["chi_squared_corr"] == 0
    assert found["chi_squared_corr_pv"] == pytest.approx(math.log10(2))


def test_degenerate_tables() -> None:
    check(
        [
            Cells(5, 5, 5, 5), Cells(2, 5, 2, 5), Cells(2, 2, 5, 5), Cells(0, 3, 4, 20),
            Cells(2, 4, 5, 10), Cells(0, 0, 4, 20), Cells(0, 4, 0, 20), Cells(0, 0, 0, 1),
            Cells(0, 0, 5, 5), Cells(0, 5, 0, 5), Cells(3, 3, 3, 10), Cells(3, 3, 7, 10),
            Cells(3, 7, 3, 10), Cells(1, 1, 1, 1), Cells(0, 1, 1, 2), Cells(1, 2, 1, 2),
        ]
    )  # fmt: skip


def test_large_counts() -> None:
    """Near independence, where textbook forms lose all digits, and far from it."""
    n = 10**12
    check(
        [
            Cells(10**10 + 1, 10**11, 10**11, n), Cells(10**10 - 1, 10**11, 10**11, n),
            Cells(1, 10**6, 10**6, n), Cells(1, 10**6 + 1, 10**6, n),
            Cells(10**11, 10**11, 10**11, n), Cells(5 * 10**11, 5 * 10**11, 5 * 10**11, n),
            Cells(0, 10**11, 10**11, n), Cells(1, n - 1, 1, n), Cells(n - 2, n - 1, n - 1, n),
            Cells(250_000_000_001, 5 * 10**11, 5 * 10**11 + 1, n),
        ]
    )  # fmt: skip


def test_corrections_that_nearly_cancel() -> None:
    """|D| within 1 of N/2 for Yates; numerator within 1 of the denominator with 1/2 added."""
    product = 700_001 * 700_003
    yates = [Cells(1, 700_001, 700_003, 2 * product + more) for more in range(-2, 4)]
    first, second = 10**6 + 3, 3 * (5 * 10**5 + 1)
    n = (first * second - 3) * 2 // 3
    halves = [Cells(1, first - 1, second - 1, n + more) for more in range(-30, 31)]
    check([*yates, *halves, *(cells.swapped for cells in halves)])


def test_parameters() -> None:
    cells = Cells(9, 40, 60, 5000)
    strict = cast(Any, conservative_log_ratio)(alpha=0.05, family_size=100)
    row = {"o11": 9.0, "o12": 31.0, "o21": 51.0, "o22": 4909.0, "r1": 40.0, "r2": 4960.0,
           "c1": 60.0, "N": 5000.0, "log_ratio": float(cast(Any, EXACT["log_ratio"](cells)))}  # fmt: skip
    found = pl.DataFrame([row]).select(clr=strict, mikolov=cast(Any, mikolov)(discount=2.0)).row(0)
    deviation = math.sqrt(1 / 9 + 1 / 51 - 1 / 40 - 1 / 4960)
    assert found[0] == pytest.approx(row["log_ratio"] - 3.4807564 * deviation / math.log(2))
    assert found[1] == pytest.approx(7 * 5000 / 2400)
