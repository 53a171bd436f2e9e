"""People who fill in sheets: their names, how far they are, and runs that wait for them."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from tests.experiments.test_sheets import EXPERIMENT, fill, sheets

SWEEP = """
[sweep]
collect = ["%s"]

[sweep.over]
"stages.sample.size" = [2, 3]
"""


def rename(path: Path, annotator: str | None) -> None:
    """Put another name, or none, where the annotator's stands."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    column = next(cell.column for cell in head if cell.value == "annotator")
    for number in range(head[0].row + 1, page.max_row + 1):
        page.cell(number, column).value = annotator
    book.save(path)


def note(path: Path, text: str) -> None:
    """Note something on the first row."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    head = next(row for row in page.iter_rows() if any(cell.value == "id" for cell in row))
    column = next(cell.column for cell in head if cell.value == "note")
    page.cell(head[0].row + 1, column).value = text
    book.save(path)


def test_labels_of_nobody_are_a_fault_with_its_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    rename(sheets(folder)[0], None)
    assert main(["run", "x.toml", "--no-report"]) == 1
    said = capsys.readouterr().err
    assert "001-anna.xlsx: column annotator" in said
    assert "is empty: say who gave the label of this row" in said


def test_a_name_that_no_sheet_asks_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    rename(sheets(folder)[1], "benn")
    assert main(["run", "x.toml", "--no-report"]) == 1
    said = capsys.readouterr().err
    assert "002-ben.xlsx: column annotator" in said
    assert "was not asked: did you mean ben, anna?" in said
    path = folder / "x.toml"
    judgements = '[stages.judgements]\nformer = ["benn"]'
    path.write_text(path.read_text().replace("[stages.judgements]", judgements))
    assert main(["run", "x.toml", "--no-report", "--set", "stages.judgements.partial=true"]) == 0


def test_names_in_another_case_and_with_blanks_are_the_same_people(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    rename(sheets(folder)[1], " BEN")
    assert main(["sheets", "x.toml"]) == 0
    told = re.search(r"pairs/ben +(\d+) of (\d+) done", capsys.readouterr().out)
    assert told is not None
    assert told[1] == told[2]
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert len(sheets(folder)) == 2
    labelled = lx.show("x.toml").table("judgements.annotations")
    assert sorted(labelled["annotator"].unique()) == ["anna", "ben"]


def test_a_note_on_a_row_without_a_label_is_in_the_report(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    note(sheets(folder)[0], "what is this?")
    assert main(["run", "x.toml", "--set", "stages.judgements.partial=true"]) == 0
    assert lx.show("x.toml", settings={"stages.judgements.partial": True}).table(
        "judgements.notes"
    )["note"].to_list() == ["what is this?"]  # fmt: skip
    page = (folder / "runs" / "small" / "report" / "index.html").read_text()
    assert "what is this?" in page


def test_progress_is_told_while_something_before_the_sheets_has_to_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    path = folder / "x.toml"
    path.write_text(path.read_text().replace("examples = 2", "examples = 1"))
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"pairs/anna +0 of \d+ done; not begun", said)
    fill(sheets(folder)[0], only=1)
    assert main(["status", "x.toml"]) == 0
    assert re.search(r"pairs/anna +1 of \d+ done; last saved 20", capsys.readouterr().out)


def test_a_sweep_waits_for_people_only_where_it_has_to(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every point is run, and says what it would write, if what is stacked needs no label."""
    (folder / "x.toml").write_text(EXPERIMENT + SWEEP % "sample")
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert capsys.readouterr().err.count("sheet: would write a sheet") >= 2
    stacked = pl.read_parquet(folder / "runs/small/sweep/sample.parquet")
    assert stacked.height == 2 + 3
    assert not sheets(folder)
    (folder / "x.toml").write_text(EXPERIMENT + SWEEP % "sampled")
    assert main(["run", "x.toml", "--no-report"]) == 3


@pytest.mark.long
def test_a_report_that_waits_does_not_replace_a_whole_one(folder: Path) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    assert main(["run", "x.toml"]) == 0
    results = folder / "runs" / "small"
    whole = (results / "report" / "index.html").read_bytes()
    text = EXPERIMENT.replace("size = 6", "size = 8")
    (folder / "x.toml").write_text(text)
    assert main(["run", "x.toml"]) == 3
    assert (results / "report-last-good" / "index.html").read_bytes() == whole
    for path in sheets(folder):
        fill(path)
    assert main(["run", "x.toml"]) == 0
    assert not (results / "report-last-good").exists()


def test_a_file_that_is_no_sheet_is_named_and_left_aside(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    stray = sheets(folder)[0].with_name("remember.txt")
    stray.write_text("call ben\nabout the sheet\n")
    assert main(["run", "x.toml", "--no-report"]) == 3
    for path in sheets(folder):
        if path != stray:
            fill(path)
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"pairs/anna +(\d+) of \1 done", told)
    assert re.search(r"left aside .*remember.txt: is no sheet: no row has the column id", told)
    assert main(["run", "x.toml", "--no-report"]) == 0
    assert "remember.txt, line 1: is no sheet" in capsys.readouterr().err


def test_a_sheet_whose_header_is_damaged_is_refused_and_hides_nobody(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["run", "x.toml", "--no-report"])
    for path in sheets(folder):
        fill(path)
    anna = sheets(folder)[0]
    book = openpyxl.load_workbook(anna)
    head = next(row for row in book.worksheets[0].iter_rows() if row[0].value == "l1")
    next(cell for cell in head if cell.value == "id").value = "number"
    book.save(anna)
    capsys.readouterr()
    assert main(["sheets", "x.toml"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"pairs/ben +(\d+) of \1 done", told)
    assert "left aside" in told
    assert main(["run", "x.toml", "--no-report"]) == 1
    assert "Restore the header from the original sheet" in capsys.readouterr().err


def test_who_waits_is_told_how_to_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert "; partial = true goes on without" in capsys.readouterr().out
