"""Limits by a bootstrap: what may be asked of one, and the percentiles of what it gives."""

from __future__ import annotations

from typing import overload

import numpy as np

from pipeline.kernels.arrays import FloatArray, Level


@overload
def tail_of(confidence: float) -> float: ...
@overload
def tail_of(confidence: Level) -> Level: ...
def tail_of(confidence: Level) -> Level:
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


def percentiles(values: FloatArray, *, confidence: float) -> FloatArray:
    """Return the percentiles that leave the same share of the values on either side.

    Parameters
    ----------
    values : array of float, shape (..., replicates)
        What was found in each sample, none of them NaN; one sample at least.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (2, ...)
        Lower and upper.

    Examples
    --------
    >>> percentiles(np.array([3.0, 1.0, 2.0]), confidence=0.5).tolist()
    [1.5, 2.5]
    """
    tail = tail_of(confidence)
    return np.asarray(np.quantile(values, [tail, 1.0 - tail], axis=-1))


def summary(values: FloatArray, *, confidence: float) -> tuple[float, float, float, int]:
    """Return the percentiles, the standard error, and how many samples have no value.

    Parameters
    ----------
    values : array of float, shape (replicates,)
        What was found in each sample, NaN where a sample has no value.
    confidence : float
        Confidence level in (0, 1).

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
    defined = values[~np.isnan(values)]
    limits = percentiles(defined, confidence=confidence) if len(defined) else (np.nan, np.nan)
    error = float(defined.std(ddof=1)) if len(defined) > 1 else np.nan
    return float(limits[0]), float(limits[1]), error, len(values) - len(defined)
