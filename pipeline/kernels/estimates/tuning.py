"""How much weight predictions get, and the moments of what they leave over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.estimates.moments import Moments

ENOUGH = 30
"""Judged draws of a set that predictions need, to get any weight."""


def divided(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Divide; 0 where the whole is 0.

    Examples
    --------
    >>> divided(np.array([1.0, 1.0]), np.array([2.0, 0.0])).tolist()
    [0.5, 0.0]
    """
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


class Residuals(NamedTuple):
    """Sums of e = y - tau g by stratum: arrays of shape (..., strata)."""

    draws: FloatArray
    w: FloatArray
    c: FloatArray
    cw: FloatArray
    cww: FloatArray
    we: FloatArray
    cwe: FloatArray
    cwwe: FloatArray
    cwwee: FloatArray

    def around(self, centre: FloatArray) -> FloatArray:
        """Return sum c w^2 (e - centre)^2."""
        return np.maximum(
            self.cwwee - 2.0 * centre * self.cwwe + centre**2 * self.cww,
            0.0,  # but for rounding
        )

    def variance(self) -> FloatArray:
        """Return m/(m-1) sum c (z - B)^2 of each stratum; 0 where it has one draw or none."""
        mean = divided(self.we, self.w)
        centred = divided((self.cwe - mean * self.cw) ** 2, self.c)
        spread = np.maximum(self.around(mean) - centred, 0.0)
        return divided(self.draws, self.draws - 1.0) * divided(spread, self.w**2)


def residuals(sums: FloatArray, tau: FloatArray) -> Residuals:
    """Add up the residuals over the folds.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` of the judged uncertain draws.
    tau : array of float, shape (..., folds)
        The weight of the predictions in each fold.

    Examples
    --------
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> columns = draw_moments([1, 0], [0.5, 0.5], prediction=[0.5, 0.5])
    >>> found = residuals(columns.sum(axis=1)[:, None, None], np.array([1.0]))
    >>> found.we.tolist(), found.variance().tolist()
    ([0.0], [0.125])
    """
    m, t = Moments(*sums), tau[..., None, :]
    return Residuals(
        draws=m.draws.sum(axis=-1),
        w=m.w.sum(axis=-1),
        c=m.c.sum(axis=-1),
        cw=m.cw.sum(axis=-1),
        cww=m.cww.sum(axis=-1),
        we=(m.wy - t * m.wg).sum(axis=-1),
        cwe=(m.cwy - t * m.cwg).sum(axis=-1),
        cwwe=(m.cwwy - t * m.cwwg).sum(axis=-1),
        cwwee=(m.cwwyy - 2.0 * t * m.cwwyg + t**2 * m.cwwgg).sum(axis=-1),
    )


def tuned(sums: FloatArray, strata: FloatArray, *, enough: int = ENOUGH) -> FloatArray:
    """Return the weight of the predictions that makes the variance smallest, fold by fold.

    ``tau = cov(z(y), z(g)) / var(z(g))``, both added up over the strata as the variance of the
    estimate is, clipped to [0, 1]. The weight of a fold is found in the other folds, so that no
    judgement chooses the weight of its own prediction; with one fold it is found in that.

    Parameters
    ----------
    sums : array of float, shape (fields, ..., strata, folds)
        `Moments` of the judged uncertain draws.
    strata : array of float, shape (..., strata)
        The share of each stratum in its set.
    enough : int
        Below so many judged draws of a set its weight is 0.

    Returns
    -------
    array of float, shape (..., folds)
        In [0, 1]; 0 where the judgements, or the predictions, of the other folds are all alike.

    References
    ----------
    Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference (2023), section 6,
    where this is called lambda.

    Examples
    --------
    >>> from pipeline.kernels.estimates.moments import draw_moments
    >>> y = np.array([1.0, 0.0] * 20)
    >>> drawn = draw_moments(y, 0.1, prediction=y / 2 + 0.1).sum(axis=1)[:, None, None]
    >>> tuned(drawn, np.array([1.0])).tolist()  # the slope is 2
    [1.0]
    """
    folds = sums.shape[-1]
    others = sums @ (1.0 - np.eye(folds)) if folds > 1 else sums
    m = Moments(*others)
    y, g = divided(m.wy, m.w), divided(m.wg, m.w)
    left_y, left_g = m.cwy - y * m.cw, m.cwg - g * m.cw
    joint = m.cwwyg - y * m.cwwg - g * m.cwwy + y * g * m.cww - divided(left_y * left_g, m.c)
    own = m.cwwgg - 2.0 * g * m.cwwg + g**2 * m.cww - divided(left_g**2, m.c)
    scale = divided(m.draws, m.draws - 1.0) * divided(strata[..., None], m.w) ** 2
    covariance, variance = ((scale * each).sum(axis=-2) for each in (joint, own))
    noise = 1e-12 * (scale * m.cwwgg).sum(axis=-2)  # what equal predictions leave, by rounding
    differ = (m.hits.sum(axis=-2) > 0) & (m.misses.sum(axis=-2) > 0) & (variance > noise)
    many = m.draws.sum(axis=-2) > 0
    drawn = Moments(*sums).draws.sum(axis=(-2, -1))[..., None] >= enough
    slope = divided(covariance, np.where(differ, variance, 0.0))
    return np.where(drawn & many, np.clip(slope, 0.0, 1.0), 0.0)
