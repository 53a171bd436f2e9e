"""What sections are called."""

from __future__ import annotations

from typing import Any

from pipeline.findings.base import StageView
from pipeline.report.page.build import headings
from pipeline.report.view import VIEWS
from tests.report.report_frames import stage


def view(use: str, name: str, *, title: str = "", **config: Any) -> StageView:
    made = stage(use, {}, name=name, **config)
    return StageView(made.name, made.use, made.config, made.table, title=title)


def test_every_view_has_a_title_for_people() -> None:
    assert [use for use in VIEWS if not VIEWS.get(use).title] == []


def test_a_title_of_its_own_goes_first() -> None:
    stages = [view("evaluate.precision", "a", title="By hand"), view("score.rank", "b")]
    assert headings(stages) == ["By hand", "Candidates and their ranks"]


def test_equal_titles_have_the_names_of_their_stages() -> None:
    stages = [view("evaluate.precision", name) for name in ("one", "two")]
    assert headings(stages) == [
        "Precision of n-best lists: all candidates judged (one)",
        "Precision of n-best lists: all candidates judged (two)",
    ]
