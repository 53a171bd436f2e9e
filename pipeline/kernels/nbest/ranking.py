"""Unique ranks under each measure, with ties broken at random but reproducibly."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.hashing import seeded_key

ORDER = ("score", "tie_key", "id")
FALLING = (True, False, False)
"""The order of the candidates under one measure, undefined scores last."""
COLUMNS = ("measure", "rank", "id", "score", "tie", "tie_key")


def rank(scores: pl.LazyFrame, *, measures: Sequence[str], seed: str) -> pl.LazyFrame:
    """Rank the candidates by every measure.

    Descending score, undefined (null) scores last, equal scores in the order of a random key
    that is the same for all measures, then by id.

    Parameters
    ----------
    scores : LazyFrame
        ``id`` and one numeric column per measure; S rows.
    measures : sequence of str
        The columns to rank by.
    seed : str
        Fixes the tie-break keys.

    Returns
    -------
    LazyFrame
        measure, rank (1..S), id, score, tie (smallest rank with the same score), tie_key;
        sorted by measure and rank.

    Examples
    --------
    >>> scores = pl.LazyFrame({"id": ["a", "b", "c"], "mi": [1.0, None, 2.0]})
    >>> rank(scores, measures=["mi"], seed="s").select("id", "rank").collect().rows()
    [('c', 1), ('a', 2), ('b', 3)]
    """
    numbers = [pl.col(name).cast(pl.Float64) for name in measures]
    long = scores.select("id", tie_key(seed), *numbers).unpivot(
        on=list(measures), index=["id", "tie_key"], variable_name="measure", value_name="score"
    )
    ordered = long.sort("measure", *ORDER, descending=[False, *FALLING], nulls_last=True)
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    ranked = ordered.with_columns(rank=position.over("measure"))
    tied = ranked.with_columns(tie=pl.col("rank").min().over("measure", "score"))
    return tied.select(COLUMNS).sort("measure", "rank")


def tie_key(seed: str) -> pl.Expr:
    """Return the key that orders equal scores, the same for all measures."""
    return seeded_key("id", seed=seed, purpose="ties").alias("tie_key")
