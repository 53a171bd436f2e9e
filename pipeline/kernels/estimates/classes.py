"""Strata whose draws weigh about the same: each class has limits of its own."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.moments import Moments
from pipeline.kernels.estimates.tuning import divided

RATIO = 3.0
"""Strata are of one class while their draws weigh up to so many times as much as others'."""
_MOST = 6
_NONE = -1


def weight_classes(sums: FloatArray, mass: FloatArray) -> IntArray:
    """Return the class of each stratum of each set, from 0, that of the heaviest draws.

    ``floor(log_3(w / w_h))``, w_h the mean weight 1/pi of the draws of stratum h, w that of the
    heaviest ones of the set. Where 18 draws stand for half of a list, and 500 for the rest, one
    variance for both doesn't know what the 18 have missed, and Korn and Graubard's interval held
    the truth in 84 % of samples; where 20 strata have five draws each, limits for each of them,
    put together, held it in 87 %. With a class for strata that weigh about the same both hold it
    in 96 % or more.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` over the judged uncertain draws of each set.
    mass : array of float, shape (..., strata)
        Sizes of the uncertain parts; 0 where a stratum has none.

    Returns
    -------
    array of int, shape (..., strata)
        At most 5; -1 where a stratum has no uncertain part, or no draw.

    Examples
    --------
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> drawn = draw_moments([1, 0, 1], [0.1, 0.25, 0.5])[:, :, None]
    >>> weight_classes(drawn, np.array([100.0, 40.0, 20.0])).tolist()
    [0, 0, 1]
    """
    judged = Moments(*sums)
    draws = judged.draws.sum(axis=-1)
    mean = divided(judged.w.sum(axis=-1), draws)
    drawn = (mass > 0) & (draws > 0)
    heaviest = np.where(drawn, mean, 0.0).max(axis=-1, keepdims=True, initial=0.0)
    times = divided(heaviest, np.where(drawn, mean, 0.0))
    steps = np.log(np.maximum(times, 1.0)) / np.log(RATIO)
    classes = np.minimum(np.floor(steps + 1e-9), _MOST - 1).astype(np.int64)
    return np.where(drawn, classes, _NONE)
