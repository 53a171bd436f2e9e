"""A measure of one's own, and a family of them."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.measure import measure, measure_family
from pipeline.registry import NumberRange


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


@measure_family(
    numbers=NumberRange(),
    family="heuristic",
    formula="O11^(1/{n})",
    range="[0, inf)",
    reference="none",
    aliases=("Root.{n}",),
)
def root_of_frequency(n: int) -> pl.Expr:
    """Return the n-th root of the joint frequency."""
    return pl.col("o11").pow(1.0 / n)
