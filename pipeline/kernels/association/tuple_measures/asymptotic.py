"""Asymptotic tests of a tuple: how surprising is O under complete independence."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.arithmetic import deviance, sign
from pipeline.kernels.association.tuple_tables import cells
from pipeline.kernels.measure import tuple_measure

O, E, DELTA = pl.col("o"), pl.col("e"), pl.col("delta")  # noqa: E741  the letters of the field


@tuple_measure(
    family="asymptotic test", formula="(O - E) / sqrt(O)", range="(-inf, inf)",
    reference="Church et al. 1991", sided="signed", ucs="t.score", aliases=("t", "tscore"),
)  # fmt: skip
def t_score(_size: int) -> pl.Expr:
    """T = (O - E) / sqrt(O); -inf where O = 0 < E, null where both are 0."""
    return DELTA / O.sqrt()


@tuple_measure(
    family="asymptotic test", formula="2 (O ln(O / E) - (O - E)), sign of O - E",
    range="(-inf, inf]", reference="Evert 2008, simple-ll", sided="signed",
    aliases=("simple.ll", "simple-ll"),
)  # fmt: skip
def simple_ll(_size: int) -> pl.Expr:
    """G2 of the joint frequency alone: 2 (O ln(O/E) - (O - E)), signed."""
    return sign(DELTA, 2.0 * deviance(O, E, DELTA))


@tuple_measure(
    family="asymptotic test", formula="2 sum O_c ln(O_c / E_c) over all 2^k cells, sign of O - E",
    range="(-inf, inf)", reference="Dunning 1993; Agresti 2013, chapter 9", sided="signed",
    ucs="log.likelihood", aliases=("LL", "G2", "ll", "g2", "log_likelihood_ratio"),
)  # fmt: skip
def log_likelihood(size: int) -> pl.Expr:
    """G2 against complete independence, signed by the joint cell; a sum of deviances.

    The deviances bd0(O, E) = O ln(O/E) + E - O of all cells add up to sum O ln(O/E), because
    observed and expected cells have the same total; none is negative, so nothing cancels.
    0 where O = E in all cells. With more than two units G2 is not 0 where O = E in the joint
    cell alone: the parts of the tuple may be associated. Then its sign is 0, and so is the score.
    """
    total = pl.lit(0.0)
    for name in cells(size):
        total = total + deviance(f"o{name}", f"e{name}", f"delta{name}")
    return sign(DELTA, 2.0 * total)
