"""The table of all clusters of a run: its words, classes and shares."""

from __future__ import annotations

import polars as pl

from pipeline.report.view import Listing, unfolded
from pipeline.report.views.clustering.levels import (
    WIDTH,
    Shown,
    TokenLevelView,
    clusters_listing,
    show_token_level,
)
from tests.findings.clustering.tables import RIGHT, type_stage
from tests.findings.clustering.test_token_level import token_stage

HOSTILE = "</script><img onerror=alert(1)>"


def mapping(*rows: tuple[str, str | None, int, int]) -> pl.DataFrame:
    schema = {"cluster": pl.String, "gold": pl.String, "n_ij": pl.Int64, "n_j": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_every_cluster_with_its_words_the_largest_first() -> None:
    found = clusters_listing(
        type_stage({"right": RIGHT}), Shown("right", "1", True),
        mapping(("3", "P", 1, 1), ("1", "N", 3, 4), ("2", None, 0, 2)), said="right", unit="types",
    )  # fmt: skip
    assert found.shown is not None
    assert found.shown.rows() == [
        ("1", "dog, run, cat", "N", "75.00", "4"),
        ("2", "run, eat", "–", "–", "2"),
        ("3", "in", "P", "100.00", "1"),
    ]
    assert found.shown.columns[-1] == "types"
    assert found.frame["words"].to_list() == ["dog, run, cat", "run, eat", "in"]


def test_words_stand_on_lines_that_a_phone_has_room_for() -> None:
    many = {f"{letter * 9}": "1" for letter in "abcdefgh"}
    gold = type_stage({"many": many})
    frame = gold.table("gold.gold").collect()
    words = pl.DataFrame({"item": list(many), "gold": "N", "f": 1}, schema=frame.schema)
    tables = {"gold.gold": words, "s0.entries": gold.table("s0.entries").collect()}
    wide = type(gold)(**{**vars(gold), "table": lambda name: tables[name].lazy()})
    found = clusters_listing(
        wide, Shown("many", "1", True), mapping(("1", "N", 8, 8)), said="", unit="types"
    )
    assert found.shown is not None
    lines = found.shown["most frequent words"][0].split("\n")
    assert len(lines) == 3
    assert max(map(len, lines)) <= WIDTH


def test_hostile_words_stay_text() -> None:
    made = type_stage({HOSTILE: RIGHT})
    found = clusters_listing(
        made,
        Shown(HOSTILE, "1", True),
        mapping((HOSTILE, HOSTILE, 1, 1)),
        said=HOSTILE,
        unit="types",
    )
    assert found.frame["cluster"].to_list() == [HOSTILE]
    assert found.frame["words"].to_list() == [""]


def test_tokens_show_it_too() -> None:
    blocks = unfolded(show_token_level(token_stage({"many_to_one": 0.85}), TokenLevelView()))
    (found,) = (each for each in blocks if isinstance(each, Listing) and each.name == "clusters-a")
    assert found.shown is not None
    assert found.shown.rows() == [
        ("1", "the", "D", "100.00", "60"),
        ("2", "dog, run, ah", "N", "62.50", "40"),
    ]
