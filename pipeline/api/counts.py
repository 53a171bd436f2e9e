"""Counts at the borders: numbers, lists, NumPy, pandas and Polars in, and out as they came."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from pipeline.errors import ConfigError, DataError, Problem, UnknownName
from pipeline.kernels.arrays import FloatArray, IntArray

_MOST = 2.0**53
"""Up to here every whole number is a float."""


def as_whole(values: Any, name: str) -> IntArray:
    """Return counts as an array of integers, of the shape that they came in.

    Parameters
    ----------
    values : number or array_like
        Whole numbers.
    name : str
        What the message calls them.

    Raises
    ------
    DataError
        If one is missing or no whole number.

    Examples
    --------
    >>> as_whole([1, 2.0], "k").tolist()
    [1, 2]
    """
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        return array.astype(np.int64)
    numbers = np.array([_number(value) for value in array.flat]).reshape(array.shape)
    wrong = np.flatnonzero((numbers != np.floor(numbers)) | ~(np.abs(numbers) < _MOST))
    if wrong.size:
        what = "missing or no whole number"
        raise DataError(f"{name}: {shown(array.flat, wrong, what)}; correct or drop these")
    return numbers.astype(np.int64)


def _number(value: Any) -> float:
    if value is None or isinstance(value, str | bytes):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):  # a missing value of pandas, a date
        return np.nan


def shown(values: Any, places: Sequence[int] | IntArray, what: str) -> str:
    """Say how many values are wrong, and where three of them stand.

    Examples
    --------
    >>> shown([3, None], [1], "missing")
    '1 of 2 missing, such as None at place 1'
    """
    some = ", ".join(f"{values[int(place)]} at place {int(place)}" for place in places[:3])
    return f"{len(places):,} of {len(values):,} {what}, such as {some}"


def as_given(values: FloatArray, name: str, *given: Any) -> Any:
    """Return results as what was asked with: a number, a Series of the same kind, an array.

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
    for each in given:
        own = nw.from_native(each, series_only=True, pass_through=True)
        if isinstance(own, nw.Series) and values.ndim == 1:
            made = nw.new_series(name, values, backend=own.implementation)
            return own.alias("~given").to_frame().with_columns(made)[name].to_native()
    return values


def alike(function: str, **arrays: npt.NDArray[Any]) -> None:
    """Refuse arrays of counts that do not fit together.

    Raises
    ------
    DataError
        With the shape of each.

    Examples
    --------
    >>> alike("fisher", k1=np.zeros(2), n1=np.zeros(3))
    Traceback (most recent call last):
    pipeline.errors.DataError: fisher: k1 has 2 values, n1 has 3; give as many of each...
    """
    try:
        np.broadcast_shapes(*(each.shape for each in arrays.values()))
    except ValueError:
        sizes = ", ".join(
            f"{name} has {each.size:,}" + (" values" if not place else "")
            for place, (name, each) in enumerate(arrays.items())
        )
        raise DataError(f"{function}: {sizes}; give as many of each, or one number") from None


@contextmanager
def said_of(function: str) -> Iterator[None]:
    """Say in errors of the project what a kernel refuses.

    Raises
    ------
    ConfigError
        For a name that is not known.
    DataError
        For counts and options that are impossible.
    """
    try:
        yield
    except UnknownName as error:
        raise ConfigError(function, [Problem("arguments", str(error))]) from error
    except ValueError as error:
        raise DataError(f"{function}: {error}") from error
