"""Conservative estimates: what association strength is at least, with a given confidence."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.tails.limits import log_odds_limit, poisson_limit
from pipeline.kernels.association.tails.rows import PER_DECADE, Columns, by_rows
from pipeline.kernels.measure import measure, measure_family
from pipeline.templates import Numbers

REPRESENTED = 300
"""Decades n down to which 10^-n is a number of full precision."""
_NORMAL = 1e-300
"""Means below lose digits, since numbers near 1e-308 have fewer of them."""
ALPHA = 0.05
FAMILY = 1  # comparisons that the error probability is shared by (Bonferroni)
_PER_DOUBLING = 1.0 / float(np.log(2.0))


@measure_family(
    numbers=Numbers(),
    standard=(1, 2, 3, 5, 10),
    family="conservative estimate",
    formula="log10(gammaincinv(O11, alpha/2) / E11), alpha = 10^-{n}",
    range="[-inf, inf)", reference="Evert 2004, section 3.1.5; Johnson 1999",
    ucs="MI.conf.{n}", ucs_numbers=(2, 3, 5, 10, 50, 100, 1000),
    note="null where E11 = 0; -inf where O11 = 0",
)  # fmt: skip
def mi_conf(decades: int) -> pl.Expr:
    """MI of the lower limit of a two-sided interval at the level 1 - 10^-n, for any whole n.

    The limit is that of the mean of a Poisson distribution; -inf where O11 = 0 < E11.
    """
    tail, log_tail = 10.0**-decades / 2.0, -decades * math.log(10.0) - math.log(2.0)
    known = None if decades <= REPRESENTED else log_tail
    score = partial(_mi_conf, tail=tail, log_tail=known)
    return by_rows(score, ("o11", "e11", "delta"), blocks=False)


def _mi_conf(columns: Columns, *, tail: float, log_tail: float | None) -> FloatArray:
    """Return log10(m / E), with m - E = (O - E) - (O - m); -inf where O = 0 < E."""
    observed, expected = columns["o11"], columns["e11"]
    limit = poisson_limit(observed, tail, log_tail=log_tail)
    excess = (columns["delta"] - limit.shortfall) / expected
    close = (np.abs(excess) < 0.5) & (expected > 0.25 * observed)  # else O - E has lost E
    ratio = np.log(limit.mean / expected)
    ratio = np.where(limit.mean > _NORMAL, ratio, limit.log_mean - np.log(expected))
    return np.where(close, np.log1p(excess), ratio) * PER_DECADE


@measure(
    family="conservative estimate",
    formula="log2((R2 / R1) tau / (1 - tau)), tau = betaincinv(O11, O21 + 1, .05)",
    range="[-inf, inf)", reference="Evert, Dykes & Peters 2018",
    aliases=("LRC.positive", "lrc_positive"), symmetric=False,
    note="null where R1 = 0 or R2 = 0; -inf where O11 = 0",
)  # fmt: skip
def positive_lrc() -> pl.Expr:
    """Lower limit of the log2 ratio of O11/R1 to O21/R2, one-sided at 95 %; not clamped.

    -inf where O11 = 0; null where R1 or R2 is 0.
    """
    return by_rows(_positive_lrc, ("o11", "o21", "r1", "r2"))


def _positive_lrc(columns: Columns) -> FloatArray:
    log_odds = log_odds_limit(columns["o11"], columns["o21"], ALPHA / FAMILY)
    return _per_unit(log_odds, columns)


@measure(
    family="conservative estimate",
    formula="as positive_lrc with alpha/2, but at least 0; where O11/R1 < O21/R2 the upper limit, "
    "at most 0",
    range="(-inf, inf)", reference="Evert, Dykes & Peters 2018", sided="none",
    aliases=("LRC",), symmetric=False,
    note="null where R1 = 0 or R2 = 0; 0 where O11 = E11",
)  # fmt: skip
def lrc() -> pl.Expr:
    """Limit nearer to 0 of the two-sided 95 % interval of the log2 ratio; 0 if it contains 0.

    Null where R1 or R2 is 0.
    """
    return by_rows(_lrc, ("o11", "o21", "r1", "r2", "delta"))


def _lrc(columns: Columns) -> FloatArray:
    hits, others, tail = columns["o11"], columns["o21"], ALPHA / (2.0 * FAMILY)
    more = columns["delta"] >= 0.0  # just where O11 / R1 >= O21 / R2
    limit = log_odds_limit(np.where(more, hits, others), np.where(more, others, hits), tail)
    score = _per_unit(np.where(more, limit, -limit), columns)
    clamped = np.where(more, np.maximum(score, 0.0), np.minimum(score, 0.0))
    return np.where(np.isnan(score), np.nan, clamped)


def _per_unit(log_odds: FloatArray, columns: Columns) -> FloatArray:
    """Return log2 of the odds that a token is of the first unit, per token of R1 and R2."""
    r1, r2 = columns["r1"], columns["r2"]
    ratio = (np.log(r2 / r1) + log_odds) * _PER_DOUBLING
    return np.where((r1 > 0) & (r2 > 0), ratio, np.nan)
