"""People in the loop: sheets written once, filled by hand, joined, kept for later samples."""

from __future__ import annotations

import re
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.errors import ConfigError, DataError
from pipeline.formats.spreadsheets import listing
from pipeline.runner.inputs import sheet_files

EXPERIMENT = """
name = "small"

[stages.candidates]
use = "extract.pairs"
corpus = "corpus.conllu"
left = { where = "upos = 'NOUN'", label = "{lemma}" }
right = { where = "upos = 'VERB'", label = "{lemma}" }
examples = 2

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["mi", "t_score"]

[stages.ranks]
use = "score.rank"
scores = "scores"

[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 6

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
examples = "candidates.examples"
folder = "pairs"
labels = ["SVC", "free"]
annotators = ["anna", "ben"]
overlap = 0.5

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["SVC"] }

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [5]
"""
NOUNS = ["nan", "007", "=SUM(A1)", "كتاب", "2-3", "+x", "TRUE", "a b"]


def sentence(noun: str, verb: str) -> str:
    rows = [
        f"1\t{noun}\t{noun}\tNOUN\t_\t_\t2\tnsubj\t_\t_",
        f"2\t{verb}s\t{verb}\tVERB\t_\t_\t0\troot\t_\t_",
    ]
    return "\n".join(rows) + "\n\n"


def sheets(folder: Path) -> list[Path]:
    return listing(folder / "sheets" / "small" / "pairs")


def rows(folder: Path) -> pl.DataFrame:
    return pl.concat(
        file.scan() for file in sheet_files(folder / "sheets" / "small" / "pairs")
    ).collect()


def asked(folder: Path) -> dict[str, int]:
    """Return how many rows everybody has."""
    return dict(rows(folder)["annotator"].value_counts().iter_rows())


def fill(path: Path, label: str = "SVC", *, only: int | None = None) -> None:
    """Type a label into the rows of a sheet, as a spreadsheet program would save it."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(c.value == "id" for c in row))
    column = next(cell.column for cell in header if cell.value == "label")
    last = page.max_row if only is None else header[0].row + only
    for number in range(header[0].row + 1, last + 1):
        page.cell(number, column).value = label
    book.save(path)


def test_run_waits_then_goes_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    said = capsys.readouterr()
    wanted = rows(folder).height
    whose = ", ".join(f"{n} of {who}" for who, n in sorted(asked(folder).items()))
    assert f"sheets/small/pairs waits for {wanted} labels: {whose}; such as " in said.out
    assert "not run: rests on judgements" in said.err
    assert [path.name for path in sheets(folder)] == ["001-anna.xlsx", "002-ben.xlsx"]
    fill(sheets(folder)[0])
    assert main(["run", "x.toml", "--no-report"]) == 3
    left = asked(folder)["ben"]
    assert f"waits for {left} labels: {left} of ben; such as " in capsys.readouterr().out
    fill(sheets(folder)[1], "svc ")
    assert main(["run", "x.toml", "--no-report"]) == 0
    done = lx.show("x.toml")
    assert done.table("sampled.baseline").row(0, named=True)["k_sampled"] == 6


def test_sheets_are_blind_and_hold_odd_words(waiting: Path) -> None:
    found = rows(waiting)
    filled = {each.name for each in found if each.null_count() < found.height}
    assert filled == {"file", "line", "annotator", "id", "l1", "l2"}
    of_tuples = {"l3", "l4", "l5", "l6"}
    assert set(found.columns) == filled | {"label", "note"} | of_tuples
    candidates = lx.show("x.toml").table("candidates")
    both = found.join(candidates, on="id", suffix="_true")
    assert both.height == found.height
    assert both.select((pl.col("l1") == pl.col("l1_true")).all()).item()
    page = openpyxl.load_workbook(sheets(waiting)[0]).worksheets[0]
    texts = [str(cell.value) for row in page.iter_rows() for cell in row if cell.value]
    assert any("[[" in text for text in texts)
    assert not any(name in texts for name in ("mi", "t_score", "score", "f"))


def test_a_sheet_that_is_there_is_never_written_again(waiting: Path) -> None:
    fill(sheets(waiting)[0])
    before = {path: path.read_bytes() for path in sheets(waiting)}
    main(["run", "x.toml", "--no-report", "--force", "sheet"])
    main(["run", "x.toml", "--no-report", "--set", 'stages.sheet.instructions="other"'])
    assert {path: path.read_bytes() for path in sheets(waiting)} == before


def test_a_larger_sample_gives_a_sheet_with_the_new_rows_alone(waiting: Path) -> None:
    for path in sheets(waiting):
        fill(path)
    first = rows(waiting)
    assert (
        main(["run", "x.toml", "--no-report", "--deliver", "--set", "stages.sample.size=10"]) == 3
    )
    later = rows(waiting).filter(~pl.col("file").is_in(first["file"].unique().implode()))
    assert later.height > 0
    assert not set(later["id"]) & set(first["id"])
    for path in sheets(waiting)[2:]:
        fill(path, "free")
    assert main(["run", "x.toml", "--no-report", "--set", "stages.sample.size=10"]) == 0
    base = lx.show("x.toml", settings={"stages.sample.size": 10}).table("sampled.baseline")
    assert base.row(0, named=True)["k_sampled"] == 6
    assert main(["run", "x.toml", "--no-report", "--set", "stages.sample.size=3"]) == 0
    smaller = lx.show("x.toml", settings={"stages.sample.size": 3})
    asked = set(smaller.table("sheet")["id"])
    others = smaller.table("judgements.others")
    assert set(others["id"]) == set(rows(waiting)["id"]) - asked
    assert others["file"].is_in([path.name for path in sheets(waiting)]).all()


def test_partial_annotation_can_be_evaluated(waiting: Path) -> None:
    fill(sheets(waiting)[0], only=2)
    assert main(["run", "x.toml", "--no-report", "--set", "stages.judgements.partial=true"]) == 0
    done = lx.show("x.toml", settings={"stages.judgements.partial": True})
    assert done.table("sampled.baseline").row(0, named=True)["n_sampled"] == 2


def test_faults_name_sheet_and_row_and_nothing_is_joined(waiting: Path) -> None:
    path = sheets(waiting)[0]
    fill(path)
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = {cell.value: cell.column for cell in page[1]}
    page.cell(2, header["label"]).value = "SVK"
    page.cell(3, header["l1"]).value = "something else"
    book.save(path)
    before = path.read_bytes()
    with pytest.raises(DataError) as error:
        lx.run("x.toml", report=False)
    said = str(error.value)
    assert "001-anna.xlsx" in said
    assert "did you mean SVC" in said
    assert "line 2: 'SVK'" in said
    assert "do not belong together" in said
    assert path.read_bytes() == before
    with pytest.raises(Exception, match="has not been made yet"):
        lx.show("x.toml").table("judgements")


def test_csv_saved_with_semicolons_and_a_byte_order_mark(folder: Path) -> None:
    main(["run", "x.toml", "--no-report", "--deliver", "--set", 'stages.sheet.kind="csv"'])
    for path in sheets(folder):
        table = pl.read_csv(path, infer_schema=False).with_columns(label=pl.lit("SVC"))
        text = table.write_csv(separator=";", quote_style="always")
        path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert main(["run", "x.toml", "--no-report", "--set", 'stages.sheet.kind="csv"']) == 0


def test_deleted_rows_are_missing_and_come_back_on_a_new_sheet(waiting: Path) -> None:
    path = sheets(waiting)[0]
    gone = rows(waiting).filter(file=path.name).height
    path.unlink()
    fill(sheets(waiting)[0])
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert 0 < rows(waiting).filter(pl.col("annotator") == "anna").height <= gone


def test_annotators_differ(folder: Path) -> None:
    main(["run", "x.toml", "--no-report", "--deliver", "--set", "stages.sheet.overlap=1"])
    fill(sheets(folder)[0], "SVC")
    fill(sheets(folder)[1], "free")
    settings = {"stages.sheet.overlap": 1}
    undecided = lx.run("x.toml", report=False, settings=settings).table("sampled.baseline")
    row = undecided.row(0, named=True)
    assert (row["n_undecided"], row["n_unjudged"], row["n_drawn"]) == (6, 0, 6)
    rule = {"stages.judgements.rule": "expert", "stages.judgements.expert": "anna"}
    expert = lx.run("x.toml", report=False, settings=settings | rule).table("sampled.baseline")
    assert expert.row(0, named=True)["k_sampled"] == 6
    rule["stages.judgements.expert"] = "ana"
    with pytest.raises(ConfigError, match="asks nobody called 'ana'; did you mean anna"):
        lx.check("x.toml", settings=settings | rule)
    lx.check("x.toml", settings=settings | rule | {"stages.judgements.former": ["Ana "]})


@pytest.mark.parametrize("option", [[], ["--no-deliver"]])
def test_a_what_if_writes_no_sheets(
    waiting: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    before = {path: path.read_bytes() for path in sheets(waiting)}
    capsys.readouterr()
    assert main(["run", "x.toml", "--no-report", *option, "--set", "stages.sample.size=10"]) == 3
    said = capsys.readouterr().err
    assert {path: path.read_bytes() for path in sheets(waiting)} == before
    assert "would write a sheet with" in said
    assert "--deliver writes it" in said
    assert lx.run("x.toml", report=False, settings={"stages.sample.size": 10}).waits
    assert {path: path.read_bytes() for path in sheets(waiting)} == before
    assert lx.run("x.toml", report=False, settings={"stages.sample.size": 10}, deliver=True).waits
    assert len(sheets(waiting)) > len(before)


def test_progress_of_each_annotator(waiting: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(sheets(waiting)[0], only=2)
    fill(sheets(waiting)[1])
    anna, ben = asked(waiting)["anna"], asked(waiting)["ben"]
    for command in ("status", "sheets"):
        capsys.readouterr()
        assert main([command, "x.toml"]) == 0
        said = capsys.readouterr().out
        assert re.search(rf"pairs/anna +2 of {anna} done; last saved 20\d\d-", said)
        assert re.search(rf"pairs/ben +{ben} of {ben} done; last saved", said)


def test_gc_while_a_sheet_waits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Somebody is not done yet: results of no use go, nothing that a person made does."""
    main(["run", "x.toml", "--no-report", "--set", "stages.candidates.examples=1"])
    main(["run", "x.toml", "--no-report"])
    fill(sheets(folder)[0], only=1)
    (folder / "runs" / "small" / "sheet" / "notes.txt").write_text("typed by a person")
    before = {path: path.read_bytes() for path in sheets(folder)}
    capsys.readouterr()
    assert main(["gc", "x.toml"]) == 0
    said = capsys.readouterr().out
    assert "kept: all results of judgements, sampled" in said
    assert re.search(r"removed, [1-9]\d* folder", said)
    assert {path: path.read_bytes() for path in sheets(folder)} == before
    assert (folder / "runs" / "small" / "sheet" / "notes.txt").read_text() == "typed by a person"
    fill(sheets(folder)[0])
    fill(sheets(folder)[1])
    assert main(["run", "x.toml", "--no-report"]) == 0


def test_a_report_of_what_is_there_while_judgements_wait(folder: Path) -> None:
    views = '[report.views.ranks]\njudgements = "judgements"\n'
    (folder / "x.toml").write_text(EXPERIMENT + views)
    assert main(["run", "x.toml"]) == 3
    page = (folder / "runs" / "small" / "report" / "index.html").read_text()
    assert "This report is not whole yet" in page
    assert re.search(r"<strong>judgements</strong> waits for 8 labels: \d of anna, \d of ben", page)
    assert "<strong>sampled</strong> rests on judgements" in page
    assert "Without marks: there are no judgements in judgements yet." in page
    assert "Not there yet: rests on judgements." in page
    assert "small/pairs" not in page.partition("Provenance</h2>")[0]
    done = lx.run("x.toml")
    assert [wait.missing for wait in done.waits] == [8]
    assert done.report
    for path in sheets(folder):
        fill(path)
    assert main(["run", "x.toml"]) == 0
    page = done.report.read_text()
    assert "not whole" not in page
    assert "true positive (TP)" in page


def test_labels_beside_other_examples_count(folder: Path) -> None:
    """As the version before wrote them: an example is no part of what a row is about."""
    assert main(["run", "x.toml", "--no-report"]) == 3
    shown = lx.run("x.toml", report=False).table("candidates.examples").get_column("text").to_list()
    for sheet in sheets(folder):
        fill(sheet)
    before = {path: path.read_bytes() for path in sheets(folder)}
    experiment = EXPERIMENT.replace("examples = 2", 'examples = 2\nform = "lemma"')
    (folder / "x.toml").write_text(experiment)
    done = lx.run("x.toml", report=False)
    assert done.table("candidates.examples").get_column("text").to_list() != shown
    assert not done.waits
    assert {path: path.read_bytes() for path in sheets(folder)} == before


def test_a_sheet_shows_what_the_corpus_shows(folder: Path) -> None:
    words = [
        "1\tL'\tle\tDET\t_\t_\t2\tdet\t_\tSpaceAfter=No",
        "2\tincidence\tincidence\tNOUN\t_\t_\t6\tnsubj\t_\t_",
        "3-4\tdes\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\tde\tde\tADP\t_\t_\t5\tcase\t_\t_",
        "4\tles\tle\tDET\t_\t_\t5\tdet\t_\t_",
        "5\tsymptômes\tsymptôme\tNOUN\t_\t_\t2\tnmod\t_\t_",
        "6\tbaisse\tbaisser\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No",
        "7\t.\t.\tPUNCT\t_\t_\t6\tpunct\t_\t_",
    ]
    (folder / "corpus.conllu").write_text("\n".join(words) + "\n\n")
    short = EXPERIMENT.replace("size = 6", "size = 2").replace(
        "examples = 2", "examples = 2\nexample_width = 28"
    )
    (folder / "x.toml").write_text(short)
    found = lx.run("x.toml", report=False).table("sheet.sheet")
    assert set(found.get_column("example_1")) == {
        "L'[[incidence]] des […] [[baisse]].",
        "[…] des [[symptômes]] [[baisse]].",
    }
