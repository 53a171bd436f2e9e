"""A spreadsheet program: LibreOffice where it is installed, openpyxl in its place elsewhere."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import openpyxl

PROGRAM = shutil.which("soffice")
"""LibreOffice, if it is there."""
REQUIRED = bool(os.environ.get("LEXASSAY_OFFICE"))
"""Whether `make office` asks for it."""
NAME = "LibreOffice" if PROGRAM else "openpyxl, as LibreOffice is not installed"


def save_again(path: Path, scratch: Path) -> None:
    """Open a workbook and save it, as the program of somebody who filled it in does."""
    if PROGRAM is None:
        openpyxl.load_workbook(path).save(path)
        return
    shutil.move(saved_as(path, scratch, "xlsx"), path)


def saved_as(path: Path, scratch: Path, kind: str) -> Path:
    """Save a workbook as another kind of file; without the program, return it as it is."""
    if PROGRAM is None:
        return path
    scratch.mkdir(exist_ok=True)
    profile = f"-env:UserInstallation=file://{scratch / 'profile'}"
    words = [PROGRAM, profile, "--headless", "--convert-to", kind, "--outdir", str(scratch)]
    words.append(str(path))
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=180)
    saved = (scratch / path.name).with_suffix(f".{kind}")
    assert saved.is_file(), done.stdout + done.stderr
    return saved


def labels(path: Path) -> dict[str, str]:
    """Return what stands in the column of labels, by the pair."""
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


def type_in(path: Path, wanted: dict[str, str], *, most: int | None = None) -> int:
    """Type the label of each pair into the rows that are empty; return how many were typed."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    at = {cell.value: cell.column for cell in head}
    typed = 0
    for number in range(head[0].row + 1, page.max_row + 1):
        pair = f"{page.cell(number, at['l1']).value} {page.cell(number, at['l2']).value}"
        cell = page.cell(number, at["label"])
        if cell.value in {None, ""} and pair in wanted and (most is None or typed < most):
            cell.value = wanted[pair]
            typed += 1
    book.save(path)
    return typed
