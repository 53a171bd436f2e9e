"""Normalised mutual information of overlapping groupings: LFK, and max."""

from __future__ import annotations

import numpy as np
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.measure import overlapping_measure
from pipeline.kernels.clustering.overlapping.memberships import Memberships


@overlapping_measure(
    title="NMI LFK", family="overlapping",
    formula="1 - (mean_i H(X_i|Y)/H(X_i) + mean_j H(Y_j|X)/H(Y_j)) / 2",
    range="[0, 1]", reference="Lancichinetti, Fortunato & Kertész 2009, appendix B",
    symmetric=True,
    aliases=("onmi_lfk", "onmi", "NMI LFK", "NMI_LFK", "ONMI"),
)  # fmt: skip
def nmi_lfk(data: Memberships) -> float:
    """Information that each group has about the group of the other side that tells most.

    A group of all items has no entropy: its term is 0 if the other side has one too, else 1.
    """
    if not data.items:
        return float("nan")
    if not data.clusters.labels:
        return 0.0
    first, second = _sides(data)
    return 1.0 - (_lost(*first, second[1]) + _lost(*second, first[1])) / 2.0


@overlapping_measure(
    title="NMI max", family="overlapping",
    formula="(H(X) - H(X|Y) + H(Y) - H(Y|X)) / (2 max(H(X), H(Y)))",
    range="[0, 1]", reference="McDaid, Greene & Hurley 2011", symmetric=True,
    aliases=("onmi_max", "NMI max", "NMI_max", "ONMI_max"),
)  # fmt: skip
def nmi_max(data: Memberships) -> float:
    """Like nmi_lfk, with sums over groups; it does not overrate groups that share little.

    1 where all groups of both sides hold all items, which leaves no entropy.
    """
    if not data.items:
        return float("nan")
    if not data.clusters.labels:
        return 0.0
    (left_x, whole_x), (left_y, whole_y) = _sides(data)
    x, y = float(whole_x.sum()), float(whole_y.sum())
    if not max(x, y):
        return 1.0
    shared = x - float(left_x.sum()) + y - float(left_y.sum())
    return min(1.0, max(0.0, shared / (2.0 * max(x, y))))


_Side = tuple[FloatArray, FloatArray]


def _sides(data: Memberships) -> tuple[_Side, _Side]:
    """Return H(X_i|Y) and H(X_i) of every class, and the same of every cluster."""
    n, sizes, l = data.overlap, (data.sizes(0), data.sizes(1)), data.items  # noqa: E741  the letters of the field
    return _side(n, *sizes, l), _side(n.T, *sizes[::-1], l)


def _side(n: IntArray, first: IntArray, second: IntArray, items: int) -> _Side:
    """Return, for each group of the first side, the least entropy that one of the other leaves.

    A group counts only if ``h(a) + h(d) >= h(b) + h(c)``, h(w) = -w/l ln(w/l), with a items in
    both, b and c in one of them, d in neither: else it may as well be the complement.
    """
    a = n.astype(np.float64)
    b, c = first[:, None] - a, second[None, :] - a
    d = items - a - b - c
    inside, outside = a + c, b + d
    lost = _rest(a, inside) + _rest(c, inside) + _rest(b, outside) + _rest(d, outside)
    size = first.astype(np.float64)
    own = _h(size, items) + _h(items - size, items)
    close = _h(a, items) + _h(d, items) >= _h(b, items) + _h(c, items)
    left: FloatArray = np.where(close, lost / items, own[:, None])
    return np.minimum(left.min(axis=1), own), own


def _rest(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return ``-part ln(part/whole)``, 0 for no part."""
    return np.asarray(-scipy.special.xlogy(part, part / np.maximum(whole, 1.0)), dtype=np.float64)


def _h(count: FloatArray, items: int) -> FloatArray:
    return _rest(count, np.full_like(count, items)) / items


def _lost(left: FloatArray, own: FloatArray, other: FloatArray) -> float:
    """Return the mean of ``H(X_i|Y) / H(X_i)``."""
    without = 0.0 if (other == 0.0).any() else 1.0
    shares = np.divide(left, own, out=np.full_like(own, without), where=own > 0.0)
    return float(shares.mean())
