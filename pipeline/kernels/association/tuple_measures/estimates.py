"""Point estimates of the association of a tuple, and its frequency."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import log_ratio
from pipeline.kernels.measure import tuple_measure


@tuple_measure(
    family="point estimate", formula="log10(O / E)", range="[-inf, inf]",
    reference="Church & Hanks 1990", ucs="MI", aliases=("pmi", "PMI"),
)  # fmt: skip
def mi(_size: int) -> pl.Expr:
    """MI = log10(O / E), in decimal logarithms as in UCS; -inf where O = 0 < E."""
    return log_ratio("o", "e", "delta", base=10.0)


@tuple_measure(
    family="heuristic", formula="O", range="[0, N]", reference="Evert & Krenn, section 2",
    ucs="frequency", aliases=("freq", "f"),
)  # fmt: skip
def frequency(_size: int) -> pl.Expr:
    """Return the joint frequency O itself."""
    return pl.col("o")
