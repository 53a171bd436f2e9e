"""Costs by shared work: the first candidate of a group takes longer than the others."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.design.inclusion import inclusion

_ROUNDS = 60
_CLOSE = 1e-6
_SURE = 1.0 - 1e-9


class Work(NamedTuple):
    """What the judgements of groups of candidates take.

    Parameters
    ----------
    group : array of int, shape (candidates,)
        The group of each candidate, from 0: that of its verb, whose entry is looked up once.
    first : float
        What the first judgement of a group takes, above 0, in any unit; minutes for instance.
    further : float
        What each further one takes, above 0, at most as much.
    """

    group: IntArray
    first: float
    further: float


def groups_met(pi: FloatArray, group: IntArray) -> float:
    """Return how many groups are expected to have a draw.

    ``sum_g 1 - prod_i (1 - pi_i)``, as if candidates were drawn independently.

    Examples
    --------
    >>> groups_met(np.array([0.5, 0.5, 0.5]), np.array([0, 0, 1]))
    1.25
    """
    return float((1.0 - np.exp(_log_missed(pi, group))).sum())


def expected_cost(pi: FloatArray, work: Work) -> float:
    """Return what the judgements of a sample are expected to take.

    ``(first - further) groups met + further sum pi``

    Examples
    --------
    >>> expected_cost(np.array([0.5, 0.5, 0.5]), Work(np.array([0, 0, 1]), 5.0, 1.0))
    6.5
    """
    shared = (work.first - work.further) * groups_met(pi, work.group)
    return float(shared + work.further * pi.sum())


def priced(x: FloatArray, work: Work, *, size: int) -> FloatArray:
    """Return size measures that ask for the same answers from fewer groups.

    The smallest sum of relative variances that a cost can buy has pi_i in proportion to
    ``x_i / sqrt(c_i)``, c_i what one more of i would cost:
    ``further + (first - further) prod_(j in g, j not i) (1 - pi_j)``. As c depends on pi, both are
    found in turn, in geometric means, for one size of the sample.

    Parameters
    ----------
    x : array of float, shape (candidates,)
        Size measures from 0 on.
    work : Work
        Groups and costs.
    size : int
        Draws of the sample. What comes back is for this size alone.

    Returns
    -------
    array of float, shape (candidates,)
        From 0 on; x itself where all judgements cost the same.

    Raises
    ------
    ValueError
        If costs are not above 0, or further ones cost more than the first.

    References
    ----------
    Cochran, Sampling Techniques (1977), section 5.5, on costs that differ; Gao et al., Efficient
    Knowledge Graph Accuracy Evaluation (2019), on costs that entries share.

    Examples
    --------
    >>> group = np.array([0, 0, 0, 0, 1])
    >>> x = priced(np.ones(5), Work(group, 5.0, 1.0), size=2)
    >>> bool((x[:4] > x[4]).all())
    True
    """
    if not 0.0 < work.further <= work.first:
        raise ValueError(
            f"a first judgement takes as long as a further one or longer, and both some time: "
            f"first = {work.first:g}, further = {work.further:g}"
        )
    sized = x
    pi = inclusion(x, size=size)
    for _ in range(_ROUNDS):
        sized = x / np.sqrt(_marginal(pi, work))
        found = inclusion(sized, size=size)
        settled = np.sqrt(pi * found)
        if np.abs(settled - pi).max(initial=0.0) < _CLOSE:
            break
        pi = settled
    return sized


def _log_missed(pi: FloatArray, group: IntArray) -> FloatArray:
    """Return ln P(no member is drawn) of each group."""
    missed = np.log1p(-np.minimum(pi, _SURE))
    return np.bincount(group, weights=missed).astype(np.float64)


def _marginal(pi: FloatArray, work: Work) -> FloatArray:
    others = _log_missed(pi, work.group)[work.group] - np.log1p(-np.minimum(pi, _SURE))
    return np.asarray(work.further + (work.first - work.further) * np.exp(others))
