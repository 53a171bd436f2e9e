"""How many labels predictions save where an estimate uses them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.estimates.domains import Weights
from pipeline.kernels.estimates.moments import draw_moments
from pipeline.kernels.estimates.sums import set_sums
from pipeline.kernels.estimates.tuning import ENOUGH, divided, residuals, tuned

_ALIKE = 0.5  # any chance: where all are equal it makes no difference


class Saved(NamedTuple):
    """What predictions save, arrays of shape (sets,); NaN where it is not known."""

    labels: FloatArray
    """Share of the labels; at most 1, below 0 where predictions cost some."""
    tau: FloatArray
    """Mean weight of the predictions, in [0, 1]."""


def saved(
    tp: FloatArray,
    prediction: FloatArray,
    members: BoolArray,
    weights: Weights,
    *,
    fold: IntArray,
    share: FloatArray | None = None,
    enough: int = ENOUGH,
) -> Saved:
    """Return the share of labels that predictions save in the estimate of a mean or a difference.

    ``1 - V_with / V_without``: a sample that is smaller by this share, with predictions, leaves
    the variance as it was. V_with is the variance of the residuals ``y - tau g``, tau the weight
    that makes it smallest, found for each fold in the others. So no judgement chooses the weight of
    its own prediction, and a judge that knows nothing saves nothing on average, and not what
    chance makes of the best of many weights.

    Parameters
    ----------
    tp, prediction : array of float, shape (draws,)
        Judgements 0 and 1; predictions in [0, 1].
    members : array of bool, shape (sets, parts, draws)
        Which draws are in which part of which set: one part of a list, two of a difference.
    weights : Weights
        What the draws stand for; those that are certain have no variance.
    fold : array of int, shape (draws,)
        The fold of each draw, from 0.
    share : array of float, shape (sets, parts), optional
        The part of each that was not certain; all if not given.
    enough : int
        NaN below so many uncertain draws in a part: there predictions get no weight.

    Returns
    -------
    Saved
        NaN where the judgements are all alike, too: then there is no variance without predictions.

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), section 6.4;
    Angelopoulos, Duchi & Zrnic, PPI++ (2023), section 6.

    Examples
    --------
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> y, fold, alike = np.array([1.0, 0.0] * 20), np.arange(40) % 5, weights_of(None, draws=40)
    >>> everybody = np.ones((1, 1, 40), dtype=bool)
    >>> saved(y, y, everybody, alike, fold=fold).labels.tolist()
    [1.0]
    """
    pi = np.full(len(tp), _ALIKE) if weights.simple else 1.0 / weights.w
    open_ = pi < 1
    columns = draw_moments(tp[open_], pi[open_], prediction=prediction[open_])
    folds = int(fold.max(initial=0)) + 1
    sets, parts = members.shape[:2]
    inside = members[..., open_].reshape(sets * parts, -1)
    sums = set_sums(inside, columns, fold[open_], folds)[:, :, None, :]
    tau = tuned(sums, np.ones((len(inside), 1)), enough=enough)
    scale = np.ones((sets, parts)) if share is None else share**2
    with_, without = (
        (scale * residuals(sums, each).variance().reshape(sets, parts)).sum(axis=1)
        for each in (tau, np.zeros_like(tau))
    )
    few = inside.sum(axis=1).reshape(sets, parts).min(axis=1) < enough
    unknown = few | (without <= 0)
    labels = np.where(unknown, np.nan, 1.0 - divided(with_, without))
    return Saved(labels, np.where(few, np.nan, tau.mean(axis=1).reshape(sets, parts).mean(axis=1)))
