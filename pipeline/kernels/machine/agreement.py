"""Agreement of a machine with people, from draws of any weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray
from pipeline.kernels.estimates.domains import Weights, linear_variance
from pipeline.kernels.estimates.intervals import checked_tail


class Coefficient(NamedTuple):
    """A coefficient with its limits; NaN where it is not defined."""

    value: float
    lower: float
    upper: float


UNDEFINED = Coefficient(np.nan, np.nan, np.nan)


def agreement_with_people(
    tp: npt.ArrayLike, label: npt.ArrayLike, weights: Weights, *, confidence: float = 0.95
) -> dict[str, Coefficient]:
    """Return Cohen's kappa and Gwet's AC1 between judgements and labels, with limits.

    ``(P - P_e) / (1 - P_e)``, P the weighted share of equal labels. With row and column shares r
    and k of positives, ``P_e = r k + (1 - r)(1 - k)`` for kappa and ``2 q (1 - q)``,
    ``q = (r + k) / 2``, for AC1. Each draw adds ``z_i = w_i u_i / sum w`` to the estimate,
    ``u_i = ((a_i - P) - (1 - kappa) d_i) / (1 - P_e)`` with a_i = 1 where the labels are equal and
    d_i what the draw does to P_e. The variance is `domains.linear_variance` of these, and
    ``(unit / (1 - P_e))^2``: one more label than was seen may be wrong, and weighs what heavy draws
    do, ``unit = sum c w^3 / (sum c w^2 sum w)``. Limits are those of atanh(kappa).

    Parameters
    ----------
    tp, label : array_like of bool, shape (draws,)
        What people and what the machine say of each draw.
    weights : Weights
        What the draws stand for.
    confidence : float
        Confidence level in (0, 1).

    Returns
    -------
    dict of str to Coefficient
        kappa and ac1, in [-1, 1]: 1 for perfect agreement, 0 for that of chance. Where all weigh
        the same they are `cohen_kappa` and `gwet_ac`, with the published errors but for
        ``m / (m - 1)`` and the unit. Without it, and on the plain scale, 95 % limits held a very
        good machine's kappa in 64 to 91 % of samples. Kappa is NaN where both give one label
        only, both are with fewer than 2 draws.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1).

    References
    ----------
    Cohen (1960); Fleiss, Cohen & Everitt (1969); Gwet (2008), Särndal, Swensson & Wretman
    (1992), section 5.5, on linearisation.

    Examples
    --------
    >>> from pipeline.kernels.estimates.domains import weights_of
    >>> people, machine = np.array([1] * 49 + [0] * 51), [1] * 40 + [0] * 9 + [1] * 6 + [0] * 45
    >>> found = agreement_with_people(people, machine, weights_of(None, draws=100))
    >>> [round(each, 4) for each in found["kappa"]]
    [0.6995, 0.523, 0.8185]
    """
    z = -float(scipy.special.ndtri(checked_tail(confidence)))
    y, x = (np.asarray(each, dtype=np.float64) for each in (tp, label))
    if len(y) < 2:
        return {"kappa": UNDEFINED, "ac1": UNDEFINED}
    share = weights.w / weights.w.sum()
    r, k = share @ y, share @ x
    q, both = (r + k) / 2.0, (y + x) / 2.0
    moved = (2.0 * k - 1.0) * (y - r) + (2.0 * r - 1.0) * (x - k)
    parts = {
        "kappa": (r * k + (1.0 - r) * (1.0 - k), moved),
        "ac1": (2.0 * q * (1.0 - q), 2.0 * (1.0 - 2.0 * q) * (both - q)),
    }
    return {
        name: _coefficient(y == x, share, weights.c, chance=chance, moved=each, z=z)
        for name, (chance, each) in parts.items()
    }


def _coefficient(
    equal: BoolArray,
    share: FloatArray,
    c: FloatArray,
    *,
    chance: float,
    moved: FloatArray,
    z: float,
) -> Coefficient:
    """Return a coefficient from the agreement by chance and what each draw does to that."""
    if chance >= 1.0 - 1e-12:
        return UNDEFINED
    missed = float(share @ ~equal)  # and not what is equal, so that 1 is 1 exactly
    value = float(1.0 - missed / (1.0 - chance))
    u = (missed - ~equal - (1.0 - value) * moved) / (1.0 - chance)
    variance = float(linear_variance(share * u, c)) + (_further(share, c) / (1.0 - chance)) ** 2
    half = z * float(np.sqrt(variance))
    if half == 0.0 or 1.0 - abs(value) < 1e-12:
        return Coefficient(value, max(value - half, -1.0), min(value + half, 1.0))
    middle, arm = np.arctanh(value), half / (1.0 - value**2)
    return Coefficient(value, float(np.tanh(middle - arm)), float(np.tanh(middle + arm)))


def _further(share: FloatArray, c: FloatArray) -> float:
    """Return what a further draw would weigh: the mean by its part in the variance."""
    spread = float(c @ share**2)
    return float(c @ share**3) / spread if spread else 0.0
