"""How a table is written as Parquet, wherever it goes."""

from __future__ import annotations

from typing import TypedDict

import polars as pl
from polars import selectors

_ROWS = 1 << 18
_LABELLED = 1 << 20
"""Rows of a group: each has a list of its own of the labels, which is read again with it."""


class Written(TypedDict):
    """Options of ``write_parquet``."""

    compression_level: int
    """Higher ones take far longer for a tenth less."""
    row_group_size: int


def as_parquet(frame: pl.DataFrame) -> Written:
    """Return the options with which a table is written.

    Examples
    --------
    >>> as_parquet(pl.DataFrame({"f": [1]}))
    {'compression_level': 1, 'row_group_size': 262144}
    """
    labelled = bool(frame.select(selectors.categorical()).width)
    return {"compression_level": 1, "row_group_size": _LABELLED if labelled else _ROWS}
