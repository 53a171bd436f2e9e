"""Counts in n-best lists of several sizes at once, stratum by stratum."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pipeline.kernels.arrays import IntArray


def first_list(ranks: npt.ArrayLike, sizes: npt.ArrayLike) -> IntArray:
    """Return the place of the first list that holds a candidate, ``len(sizes)`` if none does.

    Parameters
    ----------
    ranks : array_like of int
        Ranks, from 1.
    sizes : array_like of int
        List sizes, ascending.

    Examples
    --------
    >>> first_list([1, 2, 3, 9], [2, 5]).tolist()
    [0, 0, 1, 2]
    """
    return np.searchsorted(sizes, ranks, side="left")


def in_lists(
    places: Sequence[IntArray], shape: tuple[int, ...], weights: IntArray | None = None
) -> IntArray:
    """Count candidates in each list and stratum; a list holds what the smaller ones hold.

    Parameters
    ----------
    places : sequence of arrays of int, each of shape (candidates,)
        One place for each number of `shape`; the last but one is the candidate's first list,
        the last one its stratum.
    shape : tuple of int
        How many places there are of each kind, (..., lists, strata).
    weights : array of int, shape (candidates,), optional
        What each candidate counts; 1 if not given.

    Returns
    -------
    array of int, of this shape

    Examples
    --------
    >>> first, strata = first_list([1, 2, 3, 9], [2, 5]), np.array([0, 1, 1, 1])
    >>> in_lists([first, strata], (2, 2)).tolist()
    [[1, 1], [1, 2]]
    """
    padded = (*shape[:-2], shape[-2] + 1, shape[-1])  # with those that no list holds
    cells = np.ravel_multi_index(tuple(places), padded)
    # Sums of integers are exact in float.
    counts = np.bincount(cells, weights=weights, minlength=math.prod(padded)).reshape(padded)
    return np.cumsum(counts[..., :-1, :], axis=-2).astype(np.int64)
