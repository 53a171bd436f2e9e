"""How a workbook looks and behaves: styles, protection, drop-down lists, instructions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from pipeline.formats.sheets.guard import endangered, escape
from pipeline.formats.sheets.heights import height
from pipeline.formats.sheets.instructions import Said
from pipeline.formats.sheets.layout import ID, Column, Layout
from pipeline.formats.sheets.visible import visible

Workbook: TypeAlias = Any
Worksheet: TypeAlias = Any
Format: TypeAlias = Any

CREATED = datetime(2000, 1, 1)
_OWN_COLUMNS = 10
"""Columns on the right that people may fill with what they like."""
_INLINE = 255
"""Characters that a drop-down list may have when it stands in the rule itself."""
_MESSAGE = 255
_PAGE = 110
"""Width of the instructions, in characters."""
_PROTECTION = {"sort": True, "autofilter": True, "format_columns": True, "format_rows": True}


class Styles:
    """The cell styles of a workbook.

    Parameters
    ----------
    book : Workbook
        Where they will be used.
    """

    def __init__(self, book: Workbook) -> None:
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
    """Freeze header and first columns, add the filter, lock the sheet, make it print well."""
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


def offer_choices(book: Workbook, sheet: Worksheet, layout: Layout, *, rows: int) -> None:
    """Give every column with choices its drop-down list.

    Choices that do not fit into the rule itself (too long together, or read by a spreadsheet
    as several or as a number) go to a hidden worksheet.
    """
    offered = [tuple(map(visible, each.choices)) for each in layout.columns]
    hidden = None
    for place, choices in enumerate(offered):
        if not (choices and rows):
            continue
        source: list[str] | str = list(choices)
        if not _fits_inline(choices):
            hidden = hidden or book.add_worksheet("Choices")
            hidden.hide()
            for row, choice in enumerate(choices):  # as text: =1+1 is no formula here
                hidden.write_string(row, place, escape(choice))
            source = f"=Choices!{_range(place, len(choices))}"
        message = f"Choose one of: {', '.join(choices)}"
        rule = {
            "validate": "list",
            "source": source,
            "error_title": "Not a valid value",
            "error_message": message if len(message) <= _MESSAGE else message[:254] + "…",
        }
        sheet.data_validation(1, place, rows, place, rule)


def write_instructions(
    book: Workbook, lines: Sequence[Said], styles: Styles, *, title: str
) -> None:
    """Add the worksheet that says what is to be done."""
    sheet = book.add_worksheet("Instructions")
    sheet.set_column(0, 0, _PAGE)
    sheet.write_string(0, 0, title, styles.title)
    for row, (text, heading) in enumerate(lines, start=2):
        sheet.set_row(row, height([(text, _PAGE)]))
        sheet.write_string(row, 0, text, styles.strong if heading else styles.plain)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)


def _fits_inline(choices: tuple[str, ...]) -> bool:
    plain = all("," not in each and '"' not in each and not endangered(each) for each in choices)
    trimmed = all(each == each.strip() for each in choices)
    return plain and trimmed and len(",".join(choices)) <= _INLINE


def _range(place: int, count: int) -> str:
    from xlsxwriter.utility import xl_range_abs  # noqa: PLC0415  most commands write no sheet

    return str(xl_range_abs(0, place, count - 1, place))
