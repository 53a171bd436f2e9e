"""Heuristic measures."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure


@measure(
    family="heuristic", formula="O11", range="[0, N]", reference="Evert & Krenn, section 2",
    ucs="frequency", aliases=("freq", "f"),
)  # fmt: skip
def frequency() -> pl.Expr:
    """Return the joint frequency O11 itself."""
    return pl.col("o11")
