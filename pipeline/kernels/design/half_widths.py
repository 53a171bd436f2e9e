"""How wide the interval of each question is expected to be, and who cannot be answered."""

from __future__ import annotations

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.design.estimands import Estimands, question_sums


def expected_half_widths(asked: Estimands, pi: FloatArray, *, confidence: float) -> FloatArray:
    """Return ``z sqrt(sum_i a_qi^2 v_qi (1 - pi_i) / pi_i)`` for each question.

    The expectation of Rosen's variance under the design and v, with a normal quantile: as good as
    what is expected of the candidates, and too small where few draws fall into a set.

    Parameters
    ----------
    asked : Estimands
        The questions.
    pi : array of float, shape (candidates,)
        Inclusion probabilities.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (questions,)
        From 0, where all is certain; a difference of proportions. inf where a candidate that
        counts has no chance.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Rosen, Asymptotic Theory for Order Sampling (1997), on the variance.

    Examples
    --------
    >>> from pipeline.kernels.design.estimands import estimands
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([2])
    ... )
    >>> asked = estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> pi = np.array([1.0, 1.0, 0.5, 0.5])
    >>> expected_half_widths(asked, pi, confidence=0.95).round(4).tolist()
    [0.0, 0.3465]
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"the confidence lies between 0 and 1, not at {confidence}")
    missed = np.divide(1.0 - pi, pi, out=np.zeros_like(pi), where=pi > 0)
    variance = question_sums(asked, missed)
    unanswered = question_sums(asked, (pi == 0).astype(float)) > 0
    z = float(scipy.special.ndtri(0.5 + confidence / 2.0))
    return np.where(unanswered, np.inf, z * np.sqrt(variance))


def simple_half_widths(
    whole: FloatArray, *, candidates: int, size: int, confidence: float
) -> FloatArray:
    """Return the same for a simple random sample of this size.

    Parameters
    ----------
    whole : array of float, shape (questions,)
        V_q, the sum of a^2 v.
    candidates : int
        How many it is drawn from.
    size : int
        How many are drawn; all, if there are fewer.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    array of float, shape (questions,)
        ``z sqrt(V_q (1 - f) / f)``, f = size / candidates; inf without a draw.

    Examples
    --------
    >>> simple_half_widths(np.array([0.0025]), candidates=100, size=20, confidence=0.95).round(3)
    array([0.196])
    """
    if size < 1:
        return np.where(whole > 0, np.inf, 0.0)
    share = min(1.0, size / candidates) if candidates else 1.0
    z = float(scipy.special.ndtri(0.5 + confidence / 2.0))
    return np.asarray(z * np.sqrt(whole * (1.0 - share) / share))


def require_chances(
    question: str, ids: pl.Series, coefficients: FloatArray, pi: FloatArray
) -> None:
    """Refuse a question about candidates that the design never draws.

    Parameters
    ----------
    question : str
        Its name, for the message.
    ids : pl.Series
        The candidates.
    coefficients : array of float, shape (candidates,)
        a, not 0 on those that the question is about.
    pi : array of float, shape (candidates,)
        Their inclusion probabilities.

    Raises
    ------
    ValueError
        If a_i is not 0 where pi_i is.

    Examples
    --------
    >>> ids = pl.Series(["a", "b"])
    >>> require_chances("mi at 1", ids, np.array([1.0, 0.0]), np.array([0.3, 0.0]))
    >>> require_chances("baseline", ids, np.array([0.5, 0.5]), np.array([0.3, 0.0]))
    Traceback (most recent call last):
    ...
    ValueError: baseline: 1 of its 2 candidates are never drawn by this design, such as b; ask \
this when the sample is designed, or give every candidate a chance by a floor
    """
    about: BoolArray = coefficients != 0.0
    never = about & (pi <= 0.0)
    if never.any():
        shown = ", ".join(str(ids[int(place)]) for place in np.flatnonzero(never)[:3])
        raise ValueError(
            f"{question}: {int(never.sum()):,} of its {int(about.sum()):,} candidates are never"
            f" drawn by this design, such as {shown}; ask this when the sample is designed, or"
            " give every candidate a chance by a floor"
        )
