"""Strata of candidates, samples within strata, and pools of n-best lists."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.sampling import without_replacement

UNDEFINED = "undefined"
"""The stratum of candidates without a score."""


def strata_by_rank(
    ranks: pl.DataFrame | pl.LazyFrame, *, measures: Sequence[str], boundaries: Sequence[int]
) -> pl.DataFrame:
    """Divide the candidates by the best rank that any of the measures gives them.

    With one measure a stratum holds what an n-best list has more than the next smaller one.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        The measures whose lists count.
    boundaries : sequence of int
        Last rank of each stratum but the last, ascending.

    Returns
    -------
    pl.DataFrame
        id and stratum, e.g. "0001-0100", "0101-0500", "0501-5102"; sorted by id.

    Raises
    ------
    ValueError
        If a measure has no ranks, or the boundaries do not ascend from 1 or more.

    Examples
    --------
    >>> ranks = pl.DataFrame(
    ...     {"measure": ["mi"] * 3, "id": ["a", "b", "c"], "rank": [3, 1, 2]}
    ... )
    >>> strata_by_rank(ranks, measures=["mi"], boundaries=[1]).rows()
    [('a', '2-3'), ('b', '1-1'), ('c', '2-3')]
    """
    require_ascending(boundaries)
    best = _best_ranks(ranks, measures)
    return by_best_rank(best, boundaries, last=best.height).sort("id")


def require_ascending(boundaries: Sequence[int]) -> None:
    """Refuse boundaries between ranks that do not ascend from 1 or more.

    Raises
    ------
    ValueError
        With the boundaries.
    """
    if list(boundaries) != sorted(set(boundaries)) or (boundaries and boundaries[0] < 1):
        raise ValueError(f"boundaries {list(boundaries)} do not ascend from 1 or more")


def by_best_rank(best: pl.DataFrame, boundaries: Sequence[int], *, last: int) -> pl.DataFrame:
    """Return the strata of some candidates.

    Parameters
    ----------
    best : pl.DataFrame
        id and rank, the best of each.
    boundaries : sequence of int
        As of `strata_by_rank`.
    last : int
        How many candidates there are in all.

    Examples
    --------
    >>> by_best_rank(pl.DataFrame({"id": ["b", "a"], "rank": [3, 1]}), [1], last=9).rows()
    [('b', '2-9'), ('a', '1-1')]
    """
    labels = rank_labels(boundaries, last=last)
    places = np.searchsorted(boundaries[: len(labels) - 1], best["rank"].to_numpy(), side="left")
    return best.select("id", stratum=_labelled(labels, places))


def rank_labels(boundaries: Sequence[int], *, last: int) -> list[str]:
    """Return the names of the strata by rank, from the best ranks down, the empty ones as well.

    By the best rank under several measures a stratum between two others can be empty.

    Examples
    --------
    >>> rank_labels([5, 10, 99], last=20)
    ['01-05', '06-10', '11-20']
    """
    inner = [bound for bound in boundaries if bound < last]
    digits = len(str(last))
    edges = zip([0, *inner], [*inner, last], strict=True)
    return [f"{low + 1:0{digits}}-{high:0{digits}}" for low, high in edges]


def strata_by_score(
    scores: pl.DataFrame | pl.LazyFrame, *, column: str, boundaries: Sequence[float]
) -> pl.DataFrame:
    """Divide the candidates by a score.

    Parameters
    ----------
    scores : pl.DataFrame or pl.LazyFrame
        id and the column of numbers.
    column : str
        The score.
    boundaries : sequence of float
        Ascending; a score that equals a boundary belongs to the stratum above it.

    Returns
    -------
    pl.DataFrame
        id and stratum, e.g. "[-inf, 3)", "[3, inf)", and "undefined" where the score is
        null; sorted by id.

    Raises
    ------
    ValueError
        If the boundaries do not ascend.

    Examples
    --------
    >>> scores = pl.DataFrame({"id": ["a", "b", "c"], "mi": [0.5, 3.0, None]})
    >>> strata_by_score(scores, column="mi", boundaries=[3.0]).rows()
    [('a', '[-inf, 3)'), ('b', '[3, inf)'), ('c', 'undefined')]
    """
    if list(boundaries) != sorted(set(boundaries)):
        raise ValueError(f"boundaries {list(boundaries)} do not ascend")
    labels = score_labels(boundaries)
    table = scores.lazy().select("id", score=pl.col(column).cast(pl.Float64)).collect()
    places = np.searchsorted(boundaries, table["score"].fill_null(0.0).to_numpy(), side="right")
    defined = pl.col("score").is_not_null()
    stratum = pl.when(defined).then(_labelled(labels, places)).otherwise(pl.lit(UNDEFINED))
    return table.select("id", stratum=stratum).sort("id")


def score_labels(boundaries: Sequence[float]) -> list[str]:
    """Return the names of the strata by score, from the lowest scores up, without "undefined".

    Examples
    --------
    >>> score_labels([0.5, 3.0])
    ['[-inf, 0.5)', '[0.5, 3)', '[3, inf)']
    """
    edges = [f"{bound:g}" for bound in (float("-inf"), *boundaries, float("inf"))]
    return [f"[{low}, {high})" for low, high in itertools.pairwise(edges)]


def _labelled(labels: Sequence[str], places: IntArray) -> pl.Series:
    return pl.Series("stratum", np.array(labels, dtype=object)[places].tolist(), dtype=pl.String)


def stratified(strata: pl.DataFrame, *, sizes: Mapping[str, int], seed: str) -> pl.DataFrame:
    """Draw a simple random sample without replacement from each stratum.

    The keys are those of `sampling.without_replacement`: a larger sample with the same seed
    holds the smaller one, in each stratum, and shares what it can with simple random samples
    and with other divisions into strata.

    Parameters
    ----------
    strata : pl.DataFrame
        id and stratum.
    sizes : mapping of str to int
        Draws per stratum; a stratum without a size is not sampled, one with fewer candidates
        is taken whole.
    seed : str
        Fixes the draw.

    Returns
    -------
    pl.DataFrame
        Table `StratifiedSample`: id, multiplicity (1), position (stratum by stratum), pi (drawn of
        the stratum / candidates in it), stratum.

    Raises
    ------
    ValueError
        If there is a size for an unknown stratum, or one below 0.

    Examples
    --------
    >>> strata = pl.DataFrame({"id": list("abcd"), "stratum": ["1-2", "1-2", "3-4", "3-4"]})
    >>> stratified(strata, sizes={"1-2": 2, "3-4": 1}, seed="s").height
    3
    """
    names = strata["stratum"].unique().sort().to_list()
    wrong = [name for name, size in sizes.items() if name not in names or size < 0]
    if wrong:
        raise ValueError(f"no size for {', '.join(wrong)}; the strata are {', '.join(names)}")
    parts = [
        without_replacement(
            strata.filter(pl.col("stratum") == name), size=sizes.get(name, 0), seed=seed
        ).with_columns(stratum=pl.lit(name))
        for name in names
    ]
    empty = without_replacement(strata.clear(), size=0, seed=seed)
    return pl.concat([empty, *parts]).with_columns(
        position=pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    )


def pool(
    ranks: pl.DataFrame | pl.LazyFrame, *, measures: Sequence[str], depth: int
) -> pl.DataFrame:
    """Return the union of the n-best lists of several measures.

    A sample of the pool, or its full annotation, evaluates the lists up to this depth of these
    measures. It says nothing of other lists, the baseline, or recall among all candidates: all
    of that would be conditional on the pool.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`.
    measures : sequence of str
        The measures whose lists are pooled.
    depth : int
        Size of each list.

    Returns
    -------
    pl.DataFrame
        id, and best_rank (Int64), the best rank under any of the measures; sorted by id.

    Raises
    ------
    ValueError
        If a measure has no ranks.

    References
    ----------
    Sparck Jones & van Rijsbergen, Report on the Need for and Provision of an "Ideal"
    Information Retrieval Test Collection (1975), on pooling.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice", "dice", "mi", "mi"], "id": ["a", "b", "b", "a"],
    ...     "rank": [1, 2, 1, 2],
    ... })
    >>> pool(ranks, measures=["dice", "mi"], depth=1).rows()
    [('a', 1), ('b', 1)]
    """
    best = _best_ranks(ranks.lazy().filter(pl.col("rank") <= depth), measures)
    return best.select("id", best_rank="rank").sort("id")


def _best_ranks(ranks: pl.DataFrame | pl.LazyFrame, measures: Sequence[str]) -> pl.DataFrame:
    chosen = ranks.lazy().filter(pl.col("measure").is_in(list(measures)))
    names = chosen.select("measure").unique().collect(engine="streaming")
    ranked = names.to_series().to_list()
    unknown = [name for name in measures if name not in ranked]
    if unknown:
        raise ValueError(f"no ranks for {', '.join(unknown)}")
    return chosen.group_by("id").agg(pl.col("rank").min()).collect(engine="streaming")
