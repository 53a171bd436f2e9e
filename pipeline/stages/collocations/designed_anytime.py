"""Limits and tests of `evaluate.designed` that hold at every size of a simple sample."""

from __future__ import annotations

import numpy as np
import polars as pl

from pipeline.kernels.statistics.anytime import anytime_difference, anytime_p_values
from pipeline.kernels.statistics.confidence_sequence import confidence_sequence
from pipeline.kernels.statistics.intervals import Limits


def lists_at_any_time(lists: pl.DataFrame, *, level: float) -> pl.DataFrame:
    """Put the confidence sequence of each list in the place of its limits.

    Parameters
    ----------
    lists : pl.DataFrame
        k_sampled, n_sampled, estimate, n (or size, of windows), and confidence if it is there.
    level : float
        Alpha of each.
    """
    size = "size" if "size" in lists.columns else "n"
    k, n, members = (lists[name].to_numpy() for name in ("k_sampled", "n_sampled", size))
    limits = confidence_sequence(k, n, population=members, confidence=1.0 - level)
    told = lists.with_columns(confidence=pl.lit(1.0 - level)) if "confidence" in lists else lists
    return _with(told, limits, "estimate")


def differences_at_any_time(found: pl.DataFrame, *, confidence: float) -> pl.DataFrame:
    """Put limits and p-values that hold at every size in the place of those of one look.

    Alpha of the limits is divided by the number of differences: they exclude 0 where Bonferroni's
    method makes a difference significant.
    """
    counts = [found[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2")]
    size, n = found["size"].to_numpy(), found["n"].to_numpy()
    each = 1.0 - (1.0 - confidence) / max(1, found.height)
    limits = anytime_difference(*counts, populations=(size, size), confidence=each)
    scaled = limits[0] * size / n, limits[1] * size / n
    p = anytime_p_values(*counts, populations=(size, size))
    tested = found.with_columns(pl.Series("p_value", p).fill_nan(None))
    return _with(tested, scaled, "difference")


def _with(table: pl.DataFrame, limits: Limits, estimate: str) -> pl.DataFrame:
    """Put limits in, no nearer than the estimate, which need not be a whole number of members."""
    value = table[estimate].cast(pl.Float64).fill_null(np.nan).to_numpy()
    lower, upper = np.fmin(limits[0], value), np.fmax(limits[1], value)
    return table.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))
