"""A spreadsheet program: LibreOffice if it is installed, otherwise openpyxl."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import openpyxl

PROGRAM = shutil.which("soffice")
"""The path of LibreOffice, if it is installed."""
REQUIRED = bool(os.environ.get("LEXASSAY_OFFICE"))
"""Whether LibreOffice is required, as in `make office`."""
NAME = "LibreOffice" if PROGRAM else "openpyxl, as LibreOffice is not installed"


def save_again(path: Path, scratch: Path) -> None:
    """Open a workbook and save it, as the spreadsheet program of an annotator does."""
    if PROGRAM is None:
        openpyxl.load_workbook(path).save(path)
        return
    shutil.move(saved_as(path, scratch, "xlsx"), path)


def saved_as(path: Path, scratch: Path, kind: str) -> Path:
    """Save a workbook as another kind of file; without LibreOffice, return it unchanged."""
    if PROGRAM is None:
        return path
    scratch.mkdir(exist_ok=True)
    profile = f"-env:UserInstallation=file://{scratch / 'profile'}"
    words = [PROGRAM, profile, "--headless", "--convert-to", kind, "--outdir", str(scratch)]
    words.append(str(path))
    result = subprocess.run(words, check=False, capture_output=True, text=True, timeout=180)
    saved = (scratch / path.name).with_suffix(f".{kind}")
    assert saved.is_file(), result.stdout + result.stderr
    return saved


def labels(path: Path) -> dict[str, str]:
    """Return the labels in a workbook by pair."""
    page = openpyxl.load_workbook(path).worksheets[0]
    rows = [[cell.value for cell in row] for row in page.iter_rows()]
    head = next(row for row in rows if "id" in row)
    below = rows[rows.index(head) + 1 :]
    at = {name: head.index(name) for name in ("l1", "l2", "label")}
    return {
        f"{row[at['l1']]} {row[at['l2']]}": str(row[at["label"]])
        for row in below
        if row[at["label"]] not in {None, ""}
    }


def type_in(path: Path, answers: dict[str, str], *, most: int | None = None) -> int:
    """Fill empty labels with those of each pair, and return the number of new labels."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    at = {cell.value: cell.column for cell in head}
    count = 0
    for number in range(head[0].row + 1, page.max_row + 1):
        pair = f"{page.cell(number, at['l1']).value} {page.cell(number, at['l2']).value}"
        cell = page.cell(number, at["label"])
        if cell.value in {None, ""} and pair in answers and (most is None or count < most):
            cell.value = answers[pair]
            count += 1
    book.save(path)
    return count
