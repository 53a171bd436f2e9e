"""Inferred average precision (infAP, xinfAP) of rankings, with bootstrap limits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, tail_of
from pipeline.kernels.sampling import seeded_generator
from pipeline.kernels.survey.ratio_estimator import ratio_or_zero
from schemas import AveragePrecision, PrecisionAtRecall
from schemas.errors import count_text

# Inferred average precision with limits.

SMOOTHING = 1e-5
"""Smoothing added to true and false positives above a rank by the authors of infAP."""


class InferredAveragePrecision(NamedTuple):
    """Average precision with limits; NaN without a judged true positive."""

    estimate: float
    lower: float
    upper: float


def inferred_average_precision(
    tp: npt.ArrayLike, *, pi: npt.ArrayLike | None = None, smoothing: float = SMOOTHING
) -> FloatArray:
    """Return infAP, or xinfAP for unequal inclusion probabilities.

    ``1/R sum over judged true positives of w_k (1/k + (k-1)/k H_k)``, R the sum of w_k over the
    same. H_k is the estimated precision of the k - 1 candidates above rank k: candidates with pi =
    1 are known, and others are estimated by their mean, weighted by 1/pi, with `smoothing` added to
    true and false positives. w is 1 where pi = 1, else 1/pi, scaled so that it adds up to the
    number of candidates without certainty.

    Parameters
    ----------
    tp : array_like of float, shape (..., candidates)
        By rank: 1 for true positives, 0 for false positives, NaN for unjudged candidates.
    pi : array_like of float, shape (..., candidates), optional
        Inclusion probabilities of judged candidates, in (0, 1]; others are ignored (default: equal
        for all, infAP).
    smoothing : float
        At least 0; with 0, the precision above is 1/2 if nothing above was judged.

    Returns
    -------
    array of float, shape (...)
        In [0, 1]; the exact average precision if all are judged. NaN without a judged true
        positive.

    Raises
    ------
    ValueError
        If a label is not 0, 1 or NaN, or a judged candidate has no inclusion probability.

    References
    ----------
    Yilmaz & Aslam, Estimating Average Precision with Incomplete and Imperfect Judgments (2006),
    section 3; Yilmaz, Kanoulas & Aslam, A Simple and Efficient Sampling Method for Estimating AP
    and NDCG (2008), for samples with unequal chances, there by strata.

    Examples
    --------
    >>> no = float("nan")
    >>> judged = [1, no, 0, 1, no, 1, 0, no, 0, 1]
    >>> inferred_average_precision(judged).round(7).tolist()
    0.7243053
    """
    return _estimate(JudgedList.of(*_checked_labels(tp, pi)), smoothing)


def average_precision_limits(
    tp: npt.ArrayLike,
    *,
    pi: npt.ArrayLike,
    confidence: float = 0.95,
    smoothing: float = SMOOTHING,
    ranks: npt.ArrayLike | None = None,
    candidates: int | None = None,
) -> InferredAveragePrecision:
    """Return the inferred average precision with limits for that of these candidates.

    They are the quantiles ``(1 - confidence) / 2`` of a Bayesian bootstrap of the design. Each
    draw weighs 1/pi times a gamma variable of mean 1 and variance 1 - pi, and candidates in a row
    are added that were all missed: as many as ``E / -log(1 - pi)``, E an exponential variable, at
    most as many as are unjudged above the first draw with their label. Such a run is at the top,
    of false positives for the lower limit and of true ones for the upper limit: without it, a
    sample in which all true positives come first has a variance of about 0. Where chances differ,
    there is a second run, of candidates with a usual chance, as high as these are; for the lower
    limit a third, of true positives at the bottom. The worst one counts in each replicate.

    Parameters
    ----------
    tp : array_like of float, shape (candidates,)
        By rank: 1 for true positives, 0 for false positives, NaN for unjudged candidates.
    pi : array_like of float, shape (candidates,)
        Inclusion probabilities of the judged, in (0, 1]; needed, since 1 tells what is known.
    confidence : float
        Confidence level in (0, 1).
    smoothing : float
        As for `inferred_average_precision`.
    ranks : array_like of int, shape (judged,), optional
        Where `tp` and `pi` are of the judged candidates alone: their ranks, from 1 and ascending.
    candidates : int, optional
        How many are ranked, judged or not; goes with `ranks`.

    Returns
    -------
    InferredAveragePrecision
        Limits in [0, 1] around the estimate; of width 0 where all are judged, [0, 1] where there
        is no estimate, or no judged candidate whose chance was below 1.

    Raises
    ------
    ValueError
        As `inferred_average_precision`, or if the confidence is not inside (0, 1).

    Notes
    -----
    For a proportion and small chances they are those of Clopper and Pearson. As these, they are
    wide with few true positives: on average .7 with 3 to 8 of them, .25 with 30 to 60. Random
    numbers have a fixed seed, so equal samples have equal limits.

    References
    ----------
    Rubin, The Bayesian Bootstrap (1981); Learned-Miller & Thomas, A New Confidence Interval for the
    Mean of a Bounded Random Variable (2020), for limits with the least favourable value that was
    not seen.

    Examples
    --------
    >>> no = float("nan")
    >>> judged = [1, no, 0, 1, no, 1, 0, no, 0, 1]
    >>> limits = average_precision_limits(judged, pi=np.full(10, 0.7))
    >>> [round(float(value), 2) for value in limits]
    [0.72, 0.46, 0.89]
    >>> alone = average_precision_limits(
    ...     [1, 0, 1, 1, 0, 0, 1], pi=np.full(7, 0.7), ranks=[1, 3, 4, 6, 7, 9, 10], candidates=10
    ... )
    >>> np.allclose(alone, limits)
    True
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must be in (0, 1), not {confidence}")
    labels, chances = _checked_labels(tp, pi, ranks)
    listed = JudgedList.of(labels, chances, ranks, candidates)
    estimate = float(_estimate(listed, smoothing))
    if np.isnan(estimate) or (listed.n_not_certain > 0 and not listed.is_random.any()):
        return InferredAveragePrecision(estimate, 0.0, 1.0)
    if listed.n_not_certain == 0:
        return InferredAveragePrecision(estimate, estimate, estimate)
    lower, upper = _bootstrap_limits(listed, confidence)
    return InferredAveragePrecision(estimate, min(lower, estimate), max(upper, estimate))


def _checked_labels(
    tp: npt.ArrayLike, pi: npt.ArrayLike | None, ranks: npt.ArrayLike | None = None
) -> tuple[FloatArray, FloatArray]:
    labels = np.asarray(tp, dtype=np.float64)
    judged = ~np.isnan(labels)
    if pi is None:  # any constant: all judged are certain only if nobody is not
        share = judged.mean(axis=-1, keepdims=True) if labels.shape[-1] else np.ones(1)
        chances = np.broadcast_to(share, labels.shape)
    else:
        chances = np.broadcast_to(np.asarray(pi, dtype=np.float64), labels.shape)
    odd = judged & (labels != 0) & (labels != 1)
    wrong = judged & ~((chances > 0) & (chances <= 1))
    for name, at in (("label", odd), ("inclusion probability", wrong)):
        places = np.argwhere(at)
        if len(places):
            values = (labels if name == "label" else chances)[tuple(places[:3].T)]
            numbers = np.arange(labels.shape[-1]) + 1 if ranks is None else np.asarray(ranks)
            text = ", ".join(str(numbers[place[-1]]) for place in places[:3])
            raise ValueError(
                f"invalid {name} of {count_text(len(places), 'candidate')}, for example "
                f"at rank {text}: "
                f"{', '.join(f'{value:g}' for value in values)}; labels must be 0, 1 or NaN "
                "(unjudged), and judged candidates need a probability in (0, 1]"
            )
    return labels, np.where(judged, chances, np.nan)


# Judged rankings.


@dataclass(frozen=True)
class JudgedList:
    """Labels and inclusion probabilities in rank order, of all candidates or only the judged.

    Parameters
    ----------
    labels : array of float, shape (..., judged)
        1 a true positive, 0 none, NaN not judged.
    pi : array of float, shape (..., judged)
        Inclusion probabilities of the judged, in (0, 1], NaN of others.
    k : array of float, shape (judged,)
        Their ranks, from 1 and ascending.
    candidates : int
        Number of ranked candidates.
    """

    labels: FloatArray
    pi: FloatArray
    k: FloatArray
    candidates: int

    @classmethod
    def of(
        cls, labels: FloatArray, pi: FloatArray, ranks: npt.ArrayLike | None = None,
        candidates: int | None = None,
    ) -> JudgedList:  # fmt: skip
        """Return the list; without ranks, of all candidates.

        Examples
        --------
        >>> JudgedList.of(np.array([1.0]), np.array([0.5]), [3], 9).n_not_certain.tolist()
        [9]
        """
        if ranks is None or candidates is None:
            size = labels.shape[-1]
            return cls(labels, pi, np.arange(1.0, size + 1.0), size)
        return cls(labels, pi, np.asarray(ranks, dtype=np.float64), candidates)

    @property
    def is_random(self) -> BoolArray:
        """Whether each was drawn with a chance below 1."""
        return np.asarray(self.pi < 1.0)

    @property
    def is_certain(self) -> BoolArray:
        """Whether each was certain to be judged."""
        return np.asarray(self.pi == 1.0)

    @property
    def n_not_certain(self) -> IntArray:
        """The number of candidates that were not certain to be judged."""
        return np.asarray(self.candidates - self.is_certain.sum(axis=-1, keepdims=True))

    @property
    def weights(self) -> FloatArray:
        """1/pi of draws with a chance below 1, 0 of others."""
        drawn = self.is_random
        return np.where(drawn, 1.0 / np.where(drawn, self.pi, 1.0), 0.0)


def mean_above(sums: tuple[FloatArray, FloatArray, FloatArray], smoothing: float) -> FloatArray:
    """Return the share of true positives above, smoothed as if each draw had their mean weight.

    Parameters
    ----------
    sums : three arrays of float
        Over the draws above: weights, how many, weights of the true positives.
    smoothing : float
        As in `inferred_average_precision`.

    Examples
    --------
    >>> sums = (np.array([4.0]), np.array([2.0]), np.array([2.0]))
    >>> mean_above(sums, 0.0).tolist()
    [0.5]
    """
    weight, draws, hits = sums
    some = draws > 0.5
    each = smoothing * np.divide(weight, draws, out=np.zeros_like(weight), where=some)
    return np.divide(hits + each, weight + 2.0 * each, out=np.full_like(weight, 0.5), where=some)


def sums_above(values: npt.ArrayLike) -> FloatArray:
    """Return the sums over all candidates above.

    Examples
    --------
    >>> sums_above([1, 2, 3]).tolist()
    [0.0, 1.0, 3.0]
    """
    each = np.asarray(values, dtype=np.float64)
    return np.asarray(np.cumsum(each, axis=-1) - each)


def _estimate(judged_list: JudgedList, smoothing: float) -> FloatArray:
    sure, inverse, y, k = (
        judged_list.is_certain,
        judged_list.weights,
        np.nan_to_num(judged_list.labels),
        judged_list.k,
    )
    whole = inverse.sum(axis=-1, keepdims=True)
    scale = np.divide(judged_list.n_not_certain, whole, out=np.zeros(whole.shape), where=whole > 0)
    sums = (sums_above(inverse), sums_above(judged_list.is_random * 1.0), sums_above(inverse * y))
    above = mean_above(sums, smoothing)
    unknown, known = (k - 1.0) - sums_above(sure * 1.0), sums_above(sure * y)
    at_rank, weight = (1.0 + known + unknown * above) / k, (inverse * scale + sure) * y
    total = weight.sum(axis=-1)
    summed = (weight * at_rank).sum(axis=-1)
    return np.asarray(np.divide(summed, total, out=np.full(total.shape, np.nan), where=total > 0))


# Limits: a Bayesian bootstrap, with a run of candidates that were all missed.

_REPLICATES_IN_A_TAIL = 25
_MOST_REPLICATES = 100_000
_MOST_NUMBERS = 200_000  # random numbers at a time: bounds the memory
_FIRST_DRAWS = 10  # they show the chances at the top of the list
_MOST_CHANCE = 1.0 - 1e-12


class _Blocks(NamedTuple):
    """A list cut below each of its r judged true positives; arrays of shape (r,)."""

    k: FloatArray
    """Rank of the true positive."""
    sure: FloatArray
    """1 if it was certain to be judged, else 0."""
    certain: FloatArray
    """Certain true positives above it."""
    unknown: FloatArray
    """Uncertain candidates above it."""
    hits: tuple[FloatArray, FloatArray]
    """Weight of its draw and the variance of this weight; 0 if it was certain."""
    misses: tuple[FloatArray, FloatArray]
    """The same of the false positives drawn in a block, shape (r + 1,): some may follow."""


def _blocks(judged_list: JudgedList) -> _Blocks:
    y, sure, weight = (
        np.nan_to_num(judged_list.labels),
        judged_list.is_certain * 1.0,
        judged_list.weights,
    )
    variance = np.maximum(weight**2 - weight, 0.0)  # (1 - pi) / pi^2
    (rows,) = np.nonzero(y)
    block = np.searchsorted(rows, np.arange(len(y)))

    def sum_misses(values: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(block, values * (1.0 - y), len(rows) + 1), dtype=np.float64)

    return _Blocks(
        k=judged_list.k[rows],
        sure=np.asarray(sure[rows], dtype=np.float64),
        certain=sums_above(sure * y)[rows],
        unknown=(judged_list.k - 1.0 - sums_above(sure))[rows],
        hits=(weight[rows], variance[rows]),
        misses=(sum_misses(weight), sum_misses(variance)),
    )


class _Run(NamedTuple):
    """Candidates in a row that were all missed."""

    true: float
    """1 if they are true positives, 0 if false ones."""
    scale: float
    """Their number is this times a standard exponential variable."""
    most: float
    """Their number is at most this."""
    below: float
    """They follow this rank, and no draw is between them."""


def _runs(judged_list: JudgedList) -> tuple[list[_Run], list[_Run]]:
    """Return the runs for the lower and for the upper limit; of one kind, the worst counts.

    At the top with the chances of the first draws; with the chances of all draws above the first
    one that had not much more; for the lower limit, true positives at the bottom, too.
    """
    weights, ranks = (
        judged_list.weights[judged_list.is_random],
        judged_list.k[judged_list.is_random],
    )
    usual = _missed_in_a_row(weights)
    (unlikely,) = np.nonzero(weights >= 0.5 * usual)
    places = {int(unlikely[0]): usual, 0: _missed_in_a_row(weights[:_FIRST_DRAWS])}
    lower, upper = (
        [
            _Run(
                true,
                scale,
                most=_unjudged_above(judged_list, true, first=ranks[place]),
                below=float(ranks[place - 1]) if place else 0.0,
            )
            for place, scale in places.items()
        ]
        for true in (0.0, 1.0)
    )
    return [*lower, _Run(1.0, usual, most=np.inf, below=judged_list.candidates)], upper


def _missed_in_a_row(weights: FloatArray) -> float:
    """Return the scale: x candidates in a row are all missed with probability (1 - pi)^x.

    Where chances differ, pi is that of a candidate among these draws, and not of a draw.
    """
    chance = min(float(weights.sum() / (weights**2).sum()), _MOST_CHANCE)
    return -1.0 / math.log1p(-chance)


def _unjudged_above(judged_list: JudgedList, label: float, first: float) -> float:
    """Return how many are not judged above the first draw with a label, from a rank on."""
    judged = ~np.isnan(judged_list.labels)
    places = np.flatnonzero(
        judged_list.is_random & (judged_list.labels == label) & (judged_list.k >= first)
    )[:1]
    if not len(places):
        return float(judged_list.candidates - judged.sum())
    return float((judged_list.k - 1.0 - sums_above(judged))[places[0]])


def _bootstrap_limits(judged_list: JudgedList, confidence: float) -> tuple[float, float]:
    tail, blocks, runs = tail_of(confidence), _blocks(judged_list), _runs(judged_list)
    bits = seeded_generator(seed="", purpose="average precision")
    replicates = min(int(np.ceil(_REPLICATES_IN_A_TAIL / tail)), _MOST_REPLICATES)
    # Equally spaced quantiles, not random numbers: with few of a kind hardly more matters.
    numbers = -np.log((np.arange(replicates) + 0.5) / replicates)
    parts = replicates * (2 * len(blocks.k) + 1) // _MOST_NUMBERS + 1
    limits = []
    for part in np.array_split(numbers, parts):
        mean = _Replicates(judged_list, blocks, bits, part).mean
        low, high = ([mean(run) for run in each] for each in runs)
        limits.append([np.min(low, axis=0), np.max(high, axis=0)])
    lower, upper = np.concatenate(limits, axis=1)
    return float(np.quantile(lower, tail)), float(np.quantile(upper, 1.0 - tail))


class _Replicates:
    """Random weights of the draws, and the average precisions that follow."""

    def __init__(
        self,
        judged_list: JudgedList,
        blocks: _Blocks,
        bits: np.random.Generator,
        numbers: FloatArray,
    ) -> None:
        hits = _random_weights(bits, *blocks.hits, len(numbers))
        misses = _random_weights(bits, *blocks.misses, len(numbers))
        self._listed, self._blocks, self._numbers, self._hits = judged_list, blocks, numbers, hits
        self._hits_above = np.cumsum(hits, axis=1) - hits
        self._above = self._hits_above + np.cumsum(misses[:, :-1], axis=1)
        self._drawn = hits.sum(axis=1) + misses.sum(axis=1)

    def mean(self, run: _Run) -> FloatArray:
        """Return the average precision of each replicate with a run that was missed."""
        listed, blocks = self._listed, self._blocks
        count, after = np.minimum(self._numbers * run.scale, run.most), blocks.k > run.below
        more = count[:, None] * after
        share = ratio_or_zero(self._hits_above + run.true * more, self._above + more)
        precision = (1.0 + blocks.certain + blocks.unknown * share) / blocks.k
        scale = listed.n_not_certain / (self._drawn + count)
        weight, own = self._hits * scale[:, None] + blocks.sure, run.true * count * scale
        total = weight.sum(axis=1) + own
        if run.below == listed.candidates:
            of_run = total / listed.candidates
        else:
            least = _first_precision(listed) if run.below == 0 else 0.0
            of_run = (after * precision).max(axis=1, initial=least)
        return np.asarray(((weight * precision).sum(axis=1) + own * of_run) / total)


def _random_weights(
    bits: np.random.Generator, mean: FloatArray, variance: FloatArray, size: int
) -> FloatArray:
    """Draw weights of this mean and variance from gamma distributions; 0 where the mean is 0."""
    scale = ratio_or_zero(variance, mean)
    return bits.standard_gamma(ratio_or_zero(mean, scale), (size, len(mean))) * scale


def _first_precision(judged_list: JudgedList) -> float:
    """Return the precision at the first candidate that is not certain, were it a true positive."""
    known = np.cumprod(
        judged_list.is_certain & (judged_list.k == np.arange(1.0, len(judged_list.k) + 1.0))
    )
    return float((1.0 + (known * np.nan_to_num(judged_list.labels)).sum()) / (1.0 + known.sum()))


# Exact values, where all ranked candidates are judged.


def positives_at(recall: float, positives: int) -> int:
    """Return the fewest true positives that reach a recall.

    Examples
    --------
    >>> positives_at(0.5, 3), positives_at(0.7, 10), positives_at(1.0, 0)
    (2, 7, 0)
    """
    return math.ceil(recall * positives - 1e-9)  # 0.7 * 10 is more than 7


def average_precision_to(ranks: npt.ArrayLike, *, positives: int, recall: float = 1.0) -> float:
    """Return the average precision up to a recall, of a ranking that is judged as a whole.

    ``1/m sum over j = 1 .. m of j / k_j``, k_j the rank of the j-th true positive and m the fewest
    true positives that reach the recall. j / k_j is 0 where the ranking has fewer.

    Parameters
    ----------
    ranks : array_like of int, shape (true positives,)
        Their ranks, from 1, ascending.
    positives : int
        The true positives that recall counts, at least as many as are ranked.
    recall : float
        In (0, 1]; 1 for the whole ranking.

    Returns
    -------
    float
        In [0, 1]; NaN if there are no positives.

    References
    ----------
    Evert, Uhrig, Bartsch & Proisl, E-VIEW-alation: a Large-Scale Evaluation Study of Association
    Measures for Collocation Identification (2017), with recall = 0.5.

    Examples
    --------
    >>> round(average_precision_to([1, 4, 6], positives=3), 4)  # (1 + 2/4 + 3/6) / 3
    0.6667
    >>> average_precision_to([1, 4, 6], positives=3, recall=0.5)  # (1 + 2/4) / 2
    0.75
    >>> average_precision_to([1, 4, 6], positives=10, recall=0.5)  # (1 + 2/4 + 3/6) / 5
    0.4
    """
    count = positives_at(recall, positives)
    if not count:
        return math.nan
    k = np.asarray(ranks, dtype=np.float64)[:count]
    return float((np.arange(1.0, len(k) + 1.0) / k).sum() / count)


class RecallBase(NamedTuple):
    """The true positives that recall counts."""

    name: str = "ranked"
    """"ranked", those of the ranking; "candidates", those of all candidates; "gold", of a list."""
    positives: Mapping[str, int] | None = None
    """Their number by category; None: of the ranking."""

    def of(self, category: str, ranked: int) -> int:
        """Return their number in a category, of which some are ranked."""
        return ranked if self.positives is None else self.positives[category]


def precision_at_recall(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    *,
    recalls: Sequence[float],
    base: RecallBase,
) -> pl.DataFrame:
    """Return the shortest list of each ranking that reaches each recall, and its precision.

    Parameters
    ----------
    ranks, judged
        As for `average_precisions`; all ranked candidates are judged.
    recalls : sequence of float
        In (0, 1].
    base : RecallBase
        The true positives that recall counts.

    Returns
    -------
    pl.DataFrame
        Table `PrecisionAtRecall`, sorted; no rows for categories without positives.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "rank": [1, 2, 3], "id": ["a", "b", "c"]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "b", "c"], "tp": [True, False, True],
    ...     "pi": 1.0})
    >>> at = precision_at_recall(ranks, judged, recalls=[0.5, 1.0], base=RecallBase())
    >>> at.select("recall", "n", "k", pl.col("precision").round(4)).rows()
    [(0.5, 1, 1, 1.0), (1.0, 3, 2, 0.6667)]
    """
    true = judged.filter("tp").select("category", "id")
    counts = dict(true.group_by("category").len().iter_rows())
    targets = pl.DataFrame(
        [
            (category, recall, k, positives)
            for category in judged["category"].unique().sort()
            if (positives := base.of(category, counts.get(category, 0)))
            for recall in sorted(set(recalls))
            if (k := positives_at(recall, positives))
        ],
        schema={"category": pl.String, "recall": pl.Float64, "k": pl.Int64, "positives": pl.Int64},
        orient="row",
    )
    some = ranks.lazy().filter(pl.col("id").is_in(true["id"].unique().implode()))
    places = some.select("measure", "id", n="rank").collect(engine="streaming").join(true, on="id")
    numbered = places.sort("category", "measure", "n").with_columns(
        k=pl.int_range(1, pl.len() + 1, dtype=pl.Int64).over("category", "measure")
    )
    measures = ranks.lazy().select("measure").unique().collect(engine="streaming")
    table = targets.join(measures, how="cross").join(
        numbered.drop("id"), on=["category", "measure", "k"], how="left"
    )
    precision = pl.col("k") / pl.col("n")
    whole = table.with_columns(precision=precision, base=pl.lit(base.name))
    return whole.select(*PrecisionAtRecall.columns()).sort(*PrecisionAtRecall.key())


def judged_chances(judged: pl.DataFrame, *, candidates: int) -> pl.DataFrame:
    """Return the probability of each candidate of being drawn and judged.

    Draws that nobody judged are taken to be like the others: where the sample has chances `pi`,
    those below 1 shrink by the share of such draws that are judged; where it has none, all have
    the share of the candidates that is judged, whether they were drawn once or several times. It
    is exactly 1 where all are judged: then nothing is estimated.

    Parameters
    ----------
    judged : pl.DataFrame
        category, id, tp (null = not judged) of the sampled candidates; pi, where chances differ,
        which is null for all draws with replacement.
    candidates : int
        Candidates in the data set.

    Returns
    -------
    pl.DataFrame
        category, id, tp, and pi: in (0, 1], null where the candidate is not judged.

    Examples
    --------
    >>> draws = pl.DataFrame({"category": "TP", "id": ["a", "b", "c"], "tp": [True, None, False]})
    >>> judged_chances(draws, candidates=8)["pi"].to_list()
    [0.25, None, 0.25]
    >>> designed = draws.with_columns(pi=pl.Series([0.4, 0.2, 1.0]))
    >>> judged_chances(designed, candidates=8)["pi"].to_list()
    [0.2, None, 1.0]
    """
    known = pl.col("tp").is_not_null()
    if "pi" in judged.columns and judged["pi"].null_count() < judged.height:
        below = pl.col("pi") < 1.0
        share = (known & below).sum() / below.sum()
        shrunk = pl.when(below).then(pl.col("pi") * share.over("category"))
        pi: pl.Expr = shrunk.when(~below).then(pl.lit(1.0))
    else:
        # Not in Polars, which multiplies a column by 1/S: 49 (1/49) is less than 1.
        many = judged.select(known.sum().over("category")).to_series().to_numpy()
        pi = pl.lit(pl.Series(many / max(candidates, 1)))
    return judged.select("category", "id", "tp", pi=pl.when(known).then(pi))


def average_precisions(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    *,
    confidence: float,
    recall: float = 1.0,
    base: RecallBase | None = None,
) -> pl.DataFrame:
    """Estimate the average precision of each ranking in each category, with limits.

    Parameters
    ----------
    ranks : pl.DataFrame or pl.LazyFrame
        Table `Ranks`: all candidates under each measure, of whom the judged are held.
    judged : pl.DataFrame
        What `judged_chances` gives; those whom nobody judged may be omitted.
    confidence : float
        Confidence level in (0, 1).
    recall : float
        Average up to this recall. Below 1, or with a base, all ranked candidates must be judged.
    base : RecallBase, optional
        The true positives that recall counts (default: those of the ranking).

    Returns
    -------
    pl.DataFrame
        Table `AveragePrecision`, sorted. The estimate is null where no judged candidate is a true
        positive, with limits [0, 1]; see `average_precision_limits`.

    Raises
    ------
    ValueError
        As `average_precision_limits`.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "rank": [1, 2, 3], "id": ["a", "b", "c"]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "b", "c"], "tp": [True, False, True],
    ...     "pi": 1.0})
    >>> average_precisions(ranks, judged, confidence=0.95).select(
    ...     pl.col("average_precision", "lower", "upper").round(4)
    ... ).row(0)
    (0.8333, 0.8333, 0.8333)
    """
    schema = AveragePrecision.columns()
    rows = list(_rows(ranks, judged, confidence, recall, base or RecallBase()))
    return pl.DataFrame(rows, schema=schema, orient="row").sort(*AveragePrecision.key())


def _rows(
    ranks: pl.DataFrame | pl.LazyFrame,
    judged: pl.DataFrame,
    confidence: float,
    recall: float,
    base: RecallBase,
) -> Iterator[dict[str, Any]]:
    listed = ranks.lazy().group_by("measure").agg(pl.len()).collect(engine="streaming")
    known = judged.drop_nulls("tp")
    some = ranks.lazy().filter(pl.col("id").is_in(known["id"].unique().implode()))
    table = some.select("measure", "rank", "id").collect(engine="streaming")
    ordered = table.sort("measure", "rank")
    for (category,) in judged.select("category").unique().iter_rows():
        mine = known.filter(pl.col("category") == category)
        labels = ordered.join(mine, on="id", maintain_order="left")
        true = int(mine["tp"].sum())
        facts = {
            "category": category, "n_sampled": mine.height, "confidence": confidence,
            "k_sampled": true, "unequal": mine["pi"].n_unique() > 1, "recall": recall,
            "base": base.name,
        }  # fmt: skip
        for measure, candidates in listed.iter_rows():
            own = labels.filter(pl.col("measure") == measure)
            positives = base.of(category, true) if mine.height == candidates else None
            if recall < 1.0 or base.positives is not None:
                tp_ranks, among = own.filter("tp")["rank"], base.of(category, true)
                value = average_precision_to(tp_ranks, positives=among, recall=recall)
                estimated = _limit_columns(InferredAveragePrecision(value, value, value))
            else:
                estimated = _limit_columns(_infer(own, candidates, confidence))
            yield facts | {
                "measure": measure, "n_candidates": candidates, "positives": positives,
            } | estimated  # fmt: skip


def _infer(labels: pl.DataFrame, candidates: int, confidence: float) -> InferredAveragePrecision:
    return average_precision_limits(
        labels["tp"].cast(pl.Float64).to_numpy(), pi=labels["pi"].to_numpy(),
        confidence=confidence, ranks=labels["rank"].to_numpy(), candidates=candidates,
    )  # fmt: skip


def _limit_columns(average: InferredAveragePrecision) -> dict[str, float | None]:
    unknown = math.isnan(average.estimate)
    estimate, lower, upper = (None, 0.0, 1.0) if unknown else average
    return {"average_precision": estimate, "lower": lower, "upper": upper}
