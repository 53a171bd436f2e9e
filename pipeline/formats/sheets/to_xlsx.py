"""A sheet as XLSX: locked and writable cells, drop-down lists, instructions."""

from __future__ import annotations

import io
from collections.abc import Mapping

import polars as pl

from pipeline.formats.sheets import looks
from pipeline.formats.sheets.content import texts
from pipeline.formats.sheets.guard import escape
from pipeline.formats.sheets.heights import height
from pipeline.formats.sheets.instructions import instruction_lines
from pipeline.formats.sheets.layout import Layout
from pipeline.formats.sheets.widths import fitted


def write_xlsx(
    rows: pl.DataFrame,
    layout: Layout,
    *,
    title: str,
    instructions: str,
    guidelines: Mapping[str, str] | None = None,
) -> bytes:
    """Return the bytes of a workbook to fill in.

    Every cell is text, never a number, formula, date or link. Control characters, which programs
    treat differently, are written so that they can be seen (see `visible`), and come back the same.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; null is an empty cell. Other columns are left out, and a
        column to fill in that is absent is written empty.
    layout : Layout
        The columns. Those to read are grey and locked (without a password), those to fill in
        white, with a drop-down list where they have choices.
    title : str
        Heading of the instructions and of printed pages.
    instructions : str
        Paragraphs, one per line, for the second worksheet.
    guidelines : mapping of str to str, optional
        What can be chosen, each with when it is given, for the second worksheet.

    Returns
    -------
    bytes
        Equal for equal input: the file names no author and no time.

    Raises
    ------
    ValueError
        If a column to read is absent.
    DataError
        If a text cannot stand in a cell.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  most commands write no sheet

    cells = texts(rows, layout)
    layout = fitted(layout, cells)
    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": looks.CREATED})
        styles = looks.Styles(book)
        sheet = book.add_worksheet("Sheet")
        said = instruction_lines(layout, instructions, guidelines or {})
        looks.write_instructions(book, said, styles, title=title)
        looks.write_header(sheet, layout, styles)
        for number, row in enumerate(cells, start=1):
            _write_row(sheet, number, [escape(text) for text in row], layout, styles)
        looks.arrange(sheet, layout, styles, rows=len(cells), title=title)
        looks.offer_choices(book, sheet, layout, rows=len(cells))
    return file.getvalue()


def _write_row(
    sheet: looks.Worksheet, number: int, row: list[str], layout: Layout, styles: looks.Styles
) -> None:
    sheet.set_row(number, height(zip(row, (each.width for each in layout.columns), strict=True)))
    for place, (text, column) in enumerate(zip(row, layout.columns, strict=True)):
        if text:
            sheet.write_string(number, place, text, styles.cell(column))
        else:
            sheet.write_blank(number, place, None, styles.cell(column))
