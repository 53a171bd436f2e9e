"""Confidence intervals for a proportion, looked up by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class IntervalFunction(Protocol):
    """Anything that turns k successes in n trials into lower and upper limits."""

    def __call__(
        self, k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
    ) -> tuple[FloatArray, FloatArray]:
        """Return the lower and the upper limits."""


def clopper_pearson(
    k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float = 0.95
) -> tuple[FloatArray, FloatArray]:
    """Return the exact binomial confidence interval.

    The limits are the proportions that two one-sided binomial tests at alpha/2 just don't
    reject, with alpha = 1 - confidence: ``P(X >= k | lower) = P(X <= k | upper) = alpha/2``,
    X ~ Binomial(n, p). They are quantiles of beta distributions.

    Parameters
    ----------
    k, n : array_like of int
        Successes and trials, 0 <= k <= n.
    confidence : float
        Confidence level in (0, 1). The true coverage is at least this.

    Returns
    -------
    lower, upper : arrays of float
        In [0, 1], with k/n between them. k = 0 gives lower 0, k = n gives upper 1, and n = 0,
        which says nothing, gives [0, 1].

    Raises
    ------
    ValueError
        If not 0 <= k <= n, or the confidence is not inside (0, 1).

    References
    ----------
    Clopper & Pearson, The Use of Confidence or Fiducial Limits (1934); Evert & Krenn, Using
    Small Random Samples (2005), section 3.

    Examples
    --------
    >>> lower, upper = clopper_pearson([0, 1, 10], [0, 10, 10])
    >>> lower.round(4).tolist(), upper.round(4).tolist()
    ([0.0, 0.0025, 0.6915], [1.0, 0.445, 1.0])
    """
    k, n = np.broadcast_arrays(np.asarray(k, dtype=np.int64), np.asarray(n, dtype=np.int64))
    _require(k, n, confidence)
    tail = (1.0 - confidence) / 2.0
    some, missed = np.maximum(k, 1), np.maximum(n - k, 1)  # keeps the beta parameters positive
    lower = np.where(k == 0, 0.0, special.betaincinv(some, n - k + 1.0, tail))
    upper = np.where(k == n, 1.0, special.betainccinv(k + 1.0, missed, tail))
    return lower, upper


INTERVALS: Mapping[str, IntervalFunction] = MappingProxyType({"clopper_pearson": clopper_pearson})


def interval_columns(
    frame: pl.DataFrame, *, k: str, n: str, method: str, confidence: float
) -> pl.DataFrame:
    """Add the columns `lower` and `upper`, computing each distinct (k, n) once.

    Parameters
    ----------
    frame : pl.DataFrame
        Any table; its rows keep their order.
    k, n : str
        Int64 columns: successes and trials.
    method : str
        A name in `INTERVALS`.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    pl.DataFrame
        The table with Float64 `lower` and `upper`, in [0, 1].

    Raises
    ------
    ValueError
        If the method is unknown, or the counts or the confidence are impossible.

    Examples
    --------
    >>> counts = pl.DataFrame({"k_sampled": [5, 0], "n_sampled": [10, 0]})
    >>> interval_columns(
    ...     counts, k="k_sampled", n="n_sampled", method="clopper_pearson", confidence=0.95
    ... ).select(pl.col("lower", "upper").round(4)).rows()
    [(0.1871, 0.8129), (0.0, 1.0)]
    """
    if method not in INTERVALS:
        raise ValueError(f"no interval method {method!r}; there are {', '.join(INTERVALS)}")
    counts = np.stack([frame[name].to_numpy().astype(np.int64) for name in (k, n)])
    distinct, inverse = np.unique(counts, axis=1, return_inverse=True)
    limits = INTERVALS[method](distinct[0], distinct[1], confidence=confidence)
    lower, upper = (limit[inverse.ravel()] for limit in limits)
    return frame.with_columns(pl.Series("lower", lower), pl.Series("upper", upper))


def _require(k: IntArray, n: IntArray, confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is a proportion inside (0, 1), not {confidence}")
    wrong = np.flatnonzero((k < 0) | (k > n))
    if wrong.size:
        first = wrong[0]
        shown = f"k = {k.flat[first]}, n = {n.flat[first]}"
        raise ValueError(f"not 0 <= k <= n in {wrong.size:,} rows, such as {shown}")
