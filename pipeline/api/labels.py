"""Labels at the borders: lists, NumPy, pandas and Polars in, text inside."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl

from pipeline.api.counts import shown
from pipeline.errors import DataError

_MISSING = {"None", "nan", "<NA>", "NaT"}
"""How missing values of Python, NumPy and pandas are written."""


def as_labels(values: Any, name: str) -> pl.Series:
    """Return labels as text, null where one is missing.

    Parameters
    ----------
    values : array_like, shape (n,)
        Labels of one type: text, numbers, truth values, categories.
    name : str
        What the messages, and the series, call them.

    Raises
    ------
    DataError
        If they are of several types, or not one after the other.

    Examples
    --------
    >>> as_labels(np.array([3, 1]), "labels_true").to_list()
    ['3', '1']
    """
    if np.ndim(values) != 1 if isinstance(values, np.ndarray) else isinstance(values, str):
        raise DataError(f"{name}: not one label after the other; give an array of one dimension")
    try:
        made = _series(values, name)
        if made.dtype.is_float():
            made = made.fill_nan(None) + 0.0  # -0.0 is 0.0
        return made.cast(pl.String)
    except (TypeError, pl.exceptions.PolarsError) as error:
        what = "labels of several types, or no labels"
        raise DataError(f"{name}: {what}; give text, or numbers, and None where missing") from error


def _series(values: Any, name: str) -> pl.Series:
    """Return a Polars series; where some of the objects are none of its, they may be missing."""
    if str(getattr(values, "dtype", "object")) == "object":
        values = list(values)
    made = pl.Series(name, dtype=pl.Object)
    with suppress(TypeError):
        made = pl.Series(name, values)
    if made.dtype == pl.Object:
        made = pl.Series(name, [None if _is_missing(value) else value for value in values])
    if made.dtype.is_nested() or made.dtype == pl.Object:
        raise TypeError(f"{made.dtype} is no label")
    return made


def _is_missing(value: Any) -> bool:
    return not isinstance(value, str) and str(value) in _MISSING


def as_memberships(values: Any, name: str, column: str) -> pl.DataFrame:
    """Return a row for each label of each place, where a place may hold several.

    Parameters
    ----------
    values : sequence, shape (n,)
        At each place a label, a collection of labels, or None.
    name : str
        What the messages call them.
    column : str
        What the column of labels is called.

    Returns
    -------
    DataFrame
        Int64 column item, the place, and the labels as text; null where there is none.

    Examples
    --------
    >>> as_memberships(["N", ("N", "V"), None], "labels_true", "gold").rows()
    [(0, 'N'), (1, 'N'), (1, 'V'), (2, None)]
    """
    if isinstance(values, str) or (isinstance(values, np.ndarray) and values.ndim != 1):
        raise DataError(f"{name}: not one label, or collection of labels, after the other")
    held = [(place, each) for place, given in enumerate(values) for each in _several(given)]
    labels = as_labels([each for _, each in held], name)
    places = pl.Series("item", [place for place, _ in held], dtype=pl.Int64)
    return pl.DataFrame([places, labels.rename(column)])


def _several(given: Any) -> Collection[Any]:
    if isinstance(given, str | bytes) or not isinstance(given, Collection):
        return [given]
    return given


def require_as_long(**arrays: int) -> None:
    """Refuse labels that are not as many on both sides.

    Raises
    ------
    DataError
        With the length of each.

    Examples
    --------
    >>> require_as_long(labels_true=3, labels_pred=2)
    Traceback (most recent call last):
    pipeline.errors.DataError: labels_true has 3 labels, labels_pred 2; give as many of each
    """
    if len(set(arrays.values())) > 1:
        (first, many), *others = arrays.items()
        rest = ", ".join(f"{name} {size:,}" for name, size in others)
        raise DataError(f"{first} has {many:,} labels, {rest}; give as many of each")


def require_all(labels: pl.Series, remedy: str) -> None:
    """Refuse labels that are missing or empty.

    Raises
    ------
    DataError
        With how many, and where three of them stand.

    Examples
    --------
    >>> require_all(pl.Series("labels_pred", ["1", None]), "drop this token from both")
    Traceback (most recent call last):
    pipeline.errors.DataError: labels_pred: 1 of 2 missing or empty, such as None at place 1; ...
    """
    wrong = labels.is_null() | (labels == "")
    places = wrong.fill_null(value=True).arg_true()
    if len(places):
        what = shown(labels, places.to_list(), "missing or empty")
        raise DataError(f"{labels.name}: {what}; {remedy}")
