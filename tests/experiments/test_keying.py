"""A dictionary on paper: the run waits for keying sheets, and goes on with what was typed."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import listing

EXPERIMENT = """
name = "small"
[stages.lexicon]
use = "extract.lexicon"
path = "lexicon.tsv"
[stages.sample]
use = "sample.lemmas"
lexicons = ["lexicon"]
rate = RATE
[stages.sheet]
use = "sheet.keying"
lexicon = "lexicon"
sample = "sample"
folder = "small"
kind = "xlsx"
[stages.keyed]
use = "join.keying"
sheet = "sheet"
folder = "small"
[stages.overlaps]
use = "score.lexicon"
gold = "keyed"
lexicon = "lexicon"
[stages.quality]
use = "evaluate.lexicon"
gold = "keyed"
lexicon = "lexicon"
overlaps = "overlaps"
sample = "sample"
complete = false
[report.views.quality]
figures = false
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [(f"l{i}", form) for i in range(8) for form in (f"l{i}", f"l{i}s", f"l{i}ed")]
    text = "lemma\tform\n" + "".join(f"{lemma}\t{form}\n" for lemma, form in rows)
    (tmp_path / "lexicon.tsv").write_text(text)
    (tmp_path / "x.toml").write_text(EXPERIMENT.replace("RATE", "0.5"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sheets(folder: Path) -> list[Path]:
    return listing(folder / "sheets" / "small" / "small")


def fill(path: Path, typed: str) -> list[str]:
    """Type forms into every row, {} standing for the lemma; return what the lexicon's are."""
    book = openpyxl.load_workbook(path)
    page = book.worksheets[0]
    header = next(row for row in page.iter_rows() if any(c.value == "id" for c in row))
    at = {cell.value: cell.column for cell in header}
    shown = []
    for number in range(header[0].row + 1, page.max_row + 1):
        lemma = page.cell(number, at["lemma"]).value
        page.cell(number, at["forms in the dictionary"]).value = typed.format(lemma)
        shown.append(page.cell(number, at["forms in the lexicon"]).value)
    book.save(path)
    return shown


def test_wait_fill_go_on(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert "sheets/small/small waits for 4 lemmas" in capsys.readouterr().out
    assert len(sheets(folder)) == 1
    shown = fill(sheets(folder)[0], "{0}, {0}s; {0}en, {0}es")
    assert all(forms.count(", ") == 2 for forms in shown)
    before = sheets(folder)[0].read_bytes()
    assert main(["run", "x.toml", "--no-report"]) == 0
    row = lx.show("x.toml").table("quality.lemmas").row(0, named=True)
    assert (row["n_gold"], row["n_match"], row["n_common"], row["population"]) == (4, 3, 2, 8)
    assert sheets(folder)[0].read_bytes() == before


def test_a_larger_sample_asks_for_the_new_lemmas_alone(folder: Path) -> None:
    assert main(["run", "x.toml", "--no-report"]) == 3
    fill(sheets(folder)[0], "{0}")
    (folder / "x.toml").write_text(EXPERIMENT.replace("RATE", "1.0"))
    assert main(["run", "x.toml", "--no-report"]) == 3
    assert len(sheets(folder)) == 2
    assert len(fill(sheets(folder)[1], "-")) == 4
    assert main(["run", "x.toml", "--no-report"]) == 0
    keyed = lx.show("x.toml").table("keyed.keyed")
    assert (keyed.height, keyed["found"].sum()) == (8, 4)
    assert lx.show("x.toml").table("quality.lemmas")["population"].unique().to_list() == [4]


def test_a_spoilt_row_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["run", "x.toml", "--no-report"])
    fill(sheets(folder)[0], "{0}, -")
    assert main(["run", "x.toml", "--no-report"]) == 1
    said = capsys.readouterr().err
    assert "column forms: 4 x holds forms and a -" in said
    assert "001-annotator.xlsx" in said
