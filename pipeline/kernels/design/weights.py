"""Weights of questions, raised until none does worse than in a simple sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.design.estimands import (
    Estimands,
    candidate_sums,
    question_sums,
    squares_of_all,
)
from pipeline.kernels.design.size_measure import sized

TOLERANCE = 1e-3
"""Share by which a variance may be above its limit."""
_ROUNDS = 15
_ROOT = 2.0  # a variance falls as the root of a weight that matters alone
_STEP = 3.0  # of a logarithm of a weight, at most
_DIGITS = 4


@dataclass(frozen=True)
class Goals:
    """What weights are raised for.

    Parameters
    ----------
    asked : Estimands
        The questions; the last one is about all candidates.
    weights : array of float, shape (questions,)
        As declared; 0 for what is not asked.
    limits : array of float, shape (questions,)
        The largest variance that is wanted, in units of that in a simple sample of the same size.
    whole : array of float, shape (questions,)
        V_q, the sum of a^2 v over all candidates.
    floor : float
        As for `size_measure`.
    """

    asked: Estimands
    weights: FloatArray
    limits: FloatArray
    whole: FloatArray
    floor: float


def raised_weights(goals: Goals) -> FloatArray:
    """Raise the weights of questions whose expected variance is above its limit.

    The variance of question q, in units of what a simple sample of the same size has, is
    ``r_q = (sum_i a_qi^2 v_qi / x_i) (sum x / S) / V_q`` while no one is certain: it does not
    depend on the size, and neither do the weights, so that a sample that grows keeps what it has.
    The weights are the multipliers of ``r_q <= limit_q`` in the problem whose solution x is: the
    weighted sum of variances is as small as it can be under these conditions. They are found by
    secant steps on their logarithms, and never fall below what was declared.

    Parameters
    ----------
    goals : Goals
        Questions, weights and limits. Limits of 1 can always be met, but by a simple sample
        alone if one of them is for a question about all candidates: nothing else serves it so
        well.

    Returns
    -------
    array of float, shape (questions,)
        Rounded to four digits, so that the last bits of logarithms do not decide who is drawn.
        After 15 rounds some variance may still be above its limit: look.

    References
    ----------
    Bethel, Sample Allocation in Multivariate Surveys (1989), on the multipliers.

    Examples
    --------
    >>> import polars as pl
    >>> from pipeline.kernels.design.estimands import estimands
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(list("abcd")), {"mi": np.arange(1, 5)}, pairs=[], n=np.array([1])
    ... )
    >>> asked = estimands(sets, p=np.full(4, 0.5), judged=np.zeros(4, dtype=bool))
    >>> whole = question_sums(asked, np.ones(4))
    >>> raised_weights(Goals(asked, np.ones(2), np.array([1.0, 1.1]), whole, 0.0)).tolist()
    [1.0, 1.257]
    """
    posed = (goals.weights > 0) & (goals.whole > 0)
    raised, steps = np.zeros(len(posed)), np.full(len(posed), _ROOT)
    used = _rounded(goals.weights)
    before: tuple[FloatArray, FloatArray] | None = None
    for _ in range(_ROUNDS):
        used = _rounded(goals.weights * np.exp(raised))
        x, used[-1] = _with_all(goals, used)
        excess = np.where(posed, _excess(goals, x), -1.0)
        if excess.max(initial=0.0) <= np.log1p(TOLERANCE):
            break
        if before is not None:
            steps = _secant(raised - before[0], excess - before[1], steps)
        before = raised, excess
        # Half the tolerance further than the limit, so as to arrive on its right side.
        move = np.clip(steps * (excess + TOLERANCE / 2), -_STEP, _STEP)
        raised = np.where(posed, np.maximum(raised + move, 0.0), 0.0)
    return used


def _with_all(goals: Goals, weights: FloatArray) -> tuple[FloatArray, float]:
    """Return x and the weight of the last question, which meets its limit beside the others.

    It is what a design harms most, and its weight is found without sums over sets.
    """
    asked, last = goals.asked, float(goals.weights[-1])
    share = np.divide(weights, goals.whole, out=np.zeros_like(weights), where=goals.whole > 0)
    rest = candidate_sums(asked, np.append(share[:-1], 0.0))
    alone = squares_of_all(asked)
    if not (last and goals.whole[-1]):
        return sized(asked, rest, floor=goals.floor), last
    target, raised, step = goals.whole[-1] * goals.limits[-1], 0.0, _ROOT
    before: tuple[float, float] | None = None
    for _ in range(_ROUNDS):
        weight = float(_rounded(np.array([last * np.exp(raised)]))[0])
        x = sized(asked, rest + weight / goals.whole[-1] * alone, floor=goals.floor)
        excess = float(np.log(_variance(alone, x) * x.sum() / asked.unjudged.sum() / target))
        if abs(excess) < TOLERANCE / 2 or (excess < 0 and not raised):
            break
        if before is not None and raised != before[0]:
            slope = (excess - before[1]) / (raised - before[0])
            step = float(np.clip(-1.0 / slope, 1.0, 100.0)) if slope < 0 else 2.0 * step
        before = raised, excess
        raised = max(raised + float(np.clip(step * excess, -_STEP, _STEP)), 0.0)
    return x, weight


def _variance(squares: FloatArray, x: FloatArray) -> float:
    return float(np.divide(squares, x, out=np.zeros_like(x), where=x > 0).sum())


def _excess(goals: Goals, x: FloatArray) -> FloatArray:
    """Return ln(r_q / limit_q); 0 for what is known already."""
    inverse = np.divide(1.0, x, out=np.zeros_like(x), where=x > 0)
    scale = x.sum() / max(int(goals.asked.unjudged.sum()), 1)
    r = question_sums(goals.asked, inverse) * scale
    known = goals.whole == 0
    limits = np.where(known, 1.0, goals.whole * goals.limits)
    # A variance of 0, of a weight that is 0, is far below any limit.
    return np.asarray(np.log(np.where(known, 1.0, np.maximum(r, 1e-300)) / limits))


def _secant(moved: FloatArray, changed: FloatArray, steps: FloatArray) -> FloatArray:
    """Return the steps per unit of excess that the last move suggests, from 1 to 100."""
    slopes = np.divide(changed, moved, out=np.full_like(moved, -0.5), where=np.abs(moved) > 1e-9)
    falls = slopes < -1e-3
    suggested = np.clip(-1.0 / np.where(falls, slopes, -1.0), 1.0, 100.0)
    return np.where(falls, suggested, np.minimum(2.0 * steps, 100.0))


def _rounded(weights: FloatArray) -> FloatArray:
    """Round to four significant digits."""
    digits = _DIGITS - 1 - np.floor(np.log10(np.where(weights > 0, weights, 1.0)))
    scale = 10.0**digits
    return np.asarray(np.round(weights * scale) / scale)
