"""Precision, recall and L along the sampled lemmas, with moving averages."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray
from schemas import LexiconTrends

Order: TypeAlias = Literal["position", "size"]


def trends(
    scores: pl.DataFrame, *, order: Order = "position", span: int | None = None
) -> pl.DataFrame:
    """Return the values of each lemma in order, and their moving averages.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    order : str
        "position": as drawn. "size": by the number of gold forms, so that the averages say
        whether large paradigms do worse.
    span : int, optional
        Lemmas in an average, the lemma itself in the middle; at the ends there are fewer. A
        tenth of the sample, 3 at least, if not given.

    Returns
    -------
    DataFrame
        `schemas.LexiconTrends`.
    """
    keys = ("position",) if order == "position" else ("n_gold", "position")
    ordered = scores.sort(*keys, "lemma")
    width = span or max(3, ordered.height // 10)
    averages = {
        f"{name.lower()}_trend": moving_average(ordered[name].to_numpy(), span=width)
        for name in ("precision", "recall", "L")
    }
    number = pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("n")
    kept = ordered.select(number, "lemma", "n_gold", "precision", "recall", "L")
    span_column = pl.lit(width, pl.Int64).alias("span")
    return kept.with_columns(**{k: pl.Series(v) for k, v in averages.items()}).with_columns(
        span_column
    ).select(*LexiconTrends.columns())  # fmt: skip


def moving_average(values: npt.ArrayLike, *, span: int) -> FloatArray:
    """Return the mean of the values around each place.

    Parameters
    ----------
    values : array_like, shape (n,)
        In order.
    span : int
        Values in a mean: (span - 1) // 2 before and span // 2 after each place, as far as
        there are any.

    Examples
    --------
    >>> moving_average([0.0, 3.0, 6.0, 0.0], span=3).tolist()
    [1.5, 3.0, 3.0, 3.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    sums = np.concatenate([[0.0], np.cumsum(numbers)])
    places = np.arange(len(numbers))
    low = np.maximum(places - (span - 1) // 2, 0)
    high = np.minimum(places + span // 2 + 1, len(numbers))
    means = (sums[high] - sums[low]) / (high - low)
    # Sums taken from each other leave rounding errors, which must not leave the range.
    return np.asarray(np.clip(means, numbers.min(), numbers.max())) if len(numbers) else means
