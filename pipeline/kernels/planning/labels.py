"""The fewest labels with which each question is answered as surely as is wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.planning.expected import Spread, Spreads
from pipeline.kernels.statistics.alpha_spending import spent_levels

_ROUNDS = 6
"""Of levels that hang on the labels, and labels on the levels: two or three are enough."""


@dataclass(frozen=True)
class Target:
    """How surely questions are to be answered.

    Parameters
    ----------
    reach : array of float, shape (questions,)
        The largest half-width of an interval; with a power, the difference that is to be found,
        from 0. A reach of 0, or NaN, is never met.
    alpha : float
        Error level of the interval or the test, both sides together, in (0, 1).
    power : float, optional
        Probability in (0, 1) that the limits of a difference as large as `reach` exclude 0.
    """

    reach: FloatArray
    alpha: float
    power: float | None = None

    def reached(self, spread: Spread, levels: FloatArray) -> FloatArray:
        """Return the half-width, or the power, that there is at these spreads.

        ``z sd + further``, and for a difference d ``Phi((d - further) / sd - z)``.
        """
        z, sd = -scipy.special.ndtri(levels / 2.0), np.sqrt(spread.variance)
        if self.power is None:
            return np.asarray(z * sd + spread.further)
        beyond = self.reach - spread.further
        far = np.divide(beyond, sd, out=np.full(sd.shape, np.inf), where=sd > 0)
        return np.asarray(np.where(self.reach > 0, scipy.special.ndtr(far - z), np.nan))

    def met(self, spread: Spread, levels: FloatArray) -> BoolArray:
        """Tell which questions are answered as surely as is wanted."""
        found = self.reached(spread, levels)
        enough = found <= self.reach if self.power is None else found >= self.power
        return np.asarray(enough & (self.reach > 0))


@dataclass(frozen=True)
class Looks:
    """When a growing sample is looked at.

    Parameters
    ----------
    shares : tuple of float
        Share of the planned labels at each look, growing up to 1.
    spending : str
        The spending function, a name in `alpha_spending.SPENDING`.
    """

    shares: tuple[float, ...]
    spending: str = "obrien_fleming"


def least_labels(enough: Callable[[int], BoolArray], *, most: int) -> IntArray:
    """Return the fewest labels that are enough for each question.

    Parameters
    ----------
    enough : callable
        Whether a size is enough for each question: if it is, larger ones are, too.
    most : int
        How many candidates there are, from 1.

    Returns
    -------
    array of int, shape (questions,)
        1..most; ``most + 1`` where all candidates do not suffice. Halving an interval, for all
        questions at once: what is found out at a size is of use to each.

    Examples
    --------
    >>> least_labels(lambda size: np.array([size >= 8, size >= 5, False]), most=10).tolist()
    [8, 5, 11]
    """
    all_of_them = enough(most)
    low, high = np.zeros(len(all_of_them), dtype=np.int64), np.where(all_of_them, most, most + 1)
    while (open_ := (high - low > 1) & all_of_them).any():
        for size in np.unique((low + high)[open_] // 2):
            found = enough(int(size))
            high = np.where(found, np.minimum(high, size), high)
            low = np.where(found, low, np.maximum(low, np.minimum(size, high - 1)))
    return high


def planned_labels(
    at: Spreads, target: Target, *, most: int, looks: Looks | None = None
) -> tuple[IntArray, FloatArray]:
    """Return the labels that each question needs, and the level at which it is answered.

    With looks the level is that of the last one. It hangs on the variances at all looks, and these
    on the labels, so that both are found in turn, until nothing changes.

    Parameters
    ----------
    at : callable
        The spreads of a plan at a size.
    target : Target
        How surely each question is to be answered.
    most : int
        How many candidates there are.
    looks : Looks, optional
        When the sample is looked at; once, at the end, if not given.

    Returns
    -------
    labels : array of int, shape (questions,)
        1..most; ``most + 1`` where all candidates do not suffice.
    levels : array of float, shape (questions,)
        alpha, or less with looks.

    Examples
    --------
    >>> simple = lambda size: Spread(np.array([0.25]) * (1000 - size) / size / 100, np.zeros(1))
    >>> target = Target(np.array([0.05]), alpha=0.05)
    >>> planned_labels(simple, target, most=1000)[0].tolist()
    [794]
    >>> four = Looks((0.25, 0.5, 0.75, 1.0))
    >>> labels, levels = planned_labels(simple, target, most=1000, looks=four)
    >>> labels.tolist(), levels.round(3).tolist()
    ([816], [0.036])
    """
    levels = np.full(len(target.reach), target.alpha)
    labels = least_labels(partial(_met, at, target, levels), most=most)
    if looks is None:
        return labels, levels
    for _ in range(_ROUNDS):
        last = last_levels(at, labels, alpha=target.alpha, looks=looks, most=most)
        again = least_labels(partial(_met, at, target, last), most=most)
        levels = last
        if (again == labels).all():
            break
        labels = again
    return labels, levels


def _met(at: Spreads, target: Target, levels: FloatArray, size: int) -> BoolArray:
    return target.met(at(size), levels)


def last_levels(
    at: Spreads, labels: IntArray, *, alpha: float, looks: Looks, most: int
) -> FloatArray:
    """Return the level of each question's last look, where it has as many labels at the end.

    Parameters
    ----------
    at, looks, most
        As for `planned_labels`.
    labels : array of int, shape (questions,)
        Labels at the last look.
    alpha : float
        Of all looks together.

    Returns
    -------
    array of float, shape (questions,)
        In (0, alpha]; alpha where the last look knows all, which is outside the plan.

    Examples
    --------
    >>> simple = lambda size: Spread(np.array([0.25]) * (1000 - size) / size / 100, np.zeros(1))
    >>> once = Looks((1.0,))
    >>> last_levels(simple, np.array([500]), alpha=0.05, looks=once, most=1000).round(6).tolist()
    [0.05]
    """
    ends = np.minimum(labels, most)
    sizes, place = np.unique(ends, return_inverse=True)
    at_looks = np.array([_over_looks(at, int(size), looks.shares) for size in sizes])
    # never growing: predictions that a set no longer needs are no loss of information
    own = np.minimum.accumulate(at_looks[place, :, np.arange(len(labels))], axis=1)
    levels = spent_levels(looks.shares, own, alpha=alpha, spending=looks.spending)[:, -1]
    return np.where(np.isnan(levels), alpha, levels)


def _over_looks(at: Spreads, size: int, shares: Sequence[float]) -> FloatArray:
    return np.array([at(max(1, round(share * size))).variance for share in shares])
