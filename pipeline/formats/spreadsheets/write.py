"""Write sheets and lists as XLSX and CSV: styles, drop-down lists, instructions, widths."""

from __future__ import annotations

import codecs
import csv
import io
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl

from pipeline.formats.spreadsheets.layout import (
    ID,
    Column,
    InstructionLine,
    Layout,
    escape,
    escape_controls,
    guard,
    instruction_lines,
    needs_guard,
    require_cells,
    texts,
)

if TYPE_CHECKING:
    from xlsxwriter import Workbook


# Row heights: not all programs adjust rows to wrapped text on opening.

LINE = 15.0
"""Height of a line; points."""
MOST = 409.0
"""Maximum height of a row; points."""
_FILL = 0.9
"""Mean width of running text, relative to digits."""


def height(cells: Iterable[tuple[str, int]]) -> float:
    r"""Return the row height needed for wrapped texts.

    Parameters
    ----------
    cells : iterable of (str, int)
        Text and width of its column, in characters.

    Returns
    -------
    float
        Points, from 15 for one line to 409, the maximum.

    Examples
    --------
    >>> height([("a", 10), ("nineteen characters", 10)]), height([("a\nb\nc", 10)])
    (30.0, 45.0)
    """
    lines = (
        sum(_count_lines(each, width) for each in text.splitlines() or [""])
        for text, width in cells
    )
    return min(MOST, LINE * max(lines, default=1))


def _count_lines(text: str, width: int) -> int:
    """Fill lines with words; words longer than a line are broken."""
    room = math.ceil(width / _FILL)
    lines, used = 1, 0
    for size in map(columns, text.split(" ")):
        if used and used + 1 + size > room:
            lines, used = lines + 1, 0
        used += size + (used > 0)
        more = max(0, math.ceil(used / room) - 1)
        lines, used = lines + more, used - more * room
    return lines


def columns(text: str) -> int:
    r"""Return the display width of a text: 0 for combining characters, 2 for wide ones.

    Examples
    --------
    >>> columns("ne\u0301e"), columns("中文")
    (3, 4)
    """
    return len(text) if text.isascii() else sum(_sign_width(sign) for sign in text)


def _sign_width(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


# Styles, protection, drop-down lists, instructions.

AnyWorkbook: TypeAlias = Any
Worksheet: TypeAlias = Any
Format: TypeAlias = Any

CREATED = datetime(2000, 1, 1)
_OWN_COLUMNS = 10
"""Number of unlocked columns on the right for users."""
_INLINE = 255
"""Maximum length of a drop-down list inside the validation rule."""
_MESSAGE = 255
_PAGE_WIDTH = 110
"""Width of the instructions; characters."""
_PROTECTION = {"sort": True, "autofilter": True, "format_columns": True, "format_rows": True}


class Styles:
    """The cell styles of a workbook.

    Parameters
    ----------
    book : Workbook
        The workbook.
    """

    def __init__(self, book: AnyWorkbook) -> None:
        frame = {"border": 1, "border_color": "#BFBFBF", "valign": "top", "text_wrap": True}
        text = {**frame, "num_format": "@"}
        head = {**frame, "bold": True, "num_format": "@", "valign": "vcenter"}
        self._read = book.add_format({**text, "bg_color": "#F2F2F2"})
        self._id = book.add_format({**text, "bg_color": "#F2F2F2", "font_color": "#7F7F7F"})
        self._fill = book.add_format({**text, "bg_color": "#FFFFFF", "locked": False})
        self._read_head = book.add_format({**head, "bg_color": "#D9D9D9"})
        self._fill_head = book.add_format({**head, "bg_color": "#FFE699"})
        self.free = book.add_format({"locked": False, "num_format": "@", "text_wrap": True})
        self.title = book.add_format({"bold": True, "font_size": 14, "text_wrap": True})
        self.strong = book.add_format({"bold": True, "num_format": "@"})
        self.plain = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})

    def header(self, column: Column) -> Format:
        """Return the style of a column's header."""
        return self._fill_head if column.writable else self._read_head

    def cell(self, column: Column) -> Format:
        """Return the style of a column's cells."""
        if column.writable:
            return self._fill
        return self._id if column.name == ID else self._read


def write_header(sheet: Worksheet, layout: Layout, styles: Styles) -> None:
    """Write the titles and set the widths of the columns."""
    sheet.set_row(0, height((each.title, each.width) for each in layout.columns))
    for place, column in enumerate(layout.columns):
        sheet.set_column(place, place, column.width)
        sheet.write_string(0, place, escape(column.title), styles.header(column))


def arrange(sheet: Worksheet, layout: Layout, styles: Styles, *, rows: int, title: str) -> None:
    """Freeze header and first columns, add a filter, lock the sheet, set up printing."""
    last = len(layout.columns) - 1
    sheet.freeze_panes(1, layout.pinned)
    sheet.autofilter(0, 0, rows, last)
    sheet.set_column(last + 1, last + _OWN_COLUMNS, None, styles.free)
    sheet.protect("", _PROTECTION)
    sheet.ignore_errors({"number_stored_as_text": f"A1:XFD{rows + 1}"})
    first = next((i for i, each in enumerate(layout.columns) if each.writable), 0)
    sheet.set_selection(min(1, rows), first, min(1, rows), first)
    sheet.set_landscape()
    sheet.set_paper(9)  # A4
    sheet.set_margins(left=0.4, right=0.4)
    sheet.print_area(0, 0, rows, layout.printed - 1)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)
    sheet.set_header("&L" + title[:200].replace("&", "&&"))
    sheet.set_footer("&R&P / &N")


def offer_choices(book: AnyWorkbook, sheet: Worksheet, layout: Layout, *, rows: int) -> None:
    """Add drop-down lists to columns with choices.

    Choices that do not fit in the validation rule (too long, or ambiguous) go to a hidden
    worksheet.
    """
    offered = [tuple(map(escape_controls, each.choices)) for each in layout.columns]
    hidden = None
    for place, choices in enumerate(offered):
        if not (choices and rows):
            continue
        source: list[str] | str = list(choices)
        if not _fits_inline(choices):
            hidden = hidden or book.add_worksheet("Choices")
            hidden.hide()
            for row, choice in enumerate(choices):  # as text: =1+1 is not a formula here
                hidden.write_string(row, place, escape(choice))
            source = f"=Choices!{_range(place, len(choices))}"
        message = f"Choose one of: {', '.join(choices)}"
        rule = {
            "validate": "list",
            "source": source,
            "error_title": "Invalid value",
            "error_message": message if len(message) <= _MESSAGE else message[:254] + "…",
        }
        sheet.data_validation(1, place, rows, place, rule)


def write_instructions(
    book: AnyWorkbook, lines: Sequence[InstructionLine], styles: Styles, *, title: str
) -> None:
    """Add the worksheet with the instructions."""
    sheet = book.add_worksheet("Instructions")
    sheet.set_column(0, 0, _PAGE_WIDTH)
    sheet.write_string(0, 0, title, styles.title)
    for row, (text, heading) in enumerate(lines, start=2):
        sheet.set_row(row, height([(text, _PAGE_WIDTH)]))
        sheet.write_string(row, 0, text, styles.strong if heading else styles.plain)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)


def _fits_inline(choices: tuple[str, ...]) -> bool:
    plain = all("," not in each and '"' not in each and not needs_guard(each) for each in choices)
    trimmed = all(each == each.strip() for each in choices)
    return plain and trimmed and len(",".join(choices)) <= _INLINE


def _range(place: int, count: int) -> str:
    from xlsxwriter.utility import xl_range_abs  # noqa: PLC0415  most commands write no sheet

    return str(xl_range_abs(0, place, count - 1, place))


# Tables, and lists for delivery, with sortable numbers and a page about the list

_OWN = "note"
"""An empty last column for the reader."""
_WIDTHS = {"id": 20, "l1": 28, "l2": 28, _OWN: 44}
_WIDTH, _WIDE = 12, 60
"""Widths of columns, and of example columns."""
_PRINTED_WIDTH = 90
_WHOLE = 2**53
"""Largest exact whole number in a spreadsheet; larger ones are written as text."""


def table_xlsx(rows: pl.DataFrame) -> bytes:
    """Return the bytes of a workbook with a table: numbers as numbers, texts never as formulas.

    Parameters
    ----------
    rows : DataFrame
        Columns of text, numbers and truth values; null is an empty cell. Infinity is written as the
        text inf.

    Returns
    -------
    bytes
        Equal for equal input: the file contains no author or time.

    Raises
    ------
    DataError
        If there are too many rows for a worksheet, or texts are too long or invalid in XML.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  most commands write no sheet

    require_cells(rows)
    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": CREATED})
        _write_table(book, "Table", rows, number=book.add_format())
    return file.getvalue()


def delivery_xlsx(rows: pl.DataFrame, *, title: str, about: Sequence[tuple[str, str]]) -> bytes:
    """Return the bytes of a workbook with the list, and a second worksheet about it.

    Numbers remain numbers for sorting; texts are never formulas, numbers or dates.

    Parameters
    ----------
    rows : DataFrame
        The list, in order.
    title : str
        Heading of the second worksheet.
    about : sequence of (str, str)
        Description of the list, as lines with name and value.

    Returns
    -------
    bytes
        Equal for equal input: the file contains no author or time.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  most commands write no sheet

    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": CREATED})
        _write_list(book, rows)
        _write_about(book, title, about)
    return file.getvalue()


def _write_list(book: Workbook, rows: pl.DataFrame) -> None:
    number = book.add_format({"num_format": "0.0000"})
    sheet = _write_table(book, "List", rows, _OWN, number=number)
    sheet.set_landscape()
    sheet.repeat_rows(0)
    sheet.fit_to_pages(1, 0)


def _write_table(
    book: Workbook, title: str, rows: pl.DataFrame, *further: str, number: Format
) -> Worksheet:
    """Write a table, with headers of further empty columns."""
    head = book.add_format({"bold": True, "bottom": 1, "bg_color": "#D9D9D9", "num_format": "@"})
    text = book.add_format({"num_format": "@"})
    wrapped = book.add_format({"num_format": "@", "text_wrap": True, "valign": "top"})
    sheet = book.add_worksheet(title)
    names = [*rows.columns, *further]
    examples = {place for place, name in enumerate(names) if name.startswith("example")}
    for place, name in enumerate(names):
        sheet.set_column(place, place, _WIDE if place in examples else _WIDTHS.get(name, _WIDTH))
        sheet.write_string(0, place, name, head)
    for row, values in enumerate(rows.rows(), start=1):
        for place, value in enumerate(values):
            if isinstance(value, bool):
                sheet.write_boolean(row, place, value)
            elif isinstance(value, float) and math.isfinite(value):
                sheet.write_number(row, place, value, number)
            elif isinstance(value, int) and abs(value) <= _WHOLE:
                sheet.write_number(row, place, value)
            elif value is not None:
                sheet.write_string(row, place, str(value), wrapped if place in examples else text)
    sheet.freeze_panes(1, 0)
    sheet.autofilter(0, 0, max(rows.height, 1), len(names) - 1)
    return sheet


def _write_about(book: Workbook, title: str, about: Sequence[tuple[str, str]]) -> None:
    bold = book.add_format({"bold": True, "valign": "top"})
    wrapped = book.add_format({"text_wrap": True, "valign": "top", "num_format": "@"})
    sheet = book.add_worksheet("About")
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, _PRINTED_WIDTH)
    sheet.write_string(0, 0, title, book.add_format({"bold": True, "font_size": 14}))
    for row, (name, value) in enumerate(about, start=2):
        sheet.write_string(row, 0, name, bold)
        sheet.write_string(row, 1, value, wrapped)


def delivery_csv(rows: pl.DataFrame) -> bytes:
    r"""Return the bytes of a CSV file that spreadsheets do not damage.

    UTF-8 with byte-order mark, commas and line ends CR LF; texts that look like numbers, dates or
    formulas get an apostrophe, numbers do not.

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
    r"""Return the text of a file about the list, to accompany a CSV file.

    Examples
    --------
    >>> about_text("List", [("measure", "t_score")]).decode()
    'List\n\nmeasure: t_score\n'
    """
    lines = "\n".join(f"{name}: {value}" for name, value in about)
    return f"{title}\n\n{lines}\n".encode()


# Sheets as CSV.


def write_csv(rows: pl.DataFrame, layout: Layout) -> bytes:
    r"""Return the bytes of a CSV file that spreadsheets do not damage.

    UTF-8 with byte-order mark (without which Excel assumes another encoding), commas, all fields
    quoted, line ends CR LF. Texts that look like numbers, dates, truth values or formulas get an
    apostrophe, which `read` removes.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; null is an empty field. Other columns are excluded, and missing
        columns to fill in are written empty.
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
        If a text is not allowed in a cell.

    Examples
    --------
    >>> from pipeline.formats.spreadsheets.layout import Column
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> write_csv(pl.DataFrame({"id": ["007"], "score": [1.5]}), layout)
    b'\xef\xbb\xbf"id"\r\n"\'007"\r\n'
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(escape(each.title) for each in layout.columns)
    writer.writerows(
        [guard(cell) if column.guarded else cell
         for cell, column in zip(row, layout.columns, strict=True)]
        for row in texts(rows, layout)
    )  # fmt: skip
    return codecs.BOM_UTF8 + text.getvalue().encode("utf-8")


# Widths of columns, no wider than their texts, to fit more on screen and paper

_PADDING = 4
"""Extra characters for the filter arrow and margins."""


def fit_widths(layout: Layout, rows: Sequence[Sequence[str]]) -> Layout:
    """Return the layout with read-only columns narrowed to their longest line.

    Parameters
    ----------
    layout : Layout
        The columns, with maximum widths.
    rows : sequence of sequence of str
        Their contents.

    Examples
    --------
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> fit_widths(layout, [["take"], ["pull out"]]).columns[0].width
    12
    """
    texts = zip(*rows, strict=True) if rows else ([] for _ in layout.columns)
    return Layout(
        tuple(
            column if column.writable else _narrow_column(column, list(cells))
            for column, cells in zip(layout.columns, texts, strict=True)
        )
    )


def _narrow_column(column: Column, cells: Sequence[str]) -> Column:
    lines = [line for text in (column.title, *cells) for line in text.splitlines()]
    return replace(column, width=min(column.width, max(map(columns, lines)) + _PADDING))


def write_xlsx(
    rows: pl.DataFrame,
    layout: Layout,
    *,
    title: str,
    instructions: str,
    guidelines: Mapping[str, str] | None = None,
) -> bytes:
    """Return the bytes of a workbook to fill in.

    All cells are text, never numbers, formulas, dates or links. Control characters, which programs
    treat differently, are escaped (see `escape_controls`) and restored on reading.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; null is an empty cell. Other columns are excluded, and missing
        columns to fill in are written empty.
    layout : Layout
        The columns. Read-only columns are grey and locked (without password), those to fill in are
        white, with drop-down lists for choices.
    title : str
        Heading of the instructions and of printed pages.
    instructions : str
        Paragraphs, one per line, for the second worksheet.
    guidelines : mapping of str to str, optional
        Guidelines by choice, for the second worksheet.

    Returns
    -------
    bytes
        Equal for equal input: the file contains no author or time.

    Raises
    ------
    ValueError
        If a column to read is absent.
    DataError
        If a text is not allowed in a cell.
    """
    from xlsxwriter import Workbook  # noqa: PLC0415  most commands write no sheet

    cells = texts(rows, layout)
    layout = fit_widths(layout, cells)
    file = io.BytesIO()
    with Workbook(file, {"in_memory": True}) as book:
        book.set_properties({"created": CREATED})
        styles = Styles(book)
        sheet = book.add_worksheet("Sheet")
        lines = instruction_lines(layout, instructions, guidelines or {})
        write_instructions(book, lines, styles, title=title)
        write_header(sheet, layout, styles)
        for number, row in enumerate(cells, start=1):
            _write_row(sheet, number, [escape(text) for text in row], layout, styles)
        arrange(sheet, layout, styles, rows=len(cells), title=title)
        offer_choices(book, sheet, layout, rows=len(cells))
    return file.getvalue()


def _write_row(
    sheet: Worksheet, number: int, row: list[str], layout: Layout, styles: Styles
) -> None:
    sheet.set_row(number, height(zip(row, (each.width for each in layout.columns), strict=True)))
    for place, (text, column) in enumerate(zip(row, layout.columns, strict=True)):
        if text:
            sheet.write_string(number, place, text, styles.cell(column))
        else:
            sheet.write_blank(number, place, None, styles.cell(column))
