"""What each draw adds to a ratio of sums, for ratios of unknown totals and their differences."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.hajek import Estimates
from pipeline.kernels.estimates.means import weighted_mean
from pipeline.kernels.estimates.moments import check_within


class Influence(NamedTuple):
    """An estimated mean, and how far each draw moves it."""

    estimate: float
    """NaN without a draw that weighs."""
    z: FloatArray
    """Adding up to 0 over the uncertain draws where the total is known."""


class Difference(NamedTuple):
    """The difference of two means from the same draws."""

    estimate: float
    variance: float
    """NaN where fewer than two uncertain draws weigh; 0 where all was certain."""
    draws: int
    """Uncertain draws that it rests on."""


def draw_weights(pi: FloatArray, size: FloatArray, *, total: float | None) -> FloatArray:
    """Return what a unit of each draw's size stands for: times size, these add up to 1.

    Parameters
    ----------
    pi : array of float, shape (draws,)
        The chances that they were drawn with, in (0, 1].
    size : array of float, shape (draws,)
        What each weighs, from 0.
    total : float or None
        The sizes of the whole population, of which the certain draws then have their exact part;
        None if it is not known, and is estimated by ``sum size / pi``.

    Returns
    -------
    array of float, shape (draws,)
        NaN where all sizes are 0.

    Raises
    ------
    ValueError
        If a chance is not in (0, 1], or a size below 0.

    Examples
    --------
    >>> pi, size = np.array([1.0, 0.5, 0.25]), np.array([40.0, 5.0, 10.0])
    >>> (draw_weights(pi, size, total=100) * size).round(3).tolist()
    [0.4, 0.12, 0.48]
    >>> (draw_weights(pi, size, total=None) * size).round(3).tolist()
    [0.444, 0.111, 0.444]
    """
    check_within("chances", pi, (pi > 0) & (pi <= 1), "in (0, 1]")
    check_within("sizes", size, (size >= 0) & np.isfinite(size), "from 0 on")
    certain = pi == 1
    open_ = float((size / pi)[~certain].sum())
    if not size.any():
        return np.full(len(pi), np.nan)
    if total is None or not open_ > 0:
        return np.asarray(1.0 / pi / (size / pi).sum())
    left = (total - size[certain].sum()) / open_
    return np.where(certain, 1.0, left / pi) / total


def influence(y: FloatArray, pi: FloatArray, size: FloatArray, *, total: float | None) -> Influence:
    """Return the mean of y by size, and what each draw adds to its error.

    ``z_i = g_i size_i (y_i - p)``, g the `draw_weights`, p the mean over the uncertain draws; over
    all draws, where the total is not known, since then the part of the certain ones is not either.

    Parameters
    ----------
    y : array of float, shape (draws,)
        Values in [0, 1]; whatever where the size is 0.
    pi, size, total
        As for `draw_weights`.

    Examples
    --------
    >>> pi, size = np.array([0.5, 0.25]), np.array([5.0, 10.0])
    >>> found = influence(np.array([0.8, 0.3]), pi, size, total=None)
    >>> found.estimate, found.z.round(3).tolist()
    (0.4, [0.08, -0.08])
    """
    share = draw_weights(pi, size, total=total) * size
    estimate = float(share @ y) if len(y) else np.nan
    centre, certain = estimate, pi == 1
    left = float(share[~certain].sum())
    if total is not None and left > 0:
        centre = float(share[~certain] @ y[~certain] / left)
    return Influence(estimate, share * (y - centre))


def rosen_variance(z: FloatArray, pi: FloatArray) -> float:
    """Return ``m/(m-1) sum c (z - B)^2``, ``B = sum c z / sum c``, c = 1 - pi, over m draws.

    Parameters
    ----------
    z : array of float, shape (draws,)
        What each adds to the error of an estimate.
    pi : array of float, shape (draws,)
        The chances that they were drawn with; certain ones add nothing.

    Returns
    -------
    float
        NaN for one uncertain draw, 0 for none.

    References
    ----------
    Rosén, On Sampling with Probability Proportional to Size (1997).

    Examples
    --------
    >>> round(rosen_variance(np.array([0.08, -0.08]), np.array([0.5, 0.25])), 6)
    0.01536
    """
    open_ = pi < 1
    c, z, m = 1.0 - pi[open_], z[open_], int(open_.sum())
    if m < 2:
        return np.nan if m else 0.0
    centre = (c @ z) / c.sum()
    return float(m / (m - 1) * (c @ (z - centre) ** 2))


def ratio_mean(y: FloatArray, pi: FloatArray, *, size: FloatArray) -> Estimates:
    """Estimate ``sum a_i y_i / sum a_i`` where the sum of the sizes a is not known beforehand.

    Parameters
    ----------
    y, pi, size
        As for `means.weighted_mean`; sizes above 0.

    Returns
    -------
    Estimates
        Of one set; exact where all draws were certain.

    Examples
    --------
    >>> found = ratio_mean(np.array([0.8, 0.3]), np.array([0.5, 0.25]), size=np.array([5.0, 10.0]))
    >>> round(float(found.estimate), 6), round(float(found.variance), 6)
    (0.4, 0.01536)
    """
    made = weighted_mean(y, pi, size=size, total=float((size / pi).sum()))
    if not (pi < 1).any():
        return made
    mean = influence(y, pi, size, total=None)
    one, none = np.asarray(1.0), np.asarray(0.0)
    variance = np.asarray(rosen_variance(mean.z, pi))
    return made._replace(
        variance=variance, p=made.estimate, p_variance=variance, share=one, shift=none,
        floor=none, ceiling=one,
    )  # fmt: skip


def mean_difference(
    first: Influence, second: Influence, pi: FloatArray, *, weighs: BoolArray
) -> Difference:
    """Return the difference of two means from the same draws, with its linearised variance.

    What moves both alike cancels out, so it is mostly smaller than the sum of the two variances.

    Parameters
    ----------
    first, second : Influence
        Of the same draws.
    pi : array of float, shape (draws,)
        The chances that they were drawn with.
    weighs : array of bool, shape (draws,)
        Which of them have a size in either.

    Examples
    --------
    >>> pi, size = np.array([0.5, 0.25]), np.array([5.0, 10.0])
    >>> both = [influence(np.array(y), pi, size, total=None) for y in ([0.8, 0.3], [0.6, 0.2])]
    >>> found = mean_difference(*both, pi, weighs=size > 0)
    >>> round(found.estimate, 3), round(found.variance, 6)
    (0.12, 0.000614)
    """
    z, chance = (first.z - second.z)[weighs], pi[weighs]
    draws, variance = int((chance < 1).sum()), rosen_variance(z, chance)
    return Difference(first.estimate - second.estimate, variance, draws)
