"""Mutations of sheets that people fill in: what they type, and what a spreadsheet program saves."""

from __future__ import annotations

import io
import zipfile
from random import Random
from typing import Any

import openpyxl

from tests.mutation.byte_mutations import BYTES
from tests.mutation.cell_mutations import NUMBERS, TEXTS

_LABELS: tuple[Any, ...] = (
    *("SVC", " svc", "free", "Free ", "figurative", "frei", "?", "x", "SVC, free", "1", "n/a"),
    *(1, 0, 1.5, True, None, "=A1", "#REF!", "\u00a0SVC", "ＳＶＣ", "SVC\n", "-"),
)
"""What people type as labels."""
_WRITABLE = ("label", "note", "forms in the dictionary")


def workbook(random: Random, content: bytes) -> bytes:
    """Change a sheet in XLSX: its cells mostly, else what its archive holds."""
    if random.random() < 0.15:
        return random.choice(BYTES)(random, content)
    if random.random() < 0.15:
        return _member(random, content)
    book = openpyxl.load_workbook(io.BytesIO(content))
    for _ in range(random.choice([1, 1, 2, 4])):
        _change(random, book)
    if random.random() < 0.05:  # the last, since all rows up to it would be gone through
        _far(random, book.worksheets[0])
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def _change(random: Random, book: Any) -> None:
    page = book.worksheets[0]
    rows = list(page.iter_rows(max_row=max(page.max_row, 1)))
    header = next((row for row in rows if any(cell.value == "id" for cell in row)), rows[0])
    row = random.randint(header[0].row + 1, max(header[0].row + 1, page.max_row))
    random.choice(_CHANGES)(random, page, header, row)


def _typed(random: Random, page: Any, header: Any, row: int) -> None:
    """Type something into a cell that people fill in."""
    asked = [cell.column for cell in header if cell.value in _WRITABLE]
    if asked:
        page.cell(row, random.choice(asked)).value = random.choice(_LABELS)


def _any_cell(random: Random, page: Any, _header: Any, row: int) -> None:
    page.cell(row, random.randint(1, page.max_column)).value = _value(random)


def _row_gone(_random: Random, page: Any, _header: Any, row: int) -> None:
    page.delete_rows(row)


def _row_again(_random: Random, page: Any, header: Any, row: int) -> None:
    last = page.max_row + 1
    for place in range(1, len(header) + 1):
        page.cell(last, place).value = page.cell(row, place).value


def _blank_row(_random: Random, page: Any, _header: Any, row: int) -> None:
    page.insert_rows(row)


def _column_gone(random: Random, page: Any, _header: Any, _row: int) -> None:
    page.delete_cols(random.randint(1, max(1, page.max_column)))


def _sorted(random: Random, page: Any, header: Any, _row: int) -> None:
    first = header[0].row + 1
    values = [[cell.value for cell in row] for row in page.iter_rows(min_row=first)]
    random.shuffle(values)
    for number, row in enumerate(values, start=first):
        for place, value in enumerate(row, start=1):
            page.cell(number, place).value = value


def _more_sheets(random: Random, page: Any, _header: Any, _row: int) -> None:
    page.parent.create_sheet("more", random.choice([0, 1]))


def _renamed(random: Random, _page: Any, header: Any, _row: int) -> None:
    random.choice(header).value = random.choice(["ID", "Label", "", "x", None])


def _far(random: Random, page: Any) -> None:
    page.cell(random.choice([5_000, 1_048_576]), random.choice([1, 50])).value = "far"


_CHANGES = (
    *(_typed, _typed, _typed, _typed, _any_cell, _any_cell, _row_gone, _row_again, _blank_row),
    *(_column_gone, _sorted, _more_sheets, _renamed),
)


def _value(random: Random) -> Any:
    texts = [text for text in (*TEXTS, *NUMBERS) if not any(ord(letter) < 32 for letter in text)]
    return random.choice([*texts, *_LABELS])


def _member(random: Random, content: bytes) -> bytes:
    """Change or leave out a member of the archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = random.choice(sorted(members))
    if random.random() < 0.3:
        del members[chosen]
    else:
        members[chosen] = random.choice(BYTES)(random, members[chosen])
    saved = io.BytesIO()
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in members.items():
            archive.writestr(zipfile.ZipInfo(name), held)
    return saved.getvalue()
