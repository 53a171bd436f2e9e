"""Which look results are of, in the findings and in the report."""

from __future__ import annotations

from typing import Any

import polars as pl

from pipeline.report.view import Fold, Listing, Text
from pipeline.report.views.collocations.comparison import at_any_time
from pipeline.report.views.collocations.graphs import show_looks
from schemas import Looks
from tests.findings.stages import found, stage, table, texts


def rows(question: str, now: int, levels: list[float | None]) -> list[dict[str, Any]]:
    return [
        {"category": "TP", "question": question, "look": look, "labels": 20 * look,
         "share": look / len(levels), "level": level, "z": 2.0 if level else None,
         "now": look == now}
        for look, level in enumerate(levels, start=1)
    ]  # fmt: skip


def looked(*parts: list[dict[str, Any]], use: str = "evaluate.precision", **config: Any) -> Any:
    tables = {"looks": table(Looks, [row for part in parts for row in part])}
    return stage(use, tables, **{"looks": (0.1, 0.2), **config})


def test_the_look_is_said_with_its_level() -> None:
    made = looked(rows("all", 2, [0.003, 0.0187, 0.04]))
    assert texts("this_look", made) == [
        (
            "Look 2 of 3, at 40 of 60 planned labels: limits and tests hold at all declared looks "
            "together, each taken at a level of 1.9 %."
        )
    ]
    assert found("this_look", made)[0].value == 2.0


def test_levels_of_several_questions_are_a_range() -> None:
    made = looked(rows("a at 9", 1, [0.01, 0.04]), rows("b at 9", 1, [0.02, 0.04]))
    assert texts("this_look", made)[0].endswith("each taken at a level of 1 to 2 %.")


def test_an_exact_look_has_no_level() -> None:
    made = looked(rows("all", 2, [0.05, None]))
    assert texts("this_look", made) == [
        (
            "Look 2 of 2, at 40 of 40 planned labels: limits and tests hold at all declared looks "
            "together."
        )
    ]


def test_nothing_is_said_where_none_was_declared() -> None:
    made = looked(looks=())
    assert texts("this_look", made) == []
    assert list(show_looks(made)) == []


def test_the_report_folds_the_levels_away() -> None:
    text, fold = show_looks(looked(rows("all", 1, [0.003, None])))
    assert isinstance(text, Text)
    assert text.text.startswith("Look 1 of 2, at 20 of 40 planned labels. Limits")
    assert isinstance(fold, Fold)
    (shown,) = fold.blocks
    assert isinstance(shown, Listing)
    assert isinstance(shown.shown, pl.DataFrame)
    assert shown.shown.rows() == [("1 (now)", "20", "0.3", "2.000"), ("2", "40", "", "")]


def test_at_any_time_is_said_in_words() -> None:
    (text,) = show_looks(looked(looks=(), anytime=True))
    assert isinstance(text, Text)
    assert "at every size of the sample" in text.text
    said = at_any_time()
    assert "at whatever size of the sample" in said
    assert "Fisher" not in said
