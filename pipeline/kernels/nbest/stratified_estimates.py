"""N-best precision from a stratified sample: the weighted estimate, its variance, intervals.

Draws from different strata stand for different numbers of candidates, so the true positives of a
list are not binomial: Clopper and Pearson's interval and Fisher's test do not apply.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.nbest.stratified_designs import set_limits
from pipeline.kernels.nbest.stratified_lists import stratified_lists
from pipeline.kernels.nbest.stratified_prediction import predicted_estimates
from pipeline.kernels.percentiles import check_bootstrap, percentiles
from schemas import StratifiedPrecision

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
    members, draws, hits = require_counts(size, n, k)
    whole = members.sum(axis=-1, keepdims=True)
    weights = np.divide(members, whole, out=np.zeros_like(members), where=whole > 0)
    p = np.divide(hits, draws, out=np.full_like(hits, np.nan), where=draws > 0)
    missed = np.divide(members - draws, members, out=np.zeros_like(members), where=members > 0)
    spread = np.divide(p * (1.0 - p), draws - 1.0, out=np.full_like(p, np.nan), where=draws > 1)
    spread = np.where(missed == 0, 0.0, missed * spread)
    precision = np.where(members > 0, weights * p, 0.0).sum(axis=-1)
    variance = np.where(members > 0, weights**2 * spread, 0.0).sum(axis=-1)
    none, unknown = whole[..., 0] == 0, np.isnan(precision)
    return np.where(none, np.nan, precision), np.where(none | unknown, np.nan, variance)


def require_counts(
    size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return counts as arrays of float.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= size.

    Examples
    --------
    >>> [each.tolist() for each in require_counts([10], [5], [4])]
    [[10.0], [5.0], [4.0]]
    """
    members, draws, hits = (np.asarray(a, dtype=np.float64) for a in (size, n, k))
    if np.any((hits < 0) | (hits > draws) | (draws > members)):
        raise ValueError("not 0 <= k <= n <= size in some stratum: draws without replacement?")
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
    (`stratified_designs`). The others are percentiles of estimates: by "predictive" the members
    that were not drawn are predicted (`stratified_prediction`). By "bootstrap" n_h - 1 draws of
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
        require_counts(size, n, k)
        return set_limits(size, n, k, confidence=confidence)
    counts = np.stack([np.asarray(a, dtype=np.int64) for a in (size, n, k)], axis=1)
    p, variance = stratified_estimate(size, n, k)
    limits = np.full((len(counts), 2), np.nan)
    rows = np.flatnonzero(~np.isnan(p if method == "predictive" else variance))
    distinct, inverse = np.unique(counts[rows], axis=0, return_inverse=True)
    draw = partial(replicated(method), replicates=replicates, seed=seed, purpose="stratified")
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
    scaled = p + np.sqrt(1.0 - draws / members) * (drawn / again - p)
    weights = members / members.sum()
    return np.asarray((scaled * weights).sum(axis=1))


REPLICATES: Mapping[str, Callable[..., FloatArray]] = MappingProxyType(
    {"bootstrap": bootstrap_estimates, "predictive": predicted_estimates}
)
"""How the estimates are made that the limits are percentiles of."""


def replicated(method: str) -> Callable[..., FloatArray]:
    """Return the function of a method.

    Raises
    ------
    ValueError
        If there is none of that name.

    Examples
    --------
    >>> replicated("bootstrap").__name__
    'bootstrap_estimates'
    """
    if method not in REPLICATES:
        raise ValueError(f"no method {method!r}; there are {', '.join([DESIGNED, *REPLICATES])}")
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
        List sizes; those beyond the data set are left out. S gives the baseline.
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
    lists, counts = stratified_lists(ranks.lazy(), judged, strata.lazy(), at=at)
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
