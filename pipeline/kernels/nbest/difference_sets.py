"""Comparison of two measures at each n, on the candidates that only one of them lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.nbest.lists import first_list, in_lists
from pipeline.kernels.nbest.rank_blocks import (
    RankBlocks,
    rank_blocks,
)
from schemas import Comparison

_COUNTS = ("n", "size", "n_1", "k_1", "n_2", "k_2")
_KEYS = ("category", "measure_1", "measure_2")
_SCHEMA = {**dict.fromkeys(_KEYS, pl.String), **dict.fromkeys(_COUNTS, pl.Int64)}
_ROUNDING = 1e-12  # of a difference that equals the margin on paper


def difference_counts(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int] | None = None,
) -> pl.DataFrame:
    """Count draws and true positives in the difference sets of two n-best lists.

    D1 is C_{g1,n} without C_{g2,n}. With m = max(g1(x), g2(x)) the rank at which x enters the
    intersection, ``k(D1) = #{g1 <= n} - #{m <= n}`` over the sampled true positives, so that
    cumulative sums give the counts for all n at once.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame or pl.LazyFrame
        Columns category, id, tp (null = not judged, which does not count) and multiplicity.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int, optional
        List sizes in 1..S; all of them if not given.

    Returns
    -------
    pl.DataFrame
        Columns category, measure_1, measure_2, n, size, n_1, k_1, n_2, k_2, sorted. size =
        |D1| = |D2| is 0 where both lists hold the same candidates, at most min(n, S - n).

    Raises
    ------
    ValueError
        If a measure is not in `ranks`, two measures rank different candidates, or a list
        size is outside 1..S.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 3 + ["mi"] * 3, "rank": [1, 2, 3] * 2,
    ...     "id": ["a", "b", "c", "c", "a", "b"],
    ... })
    >>> judged = pl.DataFrame({
    ...     "category": "TP", "id": ["a", "c"], "tp": [True, False], "multiplicity": 1,
    ... })
    >>> difference_counts(ranks, judged, pairs=[("dice", "mi")]).select(*_COUNTS).rows()
    [(1, 1, 1, 1, 1, 0), (2, 1, 0, 0, 1, 0), (3, 0, 0, 0, 0, 0)]
    """
    with rank_blocks(ranks.lazy(), sorted({name for pair in pairs for name in pair})) as blocks:
        return counts_between(blocks, judged, pairs=pairs, at=at)


def counts_between(
    blocks: RankBlocks,
    judged: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: npt.ArrayLike | None = None,
) -> pl.DataFrame:
    """Count as `difference_counts` does, from ranks that have been put side by side.

    Parameters
    ----------
    blocks : RankBlocks
        The ranks of all measures of the pairs.
    judged, pairs, at
        As for `difference_counts`.
    """
    n = _list_sizes(blocks.candidates, at)
    members = {pair: np.zeros((len(n), 2, 1), dtype=np.int64) for pair in pairs}
    for block in blocks:
        for pair, counts in _only_in_one(block, pairs, n):
            members[pair] += counts
    rows = judged.lazy().collect()
    ids, ranks = blocks.of(rows["id"].unique())
    frames = []
    for category, sample in samples(ids, rows):
        at_draws = {name: vector[sample["place"].to_numpy()] for name, vector in ranks.items()}
        draws, hits = (
            dict(_only_in_one(at_draws, pairs, n, sample[name].to_numpy())) for name in ("n", "k")
        )
        for pair in pairs:
            counts = np.stack([members[pair], draws[pair], hits[pair]], axis=2)
            named = dict(zip(_COUNTS, (n, *_columns(counts)), strict=True))
            key = dict(zip(_KEYS, map(pl.lit, (category, *pair)), strict=True))
            frames.append(pl.DataFrame(named).with_columns(**key).select(*_SCHEMA))
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *frames]).sort(*Comparison.key())


def _only_in_one(
    ranks: Mapping[str, IntArray],
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    weights: IntArray | None = None,
) -> Iterator[tuple[tuple[str, str], IntArray]]:
    """Yield each pair with what only one of its lists holds, shape (lists, 2, 1)."""
    first = {name: first_list(vector, n) for name, vector in ranks.items()}
    for one, two in pairs:
        strata = np.zeros(len(first[one]), dtype=np.int64)
        yield (one, two), _outside(first[one], first[two], strata, (len(n), 1), weights)


def _columns(counts: IntArray) -> tuple[IntArray, ...]:
    """Return size, n_1, k_1, n_2, k_2 of a data set of one stratum."""
    (size, n_1, k_1), (_, n_2, k_2) = np.moveaxis(counts[..., 0], 0, -1)
    return size, n_1, k_1, n_2, k_2


def _list_sizes(candidates: int, at: npt.ArrayLike | None) -> IntArray:
    if at is None:
        return np.arange(1, candidates + 1, dtype=np.int64)
    sizes = np.asarray(at, dtype=np.int64)
    inside = (sizes >= 1) & (sizes <= candidates)
    if candidates and not inside.all():  # without candidates there are no lists at all
        wrong = ", ".join(map(str, sizes[~inside]))
        raise ValueError(f"list sizes outside 1..{candidates:,}: {wrong}")
    return np.unique(sizes[inside])


def samples(ids: pl.Series, judged: pl.DataFrame | pl.LazyFrame) -> list[tuple[str, pl.DataFrame]]:
    """Return each category with its judged draws: their places among the ids, n and k."""
    places = pl.LazyFrame({"id": ids, "place": np.arange(len(ids))})
    rows = judged.lazy().join(places, on="id", how="left").sort("category", "place").select(
        "category",
        "place",
        n=pl.when(pl.col("tp").is_not_null()).then("multiplicity"),
        k=pl.when(pl.col("tp")).then("multiplicity").otherwise(0),
    ).collect()  # fmt: skip
    parts = rows.partition_by("category", maintain_order=True)
    return [(part["category"][0], part.drop_nulls().drop("category")) for part in parts]


def set_counts(
    ranks: Mapping[str, IntArray],
    strata: IntArray,
    drawn: Sequence[tuple[str, pl.DataFrame]],
    *,
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    size: int,
) -> Iterator[tuple[tuple[str, str, str], IntArray]]:
    """Count members, judged draws and true positives of the difference sets by stratum.

    Parameters
    ----------
    ranks : mapping of str to array of int, shape (candidates,)
        The ranks under each measure, of the same candidates in the same order.
    strata : array of int, shape (candidates,)
        The stratum of each, from 0.
    drawn : sequence of (str, pl.DataFrame)
        Each category with its draws, as `samples` gives them.
    pairs : sequence of (str, str)
        The measures to compare.
    n : array of int, shape (lists,)
        List sizes, ascending.
    size : int
        The number of strata.

    Yields
    ------
    key : tuple of str
        Category and the two measures.
    counts : array of int, shape (lists, 2, 3, strata)
        Of D1 and of D2: members, draws, true positives.
    """
    first = {name: first_list(vector, n) for name, vector in ranks.items()}
    shape = (len(n), size)
    for one, two in pairs:
        members = _outside(first[one], first[two], strata, shape)
        for category, sample in drawn:
            at = sample["place"].to_numpy()
            places = (first[one][at], first[two][at], strata[at], shape)
            draws, hits = (_outside(*places, sample[name].to_numpy()) for name in ("n", "k"))
            yield (category, one, two), np.stack([members, draws, hits], axis=2)


def _outside(
    one: IntArray,
    two: IntArray,
    strata: IntArray,
    shape: tuple[int, int],
    weights: IntArray | None = None,
) -> IntArray:
    """Add up what only one of two lists holds, shape (lists, 2, strata)."""
    both = in_lists([np.maximum(one, two), strata], shape, weights)
    return np.stack([in_lists([each, strata], shape, weights) - both for each in (one, two)], 1)
