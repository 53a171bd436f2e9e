"""Which column of a table is drawn: that to which its limits belong."""

from __future__ import annotations

import polars as pl
import pytest

import schemas
from pipeline.report.sweep_page import Shape, estimates, shape_of
from schemas import Table, TypeLevel

DRAWN = {
    "Agreement": "estimate",
    "Baseline": "precision",
    "Choice": "precision",
    "ClusteredDifferences": "difference",
    "ClusteredPrecision": "precision",
    "DesignedBaseline": "precision",
    "DesignedDifferences": "difference",
    "DesignedPrecision": "precision",
    "DesignedWindows": "precision",
    "Estimated": "precision",
    "LexiconComparison": "l_star",
    "LexiconDifferences": "difference",
    "LexiconIntervals": "estimate",
    "LexiconQuality": "value",
    "LocalPrecision": "precision",
    "MeasureDifferences": "difference",
    "OverlappingScores": "value",
    "Precision": "precision",
    "Recall": "recall",
    "StratifiedComparison": "difference",
    "StratifiedPrecision": "precision",
    "SubsetPrecision": "precision",
    "SystemTable": "mean",
    "TokenLevel": "value",
    "TypeLevel": "value",
    "WorstCase": "precision",
}
"""The tables of estimates, and the column to which their limits belong, or that systems have."""
MODELS: dict[str, type[Table]] = {
    name: each
    for name in dir(schemas)
    if isinstance(each := getattr(schemas, name), type) and issubclass(each, Table)
}


@pytest.mark.parametrize("name", MODELS)
def test_limits_belong_to_what_is_drawn(name: str) -> None:
    """A new table with limits is named here once somebody has looked what they belong to."""
    shape = shape_of(MODELS[name], MODELS[name].zero_rows().collect())
    assert (shape and shape.value) == DRAWN.get(name)


def test_runs_of_a_system_are_drawn_together() -> None:
    frame = TypeLevel.zero_rows().collect()
    shape = shape_of(TypeLevel, frame)
    assert shape is not None
    assert (shape.name, shape.groups) == ("system", ("measure", "mapping"))


def test_numbers_that_are_none_are_not_drawn() -> None:
    shape = Shape(value="value", is_share=False, name="", over_n=False, groups=())
    frame = pl.DataFrame({"value": [1.0, float("inf"), float("nan"), None]})
    assert estimates(frame, shape)["y"].to_list() == [1.0, None, None, None]


def test_a_group_without_a_name_has_a_dash() -> None:
    shape = Shape(value="value", is_share=False, name="", over_n=False, groups=("a",))
    frame = pl.DataFrame({"value": [1.0], "a": pl.Series([None], dtype=pl.String)})
    assert estimates(frame, shape)["by a"].to_list() == ["–"]
