"""Questions as linear estimands: variances by question, and shares of them by candidate.

A question is theta_q = sum_i a_qi y_i, with a_qi = 1/n in a list, 1/n and -1/n in the two
difference sets, 1/S for the baseline. What a design is made of are sums of a_qi^2 v_qi, over the
candidates for a question and over the questions for a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.design.sets import Sets, set_loads, set_sums

LEAST_VARIANCE = 0.01
"""Least p(1-p) that a prediction is trusted for; 0.01 at p = 0.01."""


@dataclass(frozen=True)
class Estimands:
    """Questions over sets of candidates, with the expected squared residuals v.

    Parameters
    ----------
    sets : Sets
        The sets: lists of the measures, then the two sides of each pair, then all candidates.
    question : array of int, shape (sets,)
        The question that each set belongs to.
    square : array of float, shape (sets,)
        a^2 in it.
    unjudged : array of bool, shape (candidates,)
        Whether the candidate is not judged yet. What is judged has no residual.
    noise : array of float, shape (candidates,)
        p_i (1 - p_i); 0 where judged.
    centred : array of float, shape (candidates,), or None
        p_i less its mean over the unjudged candidates; None where v is the noise alone.
    means : array of float, shape (sets,)
        Mean of `centred` over the unjudged members of each set.
    """

    sets: Sets
    question: IntArray
    square: FloatArray
    unjudged: BoolArray
    noise: FloatArray
    centred: FloatArray | None
    means: FloatArray

    @property
    def count(self) -> int:
        """Return how many questions there are."""
        return int(self.question[-1]) + 1


def estimands(sets: Sets, *, p: FloatArray, judged: BoolArray, assisted: bool = False) -> Estimands:
    """Put questions and predictions together.

    ``v_qi = p_i (1-p_i)`` where the predictions are in the estimate too, else
    ``p_i (1-p_i) + (p_i - p_q)^2``, p_q the mean of p_i over the set that i is in: of a difference
    each side is a set of its own, since the estimator takes the mean of each. The first term is
    never less than 0.01, as predictions are surer of themselves than right.

    Parameters
    ----------
    sets : Sets
        As `question_sets` gives them, with the lists of all measures first.
    p : array of float, shape (candidates,)
        Expected probability of a true positive, in [0, 1]; a constant where nothing is known.
    judged : array of bool, shape (candidates,)
        What is judged already, and will not be drawn again.
    assisted : bool
        Whether the predictions will be in the estimate.

    Raises
    ------
    ValueError
        If some p is not in [0, 1].

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 12.2.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> found = estimands(sets, p=np.array([0.5, 0.1]), judged=np.array([False, False]))
    >>> question_sums(found, np.ones(2)).round(6).tolist()
    [0.25, 0.105]
    """
    _check(sets.ids, p)
    unjudged = ~judged
    noise = np.where(unjudged, np.maximum(p * (1.0 - p), LEAST_VARIANCE), 0.0)
    number, squares = _coefficients(sets)
    middle = float(p[unjudged].mean()) if unjudged.any() else 0.0
    centred = np.where(unjudged, p - middle, 0.0)
    if assisted or not centred.any():
        return Estimands(sets, number, squares, unjudged, noise, None, np.zeros(sets.count))
    members, total = set_sums(sets, [unjudged.astype(float), centred])
    means = np.divide(total, members, out=np.zeros_like(total), where=members > 0)
    return Estimands(sets, number, squares, unjudged, noise, centred, means)


def question_sums(asked: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_i a_qi^2 v_qi g_i`` for each question.

    Parameters
    ----------
    asked : Estimands
        The questions.
    each : array of float, shape (candidates,)
        g, from 0 on: 1 gives V_q, (1 - pi)/pi the expected variance of the estimate.

    Returns
    -------
    array of float, shape (questions,)
        From 0; exactly 0 where no unjudged member of a question has anything.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> asked = estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> question_sums(asked, np.array([1.0, 3.0])).tolist()
    [0.25, 0.25]
    """
    weighed = np.bincount(
        asked.question, weights=residual_sums(asked, each) * asked.square, minlength=asked.count
    )
    return weighed.astype(np.float64)


def residual_sums(asked: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_i v_i g_i`` over the members of each set, without its question's a^2.

    Parameters
    ----------
    asked : Estimands
        The questions.
    each : array of float, shape (candidates,)
        g, from 0 on.

    Returns
    -------
    array of float, shape (sets,)
        From 0.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> asked = estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> residual_sums(asked, np.array([1.0, 3.0])).tolist()
    [0.25, 1.0]
    """
    g = np.where(asked.unjudged, each, 0.0)
    if asked.centred is None:
        return np.asarray(set_sums(asked.sets, [g * asked.noise])[0])
    p, m = asked.centred, asked.means
    squares, products, sizes = set_sums(asked.sets, [g * (asked.noise + p * p), g * p, g])
    return np.asarray(np.maximum(squares - 2.0 * m * products + m * m * sizes, 0.0))


def candidate_sums(asked: Estimands, each: FloatArray) -> FloatArray:
    """Return ``sum_q w_q a_qi^2 v_qi`` for each candidate, the transpose of `question_sums`.

    Parameters
    ----------
    asked : Estimands
        The questions.
    each : array of float, shape (questions,)
        w, from 0 on.

    Returns
    -------
    array of float, shape (candidates,)
        0 where no question has the candidate, or it is judged.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> asked = estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> candidate_sums(asked, np.array([1.0, 2.0])).tolist()
    [0.375, 0.125]
    """
    load = each[asked.question] * asked.square
    if asked.centred is None:
        return np.asarray(set_loads(asked.sets, [load])[0] * asked.noise)
    p, m = asked.centred, asked.means
    once, first, second = set_loads(asked.sets, [load, load * m, load * m * m])
    found = (asked.noise + p * p) * once - 2.0 * p * first + second
    return np.where(asked.unjudged, np.maximum(found, 0.0), 0.0)


def squares_of_all(asked: Estimands) -> FloatArray:
    """Return ``a_qi^2 v_qi`` of the last question, the one about all candidates.

    Parameters
    ----------
    asked : Estimands
        The questions.

    Returns
    -------
    array of float, shape (candidates,)
        What `candidate_sums` gives for a weight of 1 on that question alone, without its cost.

    Examples
    --------
    >>> from pipeline.kernels.design.sets import question_sets
    >>> sets = question_sets(
    ...     pl.Series(["a", "b"]), {"mi": np.array([1, 2])}, pairs=[], n=np.array([1])
    ... )
    >>> asked = estimands(sets, p=np.full(2, 0.5), judged=np.zeros(2, dtype=bool))
    >>> squares_of_all(asked).tolist()
    [0.0625, 0.0625]
    """
    residuals = asked.noise
    if asked.centred is not None:
        residuals = residuals + np.where(
            asked.unjudged, (asked.centred - asked.means[-1]) ** 2, 0.0
        )
    return np.asarray(residuals * asked.square[-1])


def _coefficients(sets: Sets) -> tuple[IntArray, FloatArray]:
    """Return the question of each set, and a^2: both sides of a pair are of one question."""
    sizes = len(sets.n)
    lists = sum(one == two for one, two in sets.sides)
    sides = len(sets.sides)
    row = np.concatenate([np.arange(lists), lists + np.arange(sides - lists) // 2])
    number = (row[:, None] * sizes + np.arange(sizes)).ravel()
    last = number.max(initial=-1) + 1
    every = max(len(sets.ids), 1)
    squares = np.tile(1.0 / sets.n.astype(np.float64) ** 2, sides)
    return np.append(number, last).astype(np.int64), np.append(squares, 1.0 / every**2)


def _check(ids: pl.Series, p: FloatArray) -> None:
    wrong = ~((p >= 0.0) & (p <= 1.0))
    if wrong.any():
        shown = ", ".join(f"{ids[int(at)]} ({p[at]:g})" for at in np.flatnonzero(wrong)[:3])
        raise ValueError(
            f"{int(wrong.sum()):,} predictions are no probabilities in [0, 1], such as {shown};"
            " leave out what has none, or give a probability"
        )
