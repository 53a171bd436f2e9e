"""Arrow at the borders: any table in, Polars inside."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import polars as pl

from pipeline.errors import SchemaViolation, Violation


def as_frame(data: Any) -> pl.DataFrame:
    """Return a table as a Polars frame, without copying where Arrow allows it.

    Parameters
    ----------
    data : object
        A Polars frame or plan, or anything with the Arrow C stream interface: a pyarrow
        Table, RecordBatch or RecordBatchReader, a pandas frame, a DuckDB result.

    Raises
    ------
    TypeError
        If it is none of these.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_frame(pa.table({"f": [1, 2]})).height
    2
    """
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if isinstance(data, pl.DataFrame):
        return data
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        with suppress(pl.exceptions.SchemaError):  # a column by itself has this interface, too
            return pl.DataFrame(data)
    kind = f"{type(data).__module__}.{type(data).__name__}"
    raise TypeError(f"{kind} is no table: give a Polars, pyarrow or pandas table, or the like")


def as_counts(frame: pl.DataFrame, columns: Iterable[str], *, name: str) -> pl.DataFrame:
    """Return the frame with these columns as Int64.

    Raises
    ------
    SchemaViolation
        If one is absent, is not of whole numbers, or holds null.

    Examples
    --------
    >>> as_counts(pl.DataFrame({"f": [1.0]}), ["f"], name="t").dtypes
    [Int64]
    """
    wrong: list[Violation] = []
    for column in columns:
        if column not in frame.columns:
            wrong.append(Violation("missing (Int64)", column, 0))
            continue
        values = frame.get_column(column)
        if values.dtype == pl.Int64 and not values.null_count():
            continue
        if not values.dtype.is_numeric():
            rule = f"is {values.dtype}, not a whole number (make it one: cast it to Int64)"
            wrong.append(Violation(rule, column, 0))
            continue
        whole = values.cast(pl.Int64, strict=False)
        bad = whole.is_null() | (whole != values).fill_null(value=True)
        if bad.any():
            wrong.append(_no_counts(values, bad))
        frame = frame.with_columns(whole)
    if wrong:
        raise SchemaViolation(name, wrong)
    return frame


def _no_counts(values: pl.Series, bad: pl.Series) -> Violation:
    """Return what is wrong where values are no counts, with the first rows, numbered from 0."""
    rows = bad.arg_true()
    examples = tuple(f"row {row}: {values[row]!r}" for row in rows.head(3))
    null = values.filter(bad).null_count() > 0
    remedy = "leave such rows out, or count them" if null else "give counts, no shares or means"
    return Violation(f"is not a whole number ({remedy})", values.name, len(rows), examples)
