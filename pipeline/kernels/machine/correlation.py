"""How much of the judgements predictions explain: the squared correlation within sets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.domains import Weights, linear_variance
from pipeline.kernels.estimates.intervals import checked_tail
from pipeline.kernels.estimates.tuning import ENOUGH, divided


class Explained(NamedTuple):
    """Squared correlations with limits, arrays of shape (sets,); NaN where they are not known."""

    rho2: FloatArray
    lower: FloatArray
    upper: FloatArray


def explained(
    tp: FloatArray,
    prediction: FloatArray,
    members: BoolArray,
    weights: Weights,
    *,
    confidence: float = 0.95,
    enough: int = ENOUGH,
) -> Explained:
    """Return the squared correlation of judgements and predictions within sets.

    A set consists of one part, or of several, such as the two difference sets of two lists: there
    all is centred part by part, ``y~ = y - y_mean, g~ = g - g_mean`` by weights ``a = w / sum w``
    of the part, and added up: ``rho = C / sqrt(V W)``, ``C = sum a y~ g~``, ``V = sum a y~^2``,
    ``W = sum a g~^2``. Each draw adds ``a (y~ g~ / sqrt(V W) - rho/2 (y~^2 / V + g~^2 / W))``, less
    the part's mean, whose variance is `domains.linear_variance`; limits are those of Fisher's
    atanh(rho) by Student's t with as many degrees of freedom as m - 2 draws of equal weight.

    Parameters
    ----------
    tp, prediction : array of float, shape (draws,)
        Judgements 0 and 1; predictions in [0, 1].
    members : array of bool, shape (sets, parts, draws)
        Which draws are in which part of which set.
    weights : Weights
        What the draws stand for.
    confidence : float
        Confidence level in (0, 1).
    enough : int
        NaN below so many draws in a part.

    Returns
    -------
    Explained
        In [0, 1]. A negative correlation counts as 0, since predictions get no negative weight.
        NaN where the judgements, or the predictions, are all alike.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Särndal, Swensson & Wretman, Model Assisted Survey Sampling (1992), sections 5.5 and 6.4;
    Fisher, On the Probable Error of a Coefficient of Correlation (1921).

    Examples
    --------
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> y, g = np.array([1.0, 0.0] * 20), np.array([0.9, 0.1, 0.5, 0.5] * 10)
    >>> everybody = np.ones((1, 1, 40), dtype=bool)
    >>> float(explained(y, g, everybody, weights_of(None, draws=40)).rho2[0].round(4))
    0.5
    """
    tail = float(checked_tail(confidence))
    draws = members.sum(axis=-1).astype(np.float64)
    a = divided(members * weights.w, (members * weights.w).sum(axis=-1, keepdims=True))
    y, g = (each - (a * each).sum(axis=-1, keepdims=True) for each in (tp, prediction))
    scale = [_sum(a * y * y), _sum(a * g * g)]
    known = (draws.min(axis=-1) >= enough) & (scale[0] > 1e-12) & (scale[1] > 1e-12)
    v, w = (np.where(known, each, 1.0)[:, None, None] for each in scale)
    rho = np.clip(_sum(a * y * g) / np.sqrt(v * w)[:, 0, 0], -1.0, 1.0)
    u = y * g / np.sqrt(v * w) - rho[:, None, None] / 2.0 * (y**2 / v + g**2 / w)
    z = a * (u - (a * u).sum(axis=-1, keepdims=True))
    variance = linear_variance(z, np.where(members, weights.c, 0.0)).sum(axis=-1)
    worth = divided(np.ones_like(rho), _sum(a**2)) * members.shape[1] ** 2
    limits = _limits(rho, variance, np.maximum(worth - 2.0 * members.shape[1], 1.0), tail)
    found = (np.maximum(each, 0.0) ** 2 for each in (rho, *limits))
    return Explained(*(np.where(known, each, np.nan) for each in found))


def _sum(values: FloatArray) -> FloatArray:
    return np.asarray(values.sum(axis=(-2, -1)))


def _limits(
    rho: FloatArray, variance: FloatArray, freedom: FloatArray, tail: float
) -> tuple[FloatArray, FloatArray]:
    inside = np.clip(rho, -1.0 + 1e-15, 1.0 - 1e-15)
    half = -scipy.special.stdtrit(freedom, tail) * np.sqrt(variance) / (1.0 - inside**2)
    exact = (variance <= 1e-24) | (np.abs(rho) >= 1.0 - 1e-12)
    lower, upper = (np.tanh(np.arctanh(inside) + side * half) for side in (-1.0, 1.0))
    return np.where(exact, rho, lower), np.where(exact, rho, upper)
