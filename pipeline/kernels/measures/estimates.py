"""Point estimates of association strength."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import log_ratio
from pipeline.kernels.measure import measure


@measure(
    family="point estimate", formula="log10(O11 / E11)", range="[-inf, inf]",
    reference="Church & Hanks 1990", ucs="MI", aliases=("pmi", "PMI"),
)  # fmt: skip
def mi() -> pl.Expr:
    """MI = log10(O11 / E11), in decimal logarithms as in UCS; -inf where O11 = 0 < E11."""
    return log_ratio("o11", "e11", "delta", base=10.0)


@measure(
    family="point estimate", formula="2 O11 / (R1 + C1)", range="[0, 1]",
    reference="Smadja et al. 1996", ucs="Dice",
)  # fmt: skip
def dice() -> pl.Expr:
    """Dice = 2 O11 / (R1 + C1); 1 where the two units only occur together."""
    return 2.0 * pl.col("o11") / (pl.col("r1") + pl.col("c1"))
