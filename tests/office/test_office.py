"""Texts survive spreadsheet programs unchanged, and labels stay labels."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import openpyxl
import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.main import main
from pipeline.formats.spreadsheets import list_sheets, read, write_csv, write_xlsx
from pipeline.formats.spreadsheets.kinds import annotation_layout
from tests.office import spreadsheet
from tests.office.spreadsheet import labels, save_again, type_in

TEXTS = [
    "a\x07b", "a\rb", "a\r\nb", "a\tb", "\tb", "a\nb", "\x01", "\x1f", "_x000D_", "_x0041_x0042_",
    "a\\x07", "=1+1", "+1", "-x", "@a", " a ", "007", "'007", "1-2",
]  # fmt: skip
LAYOUT = annotation_layout(labels=["=1+1", "free"])


def sheet() -> pl.DataFrame:
    ids = [f"x{number:016x}" for number in range(len(TEXTS))]
    answers = ["=1+1" if number % 2 else None for number in range(len(TEXTS))]
    cells = {"l1": TEXTS, "l2": TEXTS, "label": answers, "note": TEXTS, "id": ids}
    return pl.DataFrame(cells).with_columns(annotator=pl.lit("a"))


@pytest.mark.long
@pytest.mark.parametrize("program", ["openpyxl", "office", "ods"])
def test_a_sheet_saved_by_a_program_has_the_same_texts(program: str, tmp_path: Path) -> None:
    path, rows = tmp_path / "s.xlsx", sheet()
    path.write_bytes(write_xlsx(rows, LAYOUT, title="t", instructions="i"))
    if program == "openpyxl":
        openpyxl.load_workbook(path).save(path)
    elif program == "office":
        spreadsheet.save_again(path, tmp_path / "scratch")
    else:
        path = spreadsheet.saved_as(path, tmp_path / "scratch", "ods")
    table = read(path, LAYOUT).sort("id")
    assert table.select("l1", "l2", "note", "label").equals(
        rows.select("l1", "l2", "note", "label")
    )


@pytest.mark.long
def test_choices_stay_texts_in_a_spreadsheet_program(tmp_path: Path) -> None:
    path = tmp_path / "s.xlsx"
    path.write_bytes(write_xlsx(sheet(), LAYOUT, title="t", instructions="i"))
    spreadsheet.save_again(path, tmp_path / "scratch")
    cells = [row[2] for row in openpyxl.load_workbook(path)["Choices"].rows]
    assert [(cell.value, cell.data_type) for cell in cells] == [("=1+1", "s"), ("free", "s")]


def test_a_csv_sheet_has_the_same_texts(tmp_path: Path) -> None:
    path, rows = tmp_path / "s.csv", sheet()
    path.write_bytes(write_csv(rows, LAYOUT))
    table = read(path, LAYOUT).sort("id")
    assert table.select("l1", "l2", "note", "label").equals(
        rows.select("l1", "l2", "note", "label")
    )


# Two people and a coordinator, from a corpus to an evaluation with all labels

VERBS = ["prendre", "donner", "faire"]
NOUNS = ["décision", "leçon", "part", "maison", "effet", "attention"]
EXPERIMENT = """
name = "walk"

[stages.candidates]
use = "extract.pairs"
corpus = "corpus.conllu"
relation = "dependency"
dependency = { label = "obj" }
left = { where = "upos = 'VERB'" }
right = { where = "upos = 'NOUN'" }
examples = 1

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
size = 8

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
examples = "candidates.examples"
folder = "pairs"
labels = ["SVC", "free"]
annotators = ["anna", "ben"]
overlap = 1

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["SVC"] }

[stages.agreement]
use = "evaluate.agreement"
annotations = "judgements.annotations"
replicates = 50

[stages.third]
use = "sheet.annotation"
candidates = "candidates"
sample = "agreement.disagreements"
folder = "third"
labels = ["SVC", "free"]
annotators = ["carla"]

[stages.decided]
use = "join.sheets"
sheet = "third"
labels = "third.labels"
folder = "third"
earlier = "judgements.annotations"
rule = "expert"
expert = "carla"
categories = { TP = ["SVC"] }

[stages.sampled]
use = "evaluate.precision"
ranks = "ranks"
judgements = "decided"
sample = "sample"
cuts = [5]

[report]
stages = ["sampled"]
"""


def sentence(verb: str, noun: str, times: int) -> str:
    """Return a sentence with a contracted article: il faut prendre (de + le) du <noun>."""
    rows = [
        "# text = Il va {} du {}.",
        "1\tIl\til\tPRON\t_\t_\t2\tnsubj\t_\t_",
        "2\tva\taller\tAUX\t_\t_\t0\troot\t_\t_",
        "3\t{}\t{}\tVERB\t_\t_\t2\txcomp\t_\t_",
        "4-5\tdu\t_\t_\t_\t_\t_\t_\t_\t_",
        "4\tde\tde\tADP\t_\t_\t6\tcase\t_\t_",
        "5\tle\tle\tDET\t_\t_\t6\tdet\t_\t_",
        "6\t{}\t{}\tNOUN\t_\t_\t3\tobj\t_\tSpaceAfter=No",
        "7\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_",
    ]
    text = "\n".join(rows) + "\n\n"
    return text.format(verb, noun, verb, verb, noun, noun) * times


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "the project"
    folder.mkdir()
    pairs = [(verb, noun) for verb in VERBS for noun in NOUNS]
    corpus = "".join(sentence(*pair, number % 4 + 1) for number, pair in enumerate(pairs))
    (folder / "corpus.conllu").write_text(corpus, encoding="utf-8")
    (folder / "walk.toml").write_text(EXPERIMENT, encoding="utf-8")
    monkeypatch.chdir(folder)
    return folder


class Person:
    """An annotator and the labels that this person gives."""

    def __init__(self, name: str, scratch: Path, strict: bool) -> None:
        self.name, self.scratch = name, scratch
        every = [f"{verb} {noun}" for verb in VERBS for noun in NOUNS]
        self.opinion = {
            pair: "SVC"
            if pair.startswith("prendre") or (not strict and "effet" in pair)
            else "free"
            for pair in every
        }
        self.typed = 0

    def fill_in_sheets(self, folder: Path, *, most: int | None = None) -> None:
        """Fill in the sheets of this person, and save them with the spreadsheet program."""
        for path in list_sheets(folder):
            if self.name in path.name:
                count = type_in(path, self.opinion, most=most)
                self.typed += count
                if count:
                    save_again(path, self.scratch / self.name)


def count_labels(project: Path) -> int:
    """Return the number of labels in all sheets."""
    return sum(len(labels(path)) for path in (project / "sheets").rglob("*.xlsx"))


class Walk:
    """The project, the people, and their steps."""

    def __init__(self, project: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.project, self.scratch, self.monkeypatch = project, scratch, monkeypatch
        self.config = project / "walk.toml"
        self.pairs, self.third = (project / "sheets" / "walk" / name for name in ("pairs", "third"))
        self.anna, self.carla = (Person(name, scratch, strict=False) for name in ("anna", "carla"))
        self.ben = Person("ben", scratch, strict=True)
        self.elsewhere = scratch / "elsewhere"
        self.elsewhere.mkdir()

    def check_from_elsewhere(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Use another folder, other options, other results: no sheet is added."""
        self.monkeypatch.chdir(self.elsewhere)
        capsys.readouterr()
        assert main(["status", str(self.config), "--runs", str(self.project / "runs")]) == 0
        output = capsys.readouterr().out
        assert "pairs/anna" in output
        assert "4 of 8 done" in output
        assert "0 of 8 done" in output
        what_if = ["--set", "stages.candidates.min_frequency=2"]
        for words in ([], what_if, ["--runs", str(self.scratch / "other")]):
            assert main(["run", str(self.config), "--no-report", *words]) == 3
        assert len(list_sheets(self.pairs)) == 2
        assert not list(self.elsewhere.rglob("*.xlsx"))
        self.monkeypatch.chdir(self.project)

    def decide(self) -> pl.DataFrame:
        """Let carla decide on disagreements of anna and ben; return the final judgements."""
        if main(["run", "walk.toml", "--no-report"]) == 3:
            self.carla.fill_in_sheets(self.third)
        assert main(["run", "walk.toml"]) == 0
        decided = lx.show("walk.toml").table("decided")
        assert decided["tp"].null_count() == 0
        return decided

    def enlarge(self) -> None:
        """Enlarge the sample: the new sheets have only the new rows."""
        self.config.write_text(EXPERIMENT.replace("size = 8", "size = 12"), encoding="utf-8")
        assert main(["run", "walk.toml", "--no-report"]) == 3
        assert len(list_sheets(self.pairs)) == 4
        for person in (self.anna, self.ben):
            person.fill_in_sheets(self.pairs)
            assert person.typed == 12

    def check_labels(self) -> None:
        """Compare the joined labels with those that each person gave."""
        run = lx.show("walk.toml")
        units = run.table("candidates").select("id", pair=pl.concat_str("l1", "l2", separator=" "))
        annotations = run.table("judgements.annotations").join(units, on="id")
        assert Counter(annotations["annotator"]) == {"anna": 12, "ben": 12}
        opinions = {"anna": self.anna.opinion, "ben": self.ben.opinion}
        for annotator, label, pair in annotations["annotator", "label", "pair"].rows():
            assert opinions[annotator][pair] == label

    def check_reproduction(self) -> None:
        """Compute everything again from another folder: only the sheets are needed."""
        digests = lx.show("walk.toml").manifests
        self.monkeypatch.chdir(self.elsewhere)
        runs = str(self.scratch / "anew")
        assert main(["run", str(self.config), "--runs", runs, "--no-report"]) == 0
        anew = lx.show(self.config, runs=runs)
        for stage in ("decided", "sampled"):
            assert anew.manifests[stage].digests() == digests[stage].digests()


@pytest.mark.long
def test_two_people_and_a_coordinator_complete_an_evaluation(
    project: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if spreadsheet.PROGRAM is None:
        assert not spreadsheet.REQUIRED, "make office needs LibreOffice"
        warnings.warn(f"sheets are saved by {spreadsheet.NAME}", stacklevel=1)
    walk = Walk(project, tmp_path, monkeypatch)
    assert main(["run", "walk.toml"]) == 3
    assert [path.name for path in list_sheets(walk.pairs)] == ["001-anna.xlsx", "002-ben.xlsx"]

    walk.anna.fill_in_sheets(walk.pairs, most=4)
    walk.check_from_elsewhere(capsys)
    walk.anna.fill_in_sheets(walk.pairs)
    walk.ben.fill_in_sheets(walk.pairs)
    first = walk.decide()
    assert first.height == 8
    assert walk.carla.typed

    walk.enlarge()
    larger = walk.decide()
    assert larger.height == 12
    both = first.join(larger, on=["category", "id"], suffix="_later")
    assert both.height == 8
    assert both["tp"].equals(both["tp_later"])

    walk.check_labels()
    walk.check_reproduction()
    everybody = (walk.anna, walk.ben, walk.carla)
    assert count_labels(project) == sum(person.typed for person in everybody)
