"""Unique ranks under each measure, with random but reproducible tie-breaking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl

from pipeline import memory
from pipeline.kernels.numeric import IntArray, labels_of
from pipeline.kernels.partitions import batches
from pipeline.kernels.sampling import seeded_key


@dataclass(frozen=True)
class RankBlocks:
    """Ranks of each candidate under every measure, a column each; see `rank_blocks`.

    Parameters
    ----------
    measures : tuple of str
        The measures.
    candidates : int
        Number of candidates, S.
    """

    measures: tuple[str, ...]
    candidates: int
    _wide: pl.LazyFrame = field(repr=False)

    def __iter__(self) -> Iterator[dict[str, IntArray]]:
        """Yield the ranks under every measure, block by block."""
        for block in batches(self._wide.drop("id")):
            yield self._vectors(block)

    def of(self, ids: pl.Series) -> tuple[pl.Series, dict[str, IntArray]]:
        """Return those of the candidates that are ranked, sorted, and their ranks."""
        mine = self._wide.filter(pl.col("id").is_in(ids.implode()))
        ranked = mine.collect(engine="streaming").sort("id")
        return ranked["id"], self._vectors(ranked)

    def _vectors(self, ranks: pl.DataFrame) -> dict[str, IntArray]:
        return {name: ranks[name].to_numpy() for name in self.measures}


@contextmanager
def rank_blocks(ranks: pl.LazyFrame, measures: Sequence[str]) -> Iterator[RankBlocks]:
    """Return the ranks of each candidate under every measure, in blocks, unordered.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        The measures to include.

    Raises
    ------
    ValueError
        If a measure is not in `ranks`, or two measures rank different candidates.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "id": ["b", "a"], "rank": [1, 2]})
    >>> with rank_blocks(ranks, ["mi"]) as blocks:
    ...     blocks.candidates, blocks.of(pl.Series(["a", "b"]))[1]["mi"].tolist()
    (2, [2, 1])
    """
    require_measures(measures, labels_of(ranks, "measure").to_list())
    own = ranks.filter(pl.col("measure").is_in(list(measures)))
    columns = {
        name: pl.when(pl.col("measure") == name).then("rank").otherwise(None) for name in measures
    }
    wide = own.select("id", **columns).group_by("id").agg(pl.exclude("id").max())
    with memory.stored(wide) as stored:
        alone = (pl.col(name).is_null() != pl.col(measures[0]).is_null() for name in measures)
        counted = stored.select(
            pl.len(), *(each.sum().alias(str(n)) for n, each in enumerate(alone))
        )
        candidates, *differing = counted.collect(engine="streaming").row(0)
        for name, number in zip(measures, differing, strict=True):
            _require_same(number == 0, name, measures[0])
        yield RankBlocks(tuple(measures), candidates, stored)


def require_measures(measures: Sequence[str], ranked: Sequence[str]) -> None:
    """Refuse measures without ranks; an empty table is allowed.

    Raises
    ------
    ValueError
        With their names, and the valid ones.
    """
    unknown = [name for name in measures if name not in ranked]
    if unknown and ranked:
        names = ", ".join(sorted(ranked))
        raise ValueError(f"no ranks for {', '.join(unknown)}; available: {names}")


def rank_vectors(
    ranks: pl.LazyFrame, measures: Sequence[str]
) -> tuple[pl.Series, dict[str, IntArray]]:
    """Return the ids, sorted, and under each measure their ranks in the same order.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        The measures to include.

    Returns
    -------
    ids : pl.Series
        The candidates.
    vectors : dict of str to array of int, shape (candidates,)
        The ranks of each under every measure.

    Raises
    ------
    ValueError
        If a measure is not in `ranks`, or two measures rank different candidates.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "id": ["b", "a"], "rank": [1, 2]})
    >>> ids, vectors = rank_vectors(ranks, ["mi"])
    >>> ids.to_list(), vectors["mi"].tolist()
    (['a', 'b'], [2, 1])
    """
    require_measures(measures, labels_of(ranks, "measure").to_list())
    ids = pl.Series("id", [], dtype=pl.String)
    vectors: dict[str, IntArray] = {}
    for name in measures:  # one after the other: their ids are held once
        own = ranks.filter(pl.col("measure") == name).select("id", "rank")
        part = own.collect(engine="streaming").sort("id")
        ids = part["id"] if not vectors else ids
        _require_same(part["id"].equals(ids), name, measures[0])
        vectors[name] = part["rank"].to_numpy()
    return ids, vectors


def _require_same(same: bool, name: str, first: str) -> None:
    if not same:
        raise ValueError(f"{name} and {first} do not rank the same candidates")


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
        The columns to rank by, at least one.
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
    return pl.concat(rankings(scores, measures=measures, seed=seed))


def rankings(scores: pl.LazyFrame, *, measures: Sequence[str], seed: str) -> Iterator[pl.LazyFrame]:
    """Yield the rows of `rank` measure by measure, with one query (one sort) each."""
    for measure in sorted(set(measures)):
        score = pl.col(measure).cast(pl.Float64).alias("score")
        own = scores.select("id", tie_key(seed), score)
        ordered = own.sort(ORDER, descending=FALLING, nulls_last=True)
        placed = ordered.with_row_index("rank", offset=1).cast({"rank": pl.Int64})
        begins = (pl.col("rank") == 1) | pl.col("score").ne_missing(pl.col("score").shift(1))
        tied = placed.with_columns(tie=pl.when(begins).then("rank").forward_fill())
        yield tied.with_columns(measure=pl.lit(measure)).select(COLUMNS)


def tie_key(seed: str) -> pl.Expr:
    """Return the key that orders equal scores, the same for all measures."""
    return seeded_key("id", seed=seed, purpose="ties").alias("tie_key")
