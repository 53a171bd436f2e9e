"""The table of all word types: F of each is what the stage says of the worst."""

from __future__ import annotations

import functools
import random
from typing import Any

import polars as pl
import pytest

from pipeline.findings.base import StageView
from pipeline.report.explorer import Explorer, payload
from pipeline.report.views.clustering.levels import (
    Shown,
    TypeLevelView,
    show_type_level,
    type_explorer,
)
from pipeline.stages.base import STAGES
from tests.report.explorer import twin

DRAW = random.Random(3)
ITEMS = [f"w{number}" for number in range(60)]
GOLD = pl.DataFrame(
    [{"item": item, "gold": gold, "f": DRAW.randint(1, 9)}
     for item in ITEMS for gold in DRAW.sample("NVAP", DRAW.randint(1, 2))]
)  # fmt: skip


def clusters(system: str, run: str, items: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"system": system, "run": run, "item": item, "cluster": f"c{number}", "f": 1}
         for item in items for number in DRAW.sample(range(7), DRAW.randint(1, 3))]
    )  # fmt: skip


SYSTEMS = [
    pl.concat([clusters("a", "1", ITEMS), clusters("a", "2", ITEMS)]),
    clusters("b", "1", [*ITEMS[10:], "without gold"]),
]
"""The second has no cluster for ten items."""


@functools.cache  # not while tests are collected, which every process does
def made() -> dict[str, pl.DataFrame]:
    kind = STAGES.get("evaluate.type_level")
    config = {"gold": "gold", "systems": ["a", "b"], "worst": 1000, "seed": "s", "restarts": 2}
    given: dict[str, Any] = {
        "gold": GOLD.lazy(),
        "systems.0": SYSTEMS[0].lazy(),
        "systems.1": SYSTEMS[1].lazy(),
    }
    found = kind.run(kind.config.model_validate(config), given)
    return {name: table.lazy().collect() for name, table in found.items()}


def table(name: str) -> pl.LazyFrame:
    given = {"gold.entries": GOLD, "a.entries": SYSTEMS[0], "b.entries": SYSTEMS[1]}
    return (given[name] if name in given else made()[name]).lazy()


INPUTS = {"gold": "gold.entries", "systems.0": "a.entries", "systems.1": "b.entries"}
STAGE = StageView("types", "evaluate.type_level", {}, table, inputs=INPUTS)
RUNS = [Shown("a", "1", only=False), Shown("b", "1", only=True)]


def explorer(measure: str = "MacroI", mapping: str = "M-1") -> Explorer:
    found = type_explorer(STAGE, RUNS, measure=measure, mapping=mapping, most_rows=1000)
    assert found is not None
    return found


@pytest.mark.parametrize("measure", ["MacroI", "MicroI"])
@pytest.mark.parametrize("mapping", ["1-1", "M-1"])
def test_each_type_scores_what_the_stage_says(measure: str, mapping: str) -> None:
    items = made()["items"].filter(measure=measure, mapping=mapping)
    assert items.height > 100
    frame = explorer(measure, mapping).frame
    assert frame.height == len(ITEMS)
    for run in RUNS:
        own = items.filter(run.rows).join(frame, on="item", suffix="_here")
        assert own.height > 40
        assert own["f"].to_list() == pytest.approx(own[f"{run.system} F"].to_list())
        said = own[f"{run.system} mapped"].fill_null("").to_list()
        assert own["mapped"].to_list() == said
        assert own["gold"].to_list() == own["gold_here"].to_list()


def test_frequent_types_come_first() -> None:
    tokens = explorer().frame["tokens"].to_list()
    assert tokens == sorted(tokens, reverse=True)
    assert sum(tokens) == GOLD["f"].sum()


def test_an_item_without_clusters_has_none() -> None:
    columns = twin.table(payload(explorer()))
    place = columns["item"].index("w3")
    assert columns["b clusters"][place] is None
    assert columns["b F"][place] == 0


def test_a_row_tells_of_every_system() -> None:
    parts = {(each.of, each.part) for each in explorer().columns if each.of}
    assert parts == {
        (of, part) for of in ("a, run 1", "b") for part in ("clusters", "mapped to", "F (%)")
    }


def test_the_view_has_it_unless_told_otherwise() -> None:
    with_it = show_type_level(STAGE, TypeLevelView(explorer_rows=7))
    found = [block for block in with_it if isinstance(block, Explorer)]
    assert [payload(each).kept for each in found] == [7]
    without = show_type_level(STAGE, TypeLevelView(explorer=False))
    assert not any(isinstance(block, Explorer) for block in without)


def test_without_inputs_there_is_none() -> None:
    bare = StageView("types", "evaluate.type_level", {}, STAGE.table)
    assert type_explorer(bare, RUNS, measure="MacroI", mapping="M-1", most_rows=9) is None
