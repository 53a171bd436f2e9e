"""Conversion of tables, counts and labels between other libraries and Polars."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.errors import (
    ConfigError,
    DataError,
    Problem,
    SchemaViolation,
    UnknownName,
    Violation,
    value_text,
)
from pipeline.kernels import cells
from pipeline.kernels.numeric import FloatArray, IntArray

# Counts: numbers, lists, NumPy, pandas and Polars

_MOST = 2.0**53
"""Floats represent all whole numbers up to this one."""


def as_whole(values: Any, name: str) -> IntArray:
    """Return counts as an integer array of the same shape.

    Parameters
    ----------
    values : number or array_like
        Whole numbers.
    name : str
        Name for messages.

    Raises
    ------
    DataError
        If a value is missing or not a whole number.

    Examples
    --------
    >>> as_whole([1, 2.0], "k").tolist()
    [1, 2]
    """
    array = np.asarray(_with_types(values))
    if array.dtype.kind in "iu" and not (array > np.iinfo(np.int64).max).any():
        return array.astype(np.int64)
    numbers = np.array([_number(value) for value in array.flat]).reshape(array.shape)
    wrong = np.flatnonzero((numbers != np.floor(numbers)) | ~(np.abs(numbers) < _MOST))
    if wrong.size:
        what = "missing or not a whole number"
        raise DataError(f"{name}: {describe_places(array.flat, wrong, what)}; correct or drop them")
    return numbers.astype(np.int64)


def _with_types(values: Any) -> Any:
    """Return values that NumPy cannot hold, or would make numbers of, as objects."""
    if isinstance(values, pl.Series):
        wide = values.dtype.base_type() in {pl.Int128, pl.UInt128, pl.Struct}
        return values.to_list() if wide else values
    mixed = isinstance(values, list | tuple) and any(isinstance(each, bool) for each in values)
    return np.array(values, dtype=object) if mixed else values


def _number(value: Any) -> float:
    """Return a number as a float; NaN for other values and for decimals that no float equals."""
    if isinstance(value, bool | np.timedelta64) or not isinstance(value, Real | Decimal):
        return np.nan  # NumPy treats time spans as integers
    number = float(value)
    return number if number == value or abs(number) >= _MOST else np.nan


def describe_places(values: Any, places: Sequence[int] | IntArray, what: str) -> str:
    """Return how many values are wrong, with three examples and their positions.

    Examples
    --------
    >>> describe_places([3, None], [1], "missing")
    '1 of 2 missing, for example None at position 1'
    """
    some = ", ".join(f"{values[int(place)]} at position {int(place)}" for place in places[:3])
    return f"{len(places):,} of {len(values):,} {what}, for example {some}"


def as_given(values: FloatArray, name: str, *inputs: Any) -> Any:
    """Return results in the kind of the input: a number, a Series or an array.

    Examples
    --------
    >>> as_given(np.array(0.5), "lower", 1, 2)
    0.5
    >>> from polars import Series
    >>> as_given(np.array([0.5]), "lower", Series("k", [1]), 2).name
    'lower'
    """
    if values.ndim == 0:
        return float(values)
    for each in inputs:
        own = nw.from_native(each, series_only=True, pass_through=True)
        if isinstance(own, nw.Series) and values.ndim == 1:
            column = nw.new_series(name, values, backend=own.implementation)
            return own.alias("~given").to_frame().with_columns(column)[name].to_native()
    return values


def require_same_size(function: str, **arrays: npt.NDArray[Any]) -> None:
    """Refuse arrays of counts of different sizes.

    Raises
    ------
    DataError
        With the size of each.

    Examples
    --------
    >>> require_same_size("fisher", k1=np.zeros(2), n1=np.zeros(3))
    Traceback (most recent call last):
    pipeline.errors.DataError: fisher: k1 has 2 values, n1 has 3; give equal numbers...
    """
    try:
        np.broadcast_shapes(*(each.shape for each in arrays.values()))
    except ValueError:
        sizes = ", ".join(
            f"{name} has {each.size:,}" + (" values" if not place else "")
            for place, (name, each) in enumerate(arrays.items())
        )
        raise DataError(f"{function}: {sizes}; give equal numbers, or a single number") from None


@contextmanager
def translate_errors(function: str) -> Iterator[None]:
    """Turn errors of kernels into errors of the project.

    Raises
    ------
    ConfigError
        For an unknown name.
    DataError
        For impossible counts and options.
    """
    try:
        yield
    except UnknownName as error:
        raise ConfigError(function, [Problem("arguments", str(error))]) from error
    except ValueError as error:
        raise DataError(f"{function}: {error}") from error


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
        with suppress(pl.exceptions.SchemaError):  # a single column has this interface, too
            return pl.DataFrame(data)
    kind = f"{type(data).__module__}.{type(data).__name__}"
    raise TypeError(f"{kind} is not a table: give a Polars, pyarrow, pandas or similar table")


def as_counts(frame: pl.DataFrame, columns: Iterable[str], *, name: str) -> pl.DataFrame:
    """Return the frame with these columns as Int64.

    Raises
    ------
    SchemaViolation
        If one is missing, has nulls, or has values that are not whole numbers below 2^63. Floats
        and decimals may be whole numbers; text, Booleans, dates and times are not.

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
        if values.dtype == pl.String:
            rule = "is String, not a whole number (cast it to Int64)"
            wrong.append(Violation(rule, column, 0))
            continue
        frame = frame.with_columns(cells.whole_number(column, values.dtype))
        bad = frame.get_column(column).is_null()
        if bad.any():
            wrong.append(_count_violation(values, bad))
    if wrong:
        raise SchemaViolation(name, wrong)
    return frame


def _count_violation(values: pl.Series, bad: pl.Series) -> Violation:
    """Return the violation of values that are not counts, with the first rows, numbered from 0."""
    rows, dtype = bad.arg_true(), values.dtype
    examples = tuple(f"row {row}: {value_text(values[row])}" for row in rows.head(3))
    rule = "is not a whole number (give counts, not proportions or means)"
    if values.null_count() == len(rows):
        rule = "has no value (drop these rows, or write their counts)"
    elif dtype.is_integer():
        rule = "is not a whole number below 2^63"
    elif not dtype.is_numeric():
        rule = f"is {dtype}, not a whole number (give counts)"
    return Violation(rule, values.name, len(rows), examples)


def require_words(frame: pl.DataFrame, columns: Iterable[str], *, name: str) -> None:
    """Refuse a table with words that are empty or spreadsheet errors.

    Programs that read NA and null as missing, as pandas does, produce such words.

    Parameters
    ----------
    frame : DataFrame
        The table.
    columns : iterable of str
        The columns of words; those that the table lacks are ignored.
    name : str
        Name of the table for messages.

    Raises
    ------
    SchemaViolation
        With the first rows, numbered from 0.

    Examples
    --------
    >>> require_words(pl.DataFrame({"l1": ["kick", None]}), ["l1", "l2"], name="t")
    Traceback (most recent call last):
    ...
    schemas.errors.SchemaViolation: t lacks columns, or has unusable values:
      - column l1: is empty or a spreadsheet error in 1 row
          row 1: None
    """
    wrong = []
    for column in (each for each in columns if frame.schema.get(each) == pl.String):
        rows = cells.rows_without_word(frame.get_column(column))
        if len(rows):
            examples = tuple(f"row {row}: {frame[column][row]!r}" for row in rows.head(3))
            wrong.append(Violation(cells.NO_WORD, column, len(rows), examples))
    if wrong:
        raise SchemaViolation(name, wrong)


# Tables: the result is of the kind that was given


class ConvertedTable(NamedTuple):
    """A converted table.

    Parameters
    ----------
    frame : DataFrame
        The needed columns; all columns of a Polars table.
    columns : tuple of str
        The names of all columns.
    back : callable
        (frame with further columns, their names) -> the original table with these columns.
    """

    frame: pl.DataFrame
    columns: tuple[str, ...]
    back: Callable[[pl.DataFrame, Collection[str]], Any]


def take(data: Any, columns: Collection[str]) -> ConvertedTable:
    """Convert a table of any kind to Polars, with a function to add columns to the original.

    Parameters
    ----------
    data : object
        As for `as_frame`.
    columns : collection of str
        Columns to read; the others need not convert to Arrow.

    Returns
    -------
    ConvertedTable
        A LazyFrame gives a LazyFrame; pandas gives pandas with the same index and columns; a
        pyarrow Table or RecordBatch gives a Table; anything else gives Polars.

    Raises
    ------
    DataError
        If two columns have the same name, or a needed one cannot be converted.
    TypeError
        If it is not a table.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = take(pa.table({"f": [1], "g": [2]}), ["f"])
    >>> table.back(table.frame.with_columns(h=pl.col("f") / 2), ["h"]).to_pydict()
    {'f': [1], 'g': [2], 'h': [0.5]}
    """
    import pyarrow as pa  # noqa: PLC0415  takes long

    if isinstance(data, pl.LazyFrame):
        frame = data.collect()
        return ConvertedTable(frame, tuple(frame.columns), lambda table, _: table.lazy())
    if isinstance(data, pl.DataFrame):
        return ConvertedTable(data, tuple(data.columns), lambda table, _: table)
    whole = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    try:
        own = nw.from_native(whole, eager_only=True, pass_through=True)
        if isinstance(own, nw.DataFrame):
            return _take_native(own, columns)
    except (nw.exceptions.DuplicateError, pa.ArrowException) as error:
        text = str(error).replace("\n", " ")
        raise DataError(f"the table: {text}; rename or convert these columns") from error
    frame = as_frame(data)
    return ConvertedTable(frame, tuple(frame.columns), lambda table, _: table)


def _take_native(own: nw.DataFrame[Any], columns: Collection[str]) -> ConvertedTable:
    """Convert a pandas or pyarrow table, or a similar one."""

    def back(table: pl.DataFrame, names: Collection[str]) -> Any:
        new = [
            nw.new_series(name, table[name].to_arrow(), nw.Float64, backend=own.implementation)
            if own.implementation.is_pyarrow()
            else nw.new_series(name, table[name].to_numpy(), backend=own.implementation)
            for name in names
        ]
        return own.with_columns(*new).to_native()

    frame = as_frame(own.select(name for name in columns if name in own.columns).to_native())
    return ConvertedTable(frame, tuple(own.columns), back)


# Labels: text inside, null where one is missing

_MISSING = {"None", "nan", "<NA>", "NaT"}
"""How missing values of Python, NumPy and pandas are written."""


def as_labels(values: Any, name: str) -> pl.Series:
    """Return labels as text, null where missing.

    Parameters
    ----------
    values : array_like, shape (n,)
        Labels of one type: text, numbers, Booleans, categories.
    name : str
        Name of the series, also for messages.

    Raises
    ------
    DataError
        If they have several types or more than one dimension.

    Examples
    --------
    >>> as_labels(np.array([3, 1]), "labels_true").to_list()
    ['3', '1']
    """
    if np.ndim(values) != 1 if isinstance(values, np.ndarray) else isinstance(values, str):
        raise DataError(f"{name}: give a one-dimensional array of labels")
    try:
        labels = _series(values, name)
        if labels.dtype.is_float():
            labels = labels.fill_nan(None) + 0.0  # -0.0 is 0.0
        return labels.cast(pl.String)
    except (TypeError, pl.exceptions.PolarsError) as error:
        what = "labels of several types, or not labels"
        raise DataError(f"{name}: {what}; give text, or numbers, and None where missing") from error


def _series(values: Any, name: str) -> pl.Series:
    """Return a Polars series; objects that Polars cannot hold may be missing values."""
    if str(getattr(values, "dtype", "object")) == "object":
        values = list(values)
    series = pl.Series(name, dtype=pl.Object)
    with suppress(TypeError):
        series = pl.Series(name, values)
    if series.dtype == pl.Object:
        series = pl.Series(name, [None if _is_missing(value) else value for value in values])
    if series.dtype.is_nested() or series.dtype == pl.Object:
        raise TypeError(f"{series.dtype} cannot be a label")
    return series


def _is_missing(value: Any) -> bool:
    return not isinstance(value, str) and str(value) in _MISSING


def as_memberships(values: Any, name: str, column: str) -> pl.DataFrame:
    """Return one row per label and position, where a position may have several labels.

    Parameters
    ----------
    values : sequence, shape (n,)
        At each position a label, a collection of labels, a mapping from labels to weights, or None.
    name : str
        Name for messages.
    column : str
        Name of the column of labels.

    Returns
    -------
    DataFrame
        Int64 column item, the position, and the labels as text; null where there is none. With
        weights other than 1, a column weight.

    Raises
    ------
    DataError
        If they are not such a sequence, or a weight is not a number above 0.

    Examples
    --------
    >>> as_memberships(["N", ("N", "V"), None], "labels_true", "gold").rows()
    [(0, 'N'), (1, 'N'), (1, 'V'), (2, None)]
    >>> as_memberships([{"N": 4, "V": 1}, "N"], "labels_true", "gold").rows()
    [(0, 'N', 4.0), (0, 'V', 1.0), (1, 'N', None)]
    """
    one = isinstance(values, str | Mapping)
    if one or (isinstance(values, np.ndarray) and values.ndim != 1):
        raise DataError(f"{name}: give a sequence of labels or collections of labels")
    entries = list(values)
    pairs = [(place, each) for place, some in enumerate(entries) for each in _several(some)]
    labels = as_labels([each for _, each in pairs], name)
    places = pl.Series("item", [place for place, _ in pairs], dtype=pl.Int64)
    table = pl.DataFrame([places, labels.rename(column)])
    if not any(_is_weighed(each) for each in entries):
        return table
    weights = [
        weight
        for each in entries
        for weight in (each.values() if isinstance(each, Mapping) else [None] * len(_several(each)))
    ]
    numbers = [None if weight is None else _number(weight) for weight in weights]
    wrong = [
        place
        for place, each in enumerate(entries)
        if isinstance(each, Mapping) and not all(0 < _number(w) < np.inf for w in each.values())
    ]
    if wrong:
        what = describe_places(entries, wrong, "have a weight that is not a number above 0")
        raise DataError(f"{name}: {what}; correct it, or omit the label")
    return table.with_columns(weight=pl.Series(numbers, dtype=pl.Float64))


def _several(value: Any) -> Collection[Any]:
    if isinstance(value, str | bytes) or not isinstance(value, Collection):
        return [value]
    return value


def require_no_weights(values: Any, name: str, why: str = "") -> None:
    """Refuse labels with weights, that is mappings from label to weight, unless all weights are 1.

    Parameters
    ----------
    values : sequence
        The labels.
    name : str
        Name for messages.
    why : str
        Text on the measures that do not use weights.

    Raises
    ------
    DataError
        With their number and three examples.

    Examples
    --------
    >>> require_no_weights([{"x": 0.1, "y": 0.9}, "x"], "labels_pred")
    Traceback (most recent call last):
    pipeline.errors.DataError: labels_pred: 1 of 2 have weights, for example {'x': 0.1, 'y': 0...
    """
    entries = [] if isinstance(values, str | Mapping) else list(values)
    places = [place for place, each in enumerate(entries) if _is_weighed(each)]
    if places:
        what = describe_places(entries, places, "have weights")
        raise DataError(f"{name}: {what}{why and f', {why}'}; give labels without weights")


def _is_weighed(value: Any) -> bool:
    return isinstance(value, Mapping) and any(weight != 1 for weight in value.values())


def require_as_long(**arrays: int) -> None:
    """Refuse labels of different lengths.

    Raises
    ------
    DataError
        With the length of each.

    Examples
    --------
    >>> require_as_long(labels_true=3, labels_pred=2)
    Traceback (most recent call last):
    pipeline.errors.DataError: labels_true has 3 labels, labels_pred 2; give equal numbers
    """
    if len(set(arrays.values())) > 1:
        (first, many), *others = arrays.items()
        rest = ", ".join(f"{name} {size:,}" for name, size in others)
        raise DataError(f"{first} has {many:,} labels, {rest}; give equal numbers")


def require_all(labels: pl.Series, remedy: str) -> None:
    """Refuse missing and empty labels.

    Raises
    ------
    DataError
        With their number and three examples.

    Examples
    --------
    >>> require_all(pl.Series("labels_pred", ["1", None]), "drop this token from both")
    Traceback (most recent call last):
    pipeline.errors.DataError: labels_pred: 1 of 2 missing or empty, for example None at position...
    """
    wrong = labels.is_null() | (labels == "")
    places = wrong.fill_null(value=True).arg_true()
    if len(places):
        what = describe_places(labels, places.to_list(), "missing or empty")
        raise DataError(f"{labels.name}: {what}; {remedy}")
