"""The size measure x: what a candidate's label is worth, over all questions."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.estimands import Estimands, candidate_sums


def size_measure(
    asked: Estimands, *, weights: FloatArray, whole: FloatArray, floor: float
) -> FloatArray:
    """Return ``x_i = sqrt(sum_q w_q a_qi^2 v_qi / V_q)``, none too far below their mean.

    A sample with pi_i proportional to x_i has the smallest weighted sum of variances, each as a
    share of what it is in a simple sample of the same size. It does not depend on the size.

    Parameters
    ----------
    asked : Estimands
        The questions.
    weights : array of float, shape (questions,)
        w; 0 for what is not asked.
    whole : array of float, shape (questions,)
        V_q, the sum over all candidates. Where it is 0 the answer is known already.
    floor : float
        As for `floored`.

    Returns
    -------
    array of float, shape (candidates,)
        From 0 on; 0 for what is judged, and without a floor for what no question asks about.

    References
    ----------
    Bethel, Sample Allocation in Multivariate Surveys (1989), for strata.

    Examples
    --------
    >>> from pipeline.kernels.design.estimands import estimands, question_sums
    >>> from pipeline.kernels.design.sets import question_sets
    >>> import polars as pl
    >>> sets = question_sets(
    ...     pl.Series(["a", "b", "c"]), {"mi": np.array([1, 2, 3])}, pairs=[], n=np.array([2])
    ... )
    >>> asked = estimands(sets, p=np.full(3, 0.5), judged=np.zeros(3, dtype=bool))
    >>> whole = question_sums(asked, np.ones(3))
    >>> size_measure(asked, weights=np.ones(2), whole=whole, floor=0.0).round(6).tolist()
    [0.912871, 0.912871, 0.57735]
    """
    share = np.divide(weights, whole, out=np.zeros_like(whole), where=whole > 0)
    return sized(asked, candidate_sums(asked, share), floor=floor)


def sized(asked: Estimands, squares: FloatArray, *, floor: float) -> FloatArray:
    """Return the size measure of its squares: the root, with the floor, 0 for what is judged.

    Parameters
    ----------
    asked : Estimands
        The questions.
    squares : array of float, shape (candidates,)
        x^2, from 0 on.
    floor : float
        As for `floored`.

    Returns
    -------
    array of float, shape (candidates,)
    """
    x = np.sqrt(squares)
    return np.where(asked.unjudged, floored(x, among=int(asked.unjudged.sum()), floor=floor), 0.0)


def floored(x: FloatArray, *, among: int, floor: float) -> FloatArray:
    """Raise what is less than a share of the mean, the mean of what comes of it.

    So no candidate has less than this share of its chance in a simple sample of the same size,
    and all of these chances together cost at most this share of the labels.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures from 0 on.
    among : int
        How many of the candidates can be drawn; the others have x = 0 and are not to be looked
        at in what comes back.
    floor : float
        The share, in [0, 1). 0 leaves x as it is.

    Returns
    -------
    array of float, shape (candidates,)
        ``max(x_i, t)`` with ``t = floor * mean``.

    Raises
    ------
    ValueError
        If the floor is not in [0, 1).

    Examples
    --------
    >>> floored(np.array([9.0, 1.0, 0.0, 0.0]), among=4, floor=0.5).tolist()
    [9.0, 1.8, 1.8, 1.8]
    """
    if not 0.0 <= floor < 1.0:
        raise ValueError(f"the floor is a share of a simple sample's chance in [0, 1), not {floor}")
    if not floor or not x.any():
        return x
    descending = np.sort(x)[::-1][:among]
    above = np.concatenate([[0.0], np.cumsum(descending)])
    # With j left as they are, t = (sum of these + (among - j) t) floor / among.
    left = np.arange(among + 1)
    t = above / (among / floor - (among - left))
    following = np.append(descending, 0.0)
    return np.asarray(np.maximum(x, t[int(np.argmax(following <= t))]))
