"""Inter-annotator agreement: kappa, alpha, AC1 and AC2, with intervals."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
import polars as pl
import scipy

from pipeline import memory
from pipeline.kernels.annotation.adjudication import votes
from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, ratio, summary, tail_of
from pipeline.kernels.sampling import seeded_generator
from pipeline.kernels.statistics.intervals import wilson
from schemas import Agreement

# Coefficients of any number of annotators


def mean_agreement(counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return the mean share of pairs of annotators who agree on an item.

    ``P = mean_i P_i``, ``P_i = sum_j n_ij (n_ij - 1) / (n_i (n_i - 1))``

    Parameters
    ----------
    counts : array_like of int, shape (items, labels)
        Number of annotators who gave the item the label. Items with fewer than two labels are
        ignored.
    weights : array_like, shape (..., items), optional
        Weights of items (default: 1).

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
    table, times = _multiply_rated(counts, weights)
    return ratio(_weighted_sum(times, _pair_agreement(table)), times.sum(axis=-1))


def category_agreement(
    counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None
) -> FloatArray:
    """Return the agreement on each label: the chance that another annotator gives it too.

    ``sum_i n_ij (n_ij - 1) / sum_i n_ij (n_i - 1)``. With two labels, the positive one first,
    these are positive and negative agreement; with two annotators, those of
    `specific_agreement`.

    Parameters
    ----------
    counts, weights
        As for `mean_agreement`.

    Returns
    -------
    array of float, shape (..., labels)
        In [0, 1]; NaN for a label that was not given.

    References
    ----------
    Spitzer & Fleiss, A Re-analysis of the Reliability of Psychiatric Diagnosis (1974);
    Cicchetti & Feinstein (1990), for two annotators.

    Examples
    --------
    >>> category_agreement([[3, 0], [2, 1]]).tolist()
    [0.8, 0.0]
    """
    table, times = _multiply_rated(counts, weights)
    others = table.sum(axis=1, keepdims=True) - 1.0
    return ratio(
        _weighted_sums(times, table * (table - 1.0)), _weighted_sums(times, table * others)
    )


def fleiss_kappa(counts: npt.ArrayLike, *, weights: npt.ArrayLike | None = None) -> FloatArray:
    """Return Fleiss' kappa, generalised to missing labels.

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
        At most 1 (perfect agreement); 0 for chance agreement. NaN without items, and if only one
        label was given.

    References
    ----------
    Fleiss (1971), equations 1 to 7; Gwet, Handbook of Inter-Rater Reliability (2014), chapter
    2, for missing labels.

    Examples
    --------
    >>> float(fleiss_kappa([[3, 0], [2, 1], [0, 3]]).round(4))
    0.55
    """
    table, times = _multiply_rated(counts, weights)
    n = times.sum(axis=-1)
    agreed = ratio(_weighted_sum(times, _pair_agreement(table)), n)
    shares = ratio(_weighted_sums(times, _proportions(table)), n[..., None])
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
        At least 0; 0 for perfect agreement; NaN if kappa is NaN, or for one item.

    References
    ----------
    Gwet, Large-Sample Variance of Fleiss Generalized Kappa (2021).

    Examples
    --------
    >>> float(fleiss_standard_error([[3, 0], [2, 1], [0, 3]]).round(4))
    0.4649
    """
    table, times = _multiply_rated(counts, weights)
    n, kappa = times.sum(axis=-1), fleiss_kappa(counts, weights=weights)
    parts = _proportions(table)
    shares = ratio(_weighted_sums(times, parts), n[..., None])
    chance = (shares**2).sum(axis=-1)[..., None]
    expected = np.einsum("...j,ij->...i", shares, parts)
    own = _pair_agreement(table) - chance - 2.0 * (1.0 - kappa[..., None]) * (expected - chance)
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
        At most 1 (perfect agreement); 0 for chance agreement. NaN without items, and if only one
        label was given.

    References
    ----------
    Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), sections C and D.

    Examples
    --------
    >>> float(krippendorff_alpha([[3, 0], [2, 1], [0, 3]]).round(4))
    0.6
    """
    table, times = _multiply_rated(counts, weights)
    others = np.maximum(table.sum(axis=1) - 1.0, 1.0)
    alike = _weighted_sum(times, (table * (table - 1.0)).sum(axis=1) / others)
    labels = _weighted_sums(times, table)
    total = labels.sum(axis=-1)
    observed = 1.0 - ratio(alike, total)
    expected = 1.0 - ratio((labels * (labels - 1.0)).sum(axis=-1), total * (total - 1.0))
    return 1.0 - ratio(observed, expected)


def _multiply_rated(
    counts: npt.ArrayLike, weights: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return the items with two or more labels, and their weights."""
    table = np.asarray(counts, dtype=np.float64)
    times = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    rated = table.sum(axis=1) >= 2
    return table[rated], times[..., rated]


def _pair_agreement(table: FloatArray) -> FloatArray:
    n = table.sum(axis=1)
    return np.asarray((table * (table - 1.0)).sum(axis=1) / (n * (n - 1.0)))


def _proportions(table: FloatArray) -> FloatArray:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _weighted_sum(times: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,i->...", times, values))


def _weighted_sums(times: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,ij->...j", times, values))


# Coefficients of two annotators


def observed_agreement(confusion: npt.ArrayLike) -> FloatArray:
    """Return the share of items with equal labels from both annotators.

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
        In [0, 1]; NaN for a label that was not given.

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
        In [-1, 1]: 1 for perfect agreement, 0 for chance agreement. NaN without items, and if both
        give only one and the same label.

    References
    ----------
    Cohen, A Coefficient of Agreement for Nominal Scales (1960).

    Examples
    --------
    >>> round(float(cohen_kappa([[40, 9], [6, 45]])), 4)
    0.6995
    """
    agreed, chance, _ = _confusion_shares(confusion)
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
        At least 0; 0 for perfect agreement; NaN if kappa is NaN.

    References
    ----------
    Fleiss, Cohen & Everitt, Large Sample Standard Errors of Kappa and Weighted Kappa (1969),
    equation 13.

    Examples
    --------
    >>> round(float(cohen_standard_error([[40, 9], [6, 45]])), 4)
    0.0714
    """
    _, chance, p = _confusion_shares(confusion)
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


def _confusion_shares(confusion: npt.ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return observed agreement, chance agreement, and the table as shares."""
    table = np.asarray(confusion, dtype=np.float64)
    p = ratio(table, table.sum(axis=(-2, -1), keepdims=True))
    chance = (p.sum(axis=-1) * p.sum(axis=-2)).sum(axis=-1)
    return np.trace(p, axis1=-2, axis2=-1), chance, p


# Gwet's AC1 and AC2

Closeness: TypeAlias = Literal["identity", "linear", "quadratic"]


def gwet_ac(
    counts: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    partial: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return Gwet's coefficient: AC1, or AC2 with partial agreement of labels.

    ``(P - P_e) / (1 - P_e)`` with ``P = mean_i sum_j n_ij (m_ij - 1) / (n_i (n_i - 1))`` over
    items with two labels or more, ``m_ij = sum_l v_jl n_il``, v the partial agreement, and
    ``P_e = sum_jl v_jl / (q (q - 1)) sum_j p_j (1 - p_j)``, ``p_j = mean_i n_ij / n_i`` over
    items with one label or more; q is the number of labels offered. For AC1 v is 1 on the diagonal
    and 0 elsewhere.

    If nearly all items have one label, kappa is low even for high agreement, because its chance
    agreement is high; chance agreement in AC1 is low for rare labels.

    Parameters
    ----------
    counts : array_like of int, shape (items, labels)
        Number of annotators who gave the item the label, with a column for each of the q labels
        that were offered, used or not. With columns only for labels that occur, q is too small and
        so is the coefficient, except 1.
    weights : array_like, shape (..., items), optional
        Weights of items (default: 1).
    partial : array_like of float, shape (labels, labels), optional
        Symmetric, in [0, 1], with 1 on the diagonal, see `partial_agreement` (default: AC1).

    Returns
    -------
    array of float, shape (...)
        At most 1 (perfect agreement); 0 for chance agreement. NaN if no item has two labels. 1 if
        all labels are equal: ``P_e`` is then 0, by convention even if q is 1.

    Raises
    ------
    ValueError
        If the partial agreement is invalid.

    References
    ----------
    Gwet, Computing Inter-Rater Reliability and Its Variance in the Presence of High Agreement
    (2008), equations 4 and 6; Gwet, Handbook of Inter-Rater Reliability (2014), chapters 2 and 3,
    for AC2 and missing labels.

    Examples
    --------
    >>> twice = [[2, 0]] * 7 + [[1, 1]] * 8 + [[0, 2]] * 85
    >>> float(gwet_ac(twice).round(2))
    0.9
    """
    return _coefficient(_gwet_parts(counts, weights, partial))


def gwet_standard_error(
    counts: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    partial: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return the large-sample standard error of Gwet's coefficient over items.

    ``sqrt(sum_i (g_i - AC)^2 / (n (n - 1)))`` over the n items with a label, with
    ``g_i = n/n' (P_i - P_e) / (1 - P_e) - 2 (1 - AC) (P_e|i - P_e) / (1 - P_e)``, the first part
    for the n' items with two labels or more and 0 for others, and
    ``P_e|i = sum_jl v_jl / (q (q - 1)) sum_j (1 - p_j) n_ij / n_i``.

    Parameters
    ----------
    counts, weights, partial
        As for `gwet_ac`; the weights are whole numbers.

    Returns
    -------
    array of float, shape (...)
        At least 0; 0 for perfect agreement on items with the same number of labels; NaN if the
        coefficient is, or for one item. Items with one label inflate it: following Gwet, their
        contribution to agreement is 0, not unknown.

    References
    ----------
    Gwet (2008), section 4; Gwet (2014), chapter 5.

    Examples
    --------
    >>> twice = [[2, 0]] * 7 + [[1, 1]] * 8 + [[0, 2]] * 85
    >>> float(gwet_standard_error(twice).round(4))
    0.0365
    """
    parts = _gwet_parts(counts, weights, partial)
    n, several = parts.times.sum(axis=-1), _weighted_sum(parts.times, parts.several)
    ac, chance = _coefficient(parts)[..., None], parts.chance[..., None]
    own = ratio(n, several)[..., None] * parts.several * (parts.agreed - chance)
    own = own - 2.0 * (1.0 - ac) * (parts.expected - chance)
    spread = (parts.times * (ratio(own, 1.0 - chance) - ac) ** 2).sum(axis=-1)
    return np.sqrt(ratio(spread, n * (n - 1.0)))


def partial_agreement(labels: int, *, closeness: Closeness = "identity") -> FloatArray:
    """Return the partial agreement of labels on an ordered scale, for AC2.

    ``1 - (|j - l| / (q - 1))^s``, s = 1 linear, s = 2 quadratic; identity: 1 or 0.

    Parameters
    ----------
    labels : int
        Number q of labels offered, in the order of the scale.
    closeness : str
        "identity", "linear" or "quadratic".

    Returns
    -------
    array of float, shape (labels, labels)
        In [0, 1].

    Raises
    ------
    ValueError
        If the closeness is unknown.

    References
    ----------
    Gwet (2014), chapter 3; Cicchetti & Allison (1971) and Fleiss & Cohen (1973), for kappa.

    Examples
    --------
    >>> partial_agreement(3, closeness="linear").tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    if closeness not in get_args(Closeness):
        names = ", ".join(get_args(Closeness))
        raise ValueError(f"unknown closeness {closeness!r} of labels; valid: {names}")
    if closeness == "identity":
        return np.eye(labels)
    places = np.arange(labels, dtype=np.float64)
    apart = np.abs(places[:, None] - places) / max(labels - 1, 1)
    return np.asarray(1.0 - apart ** (1 if closeness == "linear" else 2))


class _GwetParts(NamedTuple):
    """Components of the coefficient and its error, by item and in total."""

    times: FloatArray  # how often an item counts
    several: FloatArray  # 1 for items with two labels or more
    agreed: FloatArray  # P_i, 0 for the others
    expected: FloatArray  # P_e|i
    chance: FloatArray  # P_e


def _gwet_parts(
    counts: npt.ArrayLike, weights: npt.ArrayLike | None, partial: npt.ArrayLike | None
) -> _GwetParts:
    table = np.asarray(counts, dtype=np.float64)
    times = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    some = table.sum(axis=1) >= 1
    table, times = table[some], times[..., some]
    q, n = table.shape[1], table.sum(axis=1)
    v = np.eye(q) if partial is None else _check_partial(partial, q)
    shares = table / n[:, None]
    mean = ratio(np.einsum("...i,ij->...j", times, shares), times.sum(axis=-1)[..., None])
    scale = v.sum() / (q * (q - 1.0)) if q > 1 else 0.0
    agreed = (table * (table @ v - 1.0)).sum(axis=1) / np.maximum(n * (n - 1.0), 1.0)
    several = (n >= 2).astype(np.float64)
    expected = scale * (1.0 - np.einsum("...j,ij->...i", mean, shares))
    chance = scale * (mean * (1.0 - mean)).sum(axis=-1)
    return _GwetParts(times, several, agreed * several, expected, np.asarray(chance))


def _check_partial(partial: npt.ArrayLike, q: int) -> FloatArray:
    v = np.asarray(partial, dtype=np.float64)
    fits = v.shape == (q, q) and np.allclose(v, v.T) and np.allclose(np.diagonal(v), 1.0)
    if not (fits and v.min(initial=0.0) >= 0.0 and v.max(initial=1.0) <= 1.0):
        raise ValueError(
            f"partial agreement of {q} labels must be a symmetric {q} x {q} table of numbers in "
            f"[0, 1] with 1 on the diagonal, not {v.tolist()}"
        )
    return v


def _coefficient(parts: _GwetParts) -> FloatArray:
    several = _weighted_sum(parts.times, parts.several)
    agreed = ratio(_weighted_sum(parts.times, parts.several * parts.agreed), several)
    return ratio(agreed - parts.chance, 1.0 - parts.chance)


_Row = tuple[str | float, ...]

_MOST_NUMBERS = 8_000_000  # numbers per batch of bootstrap samples: bounds the memory
EVERY = "*"
"""Wildcard for all annotators, and for all labels instead of a category."""


def agreement(
    annotations: pl.DataFrame | pl.LazyFrame,
    *,
    categories: Mapping[str, Collection[str]],
    labels: Collection[str] = (),
    scale: Sequence[str] = (),
    closeness: Closeness = "linear",
    confidence: float,
    replicates: int,
    seed: str,
) -> pl.DataFrame:
    """Return agreement coefficients with intervals.

    For all annotators: mean observed agreement, Fleiss' kappa, Krippendorff's alpha and Gwet's AC1;
    for each pair: observed agreement, Cohen's kappa and AC1; over all labels, and for each category
    as a binary label, with positive and negative agreement. Only candidates with two or more votes
    count; missing judgements are allowed.

    Analytic intervals are Wilson's for observed agreement of pairs, and normal intervals with
    published large-sample errors for Cohen's and Fleiss' kappa and AC1, clipped to [-1, 1]. The
    bootstrap draws candidates with replacement and takes percentiles.

    Parameters
    ----------
    annotations : pl.DataFrame or pl.LazyFrame
        id, annotator, label, as in table `Annotations`. An annotator with two different labels for
        an id has no vote on it.
    categories : mapping of str to collection of str
        Labels of true positives by category.
    labels : collection of str
        The labels offered. Their number is q in AC1 over all labels, together with labels that
        occur without having been offered. If empty, q is the number of labels that occur: AC1 is
        then too low if some were never given. For a category q is 2.
    scale : sequence of str
        The labels in order, if they are an ordinal scale: AC2 over all labels is then given, too.
    closeness : str
        How near labels of the scale agree, see `partial_agreement`.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, at least 1; 2,000 give limits that are stable in the second
        digit.
    seed : str
        Seed of the bootstrap samples, which do not depend on the order of rows.

    Returns
    -------
    pl.DataFrame
        Table `Agreement`, sorted. Estimates are at most 1, and null if undefined, e.g. kappa if all
        labels are equal. For perfect agreement, intervals of kappa have no width, unlike Wilson's
        interval.

    Raises
    ------
    ValueError
        If the confidence is not in (0, 1), replicates < 1, or a label is not on the scale.

    References
    ----------
    Fleiss, Cohen & Everitt (1969); Gwet (2008, 2021); Efron & Tibshirani, An Introduction to the
    Bootstrap (1993), chapter 13; Zapf et al., Measuring Inter-Rater Reliability for Nominal
    Data (2016), on the bootstrap for Fleiss' kappa and Krippendorff's alpha.

    Examples
    --------
    >>> labels = pl.DataFrame({
    ...     "id": [f"x{i}" for i in range(4)] * 2, "annotator": ["a"] * 4 + ["b"] * 4,
    ...     "label": ["svc", "svc", "no", "no", "svc", "no", "no", "no"],
    ... })
    >>> agreement(
    ...     labels, categories={"SVC": ["svc"]}, confidence=0.95, replicates=100, seed="s"
    ... ).filter(category="SVC", annotator_1="a", method="bootstrap").select(
    ...     "coefficient", pl.col("estimate").round(4)
    ... ).head(4).rows()
    [('cohen_kappa', 0.5), ('gwet_ac1', 0.5294), ('negative', 0.8), ('observed', 0.75)]
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    voices = votes(annotations.lazy()).sort("id", "annotator").collect()
    _require_memory(voices, replicates)
    rows: list[_Row] = []
    offered = frozenset(labels) | {*scale}
    for group in _groups(voices, categories, offered, scale=scale, closeness=closeness):
        bits = seeded_generator(seed=seed, purpose=" ".join(("agreement", *group.key)))
        rows += _bootstrap_rows(group, bits, replicates=replicates, confidence=confidence)
        rows += _analytic_rows(group, confidence=confidence)
    table = pl.DataFrame(rows, schema=list(Agreement.columns()), orient="row").fill_nan(None)
    columns = [pl.col(name).cast(dtype) for name, dtype in Agreement.columns().items()]
    return table.select(columns).sort(*Agreement.key())


def _require_memory(voices: pl.DataFrame, replicates: int) -> None:
    """Reject data with too many distinct labels."""
    labels, items = voices["label"].n_unique(), voices["id"].n_unique()
    table = max(labels * labels, labels * items)
    drawn = min(_MOST_NUMBERS // max(1, labels**2) + 1, replicates) * labels * labels
    memory.require(
        8 * (table + 4 * drawn),
        f"agreement: {labels:,} distinct labels of {items:,} candidates: their tables",
        otherwise="check that the label column contains labels from a list",
    )


class _Group(NamedTuple):
    """Distinct patterns of labels with their frequencies, and the coefficients to compute."""

    key: tuple[str, str, str]
    frequencies: IntArray
    coefficients: Callable[[FloatArray], dict[str, FloatArray]]
    errors: Callable[[FloatArray], dict[str, FloatArray]]


def _agreement_on_scale(
    labels: Sequence[str], scale: Sequence[str], closeness: Closeness
) -> FloatArray | None:
    """Return the partial agreement of labels, in their order; None without a scale."""
    if not scale:
        return None
    if others := sorted(set(labels) - {*scale}):
        raise ValueError(f"the scale lacks {', '.join(map(repr, others))}")
    places = [scale.index(label) for label in labels]
    return partial_agreement(len(scale), closeness=closeness)[np.ix_(places, places)]


def _groups(
    voices: pl.DataFrame,
    categories: Mapping[str, Collection[str]],
    offered: frozenset[str],
    *,
    scale: Sequence[str],
    closeness: Closeness,
) -> Iterator[_Group]:
    labels, annotators = voices["label"].unique().sort(), voices["annotator"].unique().sort()
    never = sorted(offered.difference(labels))
    close = _agreement_on_scale([*labels, *never], scale, closeness)
    codes = _codes(voices, labels, annotators)
    for category, positive in [(EVERY, None), *categories.items()]:
        size = len(labels) if positive is None else 2
        coded = codes
        if positive is not None:
            place = np.array([0 if label in positive else 1 for label in labels], dtype=np.int64)
            coded = np.where(codes < 0, -1, np.append(place, -1)[codes])
        unused, on_scale = (len(never), close) if positive is None else (0, None)
        yield _group_of_all(coded, size, category, unused=unused, close=on_scale)
        for a, b in itertools.combinations(range(len(annotators)), 2):
            key = (category, annotators[a], annotators[b])
            yield _group_of_pair(coded[:, [a, b]], size, key, unused=unused, close=on_scale)


def _codes(voices: pl.DataFrame, labels: pl.Series, annotators: pl.Series) -> IntArray:
    """Return the index of the label, items by annotators; -1 for missing labels."""
    ids = voices["id"].unique().sort()
    codes = np.full((len(ids), len(annotators)), -1, dtype=np.int64)
    rows = ids.search_sorted(voices["id"]).to_numpy()
    columns = annotators.search_sorted(voices["annotator"]).to_numpy()
    codes[rows, columns] = labels.search_sorted(voices["label"]).to_numpy()
    return codes


def _gwet_columns(
    coefficient: Callable[..., FloatArray],
    offered: npt.NDArray[Any],
    weights: FloatArray,
    close: FloatArray | None,
) -> dict[str, FloatArray]:
    """Return AC1 or its error, and that of AC2 for an ordinal scale."""
    columns = {"gwet_ac1": coefficient(offered, weights=weights)}
    if close is not None:
        columns["gwet_ac2"] = coefficient(offered, weights=weights, partial=close)
    return columns


def _group_of_all(
    codes: IntArray,
    size: int,
    category: str,
    *,
    unused: int,
    close: FloatArray | None,
) -> _Group:
    counts = (codes[:, :, None] == np.arange(size)).sum(axis=1)
    rated = counts[counts.sum(axis=1) >= 2]
    patterns, frequencies = np.unique(rated, axis=0, return_counts=True)
    offered = _with_unused_labels(patterns, unused)

    def coefficients(weights: FloatArray) -> dict[str, FloatArray]:
        specific = category_agreement(patterns, weights=weights)
        return {
            "observed": mean_agreement(patterns, weights=weights),
            "fleiss_kappa": fleiss_kappa(patterns, weights=weights),
            "krippendorff_alpha": krippendorff_alpha(patterns, weights=weights),
            **_gwet_columns(gwet_ac, offered, weights, close),
            **_specific_columns(specific, category),
        }

    def errors(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "fleiss_kappa": fleiss_standard_error(patterns, weights=weights),
            **_gwet_columns(gwet_standard_error, offered, weights, close),
        }

    return _Group((category, EVERY, EVERY), frequencies, coefficients, errors)


def _with_unused_labels(patterns: npt.NDArray[Any], unused: int) -> npt.NDArray[Any]:
    """Add a column of zeros for each label that was offered and never given."""
    return np.pad(patterns, ((0, 0), (0, unused)))


def _group_of_pair(
    codes: IntArray,
    size: int,
    key: tuple[str, str, str],
    *,
    unused: int,
    close: FloatArray | None,
) -> _Group:
    both = codes[(codes >= 0).all(axis=1)]
    frequencies = np.bincount(both[:, 0] * size + both[:, 1], minlength=size * size)
    each = np.eye(size)
    patterns = (each[:, None] + each).reshape(size * size, size)
    offered = _with_unused_labels(patterns, unused)

    def table(weights: FloatArray) -> FloatArray:
        return weights.reshape(*weights.shape[:-1], size, size)

    def coefficients(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "observed": observed_agreement(table(weights)),
            "cohen_kappa": cohen_kappa(table(weights)),
            **_gwet_columns(gwet_ac, offered, weights, close),
            **_specific_columns(specific_agreement(table(weights)), key[0]),
        }

    def errors(weights: FloatArray) -> dict[str, FloatArray]:
        return {
            "cohen_kappa": cohen_standard_error(table(weights)),
            **_gwet_columns(gwet_standard_error, offered, weights, close),
        }

    return _Group(key, frequencies, coefficients, errors)


def _specific_columns(specific: FloatArray, category: str) -> dict[str, FloatArray]:
    if category == EVERY:
        return {}
    return {"positive": specific[..., 0], "negative": specific[..., 1]}


def _bootstrap_rows(
    group: _Group, bits: np.random.Generator, *, replicates: int, confidence: float
) -> Iterator[_Row]:
    """Bootstrap over candidates, with percentiles of the samples that have a value."""
    frequencies, items = group.frequencies, int(group.frequencies.sum())
    estimates = group.coefficients(frequencies.astype(float))
    parts = [group.coefficients(np.zeros((0, len(frequencies))))]
    step = max(1, _MOST_NUMBERS // len(frequencies)) if items else replicates
    for start in range(0, replicates if items else 0, step):
        size = min(step, replicates - start)
        drawn = bits.multinomial(items, frequencies / items, size=size).astype(np.float64)
        parts.append(group.coefficients(drawn))
    again = {name: np.concatenate([part[name] for part in parts]) for name in estimates}
    for name, estimate in estimates.items():
        lower, upper, error, undefined = summary(again[name], confidence=confidence)
        numbers = (items, float(estimate), error, lower, upper, undefined)
        yield (*group.key, name, "bootstrap", *map(float, numbers))


def _analytic_rows(group: _Group, *, confidence: float) -> Iterator[_Row]:
    weights, z = group.frequencies.astype(np.float64), -scipy.special.ndtri(tail_of(confidence))
    items, estimates = weights.sum(), group.coefficients(weights)
    for name, error in group.errors(weights).items():
        estimate = estimates[name]
        limits = np.clip([estimate - z * error, estimate + z * error], -1.0, 1.0)
        numbers = (items, estimate, error, *limits, 0)
        yield (*group.key, name, "analytic", *map(float, numbers))
    if group.key[1] != EVERY:
        numbers = _wilson_row(estimates["observed"], items, confidence)
        yield (*group.key, "observed", "analytic", *numbers)


def _wilson_row(estimate: FloatArray, items: float, confidence: float) -> tuple[float, ...]:
    """Return Wilson's interval: the agreement of two is a proportion of the items."""
    if not items:
        return (0.0, *[float("nan")] * 4, 0.0)
    lower, upper = wilson(np.rint(estimate * items), items, confidence=confidence)
    error = np.sqrt(estimate * (1.0 - estimate) / items)
    return (items, *map(float, (estimate, error, lower, upper)), 0.0)
