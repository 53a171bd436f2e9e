"""The ranks of all candidates under several measures side by side, in blocks of candidates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl

from pipeline import room
from pipeline.kernels.arrays import IntArray, labels_of
from pipeline.kernels.parts import buckets_for, divided, spill_of
from pipeline.spill import Spill

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
    number = buckets_for(candidates * len(measures)) if room.goes_to_disk() else 1
    schema = pl.Schema(dict.fromkeys(measures, pl.Int64))
    with spill_of(1, schema) as wide:
        for (part,) in divided(own, number=number, by="id"):
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
