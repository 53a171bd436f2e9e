"""The adjudication round in the join: decisions of who saw the first labels are no annotations."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import WaitsForPerson
from pipeline.stages.base import FAULTS
from tests.stages.collocations.test_join_sheets import LABELS, Row, entries
from tests.stages.run_stage import run_stage

FIRST: list[Row] = [
    ("anna", "x", "SVC", None), ("ben", "x", "free", None),
    ("anna", "y", "SVC", None), ("ben", "y", "SVC", None),
]  # fmt: skip
X = entries(("", "x", None, None))["id"].item()
Y = entries(("", "y", None, None))["id"].item()


def rounds(
    *decisions: Row, first: list[Row] = FIRST, named: str = "adjudication", **options: Any
) -> dict[str, pl.DataFrame]:
    """Join the first labels of anna and ben on x and y, and what was decided afterwards."""
    units = entries(*(("", unit, None, None) for unit in "xy")).select("id", "l1", "l2")
    people = pl.DataFrame({"annotator": ["anna", "ben"]}).join(units, how="cross")
    order = pl.int_range(1, pl.len() + 1)
    sheet = people.select("annotator", order=order, id="id", l1="l1", l2="l2")
    told = [None] * len(first) + [named] * len(decisions)
    every = entries(*first, *decisions).with_columns(pl.Series("round", told, dtype=pl.String))
    config = {"categories": {"TP": ["SVC"], "any": ["SVC", "free"]}} | options
    return run_stage("join.sheets", config, sheet=sheet, labels=LABELS, entries=every)


def judged(made: dict[str, pl.DataFrame], category: str = "TP") -> dict[str, bool | None]:
    rows = made["judgements"].filter(pl.col("category") == category)
    return dict(rows.select("id", "tp").iter_rows())


def test_a_third_person_decides_and_the_first_labels_stay() -> None:
    before, made = rounds(), rounds(("carla", "x", " svc", "as in x"))
    assert judged(before) == {X: None, Y: True}
    assert judged(made) == {X: True, Y: True}
    assert made["annotations"].equals(before["annotations"])
    assert made["resolutions"].rows() == [(X, "SVC", "carla", "as in x", "anna: SVC; ben: free")]
    assert made["adjudicated"].filter(pl.col("id") == X).row(0) == (X, "SVC", 2, False)
    assert before["resolutions"].is_empty()
    assert made["notes"].select("annotator", "round").rows() == [("carla", "adjudication")]


@pytest.mark.parametrize("rule", ["majority", "unanimous", "expert", "intersection"])
def test_a_resolution_stands_whatever_the_rule_says(rule: str) -> None:
    options: dict[str, Any] = {"rule": rule} | ({"expert": "anna"} if rule == "expert" else {})
    made = rounds(("carla", "x", "free", None), ("carla", "y", "free", None), **options)
    assert judged(made) == {X: False, Y: False}
    assert judged(made, "any") == {X: True, Y: True}
    agreed = made["adjudicated"].select("id", "label", "agreed").rows()
    assert sorted(agreed) == sorted([(X, "free", False), (Y, "free", True)])


def test_annotators_decide_together_in_any_spelling() -> None:
    assert judged(rounds(("anna", "x", "free", None)))[X] is None
    made = rounds((" Anna", "x", "free", None), ("BEN", "x", "free", None))
    assert judged(made)[X] is False
    assert made["resolutions"]["annotator"].to_list() == ["anna, ben"]


def test_a_decision_is_no_label_of_the_first_round() -> None:
    with pytest.raises(WaitsForPerson, match="1 label: 1 of ben; such as y v"):
        rounds(("carla", "y", "SVC", None), ("ben", "y", "SVC", None), first=FIRST[:3])


def test_what_nobody_annotated_is_not_decided() -> None:
    made = rounds(("carla", "y", "SVC", None), first=FIRST[:2], partial=True)
    assert judged(made) == {X: None}
    assert made["resolutions"].is_empty()


def problems(made: dict[str, pl.DataFrame]) -> list[tuple[Any, ...]]:
    return made[FAULTS].sort("line").select("line", "column", "value").rows()


def test_decisions_are_checked_as_labels_are() -> None:
    made = rounds(
        ("carla", "x", "SVG", None), (" ", "x", "free", None),
        ("dora", "y", "SVC", None), ("Dora", "y", "free", None),
    )  # fmt: skip
    assert problems(made) == [
        (6, "label", "SVG"), (7, "annotator", None), (8, "label", "SVC"), (9, "label", "free"),
    ]  # fmt: skip


def test_another_label_than_in_the_first_round_is_no_fault() -> None:
    assert problems(rounds(("anna", "x", "free", None))) == []


def test_strangers_are_asked_in_the_round_of_adjudication_alone() -> None:
    assert problems(rounds(("carla", "x", "free", None))) == []
    assert problems(rounds(("carla", "x", "free", None), named="annotation")) == [
        (6, "annotator", "carla")
    ]


def test_a_round_that_is_none_is_a_fault() -> None:
    assert problems(rounds(("carla", "x", "free", None), named="2nd"))[0] == (6, "round", "2nd")


def test_pairs_without_rounds_have_the_columns_that_they_had() -> None:
    plain = entries(*FIRST, ("anna", "z", "SVC", "seen"))
    sheet = plain.limit(4).select("annotator", order="line", id="id", l1="l1", l2="l2")
    # Somebody's own column l3 in a sheet of pairs is not part of the pair.
    own = plain.with_columns(l3=pl.lit("mine"))
    config = {"categories": {"TP": ["SVC"]}}
    made = run_stage("join.sheets", config, sheet=sheet, labels=LABELS, entries=own)
    assert made["others"].columns == made["notes"].columns == plain.columns
    assert problems(made) == []
