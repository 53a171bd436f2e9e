"""What kernels over arrays share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
WordArray = npt.NDArray[np.uint64]
BoolArray = npt.NDArray[np.bool_]
Level = float | FloatArray
"""A confidence level: one for all rows, or one for each."""

_ZERO = 1e-12  # sums of proportions are off by less


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """Divide; NaN where the whole is 0, but for rounding.

    Parameters
    ----------
    part, whole : array_like of float
        Numerators, and denominators from 0; a whole below 1e-12 counts as 0.

    Returns
    -------
    array of float
        The ratios; NaN where the whole is 0 or unknown.

    Examples
    --------
    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    part, whole = np.broadcast_arrays(np.asarray(part, float), np.asarray(whole, float))
    divided = np.full(part.shape, np.nan)
    np.divide(part, whole, out=divided, where=whole > _ZERO)
    return divided


def codes(labels: pl.Series) -> tuple[IntArray, pl.Series]:
    """Return the place of each label among the sorted ones, and these.

    Parameters
    ----------
    labels : pl.Series
        Strings, none of them null.

    Examples
    --------
    >>> places, names = codes(pl.Series(["b", "a", "b"]))
    >>> places.tolist(), names.to_list()
    ([1, 0, 1], ['a', 'b'])
    """
    names = labels.unique().sort()
    return labels.cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int64), names


def labels_of(table: pl.LazyFrame, column: str) -> pl.Series:
    """Return the sorted labels of a column.

    Examples
    --------
    >>> labels_of(pl.LazyFrame({"stratum": ["b", "a", "b"]}), "stratum").to_list()
    ['a', 'b']
    """
    return table.select(pl.col(column).unique()).collect(engine="streaming").to_series().sort()
