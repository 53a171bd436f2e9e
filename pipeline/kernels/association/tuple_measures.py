"""Association measures of tuples: test statistics, point estimates, and exact tests."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.association.contingency import cells
from pipeline.kernels.association.log_tails import Columns, Distribution, surprise, upper_tail
from pipeline.kernels.measure import tuple_measure
from pipeline.kernels.numeric import deviance, log_of_ratio, sign

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


# Point estimates and frequency


@tuple_measure(
    family="point estimate", formula="log10(O / E)", range="[-inf, inf]",
    reference="Church & Hanks 1990", ucs="MI", aliases=("pmi", "PMI"),
)  # fmt: skip
def mi(_size: int) -> pl.Expr:
    """MI = log10(O / E), in decimal logarithms as in UCS; -inf where O = 0 < E."""
    return log_of_ratio("o", "e", "delta", base=10.0)


@tuple_measure(
    family="heuristic", formula="O", range="[0, N]", reference="Evert & Krenn 2005, section 2",
    ucs="frequency", aliases=("freq", "f"),
)  # fmt: skip
def frequency(_size: int) -> pl.Expr:
    """Return the joint frequency O itself."""
    return pl.col("o")


# Exact tests


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
