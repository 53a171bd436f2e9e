"""Many samples at once from populations whose truth is known, and what is estimated from them."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray
from pipeline.kernels.survey.ratio_estimator import Estimates, Known, draw_moments, hajek


def chances(x: FloatArray, size: int) -> FloatArray:
    """Return chances in proportion to x that add up to a size; those at 1 or more are taken."""
    certain = np.zeros(len(x), dtype=bool)
    while True:
        left = (size - certain.sum()) / x[~certain].sum()
        more = ~certain & (x * left >= 1)
        if not more.any():
            return np.where(certain, 1.0, x * left)
        certain |= more


def sequential_poisson(
    pi: FloatArray, samples: int, seed: int, stratum: IntArray | None = None
) -> IntArray:
    """Draw samples: of each stratum those with the smallest u / pi; the certain ones always.

    Shape (samples, draws); the size is the sum of the chances in each stratum.
    """
    random = np.random.default_rng(seed)
    keys = np.where(pi < 1, random.random((samples, len(pi))) / pi, 0.0)
    strata = np.zeros(len(pi), dtype=np.int64) if stratum is None else stratum
    parts = []
    for place in np.unique(strata):
        (own,) = np.nonzero(strata == place)
        size = round(pi[own].sum())
        parts.append(own[np.argpartition(keys[:, own], size - 1, axis=1)[:, :size]])
    return np.concatenate(parts, axis=1)


def estimated(
    members: BoolArray,
    y: FloatArray,
    pi: FloatArray,
    drawn: IntArray,
    *,
    stratum: IntArray | None = None,
    prediction: FloatArray | None = None,
    folds: int = 10,
) -> Estimates:
    """Estimate one set from many samples: arrays over the samples.

    The predictions are those of a judge from outside, and folds go by the order of the draws.
    """
    samples, draws = drawn.shape
    strata = np.zeros(len(y), dtype=np.int64) if stratum is None else stratum
    count, kinds = int(strata.max()) + 1, folds if prediction is not None else 1
    guess = np.zeros(len(y)) if prediction is None else prediction
    inside = members[drawn] & (pi[drawn] < 1)
    safe = np.where(pi < 1, pi, 0.5)[drawn]
    columns = draw_moments(y[drawn].ravel(), safe.ravel(), prediction=guess[drawn].ravel())
    columns = columns * inside.ravel()
    fold = np.broadcast_to(np.arange(draws) % kinds, drawn.shape)
    cell = (np.arange(samples)[:, None] * count + strata[drawn]) * kinds + fold
    shape, cells = (samples, count, kinds), samples * count * kinds
    sums: FloatArray = np.stack(
        [np.bincount(cell.ravel(), each, cells).reshape(shape) for each in columns],
        dtype=np.float64,
    )
    uncertain = members & (pi < 1)
    mass = np.bincount(strata[uncertain], minlength=count).astype(float)
    all_guesses = np.bincount(strata[uncertain], guess[uncertain], count)
    certain = members & (pi == 1)
    known = (y[certain].sum(), (1 - y[certain]).sum(), 0.0)
    seen = sums[3].sum(axis=-1)
    return hajek(
        sums,
        np.broadcast_to(mass, (samples, count)),
        known=Known(*(np.full(samples, each) for each in known)),
        guessed=None if prediction is None else all_guesses - seen,
    )
