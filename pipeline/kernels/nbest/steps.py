"""The counts of n-best lists as steps: between two judged candidates they stay as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.parts import gathered, most_rows

COUNTS = ("n_sampled", "k_sampled", "tp_min", "tp_max")
_LIST = ["category", "measure"]
_GROUP = [*_LIST, "tie"]
_SCHEMA = {"category": pl.String, "measure": pl.String, "n": pl.Int64} | dict.fromkeys(
    COUNTS, pl.Int64
)
_ROWS = 500_000
"""Lists that are looked at together, where there is room for as many."""

_DRAWS = pl.col("multiplicity")
_HITS = pl.when(pl.col("tp")).then(_DRAWS).otherwise(0)


@dataclass(frozen=True)
class Steps:
    """The counts of all lists of one measure, in one category.

    Parameters
    ----------
    category, measure : str
        Which.
    size : int
        Candidates that the measure ranks, S.
    n : array of int, shape (steps,)
        The list sizes at which a count grows, ascending.
    counts : array of int, shape (steps + 1, 4)
        `COUNTS` below the first of these sizes, and from each of them on.
    """

    category: str
    measure: str
    size: int
    n: IntArray
    counts: IntArray

    def at(self, sizes: npt.ArrayLike) -> pl.DataFrame:
        """Return the counts of the lists of these sizes, in their order; of none beyond 1..S.

        Examples
        --------
        >>> steps = Steps("TP", "mi", 9, np.array([4]), np.array([[0, 0, 0, 0], [2, 1, 1, 1]]))
        >>> steps.at([3, 5, 12]).select("n", "n_sampled", "k_sampled").rows()
        [(3, 0, 0), (5, 2, 1)]
        """
        given = np.asarray(sizes, dtype=np.int64)
        n = given[(given >= 1) & (given <= self.size)]
        counts = self.counts[np.searchsorted(self.n, n, side="right")]
        named = dict(zip(COUNTS, counts.T, strict=True))
        return pl.DataFrame({"n": n, **named}).select(
            pl.lit(self.category).alias("category"), pl.lit(self.measure).alias("measure"), pl.all()
        )


def steps_of(ranks: pl.LazyFrame, judged: pl.LazyFrame) -> list[Steps]:
    """Return the steps of every category and measure, sorted by both.

    Parameters
    ----------
    ranks : pl.LazyFrame
        Table `Ranks`, of which no more is held than the rows of judged candidates.
    judged : pl.LazyFrame
        Columns category, id, tp (null = not judged) and multiplicity.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "rank": [1, 2, 3], "id": ["a", "b", "c"], "tie": 1})
    >>> judged = pl.LazyFrame({"category": "TP", "id": ["b"], "tp": [True], "multiplicity": [1]})
    >>> (steps,) = steps_of(ranks, judged)
    >>> steps.n.tolist(), steps.counts.tolist()
    ([1, 2, 3], [[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 0, 1], [1, 1, 1, 1]])
    """
    sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
    categories = judged.select(pl.col("category").unique().sort()).collect().to_series()
    changes = _changes(ranks, judged).partition_by(_LIST, as_dict=True)
    none = pl.DataFrame(schema=_SCHEMA)
    return [
        _added_up(category, measure, size, changes.get((category, measure), none))
        for category in categories
        for measure, size in sizes.rows()
    ]


def _added_up(category: str, measure: str, size: int, changes: pl.DataFrame) -> Steps:
    ordered = changes.sort("n")
    sums = np.cumsum(ordered.select(COUNTS).to_numpy(), axis=0, dtype=np.int64)
    start = np.zeros((1, len(COUNTS)), dtype=np.int64)
    n = ordered["n"].to_numpy().astype(np.int64)
    return Steps(category, measure, size, n, np.concatenate([start, sums.reshape(-1, 4)]))


def _changes(ranks: pl.LazyFrame, judged: pl.LazyFrame) -> pl.DataFrame:
    """Return by how much the counts grow, and at which n."""
    seen = judged.filter(pl.col("tp").is_not_null())
    draws = seen.select("category", "id", seen=_DRAWS, hits=_HITS)
    placed = ranks.select("measure", "rank", "id", "tie").join(draws, on="id", how="inner")
    found = placed.drop("id").collect(engine="streaming")
    listed = found.select(*_LIST, n="rank", n_sampled="seen", k_sampled="hits")
    hits = found.filter(pl.col("hits") > 0)
    parts = [listed, *_within_ties(hits, _ends(ranks, hits))]
    every = pl.concat([pl.DataFrame(schema=_SCHEMA), *parts], how="diagonal_relaxed")
    return every.group_by(*_LIST, "n").agg(pl.sum(*COUNTS))


def _ends(ranks: pl.LazyFrame, hits: pl.DataFrame) -> pl.DataFrame:
    """Return the last rank of each tie group with a true positive."""
    groups = hits.lazy().select("measure", "tie").unique()
    inside = ranks.select("measure", "tie", "rank").join(groups, on=["measure", "tie"], how="semi")
    last = inside.group_by("measure", "tie").agg(end=pl.col("rank").max())
    return last.collect(engine="streaming")


def _within_ties(hits: pl.DataFrame, ends: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield where true positives count that stand at the start, and at the end of their groups.

    The one with most draws comes first in a group, so that no order gives a list more of them.
    """
    nth, many = pl.int_range(pl.len()).over(_GROUP), pl.len().cast(pl.Int64).over(_GROUP)
    falling = hits.sort(*_GROUP, "hits", descending=[False, False, False, True])
    yield falling.select(*_LIST, n=pl.col("tie") + nth, tp_max="hits")
    rising = hits.join(ends, on=["measure", "tie"]).sort(*_GROUP, "hits")
    yield rising.select(*_LIST, n=pl.col("end") - many + 1 + nth, tp_min="hits")


def counts_at(steps: Sequence[Steps], sizes: npt.ArrayLike) -> pl.DataFrame:
    """Return the counts of the lists of these sizes, ascending, list after list.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 9, np.array([4]), np.array([[0, 0, 0, 0], [2, 1, 1, 1]]))
    >>> counts_at([steps], [5, 5, 3])["n_sampled"].to_list()
    [0, 2]
    """
    ascending = np.unique(np.asarray(sizes, dtype=np.int64))
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *(each.at(ascending) for each in steps)])


def along(steps: Sequence[Steps], *, before: int = 0) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield the counts of every n, of one measure after the other, as much as there is room for.

    Parameters
    ----------
    steps : sequence of Steps
        The lists.
    before : int
        How many smaller lists come with each part again.

    Yields
    ------
    after : int
        The part says something new on lists that are larger than this.
    counts : pl.DataFrame
        As `Steps.at` gives them.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 3, np.array([2]), np.array([[0, 0, 0, 0], [1, 1, 1, 1]]))
    >>> [(after, counts["k_sampled"].to_list()) for after, counts in along([steps])]
    [(0, [0, 1, 1])]
    """
    rows = most_lists()
    for each in steps:
        for after in range(0, each.size, rows):
            first = max(0, after - before) + 1
            yield after, each.at(np.arange(first, after + rows + 1, dtype=np.int64))


def in_parts(steps: Sequence[Steps], *, at: IntArray | None = None) -> Iterator[pl.DataFrame]:
    """Yield the counts, in as few parts as there is room for; of none, one without rows.

    Parameters
    ----------
    steps : sequence of Steps
        The lists.
    at : array of int, optional
        List sizes, ascending; every n if not given.

    Examples
    --------
    >>> steps = Steps("TP", "mi", 2, np.array([2]), np.array([[0, 0, 0, 0], [1, 1, 1, 1]]))
    >>> [counts["k_sampled"].to_list() for counts in in_parts([steps, steps])]
    [[0, 1, 0, 1]]
    """
    if at is None:
        every = (counts for _, counts in along(steps))
    else:
        every = (each.at(some) for each in steps for some in sizes_in_parts(at))
    none = pl.DataFrame(schema=_SCHEMA)
    yield from gathered(every if steps else [none], most=most_lists())


def sizes_in_parts(sizes: IntArray) -> Iterator[IntArray]:
    """Yield list sizes, as many at a time as there is room for; of none, one part of none."""
    rows = most_lists()
    yield from (sizes[start : start + rows] for start in range(0, max(1, len(sizes)), rows))


def most_lists() -> int:
    """Return how many lists may be looked at together."""
    return max(1, min(_ROWS, most_rows()))
