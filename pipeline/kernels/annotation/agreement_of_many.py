"""Agreement of any number of annotators, from the labels that each item was given."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray, ratio


def mean_agreement(counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return the mean share of pairs of annotators who agree on an item.

    ``P = mean_i P_i``, ``P_i = sum_j n_ij (n_ij - 1) / (n_i (n_i - 1))``

    Parameters
    ----------
    counts : array_like of int, shape (items, labels)
        How many annotators gave the item the label. Items with fewer than two labels say
        nothing about agreement and don't count.
    weights : array_like, shape (..., items), optional
        How often each item counts; once if not given.

    Returns
    -------
    array of float, shape (...)
        In [0, 1]; NaN without items.

    References
    ----------
    Fleiss, Measuring Nominal Scale Agreement among Many Raters (1971), equations 1 to 3.

    Examples
    --------
    >>> float(mean_agreement([[3, 0], [2, 1], [0, 1]]).round(4))
    0.6667
    """
    table, times = _rated(counts, weights)
    return ratio(_sum(times, _pairs(table)), times.sum(axis=-1))


def category_agreement(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the agreement on each label: the chance that another annotator gives it too.

    ``sum_i n_ij (n_ij - 1) / sum_i n_ij (n_i - 1)``. With two labels, the positive one first,
    these are positive and negative agreement; with two annotators, those of
    `agreement_of_two.specific_agreement`.

    Parameters
    ----------
    counts, weights
        As for `mean_agreement`.

    Returns
    -------
    array of float, shape (..., labels)
        In [0, 1]; NaN for a label that nobody gave.

    References
    ----------
    Spitzer & Fleiss, A Re-analysis of the Reliability of Psychiatric Diagnosis (1974);
    Cicchetti & Feinstein (1990), for two annotators.

    Examples
    --------
    >>> category_agreement([[3, 0], [2, 1]]).tolist()
    [0.8, 0.0]
    """
    table, times = _rated(counts, weights)
    others = table.sum(axis=1, keepdims=True) - 1.0
    return ratio(_sums(times, table * (table - 1.0)), _sums(times, table * others))


def fleiss_kappa(counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return Fleiss' kappa, also for items that not everybody labelled.

    ``(P - P_e) / (1 - P_e)``, P the mean agreement and ``P_e = sum_j p_j^2``, with
    ``p_j = mean_i n_ij / n_i``. With the same number of annotators for each item, this is
    Fleiss' definition; for two annotators it is Scott's pi.

    Parameters
    ----------
    counts, weights
        As for `mean_agreement`.

    Returns
    -------
    array of float, shape (...)
        At most 1, which stands for perfect agreement; 0 for that of chance. NaN without items,
        and where only one label was given.

    References
    ----------
    Fleiss (1971), equations 1 to 7; Gwet, Handbook of Inter-Rater Reliability (2014), chapter
    2, for missing labels.

    Examples
    --------
    >>> float(fleiss_kappa([[3, 0], [2, 1], [0, 3]]).round(4))
    0.55
    """
    table, times = _rated(counts, weights)
    n = times.sum(axis=-1)
    agreed = ratio(_sum(times, _pairs(table)), n)
    shares = ratio(_sums(times, _proportions(table)), n[..., None])
    chance = (shares**2).sum(axis=-1)
    return ratio(agreed - chance, 1.0 - chance)


def fleiss_standard_error(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the large-sample standard error of Fleiss' kappa over items.

    ``sqrt(sum_i (k_i - kappa)^2 / (n (n - 1)))`` with
    ``k_i = (P_i - P_e) / (1 - P_e) - 2 (1 - kappa) (P_e|i - P_e) / (1 - P_e)`` and
    ``P_e|i = sum_j p_j n_ij / n_i``. Fleiss' own formula (1971; corrected in 1979) holds where
    the true kappa is 0, and so for a test but not for an interval.

    Parameters
    ----------
    counts, weights
        As for `mean_agreement`; the weights are whole numbers.

    Returns
    -------
    array of float, shape (...)
        From 0, which it is at perfect agreement; NaN where kappa is, or for one item.

    References
    ----------
    Gwet, Large-Sample Variance of Fleiss Generalized Kappa (2021).

    Examples
    --------
    >>> float(fleiss_standard_error([[3, 0], [2, 1], [0, 3]]).round(4))
    0.4649
    """
    table, times = _rated(counts, weights)
    n, kappa = times.sum(axis=-1), fleiss_kappa(counts, weights=weights)
    parts = _proportions(table)
    shares = ratio(_sums(times, parts), n[..., None])
    chance = (shares**2).sum(axis=-1)[..., None]
    expected = np.einsum("...j,ij->...i", shares, parts)
    own = _pairs(table) - chance - 2.0 * (1.0 - kappa[..., None]) * (expected - chance)
    spread = (times * (ratio(own, 1.0 - chance) - kappa[..., None]) ** 2).sum(axis=-1)
    return np.sqrt(ratio(spread, n * (n - 1.0)))


def krippendorff_alpha(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Return Krippendorff's alpha for nominal labels.

    ``1 - D_o / D_e``, from the coincidences ``o_jj = sum_i n_ij (n_ij - 1) / (n_i - 1)``:
    ``D_o = 1 - sum_j o_jj / m``, ``D_e = 1 - sum_j m_j (m_j - 1) / (m (m - 1))``, with m_j the
    number of labels j on items with two labels or more, and m their sum.

    Parameters
    ----------
    counts, weights
        As for `mean_agreement`.

    Returns
    -------
    array of float, shape (...)
        At most 1, which stands for perfect agreement; 0 for that of chance. NaN without items,
        and where only one label was given.

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), sections C and D.

    Examples
    --------
    >>> float(krippendorff_alpha([[3, 0], [2, 1], [0, 3]]).round(4))
    0.6
    """
    table, times = _rated(counts, weights)
    others = np.maximum(table.sum(axis=1) - 1.0, 1.0)
    alike = _sum(times, (table * (table - 1.0)).sum(axis=1) / others)
    labels = _sums(times, table)
    total = labels.sum(axis=-1)
    observed = 1.0 - ratio(alike, total)
    expected = 1.0 - ratio((labels * (labels - 1.0)).sum(axis=-1), total * (total - 1.0))
    return 1.0 - ratio(observed, expected)


def _rated(counts: npt.ArrayLike, weights: npt.ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Return the items with two labels or more, and how often they count."""
    table = np.asarray(counts, dtype=np.float64)
    times = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    rated = table.sum(axis=1) >= 2
    return table[rated], times[..., rated]


def _pairs(table: FloatArray) -> FloatArray:
    n = table.sum(axis=1)
    return np.asarray((table * (table - 1.0)).sum(axis=1) / (n * (n - 1.0)))


def _proportions(table: FloatArray) -> FloatArray:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _sum(times: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,i->...", times, values))


def _sums(times: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,ij->...j", times, values))
