"""Fisher's exact test for many 2x2 tables at once.

The hypergeometric probabilities rise to the mode and fall after it, so the tables that are no
more probable than the observed one form two tails. The edge of each tail is found by
bisection, and each tail is summed outwards by term ratios: only positive terms are added, so
small p-values keep all their digits, and nothing grows with the size of the support.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.loader import log_hypergeometric_pmf

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

TOLERANCE = 1e-7  # R's: probabilities that differ by less count as equal
_NEGLIGIBLE = 2.0**-60
_CHUNK = 8192  # tables at a time: the arrays then stay in the processor's cache


def fisher_two_sided(
    k1: npt.ArrayLike, n1: npt.ArrayLike, k2: npt.ArrayLike, n2: npt.ArrayLike
) -> FloatArray:
    """Return the two-sided p-values of Fisher's exact test, as R's ``fisher.test`` does.

    For the table [[k1, k2], [n1-k1, n2-k2]]: the sum of the probabilities of all tables with
    the same margins whose probability is at most that of the observed table, times 1 + 1e-7.

    Parameters
    ----------
    k1, k2 : array_like of int, shape (tables,)
        Successes in the first and in the second group, 0 <= k <= n.
    n1, n2 : array_like of int, shape (tables,)
        Sizes of the two groups, up to 2e9.

    Returns
    -------
    array of float, shape (tables,)
        In [0, 1]; small where the proportions k1/n1 and k2/n2 differ. 1 where the margins
        allow one table only (k1 + k2 = 0 or n1 + n2); NaN where n1 = 0 or n2 = 0. Equal
        tables get bitwise equal p-values. Below 1e-308 p-values lose digits and end in 0.

    Raises
    ------
    ValueError
        If a count is negative or k exceeds n.

    References
    ----------
    Fisher, The Design of Experiments (1935), chapter II; Agresti, Categorical Data Analysis
    (2013), section 3.5.

    Examples
    --------
    Fisher's tea tasting: of 8 cups, 3 of 4 and 1 of 4 were called "milk first".

    >>> fisher_two_sided([3, 0], [4, 4], [1, 4], [4, 4]).round(7).tolist()
    [0.4857143, 0.0285714]
    """
    columns = (np.asarray(column, dtype=np.int64) for column in (k1, n1, k2, n2))
    tables = np.stack(np.broadcast_arrays(*columns))
    _require_counts(tables)
    p = np.full(tables.shape[1:], np.nan)
    tested = (tables[1] > 0) & (tables[3] > 0)
    distinct, inverse = np.unique(tables[:, tested], axis=1, return_inverse=True)
    starts = range(0, distinct.shape[1], _CHUNK)
    parts = [_p_values(*distinct[:, start : start + _CHUNK]) for start in starts]
    if parts:
        p[tested] = np.concatenate(parts)[inverse.ravel()]
    return p


def _require_counts(tables: IntArray) -> None:
    k1, n1, k2, n2 = tables
    wrong = np.flatnonzero((tables.min(axis=0) < 0) | (k1 > n1) | (k2 > n2))
    if wrong.size:
        shown = ", ".join(str(tuple(map(int, tables[:, row]))) for row in wrong[:3])
        message = f"not 0 <= k <= n in {wrong.size:,} tables (k1, n1, k2, n2), such as {shown}"
        raise ValueError(message)


def _p_values(k1: IntArray, n1: IntArray, k2: IntArray, n2: IntArray) -> FloatArray:
    """Add up both tails; each is an upper tail once the groups change places."""
    k = k1 + k2
    mode = (k + 1) * (n1 + 1) // (n1 + n2 + 2)
    limit = log_hypergeometric_pmf(k1, n1, n2, k) + np.log1p(TOLERANCE)
    p = _improbable(mode, n1, n2, k, limit) + _improbable(k - mode, n2, n1, k, limit)
    all_tables = log_hypergeometric_pmf(mode, n1, n2, k) <= limit
    return np.where(all_tables, 1.0, np.minimum(p, 1.0))


def _improbable(
    mode: IntArray, n1: IntArray, n2: IntArray, k: IntArray, limit: FloatArray
) -> FloatArray:
    """Return the probability of the values above the mode whose log pmf is at most `limit`."""
    edge = _edge(mode, n1, n2, k, limit)  # just outside the support if there is no such value
    return np.exp(log_hypergeometric_pmf(edge, n1, n2, k)) * tail_factor(edge, n1, n2, k)


def _edge(mode: IntArray, n1: IntArray, n2: IntArray, k: IntArray, limit: FloatArray) -> IntArray:
    """Find the smallest value above the mode whose log pmf is at most `limit`."""
    above, edge = mode, np.minimum(n1, k) + 1  # log pmf > limit at `above`, <= limit at `edge`
    while np.any(edge - above > 1):
        middle = (above + edge) // 2
        improbable = log_hypergeometric_pmf(middle, n1, n2, k) <= limit
        above, edge = np.where(improbable, above, middle), np.where(improbable, middle, edge)
    return edge


def tail_factor(x: IntArray, n1: IntArray, n2: IntArray, k: IntArray) -> FloatArray:
    """Return P(X >= x) / P(X = x) by adding the ratios of successive terms.

    Parameters
    ----------
    x : array of int
        Values in the support of X.
    n1, n2, k : arrays of int
        X is the number of the first group among k of n1 + n2, drawn without replacement.

    Returns
    -------
    array of float
        From 1, where x is the largest possible value; 1 outside the support too.

    Examples
    --------
    >>> tail_factor(*(np.array([value]) for value in (3, 4, 4, 4))).round(6).tolist()
    [1.0625]
    """
    factor = np.ones(len(x))
    rows = np.flatnonzero(x < np.minimum(n1, k))
    at, term = x[rows].astype(np.float64), np.ones(len(rows))
    m1, m2, m = (column[rows].astype(np.float64) for column in (n1, n2, k))
    while rows.size:
        term = term * ((m1 - at) * (m - at)) / ((at + 1.0) * (m2 - m + at + 1.0))
        factor[rows] += term
        open_ = np.flatnonzero(term > _NEGLIGIBLE * factor[rows])
        rows, term, at = rows[open_], term[open_], at[open_] + 1.0
        m1, m2, m = m1[open_], m2[open_], m[open_]
    return factor
