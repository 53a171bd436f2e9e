"""Cells of contingency tables."""

from __future__ import annotations

import polars as pl
from hypothesis import given

from pipeline.kernels.association.contingency import COLUMNS, tables
from tests.kernels.association.cells import Cells, signatures


@given(cells=signatures())
def test_cells_against_exact_ones(cells: Cells) -> None:
    frame = pl.LazyFrame({"f": [cells.f], "f1": [cells.f1], "f2": [cells.f2], "N": [cells.n]})
    row = tables(frame).select(COLUMNS).collect().row(0, named=True)
    assert tuple(row[f"o{ij}"] for ij in ("11", "12", "21", "22")) == cells.observed
    for ij, exact in zip(("11", "12", "21", "22"), cells.expected, strict=True):
        assert abs(row[f"e{ij}"] - exact) <= abs(exact) * 4e-16
    assert abs(row["delta"] - cells.delta) <= abs(cells.delta) * 4e-16
    assert row["r1"] + row["r2"] == row["c1"] + row["c2"] == row["N"] == cells.n
