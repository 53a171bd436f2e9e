"""Colours of a report: of all names of its run, pinned by its options."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl

from pipeline.api.results import check_colours, colours_of, names_of
from pipeline.report.charts.style import NAMED

TABLES = {
    "full.precision": pl.LazyFrame({"measure": ["mi", "dice", "mi"], "n": [1, 1, 2]}),
    "systems.table": pl.LazyFrame({"system": ["tree", None], "measure": ["MacroI M-1", "v"]}),
    "compared.lexicons": pl.LazyFrame({"lexicon": ["made", "bought"], "l_star": [0.1, 0.2]}),
    "odd.rows": pl.LazyFrame({"system": [1, 2], "measure": [1, 2], "n": [1, 2]}),
    "empty.precision": pl.LazyFrame(schema={"measure": pl.String, "n": pl.Int64}),
}


def run() -> Any:
    manifests = {
        name.partition(".")[0]: SimpleNamespace(tables=[name.partition(".")[2]]) for name in TABLES
    }
    return SimpleNamespace(manifests=manifests, plan=TABLES.__getitem__)


def test_the_names_of_lists_systems_and_lexicons() -> None:
    assert names_of(run()) == ["bought", "dice", "made", "mi", "tree"]


def test_each_name_has_a_colour_and_a_pinned_one_its_own() -> None:
    found = colours_of(run(), {"tree": "gold", "not there": "blue"})
    assert set(found) == {"bought", "dice", "made", "mi", "tree", "Dice", "MI"}
    assert found["MI"] == found["mi"]
    assert NAMED[found["tree"].colour] == "gold"
    assert colours_of(run(), {"tree": "gold"}) == found


def test_a_colour_that_there_is_not_is_an_error_with_the_nearest() -> None:
    (wrong,) = check_colours({"mi": "blue", "dice": "grean"})
    assert wrong.where == "report.colours.dice"
    assert "no colour 'grean'" in wrong.what
    assert "green" in wrong.remedy
