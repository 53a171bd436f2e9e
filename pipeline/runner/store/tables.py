"""How a table is written as Parquet, wherever it goes."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import polars as pl
from polars import selectors

FASTEST = 1
"""The level of compression of tables: higher ones take far longer for a tenth less."""
_ROWS = 1 << 18
_LABELLED = 1 << 20
"""Rows of a group: each has a list of its own of the labels, which is read again with it."""


def write_table(frame: pl.DataFrame, to: Path | BytesIO) -> None:
    """Write a table as Parquet.

    Parameters
    ----------
    frame : DataFrame
        The table.
    to : Path or BytesIO
        Where.

    Examples
    --------
    >>> opened = BytesIO()
    >>> write_table(pl.DataFrame({"f": [1]}), opened)
    >>> pl.read_parquet(opened).item()
    1
    """
    labelled = bool(frame.select(selectors.categorical()).width)
    rows = _LABELLED if labelled else _ROWS
    frame.write_parquet(to, compression_level=FASTEST, row_group_size=rows)
