"""Lagrangian bounds: what a relaxation has to say, and the descent to its best prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pipeline.kernels.arrays import BoolArray, FloatArray

PROVEN_WITHIN = 1e-11
"""A mapping is proven best if no mapping is better by more than this."""

_KEPT = 0.7
"""Share of the direction of the step before that is kept."""
_PATIENCE, _SHORTER, _SHORTEST = 20, 0.7, 0.01
"""Steps without a lower bound, after which steps become shorter, until they are too short."""


class Relaxed(NamedTuple):
    """A relaxation at some prices.

    Parameters
    ----------
    excess : float
        No mapping exceeds the value by more, in the unit of the sum.
    slope : array of float, shape (prices,)
        A subgradient of the excess.
    given : array of float, shape (clusters, classes)
        No mapping that gives the cluster the class exceeds the value by more.
    """

    excess: float
    slope: FloatArray
    given: FloatArray


class Relaxation(Protocol):
    """A bound that holds at any prices.

    Parameters
    ----------
    prices : array of float
        The prices to begin with.
    least : float
        What the excess is divided by at the least, to make a value.
    fixed : bool
        True if the prices are too many to be changed.
    cost : float
        Seconds that a bound takes, about, on a usual machine.
    """

    prices: FloatArray
    least: float
    fixed: bool
    cost: float

    def at(self, prices: FloatArray, allowed: BoolArray) -> Relaxed:
        """Bound the mappings that give each cluster an allowed class."""


@dataclass
class Work:
    """Work that is left, in seconds of a usual machine; exists as long as one search.

    Steps are counted, not time, so that the same search ends at the same place everywhere.
    """

    left: float

    def spend(self, cost: float, *, until: float = 0.0) -> bool:
        """Take away what a step costs, if more is left than `until`; return whether it was."""
        enough = self.left > until
        self.left -= cost if enough else 0.0
        return enough


class Descended(NamedTuple):
    """Where a descent ended: the excess as a value, prices, and classes that may be better."""

    excess: float
    prices: FloatArray
    allowed: BoolArray


def descend(
    relaxation: Relaxation,
    prices: FloatArray,
    allowed: BoolArray,
    *,
    steps: int,
    work: Work,
    until: float = 0.0,
) -> Descended:
    """Lower the bound by subgradient steps, and strike out classes that lead to nothing better.

    Parameters
    ----------
    relaxation : Relaxation
        What to bound.
    prices : array of float
        Where to begin.
    allowed : array of bool, shape (clusters, classes)
        The classes that each cluster may have.
    steps : int
        Steps, at most.
    work : Work
        What is left to do; there is one step at least.
    until : float
        What to leave of it.

    Returns
    -------
    Descended
        With excess 0 if no allowed mapping is better.

    References
    ----------
    Polyak, Minimization of Unsmooth Functionals (1969), the length of steps; Camerini, Fratta &
    Maffioli, On Improving Relaxation Methods by Modified Gradient Techniques (1975).
    """
    best, best_prices, length, waited = np.inf, prices, 1.0, 0
    direction, margin = np.zeros(len(prices)), PROVEN_WITHIN * relaxation.least
    for step in range(1 if relaxation.fixed else steps):
        if not work.spend(relaxation.cost, until=until) and step:
            break
        now = _safe(relaxation.at(prices, allowed), prices, relaxation.least)
        waited = 0 if now.excess < best - 1e-6 * abs(best) or step == 0 else waited + 1
        if now.excess < best:
            best, best_prices = now.excess, prices
        allowed = allowed & (now.given > margin)
        if best <= margin or not allowed.any(axis=1).all():
            return Descended(0.0, prices, allowed)
        if waited >= _PATIENCE:
            length, waited = length * _SHORTER, 0
        direction = now.slope + _KEPT * direction
        if (
            length < _SHORTEST
            or allowed.sum() == len(allowed)
            or not (squared := float(direction @ direction))
        ):
            break
        prices = prices - length * now.excess / squared * direction
    return Descended(float(best / relaxation.least), best_prices, allowed)


def _safe(found: Relaxed, prices: FloatArray, least: float) -> Relaxed:
    """Add what rounding may have taken away."""
    slack = 4 * np.finfo(np.float64).eps * (float(np.abs(prices).sum()) + least)
    return Relaxed(found.excess + slack, found.slope, found.given + slack)
