"""Tests of a difference against margins: what limits of n-best differences decide at any level."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.statistics.differences import (
    beyond_margin,
    difference_limits,
    equivalent,
    smallest_alpha,
)
from pipeline.kernels.statistics.finite_intervals import hypergeometric
from pipeline.kernels.statistics.intervals import INTERVALS, Limits
from pipeline.kernels.statistics.shortest_interval import hypergeometric_shortest

_NESTED = {hypergeometric_shortest.__name__: hypergeometric.__name__}
"""Whose limits do not always grow with confidence, and what is taken in their place."""
_LEAST, _MOST = 1e-12, 1.0 - 2.0**-53  # confidence levels that a float has


def margin_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    margin: float,
    method: str = "hypergeometric",
) -> FloatArray:
    """Return p-values of "the two precisions differ by the margin at most", in either direction.

    The smallest alpha at which the limits of `difference_limits` with confidence 1 - alpha have
    ``L > margin or U < -margin``. At a margin of 0 it is a test that there is no difference.

    Parameters
    ----------
    k1, n1, k2, n2, size, list_size, method
        As for `difference_limits`, shape (rows,). Of "hypergeometric_shortest", whose limits may
        shrink as confidence grows, the test is that of "hypergeometric".
    margin : float
        Relevance margin, from 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1]; 1 where no limits show a difference beyond the margin, as in lists with the
        same candidates.

    Raises
    ------
    ValueError
        As of `difference_limits`, or if the margin is negative.

    Examples
    --------
    >>> counts = [12], [20], [5], [20]
    >>> margin_p_values(*counts, size=40, list_size=100, margin=0.0).round(4).tolist()
    [0.0079]
    >>> margin_p_values(*counts, size=40, list_size=100, margin=0.05).round(4).tolist()
    [0.111]
    """
    tables = _tables(k1, n1, k2, n2, size, list_size)
    return _p_values(tables, method, lambda limits: beyond_margin(*limits, margin=margin), sides=1)


def equivalence_p_values(
    k1: npt.ArrayLike,
    n1: npt.ArrayLike,
    k2: npt.ArrayLike,
    n2: npt.ArrayLike,
    *,
    size: npt.ArrayLike,
    list_size: npt.ArrayLike,
    bound: float,
    method: str = "hypergeometric",
) -> FloatArray:
    """Return p-values of "the two precisions differ by the bound or more", by two one-sided tests.

    The smallest alpha at which the limits of `difference_limits` with confidence 1 - 2 alpha
    lie between -bound and bound.

    Parameters
    ----------
    k1, n1, k2, n2, size, list_size, method
        As for `margin_p_values`.
    bound : float
        The smallest difference that would matter, above 0; proportion.

    Returns
    -------
    array of float, shape (rows,)
        In [1e-16, 1/2], or 1 where no limits lie between. 1e-16 where the difference is known and
        smaller than the bound.

    Raises
    ------
    ValueError
        As of `difference_limits`, or if the bound is negative.

    References
    ----------
    Schuirmann (1987).

    Examples
    --------
    >>> equivalence_p_values(
    ...     [12], [100], [11], [100], size=400, list_size=1000, bound=0.03
    ... ).round(4).tolist()
    [0.0776]
    """
    tables = _tables(k1, n1, k2, n2, size, list_size)
    return _p_values(tables, method, lambda limits: equivalent(*limits, margin=bound), sides=2)


def _tables(*columns: npt.ArrayLike) -> IntArray:
    arrays = np.broadcast_arrays(*(np.asarray(column, dtype=np.int64) for column in columns))
    return np.stack([array.ravel() for array in arrays])


def _p_values(
    tables: IntArray, method: str, decides: Callable[[Limits], BoolArray], *, sides: int
) -> FloatArray:
    """Invert what limits decide, for each distinct table once."""
    name = INTERVALS.get(method).name
    distinct, inverse = np.unique(tables, axis=1, return_inverse=True)
    k1, n1, k2, n2, size, whole = distinct

    def rejects(alpha: FloatArray) -> BoolArray:
        found = difference_limits(
            k1, n1, k2, n2, size=size, list_size=whole, method=_NESTED.get(name, name),
            confidence=np.clip(1.0 - sides * alpha, _LEAST, _MOST),
        )  # fmt: skip
        return decides(found) & (sides * alpha < 1.0)

    return smallest_alpha(rejects, distinct.shape[1])[inverse.ravel()]
