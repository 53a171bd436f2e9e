"""P-values and levels for a sample that is looked at several times."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import scipy

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.statistics.alpha_spending import SPENDING, spent_levels

_NODES = 8.2 * np.linspace(0.01, 1.0, 64) ** 1.5
"""Normal quantiles of the overall levels that are computed; between them it is interpolated."""
_RISE = 1e-9  # what a bound has more than the one before, where rounding makes them equal


def apart_levels(
    shares: npt.ArrayLike, *, alpha: float, spending: str = "obrien_fleming"
) -> FloatArray:
    """Return what each look spends, ``A(t_k) - A(t_(k-1))``: levels for whatever depends how.

    A level of `spent_levels` rests on the correlation of an estimate with its earlier values.
    Where that is not known, as of a band over many estimates, these levels hold by Bonferroni's
    inequality.

    Parameters
    ----------
    shares : array_like of float, shape (looks,)
        Share of the planned labels at each look, growing, in (0, 1].
    alpha : float
        In (0, 1).
    spending : str
        A name in `alpha_spending.SPENDING`.

    Returns
    -------
    array of float, shape (looks,)
        In [0, alpha]; never above those of `spent_levels`.

    References
    ----------
    Lan & DeMets, Discrete Sequential Boundaries for Clinical Trials (1983).

    Examples
    --------
    >>> apart_levels([0.25, 0.5, 0.75, 1], alpha=0.05).round(4).tolist()
    [0.0, 0.003, 0.0162, 0.0307]
    """
    return np.diff(SPENDING[spending](shares, alpha), prepend=0.0)


def repeated_p_values(
    p: npt.ArrayLike,
    shares: npt.ArrayLike,
    variances: npt.ArrayLike,
    *,
    look: int,
    spending: str = "obrien_fleming",
) -> FloatArray:
    """Return p-values that allow for all planned looks: they are compared with alpha itself.

    The smallest alpha of the whole plan at which a test is significant at this look:
    ``min {alpha: p < alpha_look(alpha)}``, alpha_look the level of `spent_levels`. Whichever look
    one stops at, a true null hypothesis has such a p-value below alpha with probability alpha at
    most. So they can be adjusted for a family of tests by Bonferroni's or Holm's method as others
    are: each test then spends its own part of alpha over the looks.

    Parameters
    ----------
    p : array_like of float, shape (tests,)
        Two-sided p-values of this look, in [0, 1], NaN where no test was possible. Of one-sided
        ones what comes back is on the safe side.
    shares : array_like of float, shape (looks,)
        As for `spent_levels`.
    variances : array_like of float, shape (tests, looks) or (looks,)
        As for `spent_levels`: of each test, or of all alike.
    look : int
        Which look this is, from 0.
    spending : str
        A name in `alpha_spending.SPENDING`.

    Returns
    -------
    array of float, shape (tests,)
        In [p, 1]; p where this look is exact and outside the plan, 1 where it tells nothing. The
        normal quantile is right within 1e-3; none is below 2e-16.

    Raises
    ------
    ValueError
        As `spent_levels` does.

    References
    ----------
    Jennison & Turnbull, Group Sequential Methods (2000), section 9.5; Ye, Li, Liu & Yao, A Group
    Sequential Holm Procedure (2013), on families.

    Examples
    --------
    >>> plan = [0.25, 0.5, 0.75, 1], [4, 2, 4 / 3, 1]
    >>> repeated_p_values([0.05, 0.003, 1e-5], *plan, look=1).round(3).tolist()
    [0.229, 0.05, 0.002]
    """
    values = np.asarray(p, dtype=np.float64)
    V = np.broadcast_to(np.asarray(variances, dtype=np.float64), (*values.shape, np.size(shares)))
    distinct, inverse = np.unique(V, axis=0, return_inverse=True)
    bounds = _bounds(np.asarray(shares), distinct, look, spending)
    z, found = _z(values), np.ones(values.shape)
    for place, row in enumerate(bounds):
        mine = inverse.ravel() == place
        if np.isnan(row).any():  # exact, or nothing is known
            found[mine] = np.where(distinct[place, look] == 0, values[mine], 1.0)
            continue
        inside = np.clip(z[mine], row[0], row[-1])
        alpha = 2.0 * scipy.special.ndtr(-scipy.interpolate.PchipInterpolator(row, _NODES)(inside))
        found[mine] = np.where(z[mine] < row[0], 1.0, alpha)
    return np.where(np.isnan(values), np.nan, np.maximum(found, values))


def _bounds(shares: FloatArray, variances: FloatArray, look: int, spending: str) -> FloatArray:
    """Return the bound at this look of plans of several alpha, shape (questions, nodes)."""
    alphas = 2.0 * scipy.special.ndtr(-_NODES)
    levels = [
        spent_levels(shares, variances, alpha=float(alpha), spending=spending)[..., look]
        for alpha in alphas
    ]
    bounds = np.maximum.accumulate(_z(np.stack(levels, axis=-1)), axis=-1)
    return np.asarray(bounds + _RISE * np.arange(len(_NODES)))


def _z(p: FloatArray) -> FloatArray:
    return np.asarray(-scipy.special.ndtri(p / 2.0))
