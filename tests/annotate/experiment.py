"""A small experiment whose labels are given in the browser, with what would be said of each pair."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from pipeline.annotate.tasks import Work
from pipeline.api.run import run
from pipeline.formats.annotation_log import Asked, opened, take_over
from tests.annotate.desk import say

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
    """The work of the sheet, and who is asked for what in which order."""

    work: Work
    asked: tuple[Asked, ...]
    truth: dict[str, str]

    def judge(self, who: str, ids: Sequence[str], label: str | None = None) -> None:
        """Let somebody label items by what is true of them, or otherwise."""
        with opened(self.work.database) as connection:
            say(connection, who, [(each, label or self.truth[each]) for each in ids], seconds=3.0)

    def cards(self, who: str) -> list[str]:
        """Return the items of a person in order."""
        return [each.id for each in self.asked if each.annotator == who]

    def judge_all(self, most: int = 10**6) -> None:
        """Let everybody label so many cards."""
        for who in self.work.annotators:
            self.judge(who, self.cards(who)[:most])


def desk(folder: Path, stages: str = PRECISION, *, sample: str = RANDOM) -> Desk:
    """Lay out the sheet in a folder, with nothing decided."""
    with _DATA.open(encoding="utf-8") as file:
        rows = list(islice(csv.reader(file, delimiter="\t"), 601))
    text = "\n".join("\t".join(row) for row in rows)
    (folder / "candidates.tsv").write_text(text + "\n", encoding="utf-8")
    config = folder / "small.toml"
    config.write_text(BEGINNING.replace("SAMPLE", sample) + stages, encoding="utf-8")
    done = run(config, runs=folder / "runs", report=False, progress=False)
    sheet, project = done.table("sheet"), done.project
    work = Work(
        project, "sheet", "annotation", "A small desk", "", ("yes", "no"), ("ana", "ben"),
        project.sheets.own / "desk",
    )  # fmt: skip
    shown = {row["id"]: {"units": {"l1": row["l1"], "l2": row["l2"]}} for row in sheet.to_dicts()}
    asked = [Asked(row["annotator"], row["id"], row["order"]) for row in sheet.to_dicts()]
    with opened(work.database) as connection:
        take_over(connection, shown, asked)
    header, *rest = rows
    said = {(row[0], row[1]): "yes" if row[header.index("TP")] == "1" else "no" for row in rest}
    truth = {name: said[(each["units"]["l1"], each["units"]["l2"])] for name, each in shown.items()}
    return Desk(work, tuple(sorted(asked, key=lambda each: (each.annotator, each.place))), truth)
