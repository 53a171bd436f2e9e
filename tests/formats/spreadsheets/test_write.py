"""Written sheets: CSV and XLSX restore every text, and have their validation rules."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.spreadsheets import Column, Layout, kinds, read, write_csv, write_xlsx
from pipeline.formats.spreadsheets.read import WorkbookOptions, scan_workbook
from pipeline.formats.spreadsheets.write import table_xlsx
from tests.formats.spreadsheets.sheet_frames import (
    LABELS,
    LAYOUT,
    NASTY,
    cells,
    empty_cells,
    sheet_rows,
)


def read_back(raw: bytes, name: str = "s.csv") -> pl.DataFrame:
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(raw)
        return read(path, LAYOUT)


@given(texts=st.lists(cells, max_size=6), notes=st.data())
def test_written_csv_is_read_back(texts: list[str], notes: st.DataObject) -> None:
    note = notes.draw(st.lists(cells, min_size=len(texts), max_size=len(texts)))
    rows = sheet_rows(texts, note=note)
    table = read_back(write_csv(rows, LAYOUT))
    assert table.select(LAYOUT.names).equals(empty_cells(rows))
    assert table["line"].to_list() == list(range(2, len(texts) + 2))
    assert table.schema == {"line": pl.Int64, **dict.fromkeys(LAYOUT.names, pl.String)}


def test_csv_has_these_bytes() -> None:
    raw = write_csv(sheet_rows(["=A1", 'say "a"'], l2=["7", None]), LAYOUT)
    assert raw.decode("utf-8") == (
        '\ufeff"id","Preposition and noun","Verb","Example 1","Label","Note"\r\n'
        '"\'x0","\'=A1","\'7","","",""\r\n"\'x1","say ""a""","","","",""\r\n'
    )


def test_scores_are_not_written() -> None:
    rows = sheet_rows(["a"])
    with_scores = rows.with_columns(score=pl.lit(1.25), rank=pl.lit(3))
    assert write_csv(with_scores, LAYOUT) == write_csv(rows, LAYOUT)


def test_only_columns_to_fill_in_may_be_absent() -> None:
    rows = sheet_rows(["a"])
    assert write_csv(rows.drop("label", "note"), LAYOUT) == write_csv(rows, LAYOUT)
    with pytest.raises(ValueError, match="lacks the columns l2"):
        write_csv(rows.drop("l2"), LAYOUT)


@pytest.mark.parametrize(
    "text", ["a\0b", "\ufffe", "\uffff", "x" * 32_768, "😀" * 16_384], ids=repr
)
def test_texts_that_no_cell_can_hold_are_refused(text: str) -> None:
    with pytest.raises(DataError, match="(?s)1 cell.*id x1, column l1"):
        write_csv(sheet_rows(["fine", text]), LAYOUT)


def test_the_longest_texts_are_read_back() -> None:
    rows = sheet_rows(["x" * 32_767, "😀" * 16_383])
    assert read_back(write_csv(rows, LAYOUT)).select(LAYOUT.names).equals(rows)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_csv_saved_by_another_program_is_read_back(
    delimiter: str, encoding: str, line_end: str
) -> None:
    """Spreadsheets quote only where needed; to them the guards are text."""
    texts = [text for text in NASTY if "\r" not in text]  # Python 3.11 does not quote it
    rows = sheet_rows(texts, label=["SVC"] * len(texts))
    records = list(csv.reader(io.StringIO(write_csv(rows, LAYOUT).decode("utf-8-sig"), newline="")))
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=line_end).writerows(records)
    table = read_back(text.getvalue().encode(encoding), "s.txt" if delimiter == "\t" else "s.csv")
    assert table.select(LAYOUT.names).equals(rows)


# Workbooks: every text is restored, and the file has its validation rules.


def write_sheet(rows: pl.DataFrame, layout: Layout = LAYOUT) -> bytes:
    return write_xlsx(rows, layout, title="Pairs & verbs", instructions="Read.\nThen judge.")


def read_xlsx_back(raw: bytes) -> pl.DataFrame:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "s.xlsx"
        path.write_bytes(raw)
        return read(path, LAYOUT)


def open_workbook(raw: bytes) -> openpyxl.Workbook:
    return openpyxl.load_workbook(io.BytesIO(raw))


@given(texts=st.lists(cells, max_size=6))
def test_written_xlsx_is_read_back(texts: list[str]) -> None:
    rows = sheet_rows(texts, note=list(reversed(texts)))
    table = read_xlsx_back(write_sheet(rows))
    assert table.select(LAYOUT.names).equals(empty_cells(rows))
    assert table["line"].to_list() == list(range(2, len(texts) + 2))


def test_every_cell_of_a_workbook_is_text() -> None:
    """No number, formula, date or link anywhere in the file."""
    rows = sheet_rows(list(NASTY), label=["SVC"] * len(NASTY))
    raw = write_sheet(rows)
    assert read_xlsx_back(raw).select(LAYOUT.names).equals(rows)
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        sheet = parts.read("xl/worksheets/sheet1.xml").decode()
    assert set(re.findall(r'<c [^>]*t="(\w+)"', sheet)) == {"s"}
    assert len(re.findall("<v>", sheet)) == len(re.findall(r't="s"', sheet))
    assert "<f>" not in sheet
    assert "hyperlink" not in sheet
    assert {cell.number_format for row in open_workbook(raw)["Sheet"] for cell in row} == {"@"}


def test_equal_input_gives_equal_bytes_without_author_or_time() -> None:
    rows = sheet_rows(["a", "b"])
    raw = write_sheet(rows)
    assert raw == write_sheet(rows)
    properties = open_workbook(raw).properties
    assert not properties.creator
    assert not properties.lastModifiedBy
    assert properties.created.year == 2000
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        assert {part.date_time[0] for part in parts.infolist()} == {1980}


def test_cells_are_locked_or_writable_with_frozen_header_and_filter() -> None:
    sheet = open_workbook(write_sheet(sheet_rows(["a", "b"], label=["SVC", None])))["Sheet"]
    assert sheet.freeze_panes == "F2"
    assert sheet.auto_filter.ref == "A1:F3"
    assert sheet.protection.sheet
    assert sheet.protection.password is None
    allowed = ("sort", "autoFilter", "formatColumns", "formatRows")
    assert not any(getattr(sheet.protection, each) for each in allowed)  # true is forbidden
    locked = {cell.coordinate: cell.protection.locked for row in sheet for cell in row}
    assert [locked[f"{letter}2"] for letter in "ABCDEF"] == [True] * 4 + [False] * 2
    assert locked["E3"] is False  # an empty cell
    assert all(locked[f"{letter}1"] for letter in "ABCDEF")
    assert sheet.column_dimensions["G"].protection.locked is False  # for columns of one's own
    assert all(cell.alignment.wrap_text for row in sheet for cell in row)
    assert sheet.column_dimensions["F"].width == pytest.approx(30, abs=1)
    assert [cell.value for cell in sheet[1]] == [each.title for each in LAYOUT.columns]
    fills = [sheet[f"{letter}2"].fill.fgColor.rgb for letter in "AE"]
    assert fills == ["FFF2F2F2", "FFFFFFFF"]


def test_the_label_is_beside_the_pair_and_both_are_frozen() -> None:
    layout = kinds.annotation_layout(labels=LABELS, examples=["example_1"])
    rows = sheet_rows(["a"]).with_columns(annotator=pl.lit("anna"), example_1=pl.lit("so"))
    sheet = open_workbook(write_sheet(rows, layout))["Sheet"]
    assert [cell.value for cell in sheet[1]][:3] == ["l1", "l2", "label"]
    assert sheet.freeze_panes == "D2"
    keyed = kinds.keying_layout()
    assert (keyed.names[0], keyed.pinned) == ("lemma", 1)


def rules(layout: Layout) -> tuple[openpyxl.Workbook, dict[str, openpyxl.worksheet.datavalidation.DataValidation]]:  # fmt: skip
    book = open_workbook(write_sheet(sheet_rows(["a", "b"]), layout))
    validations = book["Sheet"].data_validations.dataValidation
    return book, {str(rule.sqref): rule for rule in validations}


def test_labels_are_a_drop_down_list_with_a_message() -> None:
    book, validations = rules(LAYOUT)
    assert list(validations) == ["E2:E3"]
    rule = validations["E2:E3"]
    assert (rule.type, rule.formula1) == ("list", '"SVC,figurative,free"')
    assert rule.error == "Choose one of: SVC, figurative, free"
    assert rule.errorStyle in (None, "stop")
    assert book.sheetnames == ["Sheet", "Instructions"]


@pytest.mark.parametrize(
    "choices",
    [
        tuple(f"label number {i}" for i in range(30)), ("a,b", "c"), ('"a"', "c"), ("1", "0"),
        (" a", "b"), ("=1+1", "b"), ("+1", "b"), ("-x", "b"), ("@a", "b"), ("b", "=HYPERLINK(1)"),
    ],
)  # fmt: skip
def test_choices_that_do_not_fit_are_in_a_hidden_worksheet(choices: tuple[str, ...]) -> None:
    columns = [replace(each, choices=choices) if each.choices else each for each in LAYOUT.columns]
    book, validations = rules(Layout(tuple(columns)))
    assert validations["E2:E3"].formula1 == f"Choices!$E$1:$E${len(choices)}"
    assert len(validations["E2:E3"].error) <= 255
    assert validations["E2:E3"].error.startswith(f"Choose one of: {choices[0]}")
    assert book["Choices"].sheet_state == "hidden"
    cells = [row[4] for row in book["Choices"].rows]
    assert [cell.value for cell in cells] == list(choices)
    assert {cell.data_type for cell in cells} == {"s"}  # f would be a formula


def test_a_choice_with_a_tab_is_escaped() -> None:
    columns = [
        replace(each, choices=("\t=1", "_x000D_")) if each.choices else each
        for each in LAYOUT.columns
    ]
    book, validations = rules(Layout(tuple(columns)))
    assert validations["E2:E3"].error == r"Choose one of: \x09=1, \x5Fx000D_"
    assert [row[4].value for row in book["Choices"].rows] == [r"\x09=1", r"\x5Fx000D_"]


def test_instructions_have_title_text_and_labels() -> None:
    sheet = open_workbook(write_sheet(sheet_rows(["a"])))["Instructions"]
    lines = [cell.value for cell in sheet["A"] if cell.value]
    assert lines[:3] == ["Pairs & verbs", "Read.", "Then judge."]
    assert "Label: Which kind? One of: SVC, figurative, free." in lines


def instructions(**options: Any) -> list[openpyxl.cell.cell.Cell]:
    """Return the cells of the instructions, those without a text omitted."""
    texts = {"title": "T", "instructions": "Read."} | options
    raw = write_xlsx(sheet_rows(["a"]), LAYOUT, **texts)
    return [cell for cell in open_workbook(raw)["Instructions"]["A"] if cell.value]


def test_guidelines_follow_the_instructions_in_the_order_of_labels() -> None:
    guidelines = {"free": "=No idiom.\nAs in: a\tcar.\n", "SVC": "  A light verb. "}
    cells = instructions(guidelines=guidelines)
    assert [cell.value for cell in cells][:6] == [
        "T", "Read.", "Labels", "SVC: A light verb.", "free: =No idiom.", r"As in: a\x09car.",
    ]  # fmt: skip
    assert {cell.data_type for cell in cells} == {"s"}
    assert [cell.value for cell in cells if cell.font.bold] == ["T", "Labels", "Columns"]


def test_instructions_without_guidelines_do_not_mention_them() -> None:
    plain = [cell.value for cell in instructions()]
    assert "Labels" not in plain
    assert plain == [cell.value for cell in instructions(guidelines={})]


def test_rows_are_as_high_as_their_text() -> None:
    sheet = open_workbook(write_sheet(sheet_rows(["a", "b"], example_1=["word " * 40, None])))[
        "Sheet"
    ]
    assert sheet.row_dimensions[2].height == 75  # 200 characters in a column of 44
    assert sheet.row_dimensions[3].height in (None, 15)  # None: the default


def test_rows_have_room_for_a_long_word_and_the_words_before_it() -> None:
    address = "see http://www." + "x" * 60 + " there"  # 4 lines: a word begins a line of its own
    sheet = open_workbook(write_sheet(sheet_rows(["a"], example_1=[f"{address} {'word ' * 9}"])))[
        "Sheet"
    ]
    assert sheet.row_dimensions[2].height == 60


def test_columns_to_read_are_as_wide_as_their_text() -> None:
    layout = kinds.annotation_layout(labels=LABELS, examples=["example_1"])
    long = sheet_rows(["take", "a" * 12]).with_columns(
        annotator=pl.lit("anna"), example_1=pl.lit("so " * 40), l2=pl.lit("b" * 50)
    )
    sheet = open_workbook(write_sheet(long, layout))["Sheet"]
    widths = {cell.value: sheet.column_dimensions[cell.column_letter].width for cell in sheet[1]}
    expected = {"l1": 16, "l2": 24, "label": 16, "note": 28, "example 1": 48}
    for name, width in expected.items():
        assert widths[name] == pytest.approx(width, abs=1), name


def test_columns_to_read_and_to_fill_in_are_printed_over_the_page_width() -> None:
    layout = kinds.annotation_layout(labels=LABELS, examples=["example_1"])
    rows = sheet_rows(["a", "b"]).with_columns(annotator=pl.lit("anna"), example_1=pl.lit("so"))
    sheet = open_workbook(write_sheet(rows, layout))["Sheet"]
    assert sheet.print_area == "'Sheet'!$A$1:$E$3"  # neither annotator nor id
    assert (sheet.page_setup.orientation, sheet.page_setup.paperSize) == ("landscape", 9)
    assert (sheet.page_setup.fitToWidth or 1, sheet.page_setup.fitToHeight) == (1, 0)
    assert sheet.print_title_rows == "$1:$1"
    assert max(sheet.page_margins.left, sheet.page_margins.right) < 0.5


def test_the_instructions_explain_marks_and_list_the_labels_once() -> None:
    layout = kinds.annotation_layout(labels=LABELS, examples=["example_1", "example_2"])
    rows = sheet_rows(["a"]).with_columns(annotator=pl.lit("anna"), example_1=pl.lit("so"))
    sheet = open_workbook(write_sheet(rows.with_columns(example_2=pl.lit("so")), layout))[
        "Instructions"
    ]
    lines = [cell.value for cell in sheet["A"] if cell.value]
    assert [line for line in lines if "[[ ]]" in line and "[…]" in line] == [lines[-3]]
    (label,) = [line for line in lines if line.startswith("label:")]
    assert all(label.count(each) == 1 for each in LABELS)


def test_a_workbook_without_rows_is_valid() -> None:
    raw = write_sheet(sheet_rows([]))
    assert read_xlsx_back(raw).shape == (0, 7)
    assert open_workbook(raw)["Sheet"].auto_filter.ref == "A1:F1"


@pytest.mark.parametrize("text", ["a\0b", "\uffff", "x" * 32_768])
def test_texts_that_no_cell_can_hold_are_refused_in_xlsx(text: str) -> None:
    with pytest.raises(DataError, match="(?s)1 cell.*id x1, column l1"):
        write_sheet(sheet_rows(["fine", text]))


def test_existing_labels_are_kept() -> None:
    table = read_xlsx_back(
        write_sheet(sheet_rows(["a", "b"], label=["SVC", None], note=[None, "007"]))
    )
    assert table.select("label", "note").rows() == [("SVC", None), (None, "007")]
    assert LABELS[0] == "SVC"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([("l1", "Left", False)], "needs a column 'id'"),
        ([("id", "id", False), ("l1", "ID ", False)], "columns of the sheet match id"),
    ],
)
def test_layouts_that_cannot_be_read_back_are_refused(
    columns: list[tuple[str, str, bool]], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Layout(tuple(Column(name, title, writable, 10) for name, title, writable in columns))


# Tables as workbooks: a command reads what another one writes.

TABLE = {
    "word": [*NASTY, "#", "NA", "null", "=1+1", "1e5", "-", "true", "http://x.y", None],
    "f": [2**53, *range(len(NASTY) + 8)],
    "big": [2**53 + 1, *([0] * (len(NASTY) + 8))],
    "score": [0.1, float("inf"), -2.5, None, *([1e-9] * (len(NASTY) + 5))],
    "tp": [True, False, None, *([True] * (len(NASTY) + 6))],
}


def test_tables_in_workbooks_are_read_back(tmp_path: Path) -> None:
    frame = pl.DataFrame(TABLE)
    path = tmp_path / "t.xlsx"
    path.write_bytes(table_xlsx(frame))
    assert path.read_bytes() == table_xlsx(frame)
    table = scan_workbook(path, WorkbookOptions()).drop("line").collect()
    assert table["word"].to_list() == frame["word"].replace("", None).to_list()
    assert table["f"].cast(pl.Int64).to_list() == frame["f"].to_list()
    assert table["big"].cast(pl.Int64).to_list() == frame["big"].to_list()
    assert table["score"].cast(pl.Float64).to_list() == frame["score"].to_list()
    assert table["tp"].to_list() == ["TRUE", "FALSE", None, *["TRUE"] * (frame.height - 3)]
    kinds = {type(row[0].value) for row in openpyxl.load_workbook(path).active.iter_rows(min_row=2)}
    assert kinds <= {str, type(None)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b\x00c"], r"1 cell with U\+0000.*\n  row 3, column word: 'b\\x00c'"),
        (
            ["x" * 32_768],
            r"more than 32,767 characters, the maximum of a cell:\n  row 2, column word",
        ),
    ],
)
def test_tables_that_no_workbook_can_hold_are_refused(words: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        table_xlsx(pl.DataFrame({"word": words}))
