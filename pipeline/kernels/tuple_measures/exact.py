"""Exact tests of a tuple."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.poisson import surprise
from pipeline.kernels.tuple_measure import tuple_measure


@tuple_measure(
    family="exact test", formula="-log10 P(X >= O), X ~ Poisson(E)", range="[0, inf)",
    reference="Quasthoff & Wolff 2002", sided="one-sided", ucs="Poisson.pv", aliases=("poisson",),
)  # fmt: skip
def poisson_pv(_size: int) -> pl.Expr:
    """-log10 p of the exact Poisson test; 0 where E = 0, since then O = 0 is certain."""
    columns = [pl.col(name) for name in ("o", "e", "delta")]
    return pl.map_batches(columns, _surprise, return_dtype=pl.Float64, is_elementwise=True)


def _surprise(series: Sequence[pl.Series]) -> pl.Series:
    observed, mean, difference = (each.to_numpy() for each in series)
    return pl.Series(surprise(observed, mean, difference))
