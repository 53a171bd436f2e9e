"""The Poisson likelihood in Stirling's approximation."""

from __future__ import annotations

import math

import polars as pl

from pipeline.kernels.measure import measure

O11, E11 = pl.col("o11"), pl.col("e11")


@measure(
    family="likelihood", formula="O11 (ln O11 - ln E11 - 1) / ln 10", range="(-inf, inf)",
    reference="Quasthoff & Wolff 2002", ucs="Poisson.Stirling",
    note="null where E11 = 0; 0 where O11 = 0",
)  # fmt: skip
def poisson_stirling() -> pl.Expr:
    """-log10 of the Poisson likelihood, roughly, for O11 well above E11; 0 where O11 = 0 < E11.

    It falls, as O11 grows, up to O11 = E11, is 0 at O11 = e E11, and grows from there.
    """
    score = O11 * (pl.col("mi") - 1.0 / math.log(10.0))
    return pl.when((O11 == 0) & (E11 > 0)).then(0.0).otherwise(score)
