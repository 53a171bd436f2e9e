"""A small experiment that asks two people for labels, with its pages' work."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pipeline as lx
from pipeline.annotate.tasks import Work, open_work
from pipeline.api.results import Run
from pipeline.formats.annotation_log import Decision, Outcome, append, opened
from pipeline.formats.spreadsheets import listing

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
        """Where the sheets lie."""
        return self.folder / "sheets" / "desk" / "pairs"

    def run(self) -> Run:
        return lx.run(self.config, runs=self.runs, report=False)

    def work(self, *annotators: str) -> Work:
        return open_work(self.config, runs=self.runs, annotators=annotators)

    def decide(self, work: Work, *decisions: Decision) -> list[Outcome]:
        with opened(work.database) as connection:
            return append(connection, list(decisions))

    def ids(self, work: Work) -> list[str]:
        """Return the ids in the order of the pairs' alphabet."""
        with opened(work.database) as connection:
            rows = connection.execute("SELECT id FROM items ORDER BY shown")
            return [row["id"] for row in rows]

    def sheets(self) -> dict[str, Path]:
        """Return the sheets by their annotator."""
        return {path.stem[4:]: path for path in listing(self.desk)}

    def label(self, who: str, labels: dict[str, str], *, column: str = "label") -> None:
        """Type labels, or notes, into somebody's sheet, by id."""
        path = self.sheets()[who]
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            if row["id"] in labels:
                row[column] = labels[row["id"]]
        with path.open("w", encoding="utf-8-sig", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


def furnished(folder: Path) -> Office:
    """Write the experiment into a folder."""
    rows = (f"{l1}\t{l2}\t5\t9\t9\t99" for l1, l2 in PAIRS)
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN", *rows]) + "\n")
    (folder / "desk.toml").write_text(EXPERIMENT)
    return Office(folder)


def labelled(ids: list[str], who: str, labels: str, *, start: int = 0) -> Iterator[Decision]:
    """Yield a decision for each id: S, f and r stand for the labels."""
    meant = {"S": "SVC", "f": "figurative", "r": "free"}
    for number, (each, label) in enumerate(zip(ids, labels, strict=True), start):
        yield Decision(f"{who}-{number}-{label}", who, each, answer=meant[label])
