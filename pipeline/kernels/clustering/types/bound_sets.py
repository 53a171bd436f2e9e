"""A bound of MacroI and MicroI: every set of clusters chooses its classes, at prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from pipeline.kernels.arrays import BoolArray, FloatArray, IntArray
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.relaxation import Relaxed

MOST_PRICES = 20_000_000
"""Beyond so many prices all stay 0."""


class _Group(NamedTuple):
    """Distinct sets of clusters of one width b > 1.

    Parameters
    ----------
    members : array of int, shape (sets, b)
        The clusters.
    gains : array of float, shape (sets, b, classes)
        What each class of an image of 1 to b classes adds to the sum.
    """

    members: IntArray
    gains: FloatArray


class SetRelaxation:
    """The items with one set of clusters choose their image for themselves, and pay for it.

    What a set B gains, g(I) from its image I, is known. For any prices of a class to a cluster of
    the set, no image can be had for less than p(I), the sum over its classes of what the clusters
    that have one pay at the least; so the sum of g over all sets is at most the sum over sets of
    max g(I) - p(I), and over clusters of the best class by what single items gain and the sets
    pay. This holds for any prices, and is tight where the images agree with a mapping.

    Parameters
    ----------
    patterns : Patterns
        The items.
    measure : str
        "MacroI" or "MicroI".
    value : float
        The measure under the mapping that is to be proven best.
    """

    def __init__(self, patterns: Patterns, measure: str, value: float) -> None:
        ratio = value if measure == "MacroI" else None
        widths = np.diff(patterns.induced.indptr)
        shape = (patterns.induced.shape[1], patterns.gold.shape[1])
        self.own, self.groups = np.zeros(shape), list[_Group]()
        for width in np.unique(widths[widths > 0]).tolist():
            members, gains = _gains(patterns, np.flatnonzero(widths == width), width, ratio)
            if width == 1:
                self.own[members[:, 0]] = gains[:, 0]
            else:
                self.groups.append(_Group(members, gains))
        items, gold = int(patterns.counts.sum()), int(patterns.counts @ patterns.gold.sum(axis=1))
        self.target = value * (gold if measure == "MacroI" else items)
        placed = int(patterns.counts[widths > 0].sum())
        self.least = float(items if ratio is None else gold + placed)
        self.prices = np.zeros(sum(len(each.members) * each.gains[0].size for each in self.groups))
        self.fixed = len(self.prices) > MOST_PRICES
        self.cost = 2e-3 + 7e-8 * len(self.prices)

    def at(self, prices: FloatArray, allowed: BoolArray) -> Relaxed:
        """Return the bound at some prices; see `Relaxation`."""
        values, parts, end = self.own.copy(), list[FloatArray](), 0
        for members, gains in self.groups:
            start, end = end, end + members.size * gains.shape[2]
            parts.append(prices[start:end].reshape(*members.shape, -1))
            values += _gathered(members, parts[-1], len(values))
        values[~allowed] = -np.inf
        best, taken = values.max(axis=1), values.argmax(axis=1)
        excess, slopes = float(best.sum()) - self.target, list[FloatArray]()
        for group, price in zip(self.groups, parts, strict=True):
            gained, slope = _images(group, price, allowed)
            places = np.indices(group.members.shape)
            slope[places[0], places[1], taken[group.members]] += 1.0
            excess += gained
            slopes.append(slope.ravel())
        slope = np.concatenate(slopes) if slopes else np.zeros(0)
        return Relaxed(excess, slope, excess - best[:, None] + values)


def _gains(
    patterns: Patterns, rows: IntArray, width: int, ratio: float | None
) -> tuple[IntArray, FloatArray]:
    """Add up what the items of each set gain from each class, by the size of the image."""
    sets = np.sort(patterns.induced[rows].indices.reshape(-1, width), axis=1).astype(np.int64)
    members, place = np.unique(sets, axis=0, return_inverse=True)
    counts = patterns.counts[rows].astype(np.float64)
    where = (place.ravel(), np.arange(len(rows)))
    gather = scipy.sparse.csr_array((counts, where), shape=(len(members), len(rows)))
    gold = patterns.gold[rows]
    if ratio is not None:
        gain = 2.0 * (gather @ gold).toarray() - ratio * gather.sum(axis=1)[:, None]
        return members, np.repeat(gain[:, None], width, axis=1)
    sizes = gold.sum(axis=1)[:, None]
    images = range(1, width + 1)
    gain = [np.asarray((gather @ (gold * (2.0 / (sizes + j)))).toarray()) for j in images]
    return members, np.stack(gain, axis=1)


def _gathered(members: IntArray, price: FloatArray, clusters: int) -> FloatArray:
    """Add up what the sets pay to each cluster for each class."""
    at = (members.ravel(), np.arange(members.size))
    matrix = scipy.sparse.csr_array((np.ones(members.size), at), shape=(clusters, members.size))
    return np.asarray(matrix @ price.reshape(members.size, -1))


def _images(group: _Group, price: FloatArray, allowed: BoolArray) -> tuple[float, FloatArray]:
    """Return what all sets gain by their best images, less what these cost, and the slope.

    A class costs the least that any clusters with it pay: all negative prices, or the lowest.
    """
    (sets, width), negative = group.members.shape, np.less(price, 0)
    some = np.asarray(negative.any(axis=1))
    cost = np.where(some, (price * negative).sum(axis=1), price.min(axis=1))
    reached = np.asarray(allowed[group.members].any(axis=1))
    net = np.where(reached[:, None], group.gains - cost[:, None], -np.inf)
    highest = np.sort(net, axis=2)[:, :, : -width - 1 : -1]
    worth = np.cumsum(highest, axis=2).diagonal(axis1=1, axis2=2)
    row, most = np.arange(sets), worth.argmax(axis=1)
    order = np.argsort(-net[row, most], axis=1, kind="stable")[:, : worth.shape[1]]
    chosen = np.zeros(cost.shape, dtype=np.bool_)
    chosen[row[:, None], order] = np.arange(worth.shape[1]) <= most[:, None]
    lowest = np.arange(width)[:, None] == price.argmin(axis=1)[:, None]
    paid = np.where(some[:, None], negative, lowest) & chosen[:, None]
    return float(worth[row, most].sum()), -paid.astype(np.float64)
