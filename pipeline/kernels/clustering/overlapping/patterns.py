"""Distinct sets of labels: what items have in common, so that each set is looked at once."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.encoding import numbered

NOTHING = -1
"""Fills the places after the last label of a set."""
_ROWS = 512


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct sets of labels on one side.

    Parameters
    ----------
    labels : tuple of str
        Classes or clusters, sorted; a label is its place here.
    members : array of int, shape (patterns, most labels)
        The labels of each set, ascending, then `NOTHING`; the sets in lexicographic order.
    """

    labels: tuple[str, ...]
    members: IntArray

    @property
    def sizes(self) -> IntArray:
        """Labels of each set."""
        return np.asarray((self.members != NOTHING).sum(axis=1), dtype=np.int64)

    def incidence(self) -> FloatArray:
        """Return 1 where a set (row) holds a label (column), else 0."""
        held = np.zeros((len(self.members), len(self.labels) + 1))
        np.put_along_axis(held, self.members, 1.0, axis=1)
        return held[:, :-1]

    def sums(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights of each set's labels.

        Parameters
        ----------
        weights : array of float, shape (rows, labels)
            A weight for each label, in several rows.

        Returns
        -------
        array of float, shape (patterns, rows)
            0 for the empty set. Added label by label, so that the bits are fixed.
        """
        padded = np.concatenate([weights.T, np.zeros((1, len(weights)))])
        total = np.zeros((len(self.members), len(weights)))
        for start in range(0, len(total), _ROWS):
            part = slice(start, start + _ROWS)
            for column in self.members[part].T:
                total[part] += padded[column]
        return total


def distinct_rows(rows: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the distinct rows in lexicographic order, and for each row its place among them.

    Parameters
    ----------
    rows : array of int, shape (rows, columns)
        Values from -1 to size - 1.
    size : int
        How many values there are without -1.

    Examples
    --------
    >>> rows, places = distinct_rows(np.array([[1, 2], [0, -1], [1, 2]]), 3)
    >>> rows.tolist(), places.tolist()
    ([[0, -1], [1, 2]], [1, 0, 1])
    """
    places = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        # Column by column: the places so far are small numbers, so nothing overflows.
        _, places = numbered(places * (size + 1) + column + 1)
    kept = np.zeros((int(places.max(initial=-1)) + 1, rows.shape[1]), dtype=np.int64)
    kept[places] = rows
    return kept, places


def subsets(members: IntArray, size: int) -> IntArray:
    """Return all subsets of a number of labels.

    Parameters
    ----------
    members : array of int, shape (patterns, labels)
        Sets of the same size.
    size : int
        Labels of a subset.

    Returns
    -------
    array of int, shape (patterns, subsets, size)
        The subsets of each set, each ascending.

    Examples
    --------
    >>> subsets(np.array([[0, 3, 5]]), 2).tolist()
    [[[0, 3], [0, 5], [3, 5]]]
    """
    columns = list(itertools.combinations(range(members.shape[1]), size))
    places = np.array(columns, dtype=np.int64).reshape(len(columns), size)
    return members[:, places]
