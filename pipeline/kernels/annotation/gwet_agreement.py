"""Gwet's agreement coefficients AC1 and AC2, for any number of annotators."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import FloatArray, ratio

Closeness: TypeAlias = Literal["identity", "linear", "quadratic"]


def gwet_ac(
    counts: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    partial: npt.ArrayLike | None = None,
) -> FloatArray:
    """Return Gwet's coefficient: AC1, or AC2 where some labels are nearly the same.

    ``(P - P_e) / (1 - P_e)`` with ``P = mean_i sum_j n_ij (m_ij - 1) / (n_i (n_i - 1))`` over
    items with two labels or more, ``m_ij = sum_l v_jl n_il``, v the partial agreement, and
    ``P_e = sum_jl v_jl / (q (q - 1)) sum_j p_j (1 - p_j)``, ``p_j = mean_i n_ij / n_i`` over
    items with one label or more. For AC1 v is 1 on the diagonal and 0 elsewhere.

    Where nearly all items have one label, kappa is low at almost any agreement, since it takes
    annotators who give it by chance to agree nearly always; here they agree by chance where
    they do not know better, which is rare if a label is.

    Parameters
    ----------
    counts : array_like of int, shape (items, labels)
        How many annotators gave the item the label. The number q of labels is that of the
        columns, whether a label was given or not.
    weights : array_like, shape (..., items), optional
        How often each item counts; once if not given.
    partial : array_like of float, shape (labels, labels), optional
        Symmetric, in [0, 1], with 1 on the diagonal: see `partial_agreement`. AC1 if not given.

    Returns
    -------
    array of float, shape (...)
        At most 1, which stands for perfect agreement; 0 for that of chance. NaN where no item
        has two labels, and where there are fewer than two labels to choose from.

    Raises
    ------
    ValueError
        If the partial agreement is not as above.

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
    return _coefficient(_parts(counts, weights, partial))


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
        From 0, which it is at perfect agreement on items with the same number of labels; NaN where
        the coefficient is, or for one item. Items with one label make it larger than it need be: as
        Gwet has it, their part of the agreement is 0, not unknown.

    References
    ----------
    Gwet (2008), section 4; Gwet (2014), chapter 5.

    Examples
    --------
    >>> twice = [[2, 0]] * 7 + [[1, 1]] * 8 + [[0, 2]] * 85
    >>> float(gwet_standard_error(twice).round(4))
    0.0365
    """
    parts = _parts(counts, weights, partial)
    n, several = parts.times.sum(axis=-1), _sum(parts.times, parts.several)
    ac, chance = _coefficient(parts)[..., None], parts.chance[..., None]
    own = ratio(n, several)[..., None] * parts.several * (parts.agreed - chance)
    own = own - 2.0 * (1.0 - ac) * (parts.expected - chance)
    spread = (parts.times * (ratio(own, 1.0 - chance) - ac) ** 2).sum(axis=-1)
    return np.sqrt(ratio(spread, n * (n - 1.0)))


def partial_agreement(labels: int, *, closeness: Closeness = "identity") -> FloatArray:
    """Return how far two labels on an ordered scale agree, for AC2.

    ``1 - (|j - l| / (q - 1))^s``, s = 1 linear, s = 2 quadratic; identity: 1 or 0.

    Parameters
    ----------
    labels : int
        Number q of labels, in the order of the scale.
    closeness : str
        "identity", "linear" or "quadratic".

    Returns
    -------
    array of float, shape (labels, labels)
        In [0, 1].

    Raises
    ------
    ValueError
        If there is no such closeness.

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
        raise ValueError(f"no closeness {closeness!r} of labels; there are {names}")
    if closeness == "identity":
        return np.eye(labels)
    places = np.arange(labels, dtype=np.float64)
    apart = np.abs(places[:, None] - places) / max(labels - 1, 1)
    return np.asarray(1.0 - apart ** (1 if closeness == "linear" else 2))


class _Parts(NamedTuple):
    """What the coefficient and its error are made of: of each item, and of all."""

    times: FloatArray  # how often an item counts
    several: FloatArray  # 1 for items with two labels or more
    agreed: FloatArray  # P_i, 0 for the others
    expected: FloatArray  # P_e|i
    chance: FloatArray  # P_e


def _parts(
    counts: npt.ArrayLike, weights: npt.ArrayLike | None, partial: npt.ArrayLike | None
) -> _Parts:
    table = np.asarray(counts, dtype=np.float64)
    times = np.ones(len(table)) if weights is None else np.asarray(weights, dtype=np.float64)
    some = table.sum(axis=1) >= 1
    table, times = table[some], times[..., some]
    q, n = table.shape[1], table.sum(axis=1)
    v = np.eye(q) if partial is None else _checked(partial, q)
    shares = table / n[:, None]
    mean = ratio(np.einsum("...i,ij->...j", times, shares), times.sum(axis=-1)[..., None])
    scale = v.sum() / (q * (q - 1.0)) if q > 1 else np.nan
    agreed = (table * (table @ v - 1.0)).sum(axis=1) / np.maximum(n * (n - 1.0), 1.0)
    several = (n >= 2).astype(np.float64)
    expected = scale * (1.0 - np.einsum("...j,ij->...i", mean, shares))
    chance = scale * (mean * (1.0 - mean)).sum(axis=-1)
    return _Parts(times, several, agreed * several, expected, np.asarray(chance))


def _checked(partial: npt.ArrayLike, q: int) -> FloatArray:
    v = np.asarray(partial, dtype=np.float64)
    fits = v.shape == (q, q) and np.allclose(v, v.T) and np.allclose(np.diagonal(v), 1.0)
    if not (fits and v.min(initial=0.0) >= 0.0 and v.max(initial=1.0) <= 1.0):
        raise ValueError(
            f"partial agreement of {q} labels is a symmetric {q} x {q} table of numbers in [0, 1] "
            f"with 1 on the diagonal, not {v.tolist()}"
        )
    return v


def _coefficient(parts: _Parts) -> FloatArray:
    agreed = ratio(
        _sum(parts.times, parts.several * parts.agreed), _sum(parts.times, parts.several)
    )
    return ratio(agreed - parts.chance, 1.0 - parts.chance)


def _sum(times: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("...i,i->...", times, values))
