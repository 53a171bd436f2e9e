"""Units found by the token that they stand on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.cooccurrence.tokens import TOKEN


class TokenIndex(NamedTuple):
    """Which units stand on each token.

    Parameters
    ----------
    units : DataFrame
        The units, in the order of their tokens.
    rows : list of arrays of int, each of shape (tokens,)
        The row of `units` that stands on each token, -1 for none. A token that bears several
        units has the first one in the first array, the second one in the second.
    """

    units: pl.DataFrame
    rows: list[IntArray]


def token_index(units: pl.DataFrame, size: int) -> TokenIndex:
    """Index units by their token.

    Parameters
    ----------
    units : DataFrame
        As `units.units` gives them.
    size : int
        How many tokens there are.

    Examples
    --------
    >>> index = token_index(pl.DataFrame({"token": [2, 0, 2], "unit": ["b", "a", "c"]}), 3)
    >>> [rows.tolist() for rows in index.rows]
    [[0, -1, 1], [-1, -1, 2]]
    """
    ordered = in_order(units)
    return TokenIndex(ordered, list(_rows(ordered.get_column(TOKEN).to_numpy(), size)))


def in_order(units: pl.DataFrame) -> pl.DataFrame:
    """Return the units in the order of their tokens."""
    return units if units.get_column(TOKEN).is_sorted() else units.sort(TOKEN)


def _rows(token: IntArray, size: int) -> Iterator[IntArray]:
    row = np.arange(len(token))
    while len(row):
        index = np.full(size, -1, dtype=np.int64)
        # Of several rows the first is kept: the last assignment is that of the first row.
        index[token[row[::-1]]] = row[::-1]
        yield index
        row = row[1:][np.diff(token[row]) == 0]  # those on the token of the row before them
