"""What makes it certain, at little cost, that the rows of a block break no law.

The laws say what is wrong with each line, and take their time for it. These questions are
about a whole block; where the answer is no, the laws are asked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline.formats.base import LINE
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora.rules import HEAD, POSITION, UNIT

LAST = "~last"
"""Column with the last field of a line as it is written."""

_TAB, _END = ord("\t"), ord("\n")


def is_text(content: bytes) -> bool:
    """Return whether content is UTF-8 without a NUL byte.

    Examples
    --------
    >>> is_text("née".encode()), is_text("née".encode("latin-1"))
    (True, False)
    """
    try:
        pa.array([content], pa.large_binary()).cast(pa.large_string())  # looks at every byte
    except pa.ArrowInvalid:
        return False
    return b"\0" not in content


def has_fields(content: bytes, rows: pl.DataFrame, *, width: int, before: int) -> bool:
    """Return whether every row comes from a line of `width` tab-separated fields.

    Parameters
    ----------
    content : bytes
        The block.
    rows : DataFrame
        Its rows with `LINE` and `LAST`.
    width : int
        How many fields there should be.
    before : int
        Lines that stand before the block.
    """
    tab = np.frombuffer(content, np.uint8) == _TAB
    # No last field is missing and there are no tabs beyond those that this takes.
    if not rows.get_column(LAST).has_nulls():
        return int(np.count_nonzero(tab)) == rows.height * (width - 1)
    counts = _tabs_by_line(content, tab)
    return bool((counts[rows.get_column(LINE).to_numpy() - before - 1] == width - 1).all())


def _tabs_by_line(content: bytes, tab: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == _END)
    ends = np.append(ends, len(content))
    return np.diff(np.searchsorted(np.flatnonzero(tab), ends), prepend=0)


def heads_inside(tokens: pl.DataFrame) -> bool:
    """Return whether every head is a position of its unit, 0, or none.

    Parameters
    ----------
    tokens : DataFrame
        In order, with `UNIT` and `POSITION`; `HEAD` and `RAW_HEAD`, or there is nothing to ask.
    """
    if HEAD not in tokens.columns or tokens.is_empty():
        return True
    written = tokens.filter(pl.col(HEAD).is_null()).get_column(attributes.RAW_HEAD)
    head = tokens.get_column(HEAD).fill_null(0).to_numpy()
    position = tokens.get_column(POSITION).to_numpy()
    starts = np.flatnonzero(first_in_unit(tokens))
    inside = np.maximum.reduceat(head, starts) <= np.maximum.reduceat(position, starts)
    return bool(inside.all() and (head >= 0).all() and (written == "_").all())


def first_in_unit(tokens: pl.DataFrame) -> npt.NDArray[np.bool_]:
    """Return whether each token is the first of its `UNIT`."""
    unit = tokens.get_column(UNIT).to_numpy()
    return np.append([True], unit[1:] != unit[:-1])
