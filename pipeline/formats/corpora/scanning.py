"""What scans of bytes have in common: where a sentence begins, and which marks have come."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.formats.corpora.parsing import nth
from pipeline.formats.text_views import Places


def changes(values: Places) -> npt.NDArray[np.bool_]:
    """Return which values are not the one before.

    Examples
    --------
    >>> changes(np.array([4, 4, 7])).tolist()
    [True, False, True]
    """
    return np.append([True], values[1:] != values[:-1])[: values.size]


def counted(first: npt.NDArray[np.bool_]) -> Places:
    """Return the position of each row in its sentence, from 1, by which rows are the first of one.

    Examples
    --------
    >>> counted(np.array([True, False, True])).tolist()
    [1, 2, 1]
    """
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=first.size)
    return np.arange(1, first.size + 1) - np.repeat(starts, sizes)


def so_far(mark: str, marks: Places, rows: Places) -> pl.Series:
    """Return how many marks have come before each row, as `nth` calls it; both by their lines."""
    return pl.Series(nth(mark), np.searchsorted(marks, rows).astype(np.uint32))
