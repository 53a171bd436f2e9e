"""Sheets of tuples: all units on them, and no id beside other units than its own."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import DataError
from pipeline.formats.spreadsheets import listing
from pipeline.kernels.sampling import candidate_id

EXPERIMENT = """
name = "x"
seed = "s"

[stages.triples]
use = "extract.tuples"
corpus = "c.conllu"
relation = "adjacent"
length = 3
unit = { label = "{lemma}" }
examples = 1

[stages.sample]
use = "sample.random"
candidates = "triples"
size = 6

[stages.sheet]
use = "sheet.annotation"
candidates = "triples"
sample = "sample"
examples = "triples.examples"
folder = "triples"
labels = ["fixed", "free"]
kind = "KIND"

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "triples"
categories = { TP = ["fixed"] }
"""
CORPUS = "".join(
    f"1\t{first}\t{first}\tVERB\t_\t_\t0\troot\t_\t_\n2\t007\t007\tNUM\t_\t_\t1\tobj\t_\t_\n"
    f"3\t{last}\t{last}\tADV\t_\t_\t1\tadvmod\t_\t_\n\n"
    for first in ("give", "take", "=A1")
    for last in ("now", "2-3")
)
Change = Callable[[dict[str, str | None]], dict[str, str | None]]


def run(folder: Path, kind: str) -> lx.Run:
    (folder / "c.conllu").write_text(CORPUS, encoding="utf-8")
    (folder / "x.toml").write_text(EXPERIMENT.replace("KIND", kind))
    return lx.run(folder / "x.toml", runs=folder / "runs", report=False)


def sheet(folder: Path) -> Path:
    (path,) = listing(folder / "sheets" / "x" / "triples")
    return path


def rewrite(path: Path, change: Change) -> None:
    """Change every row of a sheet, and save it as a program would."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as opened:
            rows = [change(dict(row)) for row in csv.DictReader(opened)]
        with path.open("w", encoding="utf-8-sig", newline="") as opened:
            writer = csv.DictWriter(opened, list(rows[0]), quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)
        return
    book = openpyxl.load_workbook(path)
    page = book["Sheet"]
    names = [str(cell.value) for cell in page[1]]
    for number in range(2, page.max_row + 1):
        cells = dict(zip(names, page[number], strict=True))
        for name, value in change({name: cell.value for name, cell in cells.items()}).items():
            if value != cells[name].value:  # =A1, typed anew, would be a formula
                cells[name].value = value
    book.save(path)


def labelled(row: dict[str, str | None]) -> dict[str, str | None]:
    return row | {"label": "fixed" if row["l1"] == "give" else "free"}


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
def test_a_filled_sheet_of_triples_joins(kind: str, tmp_path: Path) -> None:
    first = run(tmp_path, kind)
    (waits,) = first.waits
    assert waits.missing == 6
    assert all(shown.endswith((" 007 now", " 007 2-3")) for shown in waits.such_as)
    rewrite(sheet(tmp_path), labelled)
    done = run(tmp_path, kind)
    triples = done.table("triples").select("id", "l1", "l2", "l3")
    made = done.table("judgements").join(triples, on="id")
    assert made.height == 6
    assert made.filter("tp").select("l1", "l2", "l3").sort("l3").rows() == [
        ("give", "007", "2-3"), ("give", "007", "now"),
    ]  # fmt: skip
    assert triples.select(candidate_id("l1", "l2", "l3")).equals(triples.select("id"))


@pytest.mark.parametrize("kind", ["xlsx", "csv"])
@pytest.mark.parametrize("typed", ["then", None])
def test_a_changed_third_unit_is_a_fault(kind: str, typed: str | None, tmp_path: Path) -> None:
    def spoilt(row: dict[str, str | None]) -> dict[str, str | None]:
        changed = row["l1"] == "give" and row["l3"] == "now"
        return labelled(row) | ({"l3": typed} if changed else {})

    run(tmp_path, kind)
    rewrite(sheet(tmp_path), spoilt)
    with pytest.raises(DataError, match="id and tuple do not belong together") as error:
        run(tmp_path, kind)
    assert "1 " in str(error.value)
    assert sheet(tmp_path).name in str(error.value)


def test_the_sheet_shows_all_units_beside_the_label(tmp_path: Path) -> None:
    run(tmp_path, "xlsx")
    book = openpyxl.load_workbook(sheet(tmp_path))
    names = [cell.value for cell in book["Sheet"][1]]
    assert names[:6] == ["l1", "l2", "l3", "label", "note", "example 1"]
    assert names[-2:] == ["annotator", "id"]
    said = [str(cell.value) for cell in book["Instructions"]["A"]]
    assert "l3: Third unit." in said
    assert any(line.startswith("example 1: The tuple stands in [[ ]]") for line in said)


def test_pairs_with_a_column_l3_of_their_own_stay_pairs(tmp_path: Path) -> None:
    (tmp_path / "c.tsv").write_text("l1\tl2\tf\tf1\tf2\tN\na\tb\t1\t2\t2\t9\n")
    text = EXPERIMENT.partition("[stages.sample]")
    pairs = '[stages.triples]\nuse = "extract.table"\npath = "c.tsv"\nkeep = { l3 = "f1" }\n'
    rest = text[2].replace("size = 6", "size = 1").replace('examples = "triples.examples"\n', "")
    (tmp_path / "x.toml").write_text(f'name = "x"\n{pairs}{text[1]}{rest}'.replace("KIND", "csv"))
    done = lx.run(tmp_path / "x.toml", runs=tmp_path / "runs", report=False)
    assert done.table("triples").schema["l3"] == pl.Float64
    assert done.table("sheet").columns == ["annotator", "order", "id", "l1", "l2"]
