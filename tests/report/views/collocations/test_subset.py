"""The blocks of the view of an unranked set."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.report.page.images import still
from pipeline.report.view import Block, Figure, Listing, Text
from pipeline.report.views.collocations.comparison import SubsetView, show_subset
from schemas import SubsetComparison, SubsetPrecision
from tests.report import report_frames as frames

SUBSETS = pl.DataFrame(
    [("TP", "filter", 120, 12, 6, 0.5, 0.3, 0.7, 0.2)],
    schema=SubsetPrecision.columns(),
    orient="row",
)
TESTS_SUBSET = pl.DataFrame(
    [("TP", "filter", "dice", 120, 60, 6, 4, 6, 1, 0.25, 0.01, 0.02, True, "holm"),
     ("TP", "filter", "mi", 120, 60, 0, 0, 6, 1, None, None, None, False, "holm")],
    schema=SubsetComparison.columns(), orient="row",
)  # fmt: skip
CURVES_SUBSET = {"dice": [i % 3 == 0 for i in range(300)], "mi": [i % 2 == 0 for i in range(300)]}
TABLES_SUBSET = {
    "subsets": SUBSETS, "comparison": TESTS_SUBSET, "shown.subsets": SUBSETS,
    "full.precision": frames.precision(CURVES_SUBSET), "full.baseline": frames.baseline(125, 300),
}  # fmt: skip


def shown_subset(tables: dict[str, pl.DataFrame] = TABLES_SUBSET, **options: Any) -> list[Block]:
    config = options.pop("config", {})
    return list(
        show_subset(frames.stage("evaluate.subset", tables, **config), SubsetView(**options))
    )


def test_a_set_is_drawn_with_the_curves_of_another_stage() -> None:
    text, figure, table = shown_subset(precision="full")
    assert isinstance(text, Text)
    assert isinstance(figure, Figure)
    assert isinstance(table, Listing)
    assert figure.name == "subset"
    marks = [layer["mark"] for layer in still(figure.chart)["layer"]]
    assert [mark["type"] for mark in marks].count("line") == 2
    assert "diamond" in {mark.get("shape") for mark in marks}
    assert "Vertical lines" not in figure.caption


def test_a_set_may_be_drawn_without_curves() -> None:
    figure = shown_subset()[1]
    assert isinstance(figure, Figure)
    spec = still(figure.chart)
    assert not [layer for layer in spec["layer"] if layer["mark"]["type"] == "line"]
    assert "filter (120)" in json.dumps(spec)


def test_differences_from_lists_of_equal_size_are_listed() -> None:
    table = shown_subset(measures=("mi", "dice"))[2]
    assert isinstance(table, Listing)
    assert table.texts is not None
    assert table.texts.columns == ["set A", "|A|", "precision (%)", "− MI", "− Dice"]
    assert table.texts.row(0) == ("filter", "120", "50.00 [30.0, 70.0]", "–", "* +25.00\np = .020")


def test_the_test_is_named() -> None:
    block = shown_subset(config={"test": "fisher_mid_p"})[0]
    assert isinstance(block, Text)
    assert "Fisher's test with mid-p values" in block.text


def test_the_absence_of_judgements_is_stated() -> None:
    (block,) = shown_subset({**TABLES_SUBSET, "subsets": SUBSETS.clear()})
    assert isinstance(block, Text)


def test_an_unknown_measure_is_refused() -> None:
    with pytest.raises(ConfigError, match="views.shown.measures: unknown name 'dic'"):
        shown_subset(measures=("dic",))
