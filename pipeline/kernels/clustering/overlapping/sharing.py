"""How many classes and how many clusters pairs of items share, without looking at each pair.

For an item with classes A and clusters B, the sum over subsets S of A and T of B, of given sizes
s and t, of the items that have all of S and T is ``m(s, t) = sum_jk C(j, s) C(k, t) n(j, k)``,
where n(j, k) is the number of items that share j classes and k clusters with it. This is solved
for n(j, k) by inclusion and exclusion. With up to three labels a side an item has 64 pairs of
subsets, whatever the number of items. Where items have many labels but there are few distinct
patterns, pairs of patterns are looked at instead, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from pipeline.errors import DataError
from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.encoding import sorted_distinct
from pipeline.kernels.clustering.overlapping.patterns import Patterns, distinct_rows, subsets

MOST_WORK = 5 * 10**9
"""Pairs of patterns that are still looked at, some minutes; a pair of subsets counts as 16."""
_BLOCK = 2**21
_DENSE = 2**24


@dataclass(frozen=True, eq=False)
class Sharing:
    """What an item shares with all items, itself included, summed up.

    Parameters
    ----------
    ordered : array of int, shape (classes + 1, clusters + 1)
        Ordered pairs of items, by how many classes and how many clusters they share.
    precision, recall : array of float, shape (joint patterns,)
        Multiplicity precision and recall of the items of each pattern, averaged over the items
        that share a cluster, or a class, with them; NaN for items of no cluster, or no class.
    """

    ordered: IntArray
    precision: FloatArray
    recall: FloatArray


class _Part(NamedTuple):
    """Some joint patterns, and n(j, k) of each: shape (patterns, classes + 1, clusters + 1)."""

    places: IntArray
    shared: IntArray


def sharing(gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray) -> Sharing:
    """Sum up what pairs of items share.

    Parameters
    ----------
    gold, clusters, pairs, counts
        As in `Memberships`.

    Returns
    -------
    Sharing
        Exact counts; precision and recall in [0, 1].

    Raises
    ------
    DataError
        If there are too many labels for subsets and too many patterns for pairs of them.
    """
    widths = gold.members.shape[1] + 1, clusters.members.shape[1] + 1
    ordered = np.zeros(widths, dtype=np.int64)
    precision, recall = (np.full(len(counts), np.nan) for _ in range(2))
    for places, shared in _parts(gold, clusters, pairs, counts):
        rows, columns = shared.shape[1:]
        ordered[:rows, :columns] += (shared * counts[places, None, None]).sum(axis=0)
        precision[places] = _mean(shared.transpose(0, 2, 1))
        recall[places] = _mean(shared)
    return Sharing(ordered, precision, recall)


def _mean(shared: IntArray) -> FloatArray:
    """Return the mean of ``min(j, k) / j`` over the items with j > 0; NaN if there are none."""
    j, k = np.ogrid[1 : shared.shape[1], 0 : shared.shape[2]]
    flat = shared[:, 1:].reshape(len(shared), -1)
    whole = flat.sum(axis=1).astype(np.float64)
    sums = (flat * (np.minimum(j, k) / j).ravel()).sum(axis=1)
    mean = np.full(len(flat), np.nan)
    np.divide(sums, whole, out=mean, where=whole > 0)
    return mean


def _parts(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_Part]:
    labels = gold.sizes[pairs[:, 0]] + clusters.sizes[pairs[:, 1]]
    by_subsets, by_pairs = 16.0 * float(np.exp2(labels).sum()), float(len(pairs)) ** 2
    if min(by_subsets, by_pairs) > MOST_WORK:
        raise DataError(
            f"{len(pairs):,} distinct patterns of up to {labels.max()} classes and clusters are "
            "too many to count what items share: leave out BCubed and Omega, or the rare labels"
        )
    if by_subsets <= max(by_pairs, _BLOCK):
        return _from_subsets(gold, clusters, pairs, counts)
    return _from_pairs(gold, clusters, pairs, counts)


def _from_pairs(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_Part]:
    """Compare blocks of patterns with all patterns."""
    sides = [side.incidence().astype(np.float32) for side in (gold, clusters)]
    widths = gold.members.shape[1] + 1, clusters.members.shape[1] + 1
    cells = widths[0] * widths[1]
    size = max(1, _BLOCK // max(1, len(pairs), cells))
    for start in range(0, len(pairs), size):
        places = np.arange(start, min(start + size, len(pairs)))
        j, k = (
            (held[pairs[places, side]] @ held.T)[:, pairs[:, side]].astype(np.int64)
            for side, held in enumerate(sides)
        )
        row = np.arange(len(places))[:, None]
        key = (row * widths[0] + j) * widths[1] + k
        weights = np.broadcast_to(counts.astype(np.float64), key.shape).ravel()
        counted = np.bincount(key.ravel(), weights=weights, minlength=len(places) * cells)
        yield _Part(places, counted.astype(np.int64).reshape(len(places), *widths))


def _from_subsets(
    gold: Patterns, clusters: Patterns, pairs: IntArray, counts: IntArray
) -> Iterator[_Part]:
    """Count subsets, group by group of patterns with as many classes and clusters."""
    sizes = np.stack([gold.sizes[pairs[:, 0]], clusters.sizes[pairs[:, 1]]], axis=1)
    kinds, kind = np.unique(sizes, axis=0, return_inverse=True)
    groups = [
        _Group(int(a), int(b), np.flatnonzero(kind.ravel() == place))
        for place, (a, b) in enumerate(kinds)
    ]
    moments = [np.zeros((len(g.places), g.a + 1, g.b + 1), dtype=np.int64) for g in groups]
    all_t = [_numbered(clusters, t) for t in range(clusters.members.shape[1] + 1)]
    for s in range(gold.members.shape[1] + 1):
        one = _numbered(gold, s)
        for t, two in enumerate(all_t):
            wanted = [n for n, g in enumerate(groups) if g.a >= s and g.b >= t]
            sums = _subset_sums([groups[n] for n in wanted], one, two, pairs, counts)
            for n, total in zip(wanted, sums, strict=True):
                moments[n][:, s, t] = total
    for group, found in zip(groups, moments, strict=True):
        yield _Part(group.places, _inverse(group.a) @ found @ _inverse(group.b).T)


class _Group(NamedTuple):
    """The joint patterns with a classes and b clusters."""

    a: int
    b: int
    places: IntArray


class _Numbered(NamedTuple):
    """The subsets of one size: how many, of each set by its number of labels, place of a set."""

    many: int
    of: dict[int, IntArray]
    row: IntArray


def _numbered(side: Patterns, size: int) -> _Numbered:
    """Give a number to each subset of this size that some set of labels has."""
    sizes, row, by_size = side.sizes, np.zeros(len(side.members), dtype=np.int64), {}
    for labels in np.unique(sizes[sizes >= size]):
        group = np.flatnonzero(sizes == labels)
        row[group] = np.arange(len(group))
        by_size[int(labels)] = subsets(side.members[group, :labels], size)
    flat = [part.reshape(part.shape[0] * part.shape[1], size) for part in by_size.values()]
    rows = np.concatenate(flat) if flat else np.zeros((0, size), dtype=np.int64)
    distinct, numbers = distinct_rows(rows, len(side.labels))
    ends = np.cumsum([len(part) for part in flat])[:-1]
    split = dict(zip(by_size, np.split(numbers, ends), strict=True)) if flat else {}
    shaped = {labels: split[labels].reshape(part.shape[:2]) for labels, part in by_size.items()}
    return _Numbered(len(distinct), shaped, row)


def _subset_sums(
    groups: list[_Group], one: _Numbered, two: _Numbered, pairs: IntArray, counts: IntArray
) -> list[IntArray]:
    """Return, for each joint pattern, the items that have S and T, summed over its S and T."""
    blocks = [(n, rows) for n, group in enumerate(groups) for rows in _blocks(group, one, two)]
    cells = one.many * two.many
    distinct = None
    if cells > _DENSE:
        keys = [sorted_distinct(_keys(groups[n], rows, one, two, pairs)) for n, rows in blocks]
        distinct = sorted_distinct(np.concatenate(keys))
        cells = len(distinct)
    total = np.zeros(cells, dtype=np.int64)
    for n, rows in blocks:
        key = _place(_keys(groups[n], rows, one, two, pairs), distinct)
        np.add.at(total, key.ravel(), np.repeat(counts[rows], key.shape[1]))
    sums: list[list[IntArray]] = [[] for _ in groups]
    for n, rows in blocks:
        key = _place(_keys(groups[n], rows, one, two, pairs), distinct)
        sums[n].append(total[key].sum(axis=1))
    return [np.concatenate(parts) for parts in sums]


def _blocks(group: _Group, one: _Numbered, two: _Numbered) -> list[IntArray]:
    """Cut the places of a group so that blocks of several have few pairs of subsets."""
    pairs = one.of[group.a].shape[1] * two.of[group.b].shape[1]
    many = -(-len(group.places) * pairs // _BLOCK)
    return np.array_split(group.places, min(many, len(group.places)))


def _keys(
    group: _Group, rows: IntArray, one: _Numbered, two: _Numbered, pairs: IntArray
) -> IntArray:
    """Return a number for each pair of subsets, shape (rows, pairs of subsets)."""
    first = one.of[group.a][one.row[pairs[rows, 0]]]
    second = two.of[group.b][two.row[pairs[rows, 1]]]
    both = first[:, :, None] * two.many + second[:, None, :]
    return np.asarray(both.reshape(len(rows), -1), dtype=np.int64)


def _place(keys: IntArray, known: IntArray | None) -> IntArray:
    if known is None:
        return keys
    return np.searchsorted(known, keys).astype(np.int64)


def _inverse(most: int) -> IntArray:
    """Return the inverse of the matrix of ``C(j, s)``: ``(-1)^(s - j) C(s, j)``."""
    j, s = np.ogrid[: most + 1, : most + 1]
    signs = np.where((s - j) % 2, -1, 1)
    return np.asarray(signs * np.rint(scipy.special.comb(s, j)), dtype=np.int64)
