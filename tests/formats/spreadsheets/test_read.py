"""Sheets and workbooks: size limits, returned sheets, damaged files, tables."""

from __future__ import annotations

import csv
import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from xlsxwriter import Workbook

from pipeline.errors import DataError
from pipeline.formats.base import LINE, format_of
from pipeline.formats.spreadsheets import list_sheets, write_csv, write_xlsx
from pipeline.formats.spreadsheets import read as read_reading
from pipeline.formats.spreadsheets.layout import Column, Layout
from pipeline.formats.spreadsheets.read import read, read_worksheets, require_room
from pipeline.memory import with_limit
from tests.formats.spreadsheets.sheet_frames import LAYOUT, NASTY, sheet_rows

ROW = '<t:table-row t:number-rows-repeated="{}"><t:table-cell {}/></t:table-row>'
ODS = (
    '<o xmlns:t="t" xmlns:office="o"><table:table xmlns:table="t" table:name="S">{}</table:table>'
    "</o>"
)


def workbook(path: Path, cells: dict[str, str]) -> Path:
    with Workbook(path) as book:
        sheet = book.add_worksheet("Sheet")
        for place, text in cells.items():
            sheet.write_string(place, text)
    return path


def test_cells_far_from_the_table_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"A1": "id", "XFD1": "x", "A1048576": "y"})
    with pytest.raises(DataError, match=r"from A1 to XFD1048576, 17,179,869,184 .* and 3|memory"):
        read(path)


def test_a_cell_far_below_the_table_is_read(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"A1": "id", "A2": "x", "B90000": "y"})
    assert read(path)["line"].to_list() == [2, 90_000]


def ods(path: Path, rows: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", ODS.format(rows).replace("t:table-", "table:table-")
                         .replace("t:number", "table:number"))  # fmt: skip
    return path


def test_repeated_cells_of_ods_count_if_they_are_filled(tmp_path: Path) -> None:
    filled = 'office:value-type="string" t:number-columns-repeated="16384"'
    empty = 't:number-columns-repeated="16384"'
    require_room(ods(tmp_path / "a.ods", ROW.format(1_000_000, empty)))
    with pytest.raises(DataError, match="worksheet 'S' extends from A1 to XFD1000000"):
        require_room(ods(tmp_path / "b.ods", ROW.format(1_000_000, filled)))


@pytest.mark.parametrize("lies", [False, True])
def test_the_unpacked_size_is_determined_by_reading(tmp_path: Path, lies: bool) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (4 << 20))
    if lies:  # the directory says that it unpacks to one byte
        content, real = path.read_bytes(), (4 << 20).to_bytes(4, "little")
        path.write_bytes(content.replace(real, (1).to_bytes(4, "little")))
    with with_limit(1 << 20), pytest.raises(DataError, match="that expands to .* or more"):
        require_room(path)


@pytest.mark.parametrize("mark", [b"PK\x01\x02", b"PK\x03\x04"])
def test_the_reader_refuses_damaged_archives(tmp_path: Path, mark: bytes) -> None:
    path = workbook(tmp_path / "s.xlsx", {"A1": "id"})
    path.write_bytes(path.read_bytes().replace(mark, b"XX\x01\x02"))
    require_room(path)
    with pytest.raises(DataError, match=r"s\.xlsx: not a readable workbook"):
        read(path)


# Sheets as people send them back: moved, re-saved, damaged.

HEADER = "id,l1,l2,label,note\n"


PRESERVED_TEXTS = [text for text in NASTY if not {"\r", "\x07", "_x0041_", "\n"} & {*text, text}]
"""openpyxl, which saves the file here, changes the others itself."""


def save_text(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def workbook_reading(rows: pl.DataFrame) -> openpyxl.Workbook:
    raw = write_xlsx(rows, LAYOUT, title="t", instructions="id")
    return openpyxl.load_workbook(io.BytesIO(raw))


def save_and_read(book: openpyxl.Workbook, path: Path) -> pl.DataFrame:
    book.save(path)
    return read_reading(path, LAYOUT)


def test_a_resaved_workbook_is_unchanged(tmp_path: Path) -> None:
    rows = sheet_rows(PRESERVED_TEXTS, label=["SVC"] * len(PRESERVED_TEXTS))
    assert (
        save_and_read(workbook_reading(rows), tmp_path / "s.xlsx").select(LAYOUT.names).equals(rows)
    )


TYPED = [
    (7, "7"),
    (7.0, "7"),
    (0.5, "0.5"),
    (-3, "-3"),
    (10**17, "100000000000000000"),
    (True, "TRUE"),
    (False, "FALSE"),
    ("007", "007"),
    ("true", "true"),
    ("2024-01-05 00:00:00", "2024-01-05 00:00:00"),
    (datetime.date(2024, 1, 5), "2024-01-05"),
    (datetime.datetime(2024, 1, 5, 10, 30), "2024-01-05 10:30:00"),
    (datetime.time(10, 30), "10:30:00"),
    (None, None),
]


def test_numbers_truth_values_and_dates_are_read_as_typed(tmp_path: Path) -> None:
    book = workbook_reading(sheet_rows(["a"] * len(TYPED)))
    for row, (value, _) in enumerate(TYPED, start=2):
        when = isinstance(value, datetime.date | datetime.time)
        for letter in "EF":
            cell = book["Sheet"][f"{letter}{row}"]
            cell.number_format = "General"
            cell.value = value
            cell.number_format = "dd/mm/yyyy hh:mm" if when else cell.number_format
    table = save_and_read(book, tmp_path / "s.xlsx")
    assert table["label"].to_list() == [text for _, text in TYPED]
    assert table["note"].to_list() == [text for _, text in TYPED]


def test_moved_rows_and_columns_and_added_columns_are_read(tmp_path: Path) -> None:
    book = workbook_reading(sheet_rows(["a", "b", "c"], label=["SVC", None, "free"]))
    sheet = book["Sheet"]
    sheet["G1"], sheet["G3"], sheet["H4"] = "my remark", "hm", "no header"
    records = [[cell.value for cell in row] for row in sheet]
    copy = openpyxl.Workbook()
    copy.active["B1"] = "Annotated in March"
    copy.active.merge_cells("B1:E1")
    for row, record in enumerate([records[0], [None] * 8, *reversed(records[1:])], start=4):
        for place, value in enumerate(reversed(record), start=3):
            copy.active.cell(row, place, value)
    table = save_and_read(copy, tmp_path / "s.xlsx")
    assert table.columns == ["line", *LAYOUT.names, "column C", "my remark"]
    assert table.select("line", "id", "label", "my remark", "column C").rows() == [
        (6, "x2", "free", None, "no header"),
        (7, "x1", None, "hm", None),
        (8, "x0", "SVC", None, None),
    ]


def test_title_lines_empty_rows_and_a_delimiter_hint_are_skipped(tmp_path: Path) -> None:
    text = "sep=;\nMy sheet;\n\nLABEL;Id;Verb;preposition AND noun ;line\nSVC;x1;b;a;9\n;;;;\n\n;x2;d;c;\n"
    table = read_reading(save_text(tmp_path / "s.csv", text), LAYOUT)
    assert table.columns == ["line", *LAYOUT.names, "line (sheet)"]
    assert table.select("line", "id", "l1", "l2", "label", "note", "line (sheet)").rows() == [
        (5, "x1", "a", "b", "SVC", None, "9"),
        (8, "x2", "c", "d", None, None, None),
    ]


def test_the_line_counts_rows_and_not_lines_of_text(tmp_path: Path) -> None:
    rows = sheet_rows(["a\nb\nc", "d"])
    path = tmp_path / "s.csv"
    path.write_bytes(write_csv(rows, LAYOUT))
    assert read_reading(path, LAYOUT)["line"].to_list() == [2, 3]


@pytest.mark.parametrize(
    ("header", "like"), [("Notes", "Notes"), ("", "column C"), ("my note", "my note")]
)
def test_notes_whose_column_lost_its_name_are_not_lost(
    header: str, like: str, tmp_path: Path
) -> None:
    layout = Layout(
        (
            Column("id", "id", writable=False, width=9),
            Column("label", "label", writable=True, width=9),
            Column("note", "note", writable=True, width=9, required=False),
        )
    )
    path = tmp_path / "s.csv"
    path.write_text(f"id,label,{header}\nx1,SVC,unsure\n")
    with pytest.raises(
        DataError, match=f"row 1 lacks note, but {like} has texts\nName that column"
    ):
        read(path, layout)
    path.write_text(f"id,label,{header},Note\nx1,SVC,unsure,\n")
    assert read(path, layout).height == 1
    path.write_text(f"id,label,{header}\nx1,SVC,\n")
    assert read(path, layout)["note"].to_list() == [None]
    path.write_text("id,label,score\nx1,SVC,7\n")
    assert read(path, layout)["note"].to_list() == [None]


def test_without_a_layout_headers_are_names(tmp_path: Path) -> None:
    table = read_reading(save_text(tmp_path / "s.tsv", " ID\tLabel\n'007\tSVC\n"))
    assert table.rows(named=True) == [{"line": 2, "id": "007", "Label": "SVC"}]


def test_csv_saved_as_a_workbook_and_vice_versa_is_read(tmp_path: Path) -> None:
    """Guards are removed from a file of either format."""
    rows = sheet_rows(PRESERVED_TEXTS)
    (tmp_path / "a.csv").write_bytes(write_csv(rows, LAYOUT))
    plain = openpyxl.Workbook()
    for row in csv.reader(io.StringIO((tmp_path / "a.csv").read_text("utf-8-sig"), newline="")):
        plain.active.append(row)
    assert save_and_read(plain, tmp_path / "a.xlsx").select(LAYOUT.names).equals(rows)
    records = [[cell.value or "" for cell in row] for row in workbook_reading(rows)["Sheet"]]
    quoted = "\n".join(";".join(f'"{_double_quotes(cell)}"' for cell in row) for row in records)
    assert (
        read_reading(save_text(tmp_path / "b.csv", quoted), LAYOUT)
        .select(LAYOUT.names)
        .equals(rows)
    )


def _double_quotes(cell: str) -> str:
    return cell.replace('"', '""')


def test_a_byte_order_mark_in_quotation_marks_is_dropped(tmp_path: Path) -> None:
    """A program that reads the mark as part of the first field quotes it in this way."""
    text = '\ufeff"\ufeff""id""","l1"\n"x1","ä"\n'
    assert read_reading(save_text(tmp_path / "s.csv", text)).select("id", "l1").rows() == [
        ("x1", "ä")
    ]


WRONG = {
    "no id": ("s.csv", b"nr,l1\n1,a\n", ["first 20 rows", "'id'", "'nr', 'l1'"]),
    "id too far down": ("s.csv", b"x\n" * 20 + b"id,l1\n", ["first 20 rows", "'x'"]),
    "empty": ("s.csv", b"", ["first 20 rows", "nothing"]),
    "missing": ("s.csv", b"t\nid,l1,note\nx,a,\n", ["row 2", "Verb, Label", "id, l1, note"]),
    "twice": ("s.csv", b"id,l1,l2,label,Label\n", ["row 1", "label", "repeats label"]),
    "too many fields": (
        "s.csv",
        HEADER.encode() + b"x,a,b,SVC,well, no\nx,a,b,SVC,fine\n",
        ["1 row", "5 fields", "row 2", "well"],
    ),
    "open quote": ("s.csv", HEADER.encode() + b'x,a,b,SVC,ok\nx,"a,b,SVC,\nx,a\n', ["row 3"]),
    "Windows-1252": ("s.csv", HEADER.encode() + b"x,a,b,SVC,\xe4\n", ["as UTF-8", "line 2"]),
    "cut UTF-16": ("s.csv", HEADER.encode("utf-16")[:-1], ["UTF-16"]),
    "opened in the wrong encoding": (
        "s.csv",
        '"ï»¿""id""",l1\nx,Ã¤\n'.encode(),
        ["wrong encoding", "UTF-8"],
    ),
    "an empty workbook": ("s.xlsx", b"", ["is empty"]),
    "no workbook": ("s.xlsx", b"hello", ["not a readable workbook"]),
    "cut workbook": (
        "s.xlsx",
        write_xlsx(sheet_rows(["a"]), LAYOUT, title="", instructions="")[:3000],
        ["not a readable workbook"],
    ),
    "other ending": ("s.docx", b"", [".xlsx", ".csv"]),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_wrong_files_are_refused(case: str, tmp_path: Path) -> None:
    name, raw, phrases = WRONG[case]
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(DataError) as error:
        read_reading(tmp_path / name, LAYOUT)
    for words in [name, *phrases]:
        assert words in str(error.value)


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="file not found"):
        read_reading(tmp_path / "s.xlsx", LAYOUT)


def test_two_worksheets_with_labels_are_refused(tmp_path: Path) -> None:
    book = workbook_reading(sheet_rows(["a"]))
    book.copy_worksheet(book["Sheet"])
    with pytest.raises(DataError, match=r"2 worksheets.*'Sheet', 'Sheet Copy'"):
        save_and_read(book, tmp_path / "s.xlsx")


def test_a_worksheet_without_the_other_columns_is_ignored(tmp_path: Path) -> None:
    book = workbook_reading(sheet_rows(["a"]))
    book.create_sheet("My notes", 0)["A1"] = "id"
    assert save_and_read(book, tmp_path / "s.xlsx")["l1"].to_list() == ["a"]


def test_hidden_temporary_and_other_files_are_not_listed(tmp_path: Path) -> None:
    names = [
        "b.xlsx",
        "a.csv",
        "~$b.xlsx",
        ".~lock.a.csv#",
        ".hidden.csv",
        "a.xlsx~",
        "c.ODS",
        "d.md",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "folder.csv").mkdir()
    assert [path.name for path in list_sheets(tmp_path)] == ["a.csv", "b.xlsx", "c.ODS"]
    assert list_sheets(tmp_path / "absent") == []


@pytest.mark.parametrize("text", ["_x000D_", "_x000d_", "SVC_x000D_", "a_x000D_b"])
@pytest.mark.parametrize("column", ["label", "note"])
def test_texts_that_encode_a_carriage_return_are_refused(
    text: str, column: str, tmp_path: Path
) -> None:
    """openpyxl writes it as it is; Excel would write _x005F_x000D_."""
    book = workbook_reading(sheet_rows(["a", "b"], label=["SVC", ""]))
    sheet = book.active
    assert sheet is not None
    row, place = next(
        (cell.row, cell.column) for line in sheet.iter_rows() for cell in line if cell.value == "b"
    )
    sheet.cell(row, place + LAYOUT.names.index(column) - LAYOUT.names.index("l1"), text)
    with pytest.raises(DataError, match=r"1 cell with a carriage return, which .*_x000D_") as error:
        save_and_read(book, tmp_path / "s.xlsx")
    assert str(tmp_path / "s.xlsx") in str(error.value)
    assert r"is written \x5Fx000D_" in str(error.value)


def test_line_ends_of_windows_in_a_cell_are_kept(tmp_path: Path) -> None:
    book = workbook_reading(sheet_rows(["a"], label=["SVC"]))
    sheet = book.active
    assert sheet is not None
    row, place = next(
        (cell.row, cell.column) for line in sheet.iter_rows() for cell in line if cell.value == "a"
    )
    at = place + LAYOUT.names.index("note") - LAYOUT.names.index("l1")
    sheet.cell(row, at, "one_x000D_\ntwo")
    assert save_and_read(book, tmp_path / "s.xlsx")["note"].to_list() == ["one\r\ntwo"]


# Tables in workbooks: the texts of a worksheet, by row, whatever program saved it.

HEAD = ("l1", "l2", "f")


def workbook_tables(path: Path, sheets: Mapping[str, Sequence[Sequence[object]]]) -> Path:
    content = io.BytesIO()
    with Workbook(content, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for place, value in enumerate(row):
                    if isinstance(value, str):
                        sheet.write_string(number, place, value)
                    elif value is not None:
                        sheet.write_number(number, place, float(str(value)))
    path.write_bytes(content.getvalue())
    return path


def scan(path: Path, **options: object) -> pl.DataFrame:
    format_ = format_of(path.name, kind="table")
    settings = format_.options.model_validate(options)
    assert format_.check(path, settings) == ()
    return format_.scan(path, settings).collect()


def test_rows_are_texts_with_their_places(tmp_path: Path) -> None:
    rows = [HEAD, ("in", "007", 12), (None, None, None), ("=A1", "Kraft", 0.5)]
    table = scan(workbook_tables(tmp_path / "t.xlsx", {"List": rows}))
    assert table.schema == {LINE: pl.Int64, "l1": pl.String, "l2": pl.String, "f": pl.String}
    assert table.rows() == [(2, "in", "007", "12"), (4, "=A1", "Kraft", "0.5")]


def test_an_option_chooses_the_worksheet(tmp_path: Path) -> None:
    other = [("a",), (1,)]
    path = workbook_tables(tmp_path / "t.xlsx", {"Empty": [], "List": [HEAD], "More": other})
    assert scan(path).columns == [LINE, *HEAD]
    assert scan(path, sheet="More").rows() == [(2, "1")]
    with pytest.raises(DataError, match=r"no worksheet 'Mor' with a table; did you mean More"):
        scan(path, sheet="Mor")


def test_a_column_without_a_name_may_be_empty(tmp_path: Path) -> None:
    rows = [("l1", None, "f"), ("in", None, 1)]
    assert scan(workbook_tables(tmp_path / "t.xlsx", {"S": rows})).columns == [LINE, "l1", "f"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "has no worksheet with a table"),
        ([(None,), ("in",)], "worksheet 'S': row 1 is empty"),
        ([("f", "l1", "f"), (1, "a", 2)], "row 1 has duplicate column names: f\nRename them"),
        ([("f", None), (1, 5)], r"the first row does not name column B"),
        (
            [("l1", "f"), ("(word)", "[n]"), ("a", 1)],
            r"line 2 looks like units or types, not data: .*\[n",
        ),
    ],
)
def test_worksheets_that_are_no_tables_are_refused(
    rows: list[tuple[object, ...]], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        scan(workbook_tables(tmp_path / "t.xlsx", {"S": rows}))


def test_a_file_that_is_no_workbook_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(b"l1;l2\n")
    with pytest.raises(DataError, match="not a readable workbook"):
        scan(path)


# Errors are read as the text that they show, in workbooks of every kind.


def test_errors_are_the_text_that_they_show(tmp_path: Path) -> None:
    errors = ("#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A")
    book = openpyxl.Workbook()
    book.active["B2"].value = "word"
    for row, text in enumerate(errors, start=3):
        book.active.cell(row, 2).value = text
        book.active.cell(row, 2).data_type = "e"
    book.save(tmp_path / "t.xlsx")
    (grid,) = read_worksheets(tmp_path / "t.xlsx")
    assert grid.letters == ["B"]
    assert [row[0] for row in grid.rows] == [None, "word", *errors]
    cell = '<table:table-cell office:value-type="string" {}><t:p xmlns:t="t">{}</t:p></table:table-cell>'
    failed = 'office:string-value="" calcext:value-type="error" xmlns:calcext="c"'
    rows = "".join(
        f"<table:table-row>{cell.format(kind, text)}{cell.format('', 'x')}</table:table-row>"
        for kind, text in (("", "word"), (failed, "#N/A"), ("", "#N/A"))
    )
    path = tmp_path / "t.ods"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", ODS.format(rows))
    assert require_room(path) == {"S": {(2, 1): "#N/A"}}
