"""A measure of one's own."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure


@measure(
    family="heuristic",
    formula="sqrt(O11)",
    range="[0, inf)",
    reference="none",
    aliases=("root",),
)
def root_frequency() -> pl.Expr:
    """Return the square root of the joint frequency."""
    return pl.col("o11").sqrt()
