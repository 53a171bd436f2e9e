"""Unique ranks under each measure, with random but reproducible ties, and ranks side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce

import polars as pl

from pipeline import memory
from pipeline.kernels.numeric import IntArray, labels_of
from pipeline.kernels.partitions import batches, buckets_for, count_rows, most_rows, spill_of, split
from pipeline.kernels.sampling import seeded_key
from pipeline.memory import Spill

# Ranks under several measures side by side, in blocks of candidates.

_LONG = pl.Schema({"measure": pl.String, "id": pl.String, "rank": pl.Int64})


@dataclass(frozen=True)
class RankBlocks:
    """Ranks side by side; see `rank_blocks`.

    Parameters
    ----------
    measures : tuple of str
        The measures.
    candidates : int
        How many there are, S.
    """

    measures: tuple[str, ...]
    candidates: int
    _ranks: pl.LazyFrame = field(repr=False)
    _wide: Spill = field(repr=False)

    def __iter__(self) -> Iterator[dict[str, IntArray]]:
        """Yield the ranks of some candidates under every measure, until all had their turn."""
        for frame in self._wide.frames(0):
            yield {name: frame[name].to_numpy() for name in self.measures}

    def of(self, ids: pl.Series) -> tuple[pl.Series, dict[str, IntArray]]:
        """Return those of some candidates that are ranked, sorted, and their ranks."""
        mine = self._ranks.filter(pl.col("id").is_in(ids.implode()))
        return side_by_side(mine.collect(engine="streaming"), self.measures)


@contextmanager
def rank_blocks(ranks: pl.LazyFrame, measures: Sequence[str]) -> Iterator[RankBlocks]:
    """Give the ranks side by side: of all candidates, or block by block where room is short.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        Those wanted.

    Raises
    ------
    ValueError
        If a measure is not in `ranks`, or two measures rank different candidates.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "id": ["b", "a"], "rank": [1, 2]})
    >>> with rank_blocks(ranks, ["mi"]) as blocks:
    ...     blocks.candidates, [block["mi"].tolist() for block in blocks]
    (2, [[2, 1]])
    """
    counted = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
    sizes = dict(counted.iter_rows())
    require_measures(measures, list(sizes))
    own = ranks.filter(pl.col("measure").is_in(list(measures))).select(*_LONG)
    candidates = max((sizes.get(name, 0) for name in measures), default=0)
    number = buckets_for(candidates * len(measures)) if memory.is_limited() else 1
    schema = pl.Schema(dict.fromkeys(measures, pl.Int64))
    with spill_of(1, schema) as wide:
        for (part,) in split(own, number=number, by="id"):
            wide.put(pl.DataFrame(side_by_side(part, measures)[1], schema=schema), 0)
        yield RankBlocks(tuple(measures), candidates, own, wide)


def side_by_side(
    ranks: pl.DataFrame, measures: Sequence[str]
) -> tuple[pl.Series, dict[str, IntArray]]:
    """Return the ids, sorted, and their ranks under each measure.

    Raises
    ------
    ValueError
        If two measures rank different candidates.
    """
    ranked = ranks.select(*_LONG).sort("measure", "id")
    parts = {name: ranked.filter(pl.col("measure") == name) for name in measures}
    ids = next(iter(parts.values()), ranked.clear())["id"]
    for name, part in parts.items():
        _require_same(part["id"], ids, name, measures[0])
    return ids, {name: part["rank"].to_numpy() for name, part in parts.items()}


def require_measures(measures: Sequence[str], ranked: Sequence[str]) -> None:
    """Refuse measures that have no ranks, if any have.

    Raises
    ------
    ValueError
        With their names, and those that there are.
    """
    unknown = [name for name in measures if name not in ranked]
    if unknown and ranked:
        names = ", ".join(sorted(ranked))
        raise ValueError(f"no ranks for {', '.join(unknown)}; there are ranks for {names}")


def rank_vectors(
    ranks: pl.LazyFrame, measures: Sequence[str]
) -> tuple[pl.Series, dict[str, IntArray]]:
    """Return the ids, sorted, and under each measure their ranks in the same order.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        Those wanted.

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
        _require_same(part["id"], ids, name, measures[0])
        vectors[name] = part["rank"].to_numpy()
    return ids, vectors


def _require_same(own: pl.Series, ids: pl.Series, name: str, first: str) -> None:
    if not own.equals(ids):
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


# Ranks in parts, best first, for more candidates than fit into memory.

_SEEN = 1000
"""Candidates that are looked at for each part."""
_SCORED = pl.Schema({"id": pl.String, "tie_key": pl.Int64, "score": pl.Float64})


def ranked_in_parts(
    scores: pl.LazyFrame, *, measures: Sequence[str], seed: str
) -> Iterator[pl.DataFrame]:
    """Yield what `rank` gives, measure by measure and part by part, in its order.

    Parameters
    ----------
    scores : LazyFrame
        As there; where memory is limited it is read twice for each measure.
    measures : sequence of str
        The columns to rank by.
    seed : str
        Fixes the tie-break keys.

    Examples
    --------
    >>> scores = pl.LazyFrame({"id": ["a", "b"], "mi": [1.0, 2.0], "dice": [0.2, 0.1]})
    >>> [each["id"].to_list() for each in ranked_in_parts(scores, measures=["mi", "dice"], seed="")]
    [['a', 'b'], ['b', 'a']]
    """
    rows = count_rows(scores)
    for measure in sorted(set(measures)):
        score = pl.col(measure).cast(pl.Float64).alias("score")
        rank, tie, last = 0, 0, None
        for part in _best_first(scores.select("id", tie_key(seed), score), rows):
            ordered = part.sort(ORDER, descending=FALLING, nulls_last=True)
            ranked = ordered.with_columns(_ranks(rank, tie, last), measure=pl.lit(measure))
            yield ranked.select(COLUMNS)
            if ranked.height:
                rank, tie, last = ranked.select("rank", "tie", "score").row(-1)


def _ranks(rank: int, tie: int, last: float | None) -> list[pl.Expr]:
    """Return rank and tie of rows that follow one of this rank, tie and score."""
    ranks = pl.int_range(1, pl.len() + 1, dtype=pl.Int64) + rank
    before = pl.col("score").shift(1, fill_value=pl.lit(last, pl.Float64))
    begins = (ranks == 1) | pl.col("score").ne_missing(before)
    ties = pl.when(begins).then(ranks).forward_fill().fill_null(tie)
    return [ranks.alias("rank"), ties.alias("tie")]


def _best_first(own: pl.LazyFrame, rows: int) -> Iterator[pl.DataFrame]:
    """Yield candidates so that no part has a better one than the part before; not in order."""
    number = -(-rows // most_rows()) if memory.is_limited() else 1
    if number <= 1:
        yield own.collect()
        return
    bounds = _bounds(own, rows, number)
    bucket = reduce(pl.Expr.add, map(_reaches, bounds), pl.lit(0, pl.Int64))
    with spill_of(len(bounds) + 1, _SCORED) as spill:
        for batch in batches(own):
            spill.add(batch, bucket)
        yield from (part.collect() for part in spill)


def _bounds(own: pl.LazyFrame, rows: int, number: int) -> list[tuple[float | None, int]]:
    """Return score and tie-break key with which each part but the first begins, best first."""
    step = max(1, rows // (number * _SEEN))
    seen = own.select("score", "tie_key").gather_every(step).collect(engine="streaming")
    ordered = seen.sort("score", "tie_key", descending=[True, False], nulls_last=True)
    places = sorted({place * ordered.height // number for place in range(1, number)})
    return list(dict.fromkeys(ordered[places].rows()))


def _reaches(bound: tuple[float | None, int]) -> pl.Expr:
    """Return whether a row comes at a bound or after it: 1 or 0."""
    at, key = bound
    score, later = pl.col("score"), pl.col("tie_key") >= key
    if at is None:
        return (score.is_null() & later).cast(pl.Int64)
    after = (score < at) | ((score == at) & later)
    return after.fill_null(value=True).cast(pl.Int64)
