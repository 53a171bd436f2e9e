"""The view of a choice."""

from __future__ import annotations

import polars as pl

from pipeline.report.view import Text, ViewOptions
from pipeline.report.views.collocations.choice import show_choice
from schemas import Choice
from tests.report import report_frames as frames

ROW = ("TP", "t_score", 1000, "min_precision = 0.25", 35, 0.268, 0.18, 0.37, 0.14, 0.43, 0.95,
       "clopper_pearson", 0.578, 97, 26)  # fmt: skip
CHOICE = pl.DataFrame([ROW], schema=Choice.columns(), orient="row")


def test_the_choice_in_words() -> None:
    (said,) = show_choice(frames.stage("evaluate.choice", {"choice": CHOICE}), ViewOptions())
    assert isinstance(said, Text)
    for piece in ("the 1,000 best of t_score (min_precision = 0.25), out of 35 lists",
                  "precision 26.80 %", "26 true positives in 97 judged draws",
                  "95 % limits of this list alone [18.00, 37.00]",
                  "allow for the choice [14.00, 43.00]"):  # fmt: skip
        assert piece in said.text


def test_nothing_judged_gives_a_sentence() -> None:
    stage = frames.stage("evaluate.choice", {"choice": CHOICE.clear()})
    assert show_choice(stage, ViewOptions()) == [
        Text("No candidate is judged, so nothing was chosen.")
    ]
