"""Comparison of two measures at each n, on the candidates that only one of them lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.nbest.lists import first_list, in_lists
from pipeline.kernels.statistics.anytime import anytime_p_values
from pipeline.kernels.statistics.exact_tests import TESTS, Alternative
from pipeline.kernels.statistics.multiplicity import CORRECTIONS
from schemas import Comparison, CutComparison, Table

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
    ids, vectors = rank_vectors(ranks.lazy(), sorted({name for pair in pairs for name in pair}))
    n = _list_sizes(len(ids), at)
    sets = set_counts(vectors, np.zeros(len(ids), dtype=np.int64), samples(ids, judged), pairs, n)
    frames = [
        pl.DataFrame({"n": n} | dict(zip(_COUNTS[1:], _columns(counts), strict=True)))
        .with_columns(pl.lit(name).alias(column) for column, name in zip(_KEYS, key, strict=True))
        .select(*_SCHEMA)
        for key, counts in sets
    ]
    return pl.concat([pl.DataFrame(schema=_SCHEMA), *frames]).sort(*Comparison.key())


def _columns(counts: IntArray) -> tuple[IntArray, ...]:
    """Return size, n_1, k_1, n_2, k_2 of a data set of one stratum."""
    (size, n_1, k_1), (_, n_2, k_2) = np.moveaxis(counts[..., 0], 0, -1)
    return size, n_1, k_1, n_2, k_2


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
    ranked = ranks.select("measure", "id", "rank").sort("measure", "id").collect()
    parts = {name: ranked.filter(pl.col("measure") == name) for name in measures}
    unknown = [name for name, part in parts.items() if part.is_empty()]
    if unknown and not ranked.is_empty():
        names = ", ".join(ranked["measure"].unique().sort())
        raise ValueError(f"no ranks for {', '.join(unknown)}; there are ranks for {names}")
    ids = next(iter(parts.values()), ranked.clear())["id"]
    for name, part in parts.items():
        if not part["id"].equals(ids):
            raise ValueError(f"{name} and {measures[0]} do not rank the same candidates")
    return ids, {name: part["rank"].to_numpy() for name, part in parts.items()}


def _list_sizes(candidates: int, at: Sequence[int] | None) -> IntArray:
    every = np.arange(1, candidates + 1, dtype=np.int64)
    wrong = [size for size in at or () if not 1 <= size <= candidates]
    if wrong and candidates:  # without candidates there are no lists, whatever was asked for
        raise ValueError(f"list sizes outside 1..{candidates:,}: {', '.join(map(str, wrong))}")
    return every if at is None else every[np.isin(every, at)]


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
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
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

    Yields
    ------
    key : tuple of str
        Category and the two measures.
    counts : array of int, shape (lists, 2, 3, strata)
        Of D1 and of D2: members, draws, true positives.
    """
    first = {name: first_list(vector, n) for name, vector in ranks.items()}
    shape = (len(n), int(strata.max(initial=0)) + 1)
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


def compare(
    counts: pl.DataFrame,
    *,
    alpha: float,
    margin: float,
    test: str = "fisher",
    alternative: Alternative = "two_sided",
    anytime: bool = False,
) -> pl.DataFrame:
    """Test the two measures of each row against each other.

    ``difference = (|D1| / n) (k_1/n_1 - k_2/n_2)`` estimates the difference of the two
    precisions, and the p-value is that of an exact test on
    [[k_1, k_2], [n_1-k_1, n_2-k_2]].

    Parameters
    ----------
    counts : pl.DataFrame
        What `difference_counts` gives.
    alpha : float
        Significance level.
    margin : float
        Relevance margin: the smallest difference that gets a mark; proportion. A difference
        that equals it but for rounding (1e-12) is large enough.
    test : str
        A name in `exact_tests.TESTS`.
    alternative : str
        "two_sided", "greater" (the first measure is better) or "less".
    anytime : bool
        Whether p-values are to hold at every size of a growing simple sample, whose first draws
        are judged: then they are those of `anytime.anytime_p_values`, two-sided.

    Returns
    -------
    pl.DataFrame
        Table `Comparison`, in the order of the counts. The difference is in [-1, 1], positive
        if the first measure is better, null where n_1 or n_2 is 0 and the lists differ, 0
        where they don't. The p-value is null where n_1 or n_2 is 0; such rows are never
        significant.

    Raises
    ------
    ValueError
        If the test or the alternative is unknown.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3.

    Examples
    --------
    >>> counts = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": [100, 200],
    ...     "size": [50, 0], "n_1": [14, 0], "k_1": [2, 0], "n_2": [16, 0], "k_2": [12, 0],
    ... })
    >>> compare(counts, alpha=0.05, margin=0.01).select(
    ...     pl.col("difference", "p_value").round(6), "significant"
    ... ).rows()
    [(-0.303571, 0.00127, True), (0.0, None, False)]
    """
    k1, n1, k2, n2 = (counts[name].to_numpy() for name in ("k_1", "n_1", "k_2", "n_2"))
    if anytime:
        size = counts["size"].to_numpy()
        tests = anytime_p_values(k1, n1, k2, n2, populations=(size, size))
    else:
        tests = TESTS.get(test).p_values(k1, n1, k2, n2, alternative=alternative)
    p = pl.Series("p_value", tests, strict=False)
    tested = counts.with_columns(_difference().alias("difference"), p.fill_nan(None))
    marked = tested.with_columns(significant=significant("p_value", alpha=alpha, margin=margin))
    return marked.select(*Comparison.columns())


def _difference() -> pl.Expr:
    size, n, n_1, k_1, n_2, k_2 = (
        pl.col(name).cast(pl.Float64) for name in ("size", "n", "n_1", "k_1", "n_2", "k_2")
    )
    estimate = pl.when((n_1 > 0) & (n_2 > 0)).then(size / n * (k_1 / n_1 - k_2 / n_2))
    return pl.when(size == 0).then(0.0).otherwise(estimate)


def significant(p: str, *, alpha: float, margin: float) -> pl.Expr:
    """Mark differences that are significant by their p-value, and large enough."""
    return ((pl.col(p) < alpha) & relevant(margin)).fill_null(value=False)


def relevant(margin: float) -> pl.Expr:
    """Tell which differences are large enough; to equal the margin on paper is enough.

    Examples
    --------
    >>> frame = pl.DataFrame({"difference": [-0.3, 0.1 + 0.2, 0.29, None]})
    >>> frame.select(relevant(0.3)).to_series().to_list()
    [True, True, False, None]
    """
    return pl.col("difference").abs() >= margin - _ROUNDING


def adjust(
    comparison: pl.DataFrame,
    *,
    correction: str,
    alpha: float,
    margin: float,
    table: type[Table] = CutComparison,
    p: str = "p_value",
) -> pl.DataFrame:
    """Adjust the p-values for the number of tests.

    The tests of one category form a family: the declared cuts times the pairs.

    Parameters
    ----------
    comparison : pl.DataFrame
        Table `Comparison`, or another of tests, with the declared cuts alone.
    correction : str
        A name in `multiplicity.CORRECTIONS`.
    alpha, margin : float
        Significance level and relevance margin, as for `compare`.
    table : type of Table
        The schema of what comes back: that of `comparison` with p_adjusted and correction.
    p : str
        The column that is adjusted; of a sample that is looked at several times p-values that
        allow for it, as `repeated.repeated_p_values` gives them.

    Returns
    -------
    pl.DataFrame
        Table `CutComparison`, or `table`, sorted. p_adjusted is in [p_value, 1], null where
        p_value is; such rows don't count towards the family. `significant` goes by p_adjusted.

    Raises
    ------
    ValueError
        If the correction is unknown.

    Examples
    --------
    >>> tests = pl.DataFrame({
    ...     "category": "TP", "measure_1": "dice", "measure_2": "mi", "n": [100, 200],
    ...     "size": 50, "n_1": 20, "k_1": 9, "n_2": 20, "k_2": [2, 1], "difference": [0.1, 0.08],
    ...     "p_value": [0.03, 0.004], "significant": True,
    ... })
    >>> adjust(tests, correction="holm", alpha=0.05, margin=0.09).select(
    ...     "n", "p_adjusted", "significant"
    ... ).rows()
    [(100, 0.03, True), (200, 0.008, False)]
    """
    chosen = CORRECTIONS.get(correction)
    families = comparison.sort(*table.key()).partition_by("category", maintain_order=True)
    adjusted = [pl.Series(chosen.adjust(family[p].to_numpy())) for family in families]
    every = pl.concat([pl.Series(dtype=pl.Float64), *adjusted]).fill_nan(None)
    return (
        comparison.sort(*table.key())
        .with_columns(every.alias("p_adjusted"), correction=pl.lit(correction))
        .with_columns(significant=significant("p_adjusted", alpha=alpha, margin=margin))
        .select(*table.columns())
    )
