"""What makes it certain, at little cost, that a block breaks none of the rules of any format.

The rules say what is wrong with each line, and take their time for it. These questions are
about a whole block; where the answer is no, the rules are asked.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from pipeline.formats.base import LINE
from pipeline.formats.corpora.marks import ALONE, BLANK, HEAD, LAST, POSITION, RAW_HEAD, ROW, UNIT

_TAB, _END = ord("\t"), ord("\n")


def is_text(content: bytes) -> bool:
    r"""Return whether content is UTF-8 without a NUL byte, or a carriage return but at line ends.

    Examples
    --------
    >>> is_text("née".encode()), is_text("née".encode("latin-1"))
    (True, False)
    >>> is_text(b"one\r\ntwo\r\n"), is_text(b"one\rtwo\n")
    (True, False)
    """
    ends = pa.py_buffer(np.array([0, len(content)], np.int64))
    text = pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(content))
    try:
        text.validate(full=True)  # looks at every byte, and copies none
    except pa.ArrowInvalid:
        return False
    if b"\0" in content:
        return False
    return b"\r" not in content or content.count(b"\r") == content.count(b"\r\n")


def has_fields(
    content: bytes, lines: pl.DataFrame, rows: pl.DataFrame, *, width: int, before: int
) -> bool:
    """Return whether every row comes from a line of `width` tab-separated fields.

    And whether what was taken for a line without tabs, as seen from its fields, is one.

    Parameters
    ----------
    content : bytes
        The block.
    lines : DataFrame
        Its lines with `LINE`, `ALONE`, `BLANK`, `ROW`.
    rows : DataFrame
        Its rows with `LINE` and `LAST`.
    width : int
        How many fields there should be.
    before : int
        Lines that stand before the block.
    """
    tab = np.frombuffer(content, np.uint8) == _TAB
    fitting = int(np.count_nonzero(tab)) == rows.height * (width - 1)
    if fitting and not rows.get_column(LAST).has_nulls():  # so the rows have all the tabs
        return True
    counts = _tabs_by_line(content, tab)
    bare = pl.col(ALONE) | pl.col(BLANK)
    others = lines.filter(~pl.col(ROW) & bare)
    of_rows, of_others = (
        counts[frame.get_column(LINE).to_numpy() - before - 1] for frame in (rows, others)
    )
    return bool((of_rows == width - 1).all() and not of_others.any())


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
    written = tokens.filter(pl.col(HEAD).is_null()).get_column(RAW_HEAD)
    head = tokens.get_column(HEAD).fill_null(0).to_numpy()
    position = tokens.get_column(POSITION).to_numpy()
    starts = np.flatnonzero(_first_in_unit(tokens))
    inside = np.maximum.reduceat(head, starts) <= np.maximum.reduceat(position, starts)
    return bool(inside.all() and (head >= 0).all() and (written == "_").all())


def _first_in_unit(tokens: pl.DataFrame) -> npt.NDArray[np.bool_]:
    unit = tokens.get_column(UNIT).to_numpy()
    return np.append([True], unit[1:] != unit[:-1])
