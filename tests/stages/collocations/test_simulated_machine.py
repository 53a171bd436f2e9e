"""Simulated machines as a stage."""

from __future__ import annotations

import polars as pl
import pytest

from schemas import Judgements
from tests.stages.run_stage import run_stage

JUDGED = pl.DataFrame(
    {"category": "TP", "id": [f"x{i}" for i in range(400)],
     "tp": [None if i % 10 == 0 else i % 2 == 0 for i in range(400)]},
    schema=Judgements.columns(),
)  # fmt: skip
JUDGES = {
    "good": {"sensitivity": 0.9, "specificity": 0.8},
    "sure": {"sensitivity": 1.0, "specificity": 1.0, "says": "probability"},
}


def test_judges_of_known_quality() -> None:
    made = run_stage("sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGED)
    said = made["predictions"].join(JUDGED, on=["category", "id"])
    assert said.filter(judge="good").height == 360
    assert (said.filter(judge="sure")["prediction"] == 1).equals(said.filter(judge="sure")["tp"])
    right = said.filter(judge="good").group_by("tp").agg(pl.col("prediction").mean())
    assert dict(right.rows()) == pytest.approx({True: 0.9, False: 0.2}, abs=0.08)


def test_its_options_are_its_provenance() -> None:
    made = run_stage("sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGED)
    assert made["judges_provenance"].filter(judge="sure").rows() == [
        ("sure", "says", "probability", 360), ("sure", "sensitivity", "1.0", 360),
        ("sure", "specificity", "1.0", 360),
    ]  # fmt: skip


def test_nothing_known_is_nothing_said() -> None:
    made = run_stage(
        "sheet.simulated_machine", {"judges": JUDGES, "seed": "s"}, judgements=JUDGED.clear()
    )
    assert all(table.is_empty() for table in made.values())
