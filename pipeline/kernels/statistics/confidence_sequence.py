"""Limits that hold at all times while a sample without replacement grows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray, Level
from pipeline.kernels.statistics.binomial_intervals import checked_counts
from pipeline.kernels.statistics.finite_intervals import require_population
from pipeline.kernels.statistics.intervals import interval
from pipeline.kernels.statistics.saddle_point import log_hypergeometric_pmf


@interval(
    title="a confidence sequence, which holds however often one looks",
    reference="Waudby-Smith & Ramdas 2020",
    finite=True,
)
def confidence_sequence(
    k: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    population: npt.ArrayLike,
    confidence: Level = 0.95,
    prior: tuple[float, float] = (1.0, 1.0),
) -> tuple[FloatArray, FloatArray]:
    """Return limits that hold at every time at once, however often one looks.

    The ratio of prior to posterior: T successes among the N candidates are kept while
    ``BB(T; N, a, b) / BB(T - k; N - n, a + k, b + n - k) < 1 / alpha``, T in k..N-n+k, BB the
    beta-binomial probability and alpha = 1 - confidence. What depends on T cancels but for
    P(X_T = k), X_T hypergeometric, so that this is
    ``P(X_T = k) > alpha BB(k; n, a, b)``. With the true T the ratio is a martingale from 1 on,
    which ever reaches 1/alpha with probability alpha at most (Ville's inequality).

    Parameters
    ----------
    k, n : array_like of int
        Successes among the first n draws, 0 <= k <= n, in the order in which they were drawn;
        each with the same chance, as in a simple random sample.
    population : array_like of int
        Size N of the population, n <= N.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each: the probability that the
        limits hold at all n = 0..N.
    prior : (float, float)
        a and b, above 0: where the limits are to be narrow. They hold whatever these are.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], multiples of 1/N, with k/n between them but for the rounding. Of width 0
        where n = N, [0, 1] where n = 0. About 1.2 to 1.6 times as wide as the exact interval
        of one look. For one question: of several, each takes its part of alpha.

    Raises
    ------
    ValueError
        If not 0 <= k <= n <= N, the confidence is not inside (0, 1), or a prior is not positive.

    References
    ----------
    Waudby-Smith & Ramdas, Confidence Sequences for Sampling without Replacement (2020),
    section 2.

    Examples
    --------
    >>> lower, upper = confidence_sequence([2, 15], [10, 50], population=[100, 500])
    >>> (lower * [100, 500]).round().tolist(), (upper * [100, 500]).round().tolist()
    ([2.0, 70.0], [62.0, 253.0])
    """
    k, n = checked_counts(k, n, confidence=confidence)
    k, n, size = np.broadcast_arrays(k, n, np.asarray(population, dtype=np.int64))
    require_population(n, size)
    if not min(prior) > 0.0:
        raise ValueError(f"the parameters a and b of the prior are above 0, not {prior}")
    flat = k.ravel(), n.ravel(), size.ravel()
    level = np.broadcast_to(np.asarray(confidence, dtype=np.float64), k.shape).ravel()
    limit = np.log1p(-level) + log_beta_binomial(flat[0], flat[1], *prior) + _TIE
    lower, upper = (_edge(*flat, limit, step).reshape(k.shape) for step in (-1, 1))
    whole = np.maximum(size, 1)
    return lower / whole, np.where(size == 0, 1.0, upper / whole)


_TIE = 1e-11
"""Logarithms that differ by no more are of equal probabilities: k, n, N = 1, 15, 24 has exactly
half of BB(1; 15, 3, 7) at T = 5, which rounding would keep or not."""


def log_beta_binomial(k: IntArray, n: IntArray, a: float, b: float) -> FloatArray:
    """Return the logarithm of the beta-binomial probability of k among n.

    Examples
    --------
    >>> log_beta_binomial(np.array([1, 2]), np.array([4, 4]), 1.0, 1.0).round(6).tolist()  # 1/5
    [-1.609438, -1.609438]
    """
    ways = -np.log(n + 1.0) - scipy.special.betaln(k + 1.0, n - k + 1.0)
    together = scipy.special.betaln(k + a, n - k + b) - scipy.special.betaln(a, b)
    return np.asarray(ways + together)


def _edge(k: IntArray, n: IntArray, size: IntArray, limit: FloatArray, step: int) -> IntArray:
    """Halve between the most likely T, which is always kept, and the first impossible one.

    ln P(X_T = k) is concave in T, so what is kept has no gaps.
    """
    last = size - n + k
    kept = np.clip(k * (size + 1) // np.maximum(n, 1), k, last)
    out = k - 1 if step < 0 else last + 1
    while np.any(np.abs(out - kept) > 1):
        middle = (kept + out) // 2  # where they are neighbours one of the two: nothing changes
        inside = log_hypergeometric_pmf(k, middle, size - middle, n) > limit
        kept, out = np.where(inside, middle, kept), np.where(inside, out, middle)
    return np.asarray(kept)
