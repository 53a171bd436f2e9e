"""Limits for a difference of two estimates (MOVER), and margin and equivalence tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, Level
from pipeline.kernels.statistics.finite_population import hypergeometric, hypergeometric_shortest
from pipeline.kernels.statistics.intervals import INTERVALS, Limits

Part: TypeAlias = tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike]
"""An estimate with its lower and upper limit."""
_HALVINGS = 40  # of ln(1e-16) to 0: ten digits
_ROUNDING = 1e-9  # of whole candidates


def mover(first: Part, second: Part) -> Limits:
    """Return limits for the difference of two independent estimates (MOVER).

    ``L = d - sqrt((e1 - l1)^2 + (u2 - e2)^2)`` and ``U = d + sqrt((u1 - e1)^2 + (e2 - l2)^2)``
    with d = e1 - e2: each limit takes the errors that the two estimates have near it.

    Parameters
    ----------
    first, second : (array_like, array_like, array_like)
        Estimate, lower and upper limit of each part, at the confidence level wanted for the
        difference. An estimate of NaN is unknown: the limits are then the worst case, l1 - u2 and
        u1 - l2. Limits on the wrong side of their estimate, as rounding to whole candidates can
        make them, count as the estimate.

    Returns
    -------
    lower, upper : arrays of float
        Around the difference; the width is 0 where both parts are known.

    References
    ----------
    Zou & Donner, Construction of Confidence Limits about Effect Measures: A General Approach
    (2008); Newcombe, Interval Estimation for the Difference between Independent Proportions
    (1998), method 10, for proportions with Wilson's limits.

    Examples
    --------
    >>> from pipeline.kernels.statistics.intervals import wilson
    >>> lower, upper = mover((56 / 70, *wilson(56, 70)), (48 / 80, *wilson(48, 80)))
    >>> round(float(lower), 4), round(float(upper), 4)
    (0.0524, 0.3339)
    """
    e1, l1, u1 = (np.asarray(value, dtype=np.float64) for value in first)
    e2, l2, u2 = (np.asarray(value, dtype=np.float64) for value in second)
    down = np.hypot(np.maximum(e1 - l1, 0.0), np.maximum(u2 - e2, 0.0))
    up = np.hypot(np.maximum(u1 - e1, 0.0), np.maximum(e2 - l2, 0.0))
    known = ~np.isnan(e1 - e2)
    lower = np.where(known, e1 - e2 - down, l1 - u2)
    return lower, np.where(known, e1 - e2 + up, u1 - l2)


def difference_limits(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    method: str = "hypergeometric",
    confidence: Level = 0.95,
) -> Limits:
    """Return limits for the difference of two n-best precisions, from a simple sample.

    ``|D| / n`` times the limits of MOVER for p1 - p2, the precisions of the two difference
    sets, which share no candidate; from the limits of each part by an interval for a proportion.

    Limits for a finite population are whole candidates, and MOVER adds squared distances: with 45
    of 50 judged, limits one candidate from the estimate had a coverage of 90 % on average and 18 %
    at worst. So each limit of a part that is not judged as a whole is moved to the next value, the
    nearest that the interval rules out, and what comes out is rounded inwards to whole candidates
    again.

    Parameters
    ----------
    k1, n1, k2, n2 : array_like of int
        True positives and judged draws in D1 and in D2, 0 <= k <= n <= size.
    size : array_like of int
        |D1| = |D2|, at most the length of the lists. 0 for lists with the same candidates.
    list_size : array_like of int
        The length n of both lists, from 1.
    method : str
        A name in `INTERVALS`: "hypergeometric" or "hypergeometric_shortest" for the difference
        among these candidates, another for that in a population beyond them.
    confidence : float or array of float
        Confidence level in (0, 1), one for all rows or one for each.
        MOVER is no exact method; see Notes.

    Returns
    -------
    lower, upper : arrays of float
        In [-1, 1]; of width 0 where D1 and D2 are empty, or judged as a whole and the method
        is one for finite populations. Where a part has no draw, the limits of the worst case.

    Raises
    ------
    ValueError
        If counts are impossible, the method is unknown, or the confidence is not in (0, 1).

    Notes
    -----
    Coverage of nominal 95 % by enumerating all samples, over all pairs of numbers of true
    positives in sets of 20 to 200 candidates with 3 to 48 draws: "hypergeometric" 93.8 % or more
    (that where nearly all of one set are true positives and nearly none of the other, with 10
    draws or fewer; else 96 %), 97 to 99 % on average; "hypergeometric_shortest" 93.3 % or more,
    96 to 99 % on average; 3 to 6 % wider than without the step.

    References
    ----------
    Zou & Donner (2008); Evert & Krenn, Using Small Random Samples (2005), section 3, for the
    difference sets.

    Examples
    --------
    >>> lower, upper = difference_limits([12], [20], [5], [20], size=40, list_size=100)
    >>> lower.round(3).tolist(), upper.round(3).tolist()
    ([0.03], [0.22])
    """
    columns = (k1, n1, k2, n2, size, list_size)
    arrays = np.broadcast_arrays(*(np.asarray(column, dtype=np.int64) for column in columns))
    k1, n1, k2, n2, size, whole = arrays
    wrong = np.flatnonzero((whole < 1) | (size > whole) | (size < 0))
    if wrong.size:
        example = f"{size.flat[wrong[0]]} of {whole.flat[wrong[0]]}"
        raise ValueError(
            f"difference sets must not be larger than their lists; {wrong.size:,} are, for example "
            f"{example}"
        )
    parts = [_estimate_with_limits(k, n, size, method, confidence) for k, n in ((k1, n1), (k2, n2))]
    lower, upper = (size * np.clip(limit, -1.0, 1.0) for limit in mover(*parts))
    if INTERVALS.get(method).finite:
        lower, upper = np.ceil(lower - _ROUNDING), np.floor(upper + _ROUNDING)
    return lower / whole + 0.0, upper / whole + 0.0  # no -0.0


def _estimate_with_limits(
    k: IntArray, n: IntArray, size: IntArray, method: str, confidence: Level
) -> Part:
    function = INTERVALS.get(method)
    lower, upper = function(k, n, confidence=confidence, population=size)
    uncertain = (n > 0) & (n < size)
    step = np.where(uncertain, 1.0, 0.0) / np.maximum(size, 1) if function.finite else 0.0
    estimate = np.divide(k, n, out=np.full(k.shape, np.nan), where=n > 0)
    return estimate, lower - step, upper + step


def beyond_margin(lower: npt.ArrayLike, upper: npt.ArrayLike, *, margin: float) -> BoolArray:
    """Tell where the limits show a difference larger than the margin, in either direction.

    Parameters
    ----------
    lower, upper : array_like of float
        Limits at confidence 1 - alpha; NaN where there are none.
    margin : float
        Relevance margin, from 0.

    Returns
    -------
    array of bool
        ``L > margin or U < -margin``: |difference| <= margin is rejected at alpha (at alpha/2
        where the margin is many standard errors). False for NaN.

    Raises
    ------
    ValueError
        If the margin is negative.

    Examples
    --------
    >>> beyond_margin([0.02, 0.002, -0.3], [0.2, 0.2, -0.02], margin=0.01).tolist()
    [True, False, True]
    """
    _require_margin(margin)
    return np.asarray((np.asarray(lower) > margin) | (np.asarray(upper) < -margin))


def equivalent(lower: npt.ArrayLike, upper: npt.ArrayLike, *, margin: float) -> BoolArray:
    """Tell where the limits show a difference smaller than the margin.

    Two one-sided tests at alpha, against -margin and against +margin; both reject where the
    interval lies between.

    Parameters
    ----------
    lower, upper : array_like of float
        Limits at confidence 1 - 2 alpha; NaN where there are none.
    margin : float
        Relevance margin, above 0; nothing is equivalent at a margin of 0.

    Returns
    -------
    array of bool
        ``-margin < L and U < margin``; False for NaN. Not the same as "not significant", which with
        few judgements holds for any difference.

    Raises
    ------
    ValueError
        If the margin is negative.

    References
    ----------
    Schuirmann, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for
    Assessing the Equivalence of Average Bioavailability (1987).

    Examples
    --------
    >>> equivalent([-0.004, -0.02], [0.006, 0.006], margin=0.01).tolist()
    [True, False]
    """
    _require_margin(margin)
    return np.asarray((np.asarray(lower) > -margin) & (np.asarray(upper) < margin))


def _require_margin(margin: float) -> None:
    if not margin >= 0.0:
        raise ValueError(f"the relevance margin must be >= 0, not {margin}")


def smallest_alpha(rejects: Callable[[FloatArray], BoolArray], rows: int) -> FloatArray:
    """Return the p-value that belongs to limits: the smallest alpha at which they reject.

    Parameters
    ----------
    rejects : callable
        Array of alpha, one a row, to what limits at that alpha decide. What is rejected
        at one alpha is rejected at all larger ones, as of intervals that grow with confidence
        (not those of `hypergeometric_shortest`).
    rows : int
        Number of rows.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1], with ten digits or more; 1 where nothing is rejected, 1e-16 where all is.

    Examples
    --------
    >>> smallest_alpha(lambda alpha: alpha > [0.03, 0.5], 2).round(9).tolist()
    [0.03, 0.5]
    """
    low, high = np.full(rows, np.log(1e-16)), np.zeros(rows)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        enough = rejects(np.exp(middle))
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.exp(high)


# Margin and equivalence tests: inverted limits.

_NESTED = {hypergeometric_shortest.__name__: hypergeometric.__name__}
"""Whose limits do not always grow with confidence, and what is taken in their place."""
_LEAST, _MOST = 1e-12, 1.0 - 2.0**-53  # confidence levels that a float has


def margin_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    margin: float,
    method: str = "hypergeometric",
) -> FloatArray:
    """Return p-values of "the two precisions differ by at most the margin", in either direction.

    The smallest alpha at which the limits of `difference_limits` with confidence 1 - alpha have
    ``L > margin or U < -margin``. At a margin of 0 it is a test that there is no difference.

    Parameters
    ----------
    k1, n1, k2, n2, size, list_size, method
        As for `difference_limits`, shape (rows,). Of "hypergeometric_shortest", whose limits may
        shrink as confidence grows, the test is that of "hypergeometric".
    margin : float
        Relevance margin, from 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1]; 1 where no limits show a difference beyond the margin, as in lists with the
        same candidates.

    Raises
    ------
    ValueError
        As of `difference_limits`, or if the margin is negative.

    Examples
    --------
    >>> counts = [12], [20], [5], [20]
    >>> margin_p_values(*counts, size=40, list_size=100, margin=0.0).round(4).tolist()
    [0.0079]
    >>> margin_p_values(*counts, size=40, list_size=100, margin=0.05).round(4).tolist()
    [0.111]
    """
    tables = _tables(k1, n1, k2, n2, size, list_size)
    return _p_values(tables, method, lambda limits: beyond_margin(*limits, margin=margin), sides=1)


def equivalence_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    bound: float,
    method: str = "hypergeometric",
) -> FloatArray:
    """Return p-values of "the two precisions differ by the bound or more", by two one-sided tests.

    The smallest alpha at which the limits of `difference_limits` with confidence 1 - 2 alpha
    lie between -bound and bound.

    Parameters
    ----------
    k1, n1, k2, n2, size, list_size, method
        As for `margin_p_values`.
    bound : float
        The smallest difference that would matter, above 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1/2], or 1 where no limits lie between. 1e-16 where the difference is known and
        smaller than the bound.

    Raises
    ------
    ValueError
        As of `difference_limits`, or if the bound is negative.

    References
    ----------
    Schuirmann (1987).

    Examples
    --------
    >>> equivalence_p_values(
    ...     [12], [100], [11], [100], size=400, list_size=1000, bound=0.03
    ... ).round(4).tolist()
    [0.0776]
    """
    tables = _tables(k1, n1, k2, n2, size, list_size)
    return _p_values(tables, method, lambda limits: equivalent(*limits, margin=bound), sides=2)


def _tables(*columns: npt.ArrayLike) -> IntArray:
    arrays = np.broadcast_arrays(*(np.asarray(column, dtype=np.int64) for column in columns))
    return np.stack([array.ravel() for array in arrays])


def _p_values(
    tables: IntArray, method: str, decides: Callable[[Limits], BoolArray], *, sides: int
) -> FloatArray:
    """Invert what limits decide, for each distinct table once."""
    name = INTERVALS.get(method).name
    distinct, inverse = np.unique(tables, axis=1, return_inverse=True)
    k1, n1, k2, n2, size, whole = distinct

    def rejects(alpha: FloatArray) -> BoolArray:
        limits = difference_limits(
            k1, n1, k2, n2, size=size, list_size=whole, method=_NESTED.get(name, name),
            confidence=np.clip(1.0 - sides * alpha, _LEAST, _MOST),
        )  # fmt: skip
        return decides(limits) & (sides * alpha < 1.0)

    return smallest_alpha(rejects, distinct.shape[1])[inverse.ravel()]
