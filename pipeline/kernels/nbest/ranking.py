"""Unique ranks under each measure; strata of candidates, and pools of n-best lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import polars as pl

from pipeline import memory
from pipeline.kernels.nbest.precision import ranked_candidates
from pipeline.kernels.numeric import IntArray, labels_of
from pipeline.kernels.partitions import batches, count_rows
from pipeline.kernels.sampling import as_sample, seeded_key, smallest_keys


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
    with memory.materialise(wide) as stored:
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
        table = ordered.with_row_index("rank", offset=1).cast({"rank": pl.Int64})
        begins = (pl.col("rank") == 1) | pl.col("score").ne_missing(pl.col("score").shift(1))
        tied = table.with_columns(tie=pl.when(begins).then("rank").forward_fill())
        yield tied.with_columns(measure=pl.lit(measure)).select(COLUMNS)


def tie_key(seed: str) -> pl.Expr:
    """Return the key that orders equal scores, the same for all measures."""
    return seeded_key("id", seed=seed, purpose="ties").alias("tie_key")


# Strata of candidates, samples from them, and pools of n-best lists.


UNDEFINED = "undefined"
"""The stratum of candidates without a score."""


def strata_by_rank(
    ranks: pl.DataFrame | pl.LazyFrame, *, measures: Sequence[str], boundaries: Sequence[int]
) -> pl.LazyFrame:
    """Divide the candidates by their best rank under any of the measures.

    With one measure, a stratum is an n-best list less the next smaller one.

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
    pl.LazyFrame
        id and stratum, e.g. "0001-0100", "0101-0500", "0501-5102"; unordered.

    Raises
    ------
    ValueError
        If a measure has no ranks, or the boundaries do not ascend from 1 or more.

    Examples
    --------
    >>> ranks = pl.DataFrame(
    ...     {"measure": ["mi"] * 3, "id": ["a", "b", "c"], "rank": [3, 1, 2]}
    ... )
    >>> strata_by_rank(ranks, measures=["mi"], boundaries=[1]).sort("id").collect().rows()
    [('a', '2-3'), ('b', '1-1'), ('c', '2-3')]
    """
    if list(boundaries) != sorted(set(boundaries)) or (boundaries and boundaries[0] < 1):
        raise ValueError(f"boundaries {list(boundaries)} must ascend, from at least 1")
    own = _ranks_under(ranks, measures)
    labels = rank_labels(boundaries, last=count_rows(ranked_candidates(own)))
    stratum = pl.lit(labels[-1])
    for bound, label in reversed(list(zip(boundaries, labels[:-1], strict=False))):
        stratum = pl.when(pl.col("rank") <= bound).then(pl.lit(label)).otherwise(stratum)
    return own.group_by("id").agg(pl.col("rank").min()).select("id", stratum=stratum)


def rank_labels(boundaries: Sequence[int], *, last: int) -> list[str]:
    """Return the names of the strata by rank, best ranks first, empty ones included.

    With several measures, a stratum between two others can be empty.

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
) -> pl.LazyFrame:
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
    pl.LazyFrame
        id and stratum, e.g. "[-inf, 3)", "[3, inf)", and "undefined" where the score is
        null; in the order of the scores.

    Raises
    ------
    ValueError
        If the boundaries do not ascend.

    Examples
    --------
    >>> scores = pl.DataFrame({"id": ["a", "b", "c"], "mi": [0.5, 3.0, None]})
    >>> strata_by_score(scores, column="mi", boundaries=[3.0]).collect().rows()
    [('a', '[-inf, 3)'), ('b', '[3, inf)'), ('c', 'undefined')]
    """
    if list(boundaries) != sorted(set(boundaries)):
        raise ValueError(f"boundaries {list(boundaries)} must ascend")
    score, (lowest, *others) = pl.col(column).cast(pl.Float64), score_labels(boundaries)
    stratum = pl.lit(lowest)
    for bound, label in zip(boundaries, others, strict=True):
        stratum = pl.when(score >= bound).then(pl.lit(label)).otherwise(stratum)
    known = pl.when(score.is_not_null()).then(stratum).otherwise(pl.lit(UNDEFINED))
    return scores.lazy().select("id", stratum=known)


def score_labels(boundaries: Sequence[float]) -> list[str]:
    """Return the names of the strata by score, from the lowest scores up, without "undefined".

    Examples
    --------
    >>> score_labels([0.5, 3.0])
    ['[-inf, 0.5)', '[0.5, 3)', '[3, inf)']
    """
    edges = [f"{bound:g}" for bound in (float("-inf"), *boundaries, float("inf"))]
    return [f"[{low}, {high})" for low, high in itertools.pairwise(edges)]


def stratified_sample(
    strata: pl.DataFrame | pl.LazyFrame, *, sizes: Mapping[str, int], seed: str
) -> pl.DataFrame:
    """Draw a simple random sample without replacement from each stratum.

    The keys are those of `sampling.without_replacement`: a larger sample with the same seed
    contains the smaller one, in each stratum, and overlaps with simple random samples and other
    stratifications as far as possible.

    Parameters
    ----------
    strata : pl.DataFrame or pl.LazyFrame
        id and stratum; read once for each stratum. What is held in memory is the sample.
    sizes : mapping of str to int
        Draws per stratum; a stratum without a size is not sampled; one with fewer candidates is
        taken completely.
    seed : str
        Fixes the draw.

    Returns
    -------
    pl.DataFrame
        Table `StratifiedSample`: id, multiplicity (1), position (stratum by stratum), pi (draws
        from the stratum / candidates in it), stratum.

    Raises
    ------
    ValueError
        If there is a size for an unknown stratum, or one below 0.

    Examples
    --------
    >>> strata = pl.DataFrame({"id": list("abcd"), "stratum": ["1-2", "1-2", "3-4", "3-4"]})
    >>> stratified_sample(strata, sizes={"1-2": 2, "3-4": 1}, seed="s").height
    3
    """
    counts = stratum_sizes(strata)
    wrong = [name for name, size in sizes.items() if name not in counts or size < 0]
    if wrong:
        known = ", ".join(counts)
        raise ValueError(
            f"unknown strata, or sizes below 0: {', '.join(wrong)}; the strata are {known}"
        )
    one = pl.lit(1, pl.Int64)
    parts = [as_sample(pl.DataFrame(schema={"id": pl.String}), multiplicity=one, pi=0.0)]
    for name in sizes.keys() & counts.keys():
        own = strata.lazy().filter(pl.col("stratum") == name)
        drawn = smallest_keys(own, size=sizes[name], seed=seed)
        sample = as_sample(drawn, multiplicity=one, pi=drawn.height / counts[name])
        parts.append(sample.with_columns(stratum=pl.lit(name)))
    position = pl.int_range(1, pl.len() + 1, dtype=pl.Int64)
    return pl.concat(parts).sort("stratum", "position").with_columns(position=position)


def stratum_sizes(strata: pl.DataFrame | pl.LazyFrame) -> dict[str, int]:
    """Return the number of candidates in each stratum, in the order of the names.

    Examples
    --------
    >>> stratum_sizes(pl.DataFrame({"id": ["a", "b", "c"], "stratum": ["2-3", "1-1", "2-3"]}))
    {'1-1': 1, '2-3': 2}
    """
    sizes = strata.lazy().group_by("stratum").len().sort("stratum").collect(engine="streaming")
    return dict(sizes.iter_rows())


def pool(
    ranks: pl.DataFrame | pl.LazyFrame, *, measures: Sequence[str], depth: int
) -> pl.DataFrame:
    """Return the union of the n-best lists of several measures.

    A sample of the pool, or its full annotation, evaluates the lists up to this depth of these
    measures. It does not estimate other lists, the baseline, or recall among all candidates.

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
    own = _ranks_under(ranks.lazy().filter(pl.col("rank") <= depth), measures)
    best = own.group_by("id").agg(best_rank=pl.col("rank").min())
    return best.collect(engine="streaming").sort("id")


def _ranks_under(ranks: pl.DataFrame | pl.LazyFrame, measures: Sequence[str]) -> pl.LazyFrame:
    """Return the ranks of some measures; each of them has to have some."""
    own = ranks.lazy().filter(pl.col("measure").is_in(list(measures)))
    ranked = labels_of(own, "measure").to_list()
    unknown = [name for name in measures if name not in ranked]
    if unknown:
        raise ValueError(f"no ranks for {', '.join(unknown)}")
    return own
