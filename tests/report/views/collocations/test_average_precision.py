"""The view of average precision."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.report.view import Block, Figure, Listing, Text
from pipeline.report.views.collocations.precision import (
    AveragePrecisionView,
    show_average_precision,
)
from schemas import AveragePrecision
from tests.report import report_frames as frames

ROWS = [
    ("TP", "mi", 0.12, 0.1, 0.15, 5102, 500, 55, False, 0.95),
    ("TP", "t_score", 0.253, 0.21, 0.3, 5102, 500, 55, False, 0.95),
    ("TP", "x", None, 0.0, 1.0, 5102, 500, 0, False, 0.95),
]


def shown(*rows: tuple[Any, ...], **options: Any) -> list[Block]:
    frame = pl.DataFrame(rows, schema=AveragePrecision.columns(), orient="row")
    stage = frames.stage("evaluate.average_precision", {"average_precision": frame})
    return list(show_average_precision(stage, AveragePrecisionView(**options)))


def test_a_whisker_and_a_row_for_each_measure_the_highest_first() -> None:
    graph, table = shown(*ROWS)
    assert isinstance(graph, Figure)
    assert isinstance(table, Listing)
    assert "from 500 judged of 5,102 candidates (infAP), with 95 % limits" in graph.caption
    assert table.shown is not None
    assert table.shown.rows() == [
        ("t-score", "25.30 [21.00, 30.00]", "55", "500"),
        ("MI", "12.00 [10.00, 15.00]", "55", "500"),
        ("x", "– [0.00, 100.00]", "0", "500"),
    ]


def test_full_annotation_and_unequal_chances_are_said() -> None:
    whole = ("TP", "mi", 0.12, 0.12, 0.12, 500, 500, 55, False, 0.95)
    graph, table = shown(whole)
    assert isinstance(graph, Figure)
    assert isinstance(table, Listing)
    assert table.shown is not None
    assert "All 500 candidates are judged: there are no limits." in graph.caption
    assert table.shown.row(0)[1] == "12.00"
    designed, _ = shown(("TP", "mi", 0.12, 0.1, 0.2, 900, 500, 55, True, 0.95))
    assert isinstance(designed, Figure)
    assert "(xinfAP, by chances of their own)" in designed.caption


def test_measures_that_are_wanted() -> None:
    _, table = shown(*ROWS, measures=("mi",))
    assert isinstance(table, Listing)
    assert table.frame["measure"].to_list() == ["mi"]
    with pytest.raises(ConfigError, match="dice"):
        shown(*ROWS, measures=("dice",))


def test_nothing_judged() -> None:
    assert shown() == [Text("No candidate is judged, so there is no average precision to show.")]
