"""The blocks of the view of machine judges."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.findings.base import StageView
from pipeline.report.view import Block, Figure, Fold, Listing, Text
from pipeline.report.views.collocations.annotation import MachineView, show_machine
from schemas import Judgements, JudgesProvenance, Predictions
from tests.report import report_frames as frames
from tests.stages.run_stage import run_stage

SIZE = 90
IDS = [f"x{i:02}" for i in range(SIZE)]
TRUE = [i % 3 == 0 for i in range(SIZE)]
JUDGED = pl.DataFrame({"category": "TP", "id": IDS, "tp": TRUE}, schema=Judgements.columns())
SAID = pl.DataFrame(
    {"category": "TP", "judge": ["m"] * SIZE + ["n"] * SIZE, "id": IDS * 2,
     "prediction": [0.9 if i % 3 == 0 else (i % 7) / 10 for i in range(SIZE)] + [0.2] * SIZE},
    schema=Predictions.columns(),
)  # fmt: skip
SCORES = pl.DataFrame({"id": IDS, "a": [float(-i) for i in range(SIZE)],
                       "b": [float(i % 11) for i in range(SIZE)]})  # fmt: skip
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def shown(said: pl.DataFrame = SAID, judged: pl.DataFrame = JUDGED, **config: Any) -> list[Block]:
    options = {"seed": "s", "cuts": [30, 60], "pairs": [("a", "b")]} | config
    made = run_stage(
        "evaluate.machine", options, predictions=said, judgements=judged, ranks=RANKS
    )  # fmt: skip
    return list(show_machine(frames.stage("evaluate.machine", made), MachineView()))


def test_figure_and_tables() -> None:
    text, figure, *tables = shown()
    assert isinstance(text, Text)
    assert "people's labels, which alone decide" in text.text
    assert isinstance(figure, Figure)
    assert figure.name == "reliability"
    listings = [each for each in tables if isinstance(each, Listing)]
    assert [each.name for each in listings] == ["confusion", "judges", "savings", "pair-savings"]


def cells(name: str, blocks: list[Block]) -> pl.DataFrame:
    (found,) = (each for each in blocks if isinstance(each, Listing) and each.name == name)
    assert found.shown is not None
    return found.shown


def test_judges_stand_side_by_side() -> None:
    table = cells("confusion", shown())
    assert table["judge"].to_list() == ["m", "n"]
    assert table["TP, predicted"].to_list() == ["30", "0"]
    assert table["sensitivity (%)"].to_list() == ["100.0 [88.4, 100.0]", "0.0 [0.0, 11.6]"]
    assert table["positive predictive value (%)"][1] == "– [0.0, 100.0]"


def test_what_is_saved() -> None:
    table = cells("savings", shown()).filter(pl.col("judge") == "n", pl.col("n") == "60")
    assert table["rho²"].to_list() == ["–", "–"]
    assert table["labels saved (%)"].to_list() == ["0.0", "0.0"]


def test_a_category_each() -> None:
    other = pl.lit("idiom").alias("category")
    blocks = shown(
        pl.concat([SAID, SAID.with_columns(other)]), pl.concat([JUDGED, JUDGED.with_columns(other)])
    )
    names = [each.name for each in blocks if isinstance(each, Figure)]
    assert names == ["reliability-TP", "reliability-idiom"]


def test_how_the_machines_were_asked_is_folded_away() -> None:
    told = pl.DataFrame(
        {"judge": "m", "column": "model", "value": "m-2", "rows": [90]},
        schema=JudgesProvenance.columns(),
    )
    machine = StageView("machine", "join.machine", {}, lambda _: told.lazy())
    made = run_stage("evaluate.machine", {"seed": "s"}, predictions=SAID, judgements=JUDGED)
    stage = StageView(
        "held", "evaluate.machine", {}, lambda table: made[table].lazy(),
        inputs={"predictions": "machine.predictions"}, among={"machine": machine},
    )  # fmt: skip
    fold = show_machine(stage, MachineView())[-1]
    assert isinstance(fold, Fold)
    (table,) = fold.blocks
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert table.shown.row(0) == ("m", "model", "m-2", "90")


def test_nothing_judged_is_a_sentence() -> None:
    assert shown(judged=JUDGED.clear()) == [
        Text("No candidate has both a prediction and a judgement.")
    ]
