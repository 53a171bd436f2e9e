"""Sums over the members of n-best lists and of difference sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray

# Set sums, by cell (stratum and fold): sums of non-negative terms, never differences, since
# subtraction would lose the digits of a small set beside large weights.

_BLOCK = 2**22  # numbers held at a time, 32 MB of them


def set_sums(members: BoolArray, columns: FloatArray, cell: IntArray, cells: int) -> FloatArray:
    """Add up columns over the members of any sets.

    Parameters
    ----------
    members : array of bool, shape (sets, units)
        The members of each set.
    columns : array of float, shape (columns, units)
        What each unit adds.
    cell : array of int, shape (units,)
        The cell of each, from 0.
    cells : int
        How many cells there are.

    Returns
    -------
    array of float, shape (columns, sets, cells)

    Examples
    --------
    >>> members = np.array([[True, True, False], [False, True, True]])
    >>> set_sums(members, np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 1]), 2).tolist()
    [[[1.0, 2.0], [0.0, 6.0]]]
    """
    found = np.zeros((len(columns), len(members), cells))
    for place, units in _by_cell(cell):
        found[:, :, place] = columns[:, units] @ members[:, units].T.astype(np.float64)
    return found


def list_sums(
    first: IntArray, columns: FloatArray, cell: IntArray, *, lists: int, cells: int
) -> FloatArray:
    """Add up columns over n-best lists, each containing the smaller ones of its measure.

    Parameters
    ----------
    first : array of int, shape (measures, units)
        The place of the first list that holds a unit, `lists` where none does.
    columns, cell, cells
        As for `set_sums`.
    lists : int
        Lists per measure.

    Returns
    -------
    array of float, shape (columns, measures, lists, cells)

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> list_sums(first, *units, lists=2, cells=1)[0, :, :, 0].tolist()
    [[1.0, 3.0], [2.0, 7.0]]
    """
    measures, shape = len(first), (len(first), lists + 1, cells)  # with those that no list holds
    measure = np.arange(measures)[:, None]
    flat = ((measure * (lists + 1) + first) * cells + cell).ravel()
    found = np.empty((len(columns), measures, lists, cells))
    for place, column in enumerate(columns):
        weights = np.broadcast_to(column, first.shape).ravel()
        added = np.bincount(flat, weights=weights, minlength=int(np.prod(shape))).reshape(shape)
        found[place] = np.cumsum(added[:, :-1], axis=1)
    return found


def difference_sums(
    first: IntArray,
    columns: FloatArray,
    cell: IntArray,
    *,
    pairs: Sequence[tuple[int, int]],
    cuts: range,
    cells: int,
) -> FloatArray:
    """Add up columns over the units in only one of two lists, for many pairs of measures.

    ``sum over A1 - A2 = (columns A1) (not A2)'``: one matrix product for each cut and cell gives
    the sums of all pairs, both ways round.

    Parameters
    ----------
    first, columns, cell, cells
        As for `list_sums`.
    pairs : sequence of (int, int)
        Rows of `first`.
    cuts : range
        The places of the lists that are compared.

    Returns
    -------
    array of float, shape (columns, cuts, pairs, 2, cells)
        Over A1 - A2, then over A2 - A1.

    Examples
    --------
    >>> first = np.array([[0, 1, 2], [1, 0, 1]])
    >>> units = np.array([[1.0, 2.0, 4.0]]), np.array([0, 0, 0])
    >>> sums = difference_sums(first, *units, pairs=[(0, 1)], cuts=range(2), cells=1)
    >>> sums[0, :, 0, :, 0].tolist()
    [[1.0, 2.0], [0.0, 4.0]]
    """
    one, two = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    found = np.zeros((len(columns), len(cuts), len(one), 2, cells))
    for place, units in _by_cell(cell):
        inside, mine = first[:, units], columns[:, units]
        for cut, last in enumerate(cuts):
            held = inside <= last
            some = held.any(axis=0)  # what no list holds is in no difference
            sums = _exclusive_sums(held[:, some], mine[:, some])
            found[:, cut, :, 0, place] = sums[:, one, two]
            found[:, cut, :, 1, place] = sums[:, two, one]
    return found


def _exclusive_sums(held: BoolArray, columns: FloatArray) -> FloatArray:
    """Add up what one list holds and another does not, shape (columns, lists, lists)."""
    one, others = held.astype(np.float64), (~held).T.astype(np.float64)
    added = columns[:, None, :] * one
    flat = added.reshape(len(columns) * len(one), one.shape[1])
    return (flat @ others).reshape(len(columns), len(one), len(one))


def _by_cell(cell: IntArray) -> Iterator[tuple[int, slice | IntArray]]:
    """Yield each cell that is not empty, with its units."""
    if cell.size and not cell.any():  # one stratum, no folds: nothing to sort out
        yield 0, slice(None)
        return
    order = np.argsort(cell, kind="stable")
    present, starts = np.unique(cell[order], return_index=True)
    for place, units in zip(present, np.split(order, starts[1:]), strict=False):
        yield int(place), units


def blocks(cuts: int, *, numbers: int) -> Iterator[range]:
    """Divide the cuts into blocks that fit into memory.

    Parameters
    ----------
    cuts : int
        How many there are.
    numbers : int
        Numbers held for each.

    Examples
    --------
    >>> list(blocks(5, numbers=2**21))
    [range(0, 2), range(2, 4), range(4, 5)]
    """
    step = max(1, _BLOCK // max(1, numbers))
    yield from (range(start, min(start + step, cuts)) for start in range(0, cuts, step))
