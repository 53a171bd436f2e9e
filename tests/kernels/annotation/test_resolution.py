"""What an adjudication round decides: known cases, a loop over all people, degenerate rounds."""

from __future__ import annotations

from typing import TypeAlias

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.adjudication import resolutions, settled
from schemas import Resolutions
from schemas.validate import validate

FIRST = {"id": pl.String, "annotator": pl.String, "label": pl.String}
SECOND = {**FIRST, "note": pl.String}
Text: TypeAlias = str | None
Vote: TypeAlias = tuple[Text, Text, Text]
Decision: TypeAlias = tuple[Text, Text, Text, Text]
DIFFER: list[Vote] = [("x", "anna", "SVC"), ("x", "ben", "free")]
ALIKE: list[Vote] = [("x", "anna", "SVC"), ("x", "ben", "SVC")]


def resolved(first: list[Vote], second: list[Decision]) -> list[tuple[object, ...]]:
    said = pl.LazyFrame(second, schema=SECOND, orient="row")
    found = resolutions(pl.LazyFrame(first, schema=FIRST, orient="row"), said).collect()
    validate([found], Resolutions, name="resolutions")
    return found.rows()


def decision(annotator: Text, label: Text, note: Text = None, item: Text = "x") -> Decision:
    return (item, annotator, label, note)


@pytest.mark.parametrize(
    ("first", "second", "label", "who"),
    [
        (DIFFER, [decision("carla", "free")], "free", "carla"),
        (DIFFER, [decision("dora", "free"), decision("carla", "free")], "free", "carla, dora"),
        (DIFFER, [decision("carla", "free"), decision("dora", "SVC")], None, ""),
        (DIFFER, [decision("anna", "free")], None, ""),
        (DIFFER, [decision("anna", "free"), decision("ben", "free")], "free", "anna, ben"),
        (DIFFER, [decision("anna", "other"), decision("ben", "other")], "other", "anna, ben"),
        (DIFFER, [decision("anna", "free"), decision("ben", "SVC")], None, ""),
        # A third who decides is heard before those who differed, and differ still.
        (DIFFER, [decision("anna", "SVC"), decision("carla", "free")], "free", "carla"),
        (
            DIFFER,
            [decision("anna", "SVC"), decision("ben", "SVC"),
             decision("carla", "free"), decision("dora", "SVC")],
            None,
            "",
        ),
        (ALIKE, [decision("carla", "free")], "free", "carla"),
        (ALIKE, [decision("anna", "free"), decision("ben", None)], None, ""),
        ([("x", "anna", "SVC")], [decision("anna", "free")], "free", "anna"),
        (DIFFER, [decision("carla", "free"), decision("carla", "SVC")], None, ""),
    ],
)  # fmt: skip
def test_known_cases(
    first: list[Vote], second: list[Decision], label: str | None, who: str
) -> None:
    expected = [] if label is None else [(label, who)]
    assert [(row[1], row[2]) for row in resolved(first, second)] == expected


def test_what_stands_beside_a_resolution() -> None:
    second = [decision("dora", "free", "so it is"), decision("carla", "free", "it varies")]
    assert resolved(DIFFER, second) == [
        ("x", "free", "carla, dora", "it varies; so it is", "anna: SVC; ben: free")
    ]
    second = [decision("carla", "free"), decision("anna", "SVC", "not heard")]
    assert resolved(DIFFER, second) == [("x", "free", "carla", None, "anna: SVC; ben: free")]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([], []),
        (DIFFER, []),
        ([], [decision("carla", "free")]),
        ([("x", "anna", None)], [decision("carla", "free")]),
        (DIFFER, [decision("carla", "free", item="of another sample")]),
        (DIFFER, [decision("carla", None)]),
        (DIFFER, [decision(None, "free")]),
        (DIFFER, [decision("carla", "free", item=None)]),
        ([(None, "anna", "SVC")], [decision("carla", "free", item=None)]),
    ],
)
def test_nothing_is_resolved(first: list[Vote], second: list[Decision]) -> None:
    assert resolved(first, second) == []


def test_who_annotated_without_a_label_is_outside() -> None:
    first: list[Vote] = [*DIFFER, ("x", "carla", None)]
    assert resolved(first, [decision("carla", "free")])[0][:3] == ("x", "free", "carla")


def by_hand(first: list[Vote], second: list[Decision]) -> list[tuple[object, ...]]:
    """Return id, label and who decided, by asking for each id who says what."""
    found: list[tuple[object, ...]] = []
    for item in sorted({row[0] for row in first if row[0]}):
        asked = {who for each, who, label in first if each == item and who and label}
        said = {(who, label) for each, who, label, _ in second if each == item and who and label}
        others = {(who, label) for who, label in said if who not in asked}
        heard = others or said
        people = {who for who, _ in heard}
        enough = bool(others) or people == asked
        labels = {label for _, label in heard}
        if asked and heard and enough and len(labels) == 1:
            found.append((item, labels.pop(), ", ".join(sorted(people))))
    return found


names = st.sampled_from(["anna", "ben", "carla", "dora", None])
items = st.sampled_from(["x", "y", None])
labels = st.sampled_from(["s", "f", None])
firsts = st.lists(st.tuples(items, names, labels), max_size=8)
seconds = st.lists(st.tuples(items, names, labels, st.sampled_from(["so", None])), max_size=8)


@given(first=firsts, second=seconds, data=st.data())
def test_against_a_loop(first: list[Vote], second: list[Decision], data: st.DataObject) -> None:
    expected = by_hand(first, second)
    found = resolved(data.draw(st.permutations(first)), data.draw(st.permutations(second)))
    assert [row[:3] for row in found] == expected
    assert found == resolved(first, second)


def test_settled_changes_the_column_alone() -> None:
    by_rule = pl.LazyFrame({"id": ["y", "x", "z"], "tp": [None, True, False], "n": [2, 2, 1]})
    final = pl.LazyFrame({"id": ["x", "y", "of another sample"], "tp": [False, True, True]})
    found = settled(by_rule, final, column="tp").collect()
    assert found.rows() == [("y", True, 2), ("x", False, 2), ("z", False, 1)]
    assert settled(by_rule, final.limit(0), column="tp").collect().equals(by_rule.collect())
