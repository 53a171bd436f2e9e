"""Labels of items as numbers: one encoding of classes and clusters for every level."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import polars as pl
import scipy

from pipeline.errors import DataError
from pipeline.kernels.arrays import IntArray, codes

Sparse: TypeAlias = "scipy.sparse.csr_array"

_TABLE = 2**22
"""Numbers that a table is made for."""


def incidence(items: pl.Series, labels: pl.Series, size: int) -> tuple[Sparse, pl.Series]:
    """Return which label each item has, each membership once however often it is given.

    Parameters
    ----------
    items : pl.Series
        The item of each membership, from 0.
    labels : pl.Series
        Its label: strings, none of them null.
    size : int
        How many items there are.

    Returns
    -------
    held : csr_array of 0 and 1, shape (items, labels)
        The labels of each item, in order.
    names : pl.Series
        The labels, sorted as text.

    Examples
    --------
    >>> held, names = incidence(pl.Series([1, 0, 1, 1]), pl.Series(["b", "b", "a", "b"]), 3)
    >>> held.toarray().tolist(), names.to_list()
    ([[0, 1], [1, 1], [0, 0]], ['a', 'b'])
    """
    code, names = codes(labels)
    # One number for item and label, which NumPy sorts many times as fast as two columns.
    width = max(1, len(names))
    both = sorted_distinct(items.to_numpy().astype(np.int64) * width + code)
    item, code = np.divmod(both, width)
    starts = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=size))])
    ones = np.ones(len(code), dtype=np.int64)
    return scipy.sparse.csr_array((ones, code, starts), shape=(size, len(names))), names


def distinct_sets(held: Sparse) -> tuple[IntArray, IntArray]:
    """Return one of the rows that hold the same, and for each row its place among these.

    Parameters
    ----------
    held : csr_array, shape (rows, labels)
        The labels of each row, in order.

    Examples
    --------
    >>> one, places = distinct_sets(scipy.sparse.csr_array([[0, 1], [1, 1], [0, 1], [0, 0]]))
    >>> one.tolist(), places.tolist()
    ([3, 2, 1], [1, 2, 1, 0])
    """
    lengths, used = np.diff(held.indptr), 1
    places = np.zeros(held.shape[0], dtype=np.int64)
    for entry in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > entry)
        label = held.indices[held.indptr[longer] + entry].astype(np.int64)
        distinct, numbers = numbered(places[longer] * held.shape[1] + label)
        places[longer] = used + numbers
        used += len(distinct)
    distinct, places = numbered(places)
    one = np.zeros(len(distinct), dtype=np.int64)
    one[places] = np.arange(len(places))
    return one, places


def numbered(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values in order, and for each value its place among them.

    Parameters
    ----------
    values : array of int, shape (n,)
        From 0.

    Examples
    --------
    >>> distinct, places = numbered(np.array([7, 3, 7]))
    >>> distinct.tolist(), places.tolist()
    ([3, 7], [1, 0, 1])
    """
    limit = int(values.max(initial=-1)) + 1
    if limit > _TABLE:
        distinct, places = np.unique(values, return_inverse=True)
        return distinct, places
    # A table of all numbers up to the largest is many times as fast as sorting.
    held = np.zeros(limit, dtype=np.bool_)
    held[values] = True
    return np.flatnonzero(held), (np.cumsum(held) - 1)[values]


def sorted_distinct(values: IntArray) -> IntArray:
    """Return the distinct values in order, by sorting: many times as fast as `np.unique`.

    Examples
    --------
    >>> sorted_distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values, axis=None)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def check_labels(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Refuse labels that are null or empty.

    Raises
    ------
    DataError
        With the column, how many there are, and three of the rows.

    Examples
    --------
    >>> check_labels(pl.DataFrame({"gold": ["N", ""]}), ["gold"])
    Traceback (most recent call last):
    ...
    pipeline.errors.DataError: column gold: 1 null or empty, e.g. row 1; drop these rows
    """
    for column in columns:
        bad = frame.select(pl.arg_where(is_missing(column, frame.schema))).to_series()
        if len(bad):
            refuse_missing(column, bad)


def is_missing(column: str, schema: pl.Schema) -> pl.Expr:
    """Return whether a label is null or empty."""
    label = pl.col(column)
    empty = label.is_null()
    return empty | (label == "") if schema[column] == pl.String else empty


def refuse_missing(column: str, rows: pl.Series) -> None:
    """Raise DataError for the rows of a table in which a label is null or empty."""
    refuse(column, "null or empty", rows, remedy="drop these rows")


def refuse(where: str, what: str, rows: pl.Series, *, remedy: str) -> None:
    """Raise DataError for rows of a table: where, what is wrong, how many, three of them."""
    shown = ", ".join(str(row) for row in rows.head(3))
    raise DataError(f"column {where}: {len(rows):,} {what}, e.g. row {shown}; {remedy}")
