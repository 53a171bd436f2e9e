"""Agreement of two annotators, from the table of their labels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray, ratio


def observed_agreement(confusion: npt.ArrayLike) -> FloatArray:
    """Return the share of items that both annotators label alike.

    ``p_o = sum_j n_jj / n``

    Parameters
    ----------
    confusion : array_like, shape (..., labels, labels)
        Items by label of the first (rows) and of the second annotator (columns).

    Returns
    -------
    array of float, shape (...)
        In [0, 1]; NaN without items.

    Examples
    --------
    >>> float(observed_agreement([[40, 9], [6, 45]]))
    0.85
    """
    table = np.asarray(confusion, dtype=np.float64)
    return ratio(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def specific_agreement(confusion: npt.ArrayLike) -> FloatArray:
    """Return the agreement on each label: the mean chance that the other one gives it too.

    ``2 n_jj / (n_j+ + n_+j)``. With two labels, the positive one first, these are positive and
    negative agreement.

    Parameters
    ----------
    confusion : array_like, shape (..., labels, labels)
        Items by label of the first (rows) and of the second annotator (columns).

    Returns
    -------
    array of float, shape (..., labels)
        In [0, 1]; NaN for a label that nobody gave.

    References
    ----------
    Cicchetti & Feinstein, High Agreement but Low Kappa: II. Resolving the Paradoxes (1990).

    Examples
    --------
    >>> specific_agreement([[40, 9], [6, 45]]).round(4).tolist()
    [0.8421, 0.8571]
    """
    table = np.asarray(confusion, dtype=np.float64)
    both = np.diagonal(table, axis1=-2, axis2=-1)
    return ratio(2.0 * both, table.sum(axis=-1) + table.sum(axis=-2))


def cohen_kappa(confusion: npt.ArrayLike) -> FloatArray:
    """Return Cohen's kappa.

    ``(p_o - p_e) / (1 - p_e)``, p_e = sum_j p_j+ p_+j the agreement of independent
    annotators who give each label as often as these two do.

    Parameters
    ----------
    confusion : array_like, shape (..., labels, labels)
        Items by label of the first (rows) and of the second annotator (columns).

    Returns
    -------
    array of float, shape (...)
        In [-1, 1]: 1 for perfect agreement, 0 for that of chance. NaN without items, and where
        both give one and the same label only.

    References
    ----------
    Cohen, A Coefficient of Agreement for Nominal Scales (1960).

    Examples
    --------
    >>> round(float(cohen_kappa([[40, 9], [6, 45]])), 4)
    0.6995
    """
    agreed, chance, _ = _shares(confusion)
    return ratio(agreed - chance, 1.0 - chance)


def cohen_standard_error(confusion: npt.ArrayLike) -> FloatArray:
    """Return the large-sample standard error of Cohen's kappa.

    ``sqrt(A + B - C) / ((1 - p_e) sqrt n)`` with
    ``A = sum_j p_jj (1 - (p_j+ + p_+j)(1 - kappa))^2``,
    ``B = (1 - kappa)^2 sum_(i != j) p_ij (p_+i + p_j+)^2``,
    ``C = (kappa - p_e (1 - kappa))^2``.

    Parameters
    ----------
    confusion : array_like, shape (..., labels, labels)
        Items by label of the first (rows) and of the second annotator (columns).

    Returns
    -------
    array of float, shape (...)
        From 0, which it is at perfect agreement; NaN where kappa is.

    References
    ----------
    Fleiss, Cohen & Everitt, Large Sample Standard Errors of Kappa and Weighted Kappa (1969),
    equation 13.

    Examples
    --------
    >>> round(float(cohen_standard_error([[40, 9], [6, 45]])), 4)
    0.0714
    """
    _, chance, p = _shares(confusion)
    kappa, n = cohen_kappa(confusion), np.asarray(confusion, dtype=np.float64).sum(axis=(-2, -1))
    rows, columns = p.sum(axis=-1), p.sum(axis=-2)
    both = np.diagonal(p, axis1=-2, axis2=-1)
    missed = 1.0 - kappa
    a = (both * (1.0 - (rows + columns) * missed[..., None]) ** 2).sum(axis=-1)
    weights = (columns[..., :, None] + rows[..., None, :]) ** 2
    off_diagonal = p * weights * (1.0 - np.eye(p.shape[-1]))
    b = missed**2 * off_diagonal.sum(axis=(-2, -1))
    c = (kappa - chance * missed) ** 2
    return ratio(np.sqrt(np.maximum(a + b - c, 0.0)), (1.0 - chance) * np.sqrt(n))


def _shares(confusion: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return observed agreement, agreement by chance, and the table as shares."""
    table = np.asarray(confusion, dtype=np.float64)
    p = ratio(table, table.sum(axis=(-2, -1), keepdims=True))
    chance = (p.sum(axis=-1) * p.sum(axis=-2)).sum(axis=-1)
    return np.trace(p, axis1=-2, axis2=-1), chance, p
