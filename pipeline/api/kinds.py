"""A table goes back as the kind that it came as: pandas, pyarrow, Polars."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import narwhals as nw
import polars as pl
import pyarrow as pa

from pipeline.api.frames import as_frame
from pipeline.errors import DataError


class Taken(NamedTuple):
    """A table that was taken in.

    Parameters
    ----------
    frame : DataFrame
        What is needed of it; of a Polars table all.
    columns : tuple of str
        The names of all its columns.
    back : callable
        (frame with further columns, their names) -> the table with these, of its own kind.
    """

    frame: pl.DataFrame
    columns: tuple[str, ...]
    back: Callable[[pl.DataFrame, Collection[str]], Any]


def take(data: Any, needed: Collection[str]) -> Taken:
    """Take in a table of any kind, and keep what puts columns to it.

    Parameters
    ----------
    data : object
        As for `as_frame`.
    needed : collection of str
        The columns to read, those that it has: no others need fit into Arrow.

    Returns
    -------
    Taken
        A LazyFrame gives a LazyFrame; pandas gives pandas, its index and its own columns as they
        were; a pyarrow Table or RecordBatch gives a Table; all else gives Polars.

    Raises
    ------
    DataError
        If two columns have one name, or a needed one holds what is no table's.
    TypeError
        If it is no table.

    Examples
    --------
    >>> taken = take(pa.table({"f": [1], "g": [2]}), ["f"])
    >>> taken.back(taken.frame.with_columns(h=pl.col("f") / 2), ["h"]).to_pydict()
    {'f': [1], 'g': [2], 'h': [0.5]}
    """
    if isinstance(data, pl.LazyFrame):
        frame = data.collect()
        return Taken(frame, tuple(frame.columns), lambda made, _: made.lazy())
    if isinstance(data, pl.DataFrame):
        return Taken(data, tuple(data.columns), lambda made, _: made)
    whole = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    try:
        own = nw.from_native(whole, eager_only=True, pass_through=True)
        if isinstance(own, nw.DataFrame):
            return _of_others(own, needed)
    except (nw.exceptions.DuplicateError, pa.ArrowException) as error:
        text = str(error).replace("\n", " ")
        raise DataError(f"the table: {text}; rename or convert these columns") from error
    frame = as_frame(data)
    return Taken(frame, tuple(frame.columns), lambda made, _: made)


def _of_others(own: nw.DataFrame[Any], needed: Collection[str]) -> Taken:
    """Take in a pandas or pyarrow table, or one that is like them."""

    def back(made: pl.DataFrame, names: Collection[str]) -> Any:
        new = [
            nw.new_series(name, made[name].to_arrow(), nw.Float64, backend=own.implementation)
            if own.implementation.is_pyarrow()
            else nw.new_series(name, made[name].to_numpy(), backend=own.implementation)
            for name in names
        ]
        return own.with_columns(*new).to_native()

    frame = as_frame(own.select(name for name in needed if name in own.columns).to_native())
    return Taken(frame, tuple(own.columns), back)
