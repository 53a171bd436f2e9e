"""Stratified sampling of candidates, and n-best precision and differences estimated from it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.nbest.comparison import relevant, samples, set_counts
from pipeline.kernels.nbest.precision import first_list, list_counts, ranked_candidates
from pipeline.kernels.numeric import (
    FloatArray,
    IntArray,
    check_bootstrap,
    codes,
    labels_of,
    percentiles,
)
from pipeline.kernels.partitions import count_rows, parts_needed, split
from pipeline.kernels.sampling import as_sample, seeded_generator, smallest_keys
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.survey.limits import difference_limits, limits
from pipeline.kernels.survey.ratio_estimator import Estimates, Known, draw_moments, hajek
from schemas import StratifiedComparison, StratifiedPrecision
from schemas.errors import count_text

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
        raise ValueError(f"no size for {', '.join(wrong)}; the strata are {', '.join(counts)}")
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


# Estimates of sets: within a stratum all draws have one inclusion probability.


def stratified_sets(size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Estimates:
    """Return the estimates of sets from a stratified sample, by their counts in each stratum.

    Given how many of its members were drawn, a stratum of a set is a simple random sample with
    ``pi_h = n_h / N_h``; Hajek's ratio is then k_h / n_h, and the mean by known sizes
    ``sum_h W_h k_h / n_h``. A stratum that was judged completely is known.

    Parameters
    ----------
    size, n, k : array_like of int, shape (..., strata)
        Members of the set in each stratum, judged draws among them, true positives.

    Returns
    -------
    Estimates
        Arrays of shape (...); NaN where a stratum with members has no draw.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 5A.9, on strata given their draws; Rosen, On
    Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> found = stratified_sets([10, 30], [5, 10], [4, 2])
    >>> round(float(found.estimate), 6), round(float(found.variance), 6)
    (0.35, 0.007917)
    """
    members, draws, hits = (np.asarray(each, dtype=np.float64) for each in (size, n, k))
    complete = draws >= members
    chance = np.divide(draws, members, out=np.full(draws.shape, 0.5), where=members > 0)
    chance = np.where(complete | (draws == 0), 0.5, chance)  # of no draw: any will do
    shape = (-1, *members.shape)
    hit, miss = (draw_moments(y, chance.ravel()).reshape(shape) for y in (1.0, 0.0))
    sums = np.where(complete, 0.0, hit * hits + miss * (draws - hits))
    known = Known(
        np.where(complete, hits, 0.0).sum(axis=-1),
        np.where(complete, draws - hits, 0.0).sum(axis=-1),
        np.zeros(members.shape[:-1]),
    )
    return hajek(sums[..., None], np.where(complete, 0.0, members), known=known)


def set_limits(
    size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike, *, confidence: float
) -> Limits:
    """Return Korn and Graubard's limits for the precision of sets from a stratified sample.

    Parameters
    ----------
    size, n, k : array_like of int, shape (..., strata)
        As for `stratified_sets`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : arrays of float, shape (...)
        In [0, 1], with the estimate between them; NaN where there is none.

    References
    ----------
    Korn & Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive
    Counts Estimated from Survey Data (1998).

    Examples
    --------
    >>> lower, upper = set_limits([10, 30], [5, 10], [4, 2], confidence=0.95)
    >>> round(float(lower), 2), round(float(upper), 2)
    (0.17, 0.57)
    """
    found = stratified_sets(size, n, k)
    unknown = np.isnan(found.estimate)
    lower, upper = limits(found, confidence=confidence)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


def pair_limits(first: Estimates, second: Estimates, *, confidence: float) -> Limits:
    """Return limits for the difference of two disjoint sets; NaN where one has no estimate.

    Parameters
    ----------
    first, second : Estimates
        What `stratified_sets` gives for D1 and D2.
    confidence : float
        Confidence level in (0, 1).

    References
    ----------
    Zou & Donner, Construction of Confidence Limits about Effect Measures (2008).

    Examples
    --------
    >>> sets = [stratified_sets([4], [4], [hits]) for hits in (3, 1)]
    >>> [float(limit) for limit in pair_limits(*sets, confidence=0.95)]
    [0.5, 0.5]
    """
    unknown = np.isnan(first.estimate) | np.isnan(second.estimate)
    lower, upper = difference_limits(first, second, confidence=confidence)
    return np.where(unknown, np.nan, lower), np.where(unknown, np.nan, upper)


# Counts in n-best lists by stratum, in parts if memory is limited.


def _list_counts(
    ranks: pl.LazyFrame, judged: pl.DataFrame, strata: pl.LazyFrame, *, at: Sequence[int]
) -> tuple[pl.DataFrame, list[IntArray]]:
    """Count members, judged draws and true positives of n-best lists by stratum.

    Parameters
    ----------
    ranks : LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : DataFrame
        category, id, tp (null = not judged): the sampled candidates, each once.
    strata : LazyFrame
        id and stratum of all candidates.
    at : sequence of int
        List sizes; those beyond the candidates of a measure are omitted.

    Returns
    -------
    lists : DataFrame
        category, measure and n of each list; no rows without candidates or draws.
    counts : list of three arrays of int, shape (lists, strata)
        Members, draws that are judged, true positives.

    Raises
    ------
    ValueError
        If ranked candidates have no stratum.

    Examples
    --------
    >>> ranks = pl.LazyFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> strata = pl.LazyFrame({"id": list("abcd"), "stratum": ["1-1", "2-4", "2-4", "2-4"]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "d"], "tp": [True, False]})
    >>> lists, (members, draws, hits) = _list_counts(ranks, judged, strata, at=[1, 4])
    >>> members.tolist(), draws.tolist(), hits.tolist()
    ([[1, 0], [1, 3]], [[1, 0], [1, 1]], [[1, 0], [1, 0]])
    """
    counting = _ListCounts.of(ranks, judged, strata, at)
    own = ranks.select("measure", "rank", "id")
    placed_strata = strata.select("id", "stratum")
    for some, theirs in split(own, placed_strata, number=parts_needed(own, placed_strata), by="id"):
        counting.add(some.join(theirs, on="id", how="left"))
    counting.require_strata()
    return counting.lists()


def _codes_in(labels: pl.Series, column: str) -> pl.Expr:
    """Return the place of each label of a column among these."""
    return pl.col(column).cast(pl.Enum(labels)).to_physical().cast(pl.Int64)


@dataclass
class _ListCounts:
    """Counts of n-best lists, accumulated over parts of the candidates."""

    measures: pl.Series
    strata: pl.Series
    categories: pl.Series
    held: IntArray
    n: IntArray
    drawn: pl.DataFrame
    counts: list[IntArray]
    missing: int = 0
    examples: list[str] = field(default_factory=list)

    @classmethod
    def of(
        cls, ranks: pl.LazyFrame, judged: pl.DataFrame, strata: pl.LazyFrame, at: Sequence[int]
    ) -> _ListCounts:
        """Return counts of 0."""
        sizes = ranks.group_by("measure").agg(pl.len()).sort("measure").collect(engine="streaming")
        names, held = labels_of(strata, "stratum"), sizes["len"].to_numpy().astype(np.int64)
        category, categories = codes(judged["category"])
        n = np.array(sorted({size for size in at if 1 <= size <= held.max(initial=0)}), np.int64)
        shape = (len(sizes), len(n), len(names))
        shapes = [shape, *[(len(categories), *shape)] * 2]
        drawn = judged.select("id", "tp", category=category).drop_nulls("tp")
        zeros = [np.zeros(each, dtype=np.int64) for each in shapes]
        return cls(sizes["measure"], names, categories, held, n, drawn, zeros)

    def add(self, placed: pl.DataFrame) -> None:
        """Take in measure, rank, id and stratum of some candidates."""
        lost = placed.filter(pl.col("stratum").is_null())["id"].unique()
        self.missing += len(lost)
        self.examples = sorted([*self.examples, *lost.sort().head(3)])[:3]
        if self.missing:
            return
        numbered = placed.select(
            "id",
            measure=_codes_in(self.measures, "measure"),
            first=pl.Series(first_list(placed["rank"], self.n)),
            stratum=_codes_in(self.strata, "stratum"),
        )
        inside = self.drawn.join(numbered, on="id")
        true = inside["tp"].cast(pl.Int64).to_numpy()
        keys = ("measure", "first", "stratum")
        members, draws, hits = self.counts
        members += list_counts([numbered[key].to_numpy() for key in keys], members.shape)
        places = [inside[key].to_numpy() for key in ("category", *keys)]
        draws += list_counts(places, draws.shape)
        hits += list_counts(places, hits.shape, true)

    def require_strata(self) -> None:
        """Refuse candidates without a stratum."""
        if self.missing:
            examples = ", ".join(self.examples)
            raise ValueError(
                f"no stratum for {count_text(self.missing, 'candidate')}, for example {examples}"
            )

    def lists(self) -> tuple[pl.DataFrame, list[IntArray]]:
        """Return the lists that there are, and their counts."""
        members, draws, hits = self.counts
        shown = np.nonzero(np.broadcast_to(self.n <= self.held[:, None], draws.shape[:-1]))
        lists = {
            "category": self.categories.gather(shown[0]),
            "measure": self.measures.gather(shown[1]),
            "n": self.n[shown[2]],
        }
        return pl.DataFrame(lists), [members[shown[1:]], draws[shown], hits[shown]]


# Replicates: a bootstrap gives a stratum of equal draws no variance, a prediction does.


def predicted_estimates(row: IntArray, *, replicates: int, seed: str, purpose: str) -> FloatArray:
    """Return values that the precision of one list can have, by what was drawn.

    In each stratum ``(k_h + X_h) / |A_h|``, X_h the true positives among the |A_h| - n_h members
    that were not drawn: binomial, with a proportion from Beta(k_h + 1/2, n_h - k_h + 1/2), the
    distribution that Jeffreys' interval is made from; weighted by |A_h|/|A|.

    Parameters
    ----------
    row : array of int, shape (3, strata)
        Members of the list in each stratum, judged draws among them, true positives.
    replicates : int
        Number of values.
    seed, purpose : str
        Fix them, together with the counts.

    Returns
    -------
    array of float, shape (replicates,)
        In [0, 1]; all equal where all members are known. Strata without members don't count.

    References
    ----------
    Ericson, Subjective Bayesian Models in Sampling Finite Populations (1969), section 3; Brown,
    Cai & DasGupta, Interval Estimation for a Binomial Proportion (2001), on the prior.

    Examples
    --------
    >>> row = np.array([[10, 30], [10, 3], [4, 0]])
    >>> values = predicted_estimates(row, replicates=1000, seed="s", purpose="p")
    >>> bool(values.min() == 0.1 and 0.2 < np.quantile(values, 0.975) < 0.6)
    True
    """
    members, draws, hits = (part[row[0] > 0] for part in row)
    bits = seeded_generator(seed=seed, purpose=f"{purpose} predicted {row.tolist()}")
    rates = bits.beta(hits + 0.5, draws - hits + 0.5, size=(replicates, len(members)))
    others = bits.binomial(members - draws, rates)
    return np.asarray((hits + others).sum(axis=1) / members.sum())


# N-best precision: true positives of several strata are not binomial.

DESIGNED = "korn_graubard"
"""The method that needs no replicates."""


def stratified_estimate(
    size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the precision of a list and the variance of the estimate.

    ``p = sum_h W_h k_h/n_h`` with W_h = |A_h|/|A|, and
    ``sum_h W_h^2 (1 - f_h) p_h (1 - p_h) / (n_h - 1)`` with p_h = k_h/n_h, f_h = n_h/|A_h|.

    Parameters
    ----------
    size, n, k : array_like of int, shape (..., strata)
        Members of the list A in each stratum, judged draws among them, true positives.

    Returns
    -------
    precision, variance : arrays of float, shape (...)
        In [0, 1] and from 0. NaN where a stratum of A has no draw; the variance also where it
        has one draw of several members. Strata without members of A don't count. A stratum
        whose draws are all alike adds nothing to the variance.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= size.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 5.6 on proportions.

    Examples
    --------
    >>> p, variance = stratified_estimate([10, 30], [5, 10], [4, 2])
    >>> round(float(p), 6), round(float(variance), 6)
    (0.35, 0.007917)
    """
    members, draws, hits = _checked_counts(size, n, k)
    whole = members.sum(axis=-1, keepdims=True)
    weights = np.divide(members, whole, out=np.zeros_like(members), where=whole > 0)
    # Counts are added up, and not shares, so that all true is 1, and all known exact.
    true = np.divide(members * hits, draws, out=np.full_like(hits, np.nan), where=draws > 0)
    p = np.divide(hits, draws, out=np.full_like(hits, np.nan), where=draws > 0)
    missed = np.divide(members - draws, members, out=np.zeros_like(members), where=members > 0)
    spread = np.divide(p * (1.0 - p), draws - 1.0, out=np.full_like(p, np.nan), where=draws > 1)
    spread = np.where(missed == 0, 0.0, missed * spread)
    added = np.where(members > 0, true, 0.0).sum(axis=-1, keepdims=True)
    precision = np.divide(added, whole, out=np.full_like(added, np.nan), where=whole > 0)[..., 0]
    variance = np.where(members > 0, weights**2 * spread, 0.0).sum(axis=-1)
    return precision, np.where(np.isnan(precision), np.nan, variance)


def _checked_counts(
    size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts as arrays of float.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= size.

    Examples
    --------
    >>> [each.tolist() for each in _checked_counts([10], [5], [4])]
    [[10.0], [5.0], [4.0]]
    """
    members, draws, hits = (np.asarray(a, dtype=np.float64) for a in (size, n, k))
    if np.any((hits < 0) | (hits > draws) | (draws > members)):
        raise ValueError(
            "some stratum violates 0 <= k <= n <= size: was the sample drawn without replacement?"
        )
    return members, draws, hits


def stratified_interval(
    size: npt.ArrayLike,
    n: npt.ArrayLike,
    k: npt.ArrayLike,
    *,
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> tuple[FloatArray, FloatArray]:
    """Return intervals for the precision of lists.

    By "korn_graubard" a stratum's draws of a list are a simple random sample of what it has there
    (`stratified_sets`). The others are percentiles of estimates: by "predictive" the members
    that were not drawn are predicted (`predicted_estimates`). By "bootstrap" n_h - 1 draws of
    each stratum are drawn again with replacement, and the deviation of their mean from p_h is
    scaled by sqrt(1 - f_h): so the bootstrap has the variance of `stratified_estimate` exactly.

    Parameters
    ----------
    size, n, k : array_like of int, shape (lists, strata)
        As for `stratified_estimate`.
    confidence : float
        Confidence level in (0, 1). Percentiles meet it in the limit only: those of the bootstrap
        are too close where strata have few draws, or draws that are all alike, those of
        predictions lie too high or too low where many strata have few draws.
    replicates : int
        Number of bootstrap samples, or of predictions; "korn_graubard" needs none.
    seed : str
        Fixes them. Equal rows get equal limits, whatever the other rows are.
    method : str
        "korn_graubard", or a name in `REPLICATES`.

    Returns
    -------
    lower, upper : arrays of float, shape (lists,)
        In [0, 1], with the estimate between them. NaN where the estimate is, and by the bootstrap
        where the variance is. Of width 0 where all members are known.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= size, the confidence is not inside (0, 1), or there is no such
        method.

    References
    ----------
    Korn & Graubard (1998); Rao & Wu, Resampling Inference with Complex Survey Data (1988),
    section 2; Ericson (1969).

    Examples
    --------
    >>> counts = [[10, 30]], [[5, 10]], [[4, 2]]
    >>> options = {"confidence": 0.95, "replicates": 1000, "seed": "s"}
    >>> lower, upper = stratified_interval(*counts, **options)
    >>> round(float(lower[0]), 2), round(float(upper[0]), 2)
    (0.17, 0.57)
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    if method == DESIGNED:
        _checked_counts(size, n, k)
        return set_limits(size, n, k, confidence=confidence)
    counts = np.stack([np.asarray(a, dtype=np.int64) for a in (size, n, k)], axis=1)
    p, variance = stratified_estimate(size, n, k)
    limits = np.full((len(counts), 2), np.nan)
    rows = np.flatnonzero(~np.isnan(p if method == "predictive" else variance))
    distinct, inverse = np.unique(counts[rows], axis=0, return_inverse=True)
    draw = partial(
        _replicate_function(method), replicates=replicates, seed=seed, purpose="stratified"
    )
    intervals = [percentiles(draw(row), confidence=confidence) for row in distinct]
    if intervals:
        limits[rows] = np.clip(intervals, 0.0, 1.0)[inverse.ravel()]
    return np.minimum(limits[:, 0], p), np.maximum(limits[:, 1], p)


def bootstrap_estimates(row: IntArray, *, replicates: int, seed: str, purpose: str) -> FloatArray:
    """Return bootstrap estimates of the precision of one list.

    Parameters
    ----------
    row : array of int, shape (3, strata)
        Members of the list in each stratum, judged draws, true positives; every stratum with
        members has a draw.
    replicates : int
        Number of bootstrap samples.
    seed, purpose : str
        Fix them, together with the counts.

    Returns
    -------
    array of float, shape (replicates,)
        Around the estimate, with its variance; some may lie outside [0, 1].

    Examples
    --------
    >>> row = np.array([[10, 30], [10, 30], [4, 2]])
    >>> bootstrap_estimates(row, replicates=2, seed="s", purpose="p").round(12).tolist()
    [0.15, 0.15]
    """
    members, draws, hits = (part[row[0] > 0] for part in row)
    bits = seeded_generator(seed=seed, purpose=f"{purpose} {row.tolist()}")
    p, again = hits / draws, np.maximum(draws - 1, 1)
    drawn = bits.binomial(again, p, size=(replicates, len(p)))
    moved = np.sqrt(1.0 - draws / members) * (drawn / again - p)
    return np.asarray((members * hits / draws + members * moved).sum(axis=1) / members.sum())


REPLICATES: Mapping[str, Callable[..., FloatArray]] = MappingProxyType(
    {"bootstrap": bootstrap_estimates, "predictive": predicted_estimates}
)
"""How the estimates are made that the limits are percentiles of."""


def _replicate_function(method: str) -> Callable[..., FloatArray]:
    """Return the function of a method.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> _replicate_function("bootstrap").__name__
    'bootstrap_estimates'
    """
    if method not in REPLICATES:
        raise ValueError(f"unknown method {method!r}; valid: {', '.join([DESIGNED, *REPLICATES])}")
    return REPLICATES[method]


def stratified_precision(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame | pl.LazyFrame,
    *,
    at: Sequence[int],
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> pl.DataFrame:
    """Estimate the precision of n-best lists from a stratified sample.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged): the sampled candidates, each once.
    strata : pl.DataFrame or pl.LazyFrame
        id and stratum of all candidates.
    at : sequence of int
        List sizes; those beyond the data set are omitted. S gives the baseline.
    confidence, replicates, seed, method
        As for `stratified_interval`.

    Returns
    -------
    pl.DataFrame
        Table `StratifiedPrecision`, sorted. Precision, variance and limits are null where a
        stratum of the list is not sampled.

    Raises
    ------
    ValueError
        If candidates have no stratum, or the confidence is not inside (0, 1).

    References
    ----------
    Cochran (1977), chapter 5; Rao & Wu (1988).

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": list("abcd"), "rank": [1, 2, 3, 4]})
    >>> strata = pl.DataFrame({"id": list("abcd"), "stratum": ["1-1", "2-4", "2-4", "2-4"]})
    >>> judged = pl.DataFrame(
    ...     {"category": "TP", "id": ["a", "b", "d"], "tp": [True, True, False]}
    ... )
    >>> stratified_precision(
    ...     ranks, judged, strata, at=[1, 4], confidence=0.95, replicates=100, seed="s"
    ... ).select("n", "precision", "n_sampled", "k_sampled").rows()
    [(1, 1.0, 1, 1), (4, 0.625, 3, 2)]
    """
    lists, counts = _list_counts(ranks.lazy(), judged, strata.lazy(), at=at)
    if lists.is_empty():
        return pl.DataFrame(schema=StratifiedPrecision.columns())
    precision, variance = stratified_estimate(*counts)
    lower, upper = stratified_interval(
        *counts, confidence=confidence, replicates=replicates, seed=seed, method=method
    )
    size, n, k = counts
    table = lists.with_columns(
        precision=precision, lower=lower, upper=upper, variance=variance,
        n_sampled=n.sum(axis=1), k_sampled=k.sum(axis=1), strata=(size > 0).sum(axis=1),
        strata_unsampled=((size > 0) & (n == 0)).sum(axis=1),
    )  # fmt: skip
    typed = [pl.col(name).cast(dtype) for name, dtype in StratifiedPrecision.columns().items()]
    return table.select(typed).fill_nan(None).sort(*StratifiedPrecision.key())


# Differences of n-best precision.


def stratified_difference(
    first: IntArray,
    second: IntArray,
    *,
    share: float,
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> tuple[float, float, float]:
    """Estimate the difference in precision of two lists from their difference sets.

    ``(|D1|/n) (p(D1) - p(D2))``, each p the weighted estimate over strata. D1 and D2 have no
    candidate in common, so their bootstrap samples, or predictions, are drawn independently of
    each other, and the limits are percentiles; those of "korn_graubard" come from the limits of
    both by squares and recovery (MOVER).

    Parameters
    ----------
    first, second : array of int, shape (3, strata)
        Members of D1 and of D2 in each stratum, judged draws among them, true positives.
    share : float
        |D1| / n.
    confidence : float
        Confidence level in (0, 1), which the coverage meets in the limit only.
    replicates : int
        Number of bootstrap samples, or of predictions.
    seed : str
        Fixes them.
    method : str
        "korn_graubard", or a name in `REPLICATES`.

    Returns
    -------
    difference, lower, upper : float
        In [-1, 1], the limits on both sides of the difference. NaN where a stratum of D1 or D2
        has no draw; the limits of the bootstrap also where it has one draw of several members.
        All 0 if the lists are equal.

    References
    ----------
    Evert & Krenn, Using Small Random Samples (2005), section 3, on difference sets; Rao & Wu,
    Resampling Inference with Complex Survey Data (1988), on the bootstrap.

    Examples
    --------
    >>> first, second = np.array([[4], [4], [3]]), np.array([[4], [4], [1]])
    >>> stratified_difference(
    ...     first, second, share=0.5, confidence=0.95, replicates=100, seed="s"
    ... )
    (0.25, 0.25, 0.25)
    """
    estimates = _differences(
        np.stack([first, second])[None], np.array([share]), confidence=confidence,
        replicates=replicates, seed=seed, method=method,
    )  # fmt: skip
    difference, lower, upper = estimates[0].tolist()
    return difference, lower, upper


def _differences(
    sets: IntArray, share: FloatArray, *, confidence: float, replicates: int, seed: str, method: str
) -> FloatArray:
    """Return difference and limits of each list, from counts of shape (lists, 2, 3, strata)."""
    p, variance = stratified_estimate(*np.moveaxis(sets, 2, 0))
    difference = np.where(share == 0.0, 0.0, share * (p[:, 0] - p[:, 1]))
    limits = np.full((2, len(sets)), np.where(share == 0.0, 0.0, np.nan))
    estimable = ~np.isnan(variance if method == "bootstrap" else p).any(axis=1)
    rows = np.flatnonzero((share > 0.0) & estimable)
    if rows.size and method == DESIGNED:
        one, two = (stratified_sets(*np.moveaxis(sets[rows, side], 1, 0)) for side in (0, 1))
        limits[:, rows] = share[rows] * np.stack(pair_limits(one, two, confidence=confidence))
    elif rows.size:
        draw = partial(_replicate_function(method), replicates=replicates, seed=seed)
        again_one, again_two = (
            [draw(each, purpose=f"difference {name}") for each in sets[rows, side]]
            for side, name in enumerate(("D1", "D2"))
        )
        again = percentiles(np.subtract(again_one, again_two), confidence=confidence)
        limits[:, rows] = np.clip(share[rows] * again, -1.0, 1.0)
    lower, upper = np.minimum(limits[0], difference), np.maximum(limits[1], difference)
    return np.stack([difference, lower, upper], axis=1)


def stratified_comparison(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    margin: float,
    confidence: float,
    replicates: int,
    seed: str,
    method: str = DESIGNED,
) -> pl.DataFrame:
    """Compare the n-best precision of measures by a stratified sample.

    Fisher's test does not apply: the true positives of a difference set are not binomial where
    draws stand for different numbers of candidates. The interval takes its place.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged): the sampled candidates, each once.
    strata : pl.DataFrame or pl.LazyFrame
        id and stratum of all candidates.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int
        List sizes; those beyond the data set are omitted.
    margin : float
        Relevance margin: the smallest difference that is marked; proportion.
    confidence, replicates, seed, method
        As for `stratified_difference`.

    Returns
    -------
    pl.DataFrame
        Table `StratifiedComparison`, sorted; difference and limits null where unknown.

    Examples
    --------
    >>> ranks = pl.DataFrame({
    ...     "measure": ["a"] * 2 + ["b"] * 2, "id": ["x", "y", "y", "x"], "rank": [1, 2] * 2,
    ... })
    >>> strata = pl.DataFrame({"id": ["x", "y"], "stratum": "all"})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["x", "y"], "tp": [True, False]})
    >>> stratified_comparison(
    ...     ranks, judged, strata, pairs=[("a", "b")], at=[1], margin=0.0, confidence=0.95,
    ...     replicates=100, seed="s",
    ... ).select("difference", "lower", "upper", "excludes_zero").rows()
    [(1.0, 1.0, 1.0, True)]
    """
    rows = []
    for key, n, sets in stratified_counts(ranks, judged, strata, pairs=pairs, at=at):
        (size, n_1, k_1), (_, n_2, k_2) = np.moveaxis(sets.sum(axis=3), 0, -1)
        estimates = _differences(
            sets, size / n, confidence=confidence, replicates=replicates, seed=seed, method=method
        )
        counts = np.stack([n, size, n_1, k_1, n_2, k_2], axis=1)
        rows += [
            (*key, *row, *limits)
            for row, limits in zip(counts.tolist(), estimates.tolist(), strict=True)
        ]
    schema = StratifiedComparison.columns()
    columns = {name: schema[name] for name in list(schema)[:-1]}
    table = pl.DataFrame(rows, schema=columns, orient="row").fill_nan(None)
    apart = (pl.col("lower") > 0) | (pl.col("upper") < 0)
    marked = table.with_columns(excludes_zero=(apart & relevant(margin)).fill_null(value=False))
    return marked.sort(*StratifiedComparison.key())


def stratified_counts(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame | pl.LazyFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
) -> Iterator[tuple[tuple[str, str, str], IntArray, IntArray]]:
    """Count the candidates in the difference sets by stratum.

    Parameters
    ----------
    ranks, judged, strata, pairs, at
        As for `stratified_comparison`.

    Yields
    ------
    key : tuple of str
        Category and the two measures.
    n : array of int, shape (lists,)
        The list sizes.
    sets : array of int, shape (lists, 2, 3, strata)
        Of D1 and of D2: members, judged draws, true positives.

    Raises
    ------
    ValueError
        If a measure does not rank just the candidates that have a stratum.
    """
    names = sorted({*itertools.chain(*pairs)})
    own = ranks.lazy().filter(pl.col("measure").is_in(names)).select("measure", "rank", "id")
    placed_strata = strata.lazy().select("id", "stratum")
    labels = labels_of(placed_strata, "stratum")
    candidates = count_rows(own) // max(1, len(names))
    sizes = np.array(sorted({size for size in at if 1 <= size <= candidates}), dtype=np.int64)
    draws, ranked = judged.with_columns(multiplicity=1), _Ranked(names)
    total: dict[tuple[str, str, str], IntArray] = {}
    for some, theirs in split(own, placed_strata, number=parts_needed(own, placed_strata), by="id"):
        base, vectors = ranked.of(some, theirs)
        if ranked.mismatches():
            continue
        places = base.select(_codes_in(labels, "stratum")).to_series().to_numpy()
        drawn, size = samples(base["id"], draws), len(labels)
        for key, sets in set_counts(vectors, places, drawn, pairs=pairs, n=sizes, size=size):
            total[key] = sets + total.get(key, 0)
    ranked.require_all()
    yield from ((key, sizes, sets) for key, sets in total.items())


class _Ranked:
    """Ranks of candidates, part by part; counts the candidates that each measure ranks."""

    def __init__(self, measures: Sequence[str]) -> None:
        self._own = dict.fromkeys(measures, 0)
        self._placed = dict.fromkeys(measures, 0)
        self._candidates = 0

    def of(
        self, ranks: pl.DataFrame, strata: pl.DataFrame
    ) -> tuple[pl.DataFrame, dict[str, IntArray]]:
        """Return the ranked candidates with their strata, by id, and their ranks."""
        base = strata.join(ranks, on="id", how="semi").sort("id")
        self._candidates += base.height
        vectors = {}
        for name in self._own:
            own = ranks.filter(pl.col("measure") == name).select("id", "rank")
            joined = base.join(own, on="id", how="inner", maintain_order="left")
            self._own[name] += own.height
            self._placed[name] += joined.height
            vectors[name] = joined["rank"].to_numpy()
        return base, vectors

    def mismatches(self) -> list[str]:
        """Return the measures that do not rank exactly the candidates with a stratum."""
        n, own, placed = self._candidates, self._own, self._placed
        return [name for name in own if not own[name] == placed[name] == n]

    def require_all(self) -> None:
        """Refuse such measures."""
        for name in self.mismatches():
            what = f"{name} ranks {self._own[name]:,} candidates, of which {self._placed[name]:,}"
            raise ValueError(f"{what} are among the {self._candidates:,} with a stratum")
