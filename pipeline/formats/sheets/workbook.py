"""Workbooks of any spreadsheet program as texts."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import fastexcel
import polars as pl

from pipeline.errors import DataError
from pipeline.formats.sheets.extent import require_room
from pipeline.formats.sheets.grid import Grid, letters

Kind: TypeAlias = Literal["string", "float", "boolean", "datetime"]


def worksheets(path: Path) -> list[Grid]:
    """Return the worksheets of an XLSX, ODS or XLS file, hidden ones too.

    A cell that a spreadsheet has made a number, truth value or date comes back as it would be
    typed: 7 and not 7.0, TRUE, 2024-01-31. What was typed as ``1-2`` and shown as a date is a
    date all the same. A cell with an error value is empty, and tabs within ODS cells are lost.

    Raises
    ------
    DataError
        If the file is damaged, is locked with a password, is no workbook, or is larger than there
        is room for.
    """
    require_room(path)
    try:
        book = fastexcel.read_excel(path.read_bytes())
        return [_worksheet(book, name) for name in book.sheet_names]
    except fastexcel.FastExcelError as error:
        raise DataError(
            f"{path}: not a workbook that can be read; if it has a password, save it without, if it"
            " is damaged, open and save it again in the spreadsheet"
        ) from error


def _worksheet(book: fastexcel.ExcelReader, name: str) -> Grid:
    sheet = _load(book, name, "string")
    texts = sheet.to_polars()
    first = min((each.absolute_index for each in sheet.available_columns()), default=0)
    if _worth_a_look(texts):
        number, truth, time = (
            _load(book, name, kind).to_polars() for kind in ("float", "boolean", "datetime")
        )
        texts = texts.with_columns(
            _as_typed(texts[each], number[each], truth[each], time[each]) for each in texts.columns
        )
    return Grid(name, texts.rows(), letters(texts.width, first=first))


def _load(book: fastexcel.ExcelReader, name: str, kind: Kind) -> fastexcel.ExcelSheet:
    return book.load_sheet(name, header_row=None, skip_rows=0, dtypes=kind)


_TYPED = r"^(true|false|\d+-\d\d-\d\d \d\d:\d\d:\d\d)$"


def _worth_a_look(texts: pl.DataFrame) -> bool:
    return any(column.str.contains(_TYPED).any() for column in texts.get_columns())


def _as_typed(text: pl.Series, number: pl.Series, truth: pl.Series, time: pl.Series) -> pl.Series:
    """Return truth values and dates as people type them; cells of text stay as they are."""
    is_truth = pl.col("truth").is_not_null() & pl.col("text").is_in(["true", "false"])
    is_time = pl.col("time").is_not_null() & pl.col("number").is_null()
    short = pl.col("text").str.replace(r"^(1899-12-3\d )|( 00:00:00)$", "")
    typed = pl.when(is_truth).then(pl.col("text").str.to_uppercase()).when(is_time).then(short)
    frame = pl.DataFrame({"text": text, "number": number, "truth": truth, "time": time})
    return frame.select(typed.otherwise("text").alias(text.name)).to_series()
