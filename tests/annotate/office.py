"""A small experiment that asks two people for labels, and the work of its pages."""

from __future__ import annotations

import csv
import itertools
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import pipeline as lx
from pipeline.annotate.tasks import SheetWork, open_work
from pipeline.api.results import Run
from pipeline.api.run import run
from pipeline.formats.annotation_log import (
    Decision,
    Outcome,
    Round,
    TaskRequest,
    append,
    open_log,
    update_tasks,
)
from pipeline.formats.spreadsheets import list_sheets

# Short functions that add tasks and answers to a database of decisions.

_KEYS = itertools.count()


def ask(connection: sqlite3.Connection, people: Sequence[str], ids: Sequence[str]) -> None:
    """Ask everybody for every item, in this order."""
    items = {each: {"units": {"l1": f"left {each}", "l2": f"right {each}"}} for each in ids}
    tasks = [TaskRequest(who, each, n) for who in people for n, each in enumerate(ids, 1)]
    update_tasks(connection, items, tasks)


def say_desk(
    connection: sqlite3.Connection,
    who: str,
    labels: Iterable[tuple[str, str]],
    *,
    unsure: bool = False,
    note: str = "",
    round_name: Round = "annotation",
    seconds: float | None = None,
) -> list[Outcome]:
    """Let a person give labels."""
    return append(connection, [
        Decision(f"key-{next(_KEYS):08d}", who, each, answer=label, unsure=unsure, note=note,
                 round_name=round_name, seconds=seconds)
        for each, label in labels
    ])  # fmt: skip


# A small experiment with labels from the browser, and the true label of each pair.

_DATA = Path(__file__).parent.parent.parent / "data" / "candidates.tsv"
BEGINNING = """
name = "small"
seed = "s"

[stages.candidates]
use = "extract.table"
path = "candidates.tsv"

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["t_score", "mi"]

[stages.ranks]
use = "score.rank"
scores = "scores"

[stages.sample]
SAMPLE
[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "sample"
folder = "desk"
labels = ["yes", "no"]
annotators = ["ana", "ben"]
overlap = 0.3
kind = "csv"

[stages.judgements]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "desk"
categories = { TP = ["yes"] }
"""
RANDOM = 'use = "sample.random"\ncandidates = "candidates"\nsize = 120\n'
PRECISION = """
[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [50, 200]
"""
COMPARISON = """
[stages.comparison]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [200]
"""
DESIGNED = """
[stages.answers]
use = "evaluate.designed"
ranks = "ranks"
judgements = "judgements"
sample = "sample"
cuts = [200]
pairs = [["t_score", "mi"]]
"""


@dataclass(frozen=True)
class Desk:
    """The work of the sheet, and the tasks of each person in order."""

    work: SheetWork
    tasks: tuple[TaskRequest, ...]
    truth: dict[str, str]

    def judge(self, who: str, ids: Sequence[str], label: str | None = None) -> None:
        """Let a person give items their true labels, or this label."""
        with open_log(self.work.database) as connection:
            say_desk(
                connection, who, [(each, label or self.truth[each]) for each in ids], seconds=3.0
            )

    def cards(self, who: str) -> list[str]:
        """Return the items of a person in order."""
        return [each.id for each in self.tasks if each.annotator == who]

    def judge_all(self, most: int = 10**6) -> None:
        """Let everybody label at most so many cards."""
        for who in self.work.annotators:
            self.judge(who, self.cards(who)[:most])


def desk(folder: Path, stages: str = PRECISION, *, sample: str = RANDOM) -> Desk:
    """Create the experiment and its tasks in a folder, without decisions."""
    with _DATA.open(encoding="utf-8") as file:
        rows = list(islice(csv.reader(file, delimiter="\t"), 601))
    text = "\n".join("\t".join(row) for row in rows)
    (folder / "candidates.tsv").write_text(text + "\n", encoding="utf-8")
    config = folder / "small.toml"
    config.write_text(BEGINNING.replace("SAMPLE", sample) + stages, encoding="utf-8")
    finished = run(config, runs=folder / "runs", report=False, progress=False)
    sheet, project = finished.table("sheet"), finished.project
    work = SheetWork(
        project, "sheet", "annotation", "A small desk", "", ("yes", "no"), ("ana", "ben"),
        project.sheets.own / "desk",
    )  # fmt: skip
    items = {row["id"]: {"units": {"l1": row["l1"], "l2": row["l2"]}} for row in sheet.to_dicts()}
    tasks = [TaskRequest(row["annotator"], row["id"], row["order"]) for row in sheet.to_dicts()]
    with open_log(work.database) as connection:
        update_tasks(connection, items, tasks)
    header, *rest = rows
    labels = {(row[0], row[1]): "yes" if row[header.index("TP")] == "1" else "no" for row in rest}
    truth = {
        name: labels[(each["units"]["l1"], each["units"]["l2"])] for name, each in items.items()
    }
    return Desk(work, tuple(sorted(tasks, key=lambda each: (each.annotator, each.place))), truth)


EXPERIMENT = """
name = "desk"
seed = "s"

[stages.candidates]
use = "extract.table"
path = "pairs.tsv"

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "candidates"
folder = "pairs"
labels = ["SVC", "figurative", "free"]
annotators = ["anna", "ben"]
overlap = 1.0
kind = "csv"
instructions = "Is the pair a support-verb construction?"

[stages.judged]
use = "join.sheets"
sheet = "sheet"
labels = "sheet.labels"
folder = "pairs"
categories = { TP = ["SVC", "figurative"] }
"""
PAIRS = [("in:Frage", "stellen"), ("zu:Verfügung", "stehen"), ("auf:Tisch", "legen")]


@dataclass(frozen=True)
class Office:
    """The folder of the experiment."""

    folder: Path

    @property
    def config(self) -> Path:
        return self.folder / "desk.toml"

    @property
    def runs(self) -> Path:
        return self.folder / "runs"

    @property
    def desk(self) -> Path:
        """The folder of the sheets."""
        return self.folder / "sheets" / "desk" / "pairs"

    def run(self) -> Run:
        return lx.run(self.config, runs=self.runs, report=False)

    def work(self, *annotators: str) -> SheetWork:
        return open_work(self.config, runs=self.runs, annotators=annotators)

    def decide(self, work: SheetWork, *decisions: Decision) -> list[Outcome]:
        with open_log(work.database) as connection:
            return append(connection, list(decisions))

    def ids(self, work: SheetWork) -> list[str]:
        """Return the ids in the order of the pairs' alphabet."""
        with open_log(work.database) as connection:
            rows = connection.execute("SELECT id FROM items ORDER BY shown")
            return [row["id"] for row in rows]

    def sheets(self) -> dict[str, Path]:
        """Return the sheets by their annotator."""
        return {path.stem[4:]: path for path in list_sheets(self.desk)}

    def label(
        self, who: str, labels: dict[str, str], *, column: str = "label", number: str = ""
    ) -> None:
        """Write labels or notes into a person's sheet by id, or into the sheet with this number."""
        path = self.desk / f"{number}-{who}.csv" if number else self.sheets()[who]
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            if row["id"] in labels:
                row[column] = labels[row["id"]]
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


def build_office(folder: Path) -> Office:
    """Write the experiment into a folder."""
    rows = (f"{l1}\t{l2}\t5\t9\t9\t99" for l1, l2 in PAIRS)
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN", *rows]) + "\n")
    (folder / "desk.toml").write_text(EXPERIMENT)
    return Office(folder)


def decisions_of(ids: list[str], who: str, labels: str, *, start: int = 0) -> Iterator[Decision]:
    """Yield a decision for each id: S, f and r stand for the labels."""
    answers = {"S": "SVC", "f": "figurative", "r": "free"}
    for number, (each, label) in enumerate(zip(ids, labels, strict=True), start):
        yield Decision(f"{who}-{number}-{label}", who, each, answer=answers[label])
