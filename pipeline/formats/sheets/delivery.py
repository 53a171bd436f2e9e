"""Lists that go out to people: a table with numbers to sort by, and a page about it."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

import polars as pl

from pipeline.formats.sheets.guard import guard
from pipeline.formats.sheets.looks import CREATED

if TYPE_CHECKING:
    from xlsxwriter import Workbook

_OWN = "note"
"""An empty last column for the reader."""
_WIDTHS = {"id": 20, "l1": 28, "l2": 28, _OWN: 44}
_WIDTH = 12
_PAGE = 90


def delivery_xlsx(rows: pl.DataFrame, *, title: str, about: Sequence[tuple[str, str]]) -> bytes:
    """Return the bytes of a workbook: the list, and a second worksheet about it.

    Numbers are numbers, so that the list can be sorted by them; text is never taken for a
    formula, number or date.

    Parameters
    ----------
    rows : DataFrame
        The list, in its order.
    title : str
        Heading of the second worksheet.
    about : sequence of (str, str)
        What the list is, line by line: name and value.

    Returns
    -------
    bytes
        Equal for equal input: the file names no author and no time.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  most commands write no sheet

    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": CREATED})
        _write_list(book, rows)
        _write_about(book, title, about)
    return file.getvalue()


def _write_list(book: Workbook, rows: pl.DataFrame) -> None:
    head = book.add_format({"bold": True, "bottom": 1, "bg_color": "#D9D9D9"})
    text, number = book.add_format({"num_format": "@"}), book.add_format({"num_format": "0.0000"})
    sheet = book.add_worksheet("List")
    names = [*rows.columns, _OWN]
    for place, name in enumerate(names):
        sheet.set_column(place, place, _WIDTHS.get(name, _WIDTH))
        sheet.write_string(0, place, name, head)
    for row, values in enumerate(rows.rows(), start=1):
        for place, value in enumerate(values):
            if isinstance(value, float) and isfinite(value):
                sheet.write_number(row, place, value, number)
            elif isinstance(value, int) and not isinstance(value, bool):
                sheet.write_number(row, place, value)
            elif value is not None:
                sheet.write_string(row, place, str(value), text)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, max(rows.height, 1), len(names) - 1)
    sheet.set_landscape()
    sheet.repeat_rows(0)
    sheet.fit_to_pages(1, 0)


def _write_about(book: Workbook, title: str, about: Sequence[tuple[str, str]]) -> None:
    bold = book.add_format({"bold": True, "valign": "top"})
    wrapped = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
    sheet = book.add_worksheet("About")
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, _PAGE)
    sheet.write_string(0, 0, title, book.add_format({"bold": True, "font_size": 14}))
    for row, (name, value) in enumerate(about, start=2):
        sheet.write_string(row, 0, name, bold)
        sheet.write_string(row, 1, value, wrapped)


def delivery_csv(rows: pl.DataFrame) -> bytes:
    r"""Return the bytes of a CSV file that a spreadsheet does not damage.

    UTF-8 with a byte-order mark, commas, lines that end in CR LF; text that a spreadsheet would
    read as a number, date or formula carries an apostrophe, numbers are bare.

    Examples
    --------
    >>> delivery_csv(pl.DataFrame({"rank": [1], "l1": ["=1+1"], "score": [2.5]}))
    b'\xef\xbb\xbf"rank","l1","score","note"\r\n1,"\'=1+1",2.5,""\r\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerow([*rows.columns, _OWN])
    writer.writerows([*(_field(value) for value in row), ""] for row in rows.rows())
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8")


def _field(value: object) -> object:
    if value is None:
        return ""
    return guard(value) if isinstance(value, str) else value


def about_text(title: str, about: Sequence[tuple[str, str]]) -> bytes:
    r"""Return what stands beside a CSV file, which has no room for it.

    Examples
    --------
    >>> about_text("List", [("measure", "t_score")]).decode()
    'List\n\nmeasure: t_score\n'
    """
    lines = "\n".join(f"{name}: {value}" for name, value in about)
    return f"{title}\n\n{lines}\n".encode()
