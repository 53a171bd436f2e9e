"""Workbooks that reach too far, or unpack to too much, are refused before they are opened."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from xlsxwriter import Workbook

from pipeline.errors import DataError
from pipeline.formats.spreadsheets.read import read, require_room
from pipeline.memory import limited

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


def test_cells_far_from_the_table(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"A1": "id", "XFD1": "x", "A1048576": "y"})
    with pytest.raises(DataError, match=r"from A1 to XFD1048576, 17,179,869,184 .* and 3|memory"):
        read(path)


def test_one_cell_below_is_read(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", {"A1": "id", "A2": "x", "B90000": "y"})
    assert read(path)["line"].to_list() == [2, 90_000]


def ods(path: Path, rows: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.xml", ODS.format(rows).replace("t:table-", "table:table-")
                         .replace("t:number", "table:number"))  # fmt: skip
    return path


def test_repeated_cells_of_ods_count_where_they_are_filled(tmp_path: Path) -> None:
    filled = 'office:value-type="string" t:number-columns-repeated="16384"'
    empty = 't:number-columns-repeated="16384"'
    require_room(ods(tmp_path / "a.ods", ROW.format(1_000_000, empty)))
    with pytest.raises(DataError, match="worksheet 'S': its cells reach from A1 to XFD1000000"):
        require_room(ods(tmp_path / "b.ods", ROW.format(1_000_000, filled)))


@pytest.mark.parametrize("lies", [False, True])
def test_what_it_unpacks_to_is_found_out_by_reading(tmp_path: Path, lies: bool) -> None:
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * (4 << 20))
    if lies:  # the directory says that it unpacks to one byte
        content, real = path.read_bytes(), (4 << 20).to_bytes(4, "little")
        path.write_bytes(content.replace(real, (1).to_bytes(4, "little")))
    with limited(1 << 20), pytest.raises(DataError, match="that unpacks to more than"):
        require_room(path)


@pytest.mark.parametrize("mark", [b"PK\x01\x02", b"PK\x03\x04"])
def test_what_is_no_archive_in_the_end_is_for_the_reader_to_tell(
    tmp_path: Path, mark: bytes
) -> None:
    path = workbook(tmp_path / "s.xlsx", {"A1": "id"})
    path.write_bytes(path.read_bytes().replace(mark, b"XX\x01\x02"))
    require_room(path)
    with pytest.raises(DataError, match=r"s\.xlsx: not a workbook that can be read"):
        read(path)
