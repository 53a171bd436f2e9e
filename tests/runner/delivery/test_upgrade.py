"""Sheets that an earlier version wrote, and people half filled, keep counting.

The folders of ``upgrade/`` were written by the version before families became folders: two
annotators of pairs in XLSX, one of trigrams in CSV, one who keys in a dictionary. Clusterings
have no sheets of their own.
"""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import listing

OLD = Path(__file__).with_name("upgrade")
MISSING = {"pairs": "7 labels", "tuples": "3 labels", "keying": "3 lemmas"}
COLUMN = {"pairs": "label", "tuples": "label", "keying": "forms in the dictionary"}


@pytest.fixture(params=MISSING)
def name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An experiment with half-filled sheets, in the working folder."""
    shutil.copytree(OLD / str(request.param), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return str(request.param)


def complete(path: Path, column: str, value: str) -> int:
    """Type a value into every row that has none; return how many there were."""
    return (complete_csv if path.suffix == ".csv" else complete_xlsx)(path, column, value)


def complete_csv(path: Path, column: str, value: str) -> int:
    with path.open(encoding="utf-8-sig", newline="") as opened:
        rows = list(csv.DictReader(opened))
    empty = [row for row in rows if not row[column]]
    for row in empty:
        row[column] = value
    with path.open("w", encoding="utf-8-sig", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return len(empty)


def complete_xlsx(path: Path, column: str, value: str) -> int:
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    at = {cell.value: cell.column for cell in header}
    empty = [
        number
        for number in range(header[0].row + 1, page.max_row + 1)
        if page.cell(number, at["id"]).value and not page.cell(number, at[column]).value
    ]
    for number in empty:
        page.cell(number, at[column]).value = value
    book.save(path)
    return len(empty)


def test_asks_for_what_is_missing_alone(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.read_bytes() for path in listing(Path("sheets") / name)}
    assert before
    assert main(["run", f"{name}.toml", "--no-report"]) == 3
    assert f"waits for {MISSING[name]}" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in listing(Path("sheets") / name)} == before


def test_old_labels_count(name: str) -> None:
    value = "-" if name == "keying" else "free"
    typed = [complete(path, COLUMN[name], value) for path in listing(Path("sheets") / name)]
    assert f"{sum(typed)} " in f"{MISSING[name]} "
    assert main(["run", f"{name}.toml", "--no-report"]) == 0
    done = lx.show(f"{name}.toml")
    if name == "keying":
        keyed = done.table("keyed.keyed").filter(pl.col("found"))
        assert keyed["lemma"].n_unique() == 2
        forms = done.table("keyed.gold")["form"].drop_nulls().to_list()
        assert sum(form.endswith("en") for form in forms) == 1
    else:
        judged = done.table("judgements.judgements")
        assert judged.height == {"pairs": 8, "tuples": 6}[name]
        assert judged["tp"].sum() == 1
        assert judged["tp"].null_count() == {"pairs": 1, "tuples": 0}[name]  # they differ on one
