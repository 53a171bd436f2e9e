"""Exact tests of a tuple."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.association.tails.distribution import Distribution
from pipeline.kernels.association.tails.one_sided import upper_tail
from pipeline.kernels.association.tails.rows import Columns, surprise
from pipeline.kernels.measure import tuple_measure


@tuple_measure(
    family="exact test", formula="-log10 P(X >= O), X ~ Poisson(E)", range="[0, inf)",
    reference="Quasthoff & Wolff 2002", sided="one-sided", ucs="Poisson.pv", aliases=("poisson",),
)  # fmt: skip
def poisson_pv(_size: int) -> pl.Expr:
    """-log10 p of the exact Poisson test; 0 where E = 0, since then O = 0 is certain."""
    return surprise(upper_tail, _poisson, ("o", "e", "delta"))


def _poisson(columns: Columns) -> Distribution:
    """Return the Poisson distribution of O with expectation E."""
    observed, mean = columns["o"], columns["e"]
    none = np.empty((0, len(observed)))
    return Distribution(observed[None], none, mean[None], columns["delta"], mean, none, none)
