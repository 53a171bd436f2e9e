"""The table of all clusters of a run: its words, classes and shares."""

from __future__ import annotations

import functools
import random
from typing import Any

import polars as pl
import pytest

from pipeline.findings.base import StageView
from pipeline.report.explorer import Explorer, payload
from pipeline.report.view import Listing, flatten_blocks
from pipeline.report.views.clustering.levels import (
    WIDTH,
    ShownRun,
    TokenLevelView,
    TypeLevelView,
    clusters_listing,
    show_token_level,
    show_type_level,
    type_explorer,
)
from pipeline.stages.base import STAGES
from tests.findings.stages import RIGHT, type_stage
from tests.findings.test_clustering import token_stage
from tests.report.report_frames import table_on_page

HOSTILE = "</script><img onerror=alert(1)>"


def mapping(*rows: tuple[str, str | None, int, int]) -> pl.DataFrame:
    schema = {"cluster": pl.String, "gold": pl.String, "n_ij": pl.Int64, "n_j": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_clusters_are_listed_with_words_largest_first() -> None:
    listing = clusters_listing(
        type_stage({"right": RIGHT}), ShownRun("right", "1", True),
        mapping(("3", "P", 1, 1), ("1", "N", 3, 4), ("2", None, 0, 2)), head="right", unit="types",
    )  # fmt: skip
    assert listing.texts is not None
    assert listing.texts.rows() == [
        ("1", "dog, run, cat", "N", "75.00", "4"),
        ("2", "run, eat", "–", "–", "2"),
        ("3", "in", "P", "100.00", "1"),
    ]
    assert listing.texts.columns[-1] == "types"
    assert listing.frame["words"].to_list() == ["dog, run, cat", "run, eat", "in"]


def test_lines_of_words_fit_on_a_phone() -> None:
    many = {f"{letter * 9}": "1" for letter in "abcdefgh"}
    gold = type_stage({"many": many})
    frame = gold.table("gold.gold").collect()
    words = pl.DataFrame({"item": list(many), "gold": "N", "f": 1}, schema=frame.schema)
    tables = {"gold.gold": words, "s0.entries": gold.table("s0.entries").collect()}
    wide = type(gold)(**{**vars(gold), "table": lambda name: tables[name].lazy()})
    listing = clusters_listing(
        wide, ShownRun("many", "1", True), mapping(("1", "N", 8, 8)), head="", unit="types"
    )
    assert listing.texts is not None
    lines = listing.texts["most frequent words"][0].split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) <= WIDTH


def test_hostile_words_are_unchanged_in_tables() -> None:
    view = type_stage({HOSTILE: RIGHT})
    listing = clusters_listing(
        view,
        ShownRun(HOSTILE, "1", True),
        mapping((HOSTILE, HOSTILE, 1, 1)),
        head=HOSTILE,
        unit="types",
    )
    assert listing.frame["cluster"].to_list() == [HOSTILE]
    assert listing.frame["words"].to_list() == [""]


def test_the_token_level_lists_clusters() -> None:
    blocks = flatten_blocks(show_token_level(token_stage({"many_to_one": 0.85}), TokenLevelView()))
    (block,) = (each for each in blocks if isinstance(each, Listing) and each.name == "clusters-a")
    assert block.texts is not None
    assert block.texts.rows() == [
        ("1", "the", "D", "100.00", "60"),
        ("2", "dog, run, ah", "N", "62.50", "40"),
    ]


# The table of all word types: F of each equals that in the stage's table of the worst.

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
def type_tables() -> dict[str, pl.DataFrame]:
    kind = STAGES.get("evaluate.type_level")
    config = {"gold": "gold", "systems": ["a", "b"], "worst": 1000, "seed": "s", "restarts": 2}
    inputs: dict[str, Any] = {
        "gold": GOLD.lazy(),
        "systems.0": SYSTEMS[0].lazy(),
        "systems.1": SYSTEMS[1].lazy(),
    }
    result = kind.run(kind.config.model_validate(config), inputs)
    return {name: table.lazy().collect() for name, table in result.items()}


def table(name: str) -> pl.LazyFrame:
    inputs = {"gold.entries": GOLD, "a.entries": SYSTEMS[0], "b.entries": SYSTEMS[1]}
    return (inputs[name] if name in inputs else type_tables()[name]).lazy()


INPUTS = {"gold": "gold.entries", "systems.0": "a.entries", "systems.1": "b.entries"}
STAGE = StageView("types", "evaluate.type_level", {}, table, inputs=INPUTS)
RUNS = [ShownRun("a", "1", only=False), ShownRun("b", "1", only=True)]


def explorer(measure: str = "MacroI", mapping: str = "M-1") -> Explorer:
    table = type_explorer(STAGE, RUNS, measure=measure, mapping=mapping, most_rows=1000)
    assert table is not None
    return table


@pytest.mark.long
@pytest.mark.parametrize("measure", ["MacroI", "MicroI"])
@pytest.mark.parametrize("mapping", ["1-1", "M-1"])
def test_scores_of_types_equal_those_of_the_stage(measure: str, mapping: str) -> None:
    items = type_tables()["items"].filter(measure=measure, mapping=mapping)
    assert items.height > 100
    frame = explorer(measure, mapping).frame
    assert frame.height == len(ITEMS)
    for run in RUNS:
        own = items.filter(run.rows).join(frame, on="item", suffix="_here")
        assert own.height > 40
        assert own["f"].to_list() == pytest.approx(own[f"{run.system} F"].to_list())
        expected = own[f"{run.system} mapped"].fill_null("").to_list()
        assert own["mapped"].to_list() == expected
        assert own["gold"].to_list() == own["gold_here"].to_list()


@pytest.mark.long
def test_frequent_types_are_first() -> None:
    tokens = explorer().frame["tokens"].to_list()
    assert tokens == sorted(tokens, reverse=True)
    assert sum(tokens) == GOLD["f"].sum()


def test_an_item_without_clusters_has_a_score_of_0() -> None:
    columns = table_on_page(payload(explorer()))
    place = columns["item"].index("w3")
    assert columns["b clusters"][place] is None
    assert columns["b F"][place] == 0


def test_a_row_has_columns_for_every_system() -> None:
    parts = {(each.of, each.part) for each in explorer().columns if each.of}
    assert parts == {
        (of, part) for of in ("a, run 1", "b") for part in ("clusters", "mapped to", "F (%)")
    }


def test_the_table_of_types_can_be_disabled() -> None:
    with_it = show_type_level(STAGE, TypeLevelView(explorer_rows=7))
    results = [block for block in with_it if isinstance(block, Explorer)]
    assert [payload(each).height for each in results] == [7]
    without = show_type_level(STAGE, TypeLevelView(explorer=False))
    assert not any(isinstance(block, Explorer) for block in without)


def test_without_inputs_there_is_no_table_of_types() -> None:
    bare = StageView("types", "evaluate.type_level", {}, STAGE.table)
    assert type_explorer(bare, RUNS, measure="MacroI", mapping="M-1", most_rows=9) is None
