"""Limits by a bootstrap: what may be asked of one, and the percentiles of what it gives."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray


def tail_of(confidence: float) -> float:
    """Return the error probability on each side of an interval.

    Examples
    --------
    >>> round(tail_of(0.95), 6)
    0.025
    """
    return (1.0 - confidence) / 2.0


def check_bootstrap(*, confidence: float, replicates: int) -> None:
    """Refuse options that no bootstrap can have.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    """
    if not 0.0 < confidence < 1.0 or replicates < 1:
        raise ValueError(f"confidence {confidence} or replicates {replicates} out of range")


def percentiles(values: FloatArray, *, confidence: float) -> tuple[float, float]:
    """Return the percentiles that leave the same share of the values on either side.

    Parameters
    ----------
    values : array of float, shape (replicates,)
        What was found in each sample; a NaN is left out.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    lower, upper : float
        NaN if there is no value.

    Examples
    --------
    >>> percentiles(np.array([3.0, 1.0, float("nan"), 2.0]), confidence=0.5)
    (1.5, 2.5)
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan"), float("nan")
    tail = tail_of(confidence)
    lower, upper = np.quantile(known, [tail, 1.0 - tail])
    return float(lower), float(upper)


def summary(values: FloatArray, *, confidence: float) -> tuple[float, float, float, int]:
    """Return the percentiles, the standard error, and how many samples have no value.

    Parameters
    ----------
    values, confidence
        As for `percentiles`.

    Returns
    -------
    lower, upper, standard_error : float
        NaN where too few samples have a value: none, or for the error fewer than two.
    undefined : int
        How many values are NaN.

    Examples
    --------
    >>> summary(np.array([3.0, 1.0, float("nan"), 2.0]), confidence=0.5)
    (1.5, 2.5, 1.0, 1)
    """
    known = values[~np.isnan(values)]
    error = float(known.std(ddof=1)) if len(known) > 1 else float("nan")
    return *percentiles(known, confidence=confidence), error, len(values) - len(known)
