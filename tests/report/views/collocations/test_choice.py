"""The view of a choice."""

from __future__ import annotations

import polars as pl

from pipeline.report.view import Listing, Text, ViewOptions
from pipeline.report.views.collocations.precision import show_choice
from schemas import Choice, Guarantees
from tests.report import report_frames as frames

ROW = ("TP", "t_score", 1000, "min_precision = 0.25", 35, 0.268, 0.18, 0.37, 0.14, 0.43, 0.95,
       "clopper_pearson", 0.578, 97, 26)  # fmt: skip
CHOICE = pl.DataFrame([ROW], schema=Choice.columns(), orient="row")


def test_the_choice_in_words() -> None:
    (said,) = show_choice(frames.stage("evaluate.choice", {"choice": CHOICE}), ViewOptions())
    assert isinstance(said, Text)
    for piece in ("the 1,000 best of t-score (min_precision = 0.25), out of 35 lists",
                  "precision 26.80 %", "26 true positives in 97 judged draws",
                  "95 % limits of this list alone [18.00, 37.00]",
                  "allow for the choice [14.00, 43.00]"):  # fmt: skip
        assert piece in said.text


def test_nothing_judged_gives_a_sentence() -> None:
    stage = frames.stage("evaluate.choice", {"choice": CHOICE.clear()})
    assert show_choice(stage, ViewOptions()) == [
        Text("No candidate is judged, so nothing was chosen.")
    ]


def test_the_tests_behind_a_guarantee() -> None:
    rows = [
        ("TP", "t_score", 100, 2, 40, 10, 0.25, 0.05, 0.1449, True, True, False),
        ("TP", "t_score", 500, 1, 90, 40, 0.444, 0.05, 0.3562, True, True, True),
    ]
    tests = pl.DataFrame(rows, schema=Guarantees.columns(), orient="row")
    stage = frames.stage(
        "evaluate.choice", {"choice": CHOICE, "guarantee": tests}, guarantee=True, min_precision=0.3
    )
    said, shown = show_choice(stage, ViewOptions())
    assert isinstance(said, Text)
    assert isinstance(shown, Listing)
    assert shown.shown is not None
    assert shown.shown.rows() == [
        ("t-score", "500", "40 of 90", "35.62", "passed"),
        ("t-score", "100", "10 of 40", "14.49", "failed"),
    ]
    assert "with 95 % confidence all that passed have a precision of 30 % or more" in shown.caption
