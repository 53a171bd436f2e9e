"""A sheet as CSV: for programs and people without a spreadsheet that reads XLSX."""

from __future__ import annotations

import codecs
import csv
import io

import polars as pl

from pipeline.formats.sheets.content import texts
from pipeline.formats.sheets.guard import escape, guard
from pipeline.formats.sheets.layout import Layout


def write_csv(rows: pl.DataFrame, layout: Layout) -> bytes:
    r"""Return the bytes of a CSV file that a spreadsheet does not damage.

    UTF-8 with a byte-order mark (without it Excel takes another encoding), commas, every field
    in quotation marks, lines that end in CR LF. Texts that a spreadsheet would read as a number,
    date, truth value or formula carry an apostrophe; `read` takes it off.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; null is an empty field. Other columns are left out, and a
        column to fill in that is absent is written empty.
    layout : Layout
        The columns.

    Returns
    -------
    bytes
        Equal for equal input.

    Raises
    ------
    ValueError
        If a column to read is absent.
    DataError
        If a text cannot stand in a cell.

    Examples
    --------
    >>> from pipeline.formats.sheets.layout import Column
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> write_csv(pl.DataFrame({"id": ["007"], "score": [1.5]}), layout)
    b'\xef\xbb\xbf"id"\r\n"\'007"\r\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(escape(each.title) for each in layout.columns)
    writer.writerows([guard(cell) for cell in row] for row in texts(rows, layout))
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8")
