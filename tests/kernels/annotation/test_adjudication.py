"""One label per id by three rules, against a loop over the votes."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TypeAlias

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.adjudication import (
    Rule,
    adjudicate,
    apply_resolutions,
    disagreements,
    of_round,
    resolutions,
    unknown_rounds,
)
from schemas import Faults, Resolutions
from schemas.validate import validate

SCHEMA = {"id": pl.String, "annotator": pl.String, "label": pl.String}
Vote = tuple[str, str, str | None]
votes = st.lists(
    st.tuples(st.sampled_from("xyz"), st.sampled_from("abcd"), st.sampled_from(["s", "f", None])),
    max_size=14,
)
RULES: tuple[Rule, ...] = ("majority", "unanimous", "expert")


def frame(rows: list[Vote]) -> pl.LazyFrame:
    return pl.LazyFrame(rows, schema=SCHEMA, orient="row")


def by_hand(rows: list[Vote], rule: str, expert: str) -> list[tuple[object, ...]]:
    given_labels: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for item, annotator, label in rows:
        given_labels[item][annotator] |= set() if label is None else {label}
    result: list[tuple[object, ...]] = []
    for item in sorted(given_labels):
        own = {a: min(each) for a, each in given_labels[item].items() if len(each) == 1}
        counts = Counter(own.values()).most_common()
        tie = len(counts) > 1 and counts[0][1] == counts[1][1]
        majority = counts[0][0] if counts and not tie else None
        agreed = len(counts) == 1 if counts else None
        label = {
            "majority": majority,
            "unanimous": majority if agreed else None,
            "expert": own.get(expert, majority),
        }[rule]
        result.append((item, label, len(own), agreed))
    return result


@given(rows=votes, rule=st.sampled_from(RULES), data=st.data())
def test_adjudication_agrees_with_a_loop(rows: list[Vote], rule: Rule, data: st.DataObject) -> None:
    expected = by_hand(rows, rule, "c")
    shuffled = data.draw(st.permutations(rows))
    result = adjudicate(frame(shuffled), rule=rule, expert="c").collect()
    assert result.schema == {
        "id": pl.String,
        "label": pl.String,
        "annotators": pl.Int64,
        "agreed": pl.Boolean,
    }
    assert result.rows() == expected


VOTES: list[Vote] = [
    ("x", "a", "s"), ("x", "b", "s"), ("x", "c", "f"),
    ("y", "a", "s"), ("y", "b", "f"),
    ("z", "a", None), ("z", "b", "f"),
]  # fmt: skip
BY_HAND = {
    "majority": [("x", "s", 3, False), ("y", None, 2, False), ("z", "f", 1, True)],
    "unanimous": [("x", None, 3, False), ("y", None, 2, False), ("z", "f", 1, True)],
    "expert": [("x", "f", 3, False), ("y", None, 2, False), ("z", "f", 1, True)],
}


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_gives_the_labels_by_hand(rule: Rule) -> None:
    assert adjudicate(frame(VOTES), rule=rule, expert="c").collect().rows() == BY_HAND[rule]


def test_an_annotator_has_one_vote() -> None:
    """The same label twice counts once, two labels do not count."""
    rows: list[Vote] = [("x", "a", "s"), ("x", "a", "s"), ("x", "b", "f")]
    assert adjudicate(frame(rows), rule="majority").collect().rows() == [("x", None, 2, False)]
    rows += [("x", "a", "f")]
    assert adjudicate(frame(rows), rule="majority").collect().rows() == [("x", "f", 1, True)]


def test_ids_without_votes_have_no_label() -> None:
    result = adjudicate(frame([("x", "a", None)]), rule="unanimous").collect()
    assert result.rows() == [("x", None, 0, None)]
    assert adjudicate(frame([]), rule="majority").collect().is_empty()


def test_unknown_rules_are_refused() -> None:
    with pytest.raises(ValueError, match="requires the name of the expert"):
        adjudicate(frame([]), rule="expert")
    with pytest.raises(ValueError, match="unknown rule 'vote'; valid: majority"):
        adjudicate(frame([]), rule="vote")  # type: ignore[arg-type]  # the mistake


@given(rows=votes)
def test_listed_disagreements_agree_with_a_loop(rows: list[Vote]) -> None:
    labels: dict[str, set[str | None]] = defaultdict(set)
    for item, _, label in rows:
        labels[item] |= {label} - {None}
    expected = {row for row in rows if len(labels[row[0]]) > 1 and row[2] is not None}
    assert disagreements(frame(rows)).collect().rows() == sorted(expected)


# Decisions of an adjudication round: known cases, a loop over all people, degenerate rounds.

FIRST = {"id": pl.String, "annotator": pl.String, "label": pl.String}
SECOND = {**FIRST, "note": pl.String}
Text: TypeAlias = str | None
VoteResolution: TypeAlias = tuple[Text, Text, Text]
Decision: TypeAlias = tuple[Text, Text, Text, Text]
DIFFER: list[VoteResolution] = [("x", "anna", "SVC"), ("x", "ben", "free")]
ALIKE: list[VoteResolution] = [("x", "anna", "SVC"), ("x", "ben", "SVC")]


def resolve(first: list[VoteResolution], second: list[Decision]) -> list[tuple[object, ...]]:
    votes = pl.LazyFrame(second, schema=SECOND, orient="row")
    result = resolutions(pl.LazyFrame(first, schema=FIRST, orient="row"), votes).collect()
    validate([result], Resolutions, name="resolutions")
    return result.rows()


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
        # The decision of a third counts before those who disagreed and still disagree.
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
def test_second_votes_resolve_known_cases(
    first: list[VoteResolution], second: list[Decision], label: str | None, who: str
) -> None:
    expected = [] if label is None else [(label, who)]
    assert [(row[1], row[2]) for row in resolve(first, second)] == expected


def test_a_resolution_names_annotators_notes_and_first_votes() -> None:
    second = [decision("dora", "free", "so it is"), decision("carla", "free", "it varies")]
    assert resolve(DIFFER, second) == [
        ("x", "free", "carla, dora", "it varies; so it is", "anna: SVC; ben: free")
    ]
    second = [decision("carla", "free"), decision("anna", "SVC", "not heard")]
    assert resolve(DIFFER, second) == [("x", "free", "carla", None, "anna: SVC; ben: free")]


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
def test_votes_without_a_decision_resolve_nothing(
    first: list[VoteResolution], second: list[Decision]
) -> None:
    assert resolve(first, second) == []


def test_an_annotator_without_a_label_counts_as_a_third() -> None:
    first: list[VoteResolution] = [*DIFFER, ("x", "carla", None)]
    assert resolve(first, [decision("carla", "free")])[0][:3] == ("x", "free", "carla")


def by_hand_resolution(
    first: list[VoteResolution], second: list[Decision]
) -> list[tuple[object, ...]]:
    """Return id, label and deciding annotators, by looking at all votes on each id."""
    rows: list[tuple[object, ...]] = []
    for item in sorted({row[0] for row in first if row[0]}):
        voters = {who for each, who, label in first if each == item and who and label}
        second_votes = {
            (who, label) for each, who, label, _ in second if each == item and who and label
        }
        others = {(who, label) for who, label in second_votes if who not in voters}
        heard = others or second_votes
        people = {who for who, _ in heard}
        enough = bool(others) or people == voters
        labels = {label for _, label in heard}
        if voters and heard and enough and len(labels) == 1:
            rows.append((item, labels.pop(), ", ".join(sorted(people))))
    return rows


names = st.sampled_from(["anna", "ben", "carla", "dora", None])
items = st.sampled_from(["x", "y", None])
labels = st.sampled_from(["s", "f", None])
firsts = st.lists(st.tuples(items, names, labels), max_size=8)
seconds = st.lists(st.tuples(items, names, labels, st.sampled_from(["so", None])), max_size=8)


@given(first=firsts, second=seconds, data=st.data())
def test_resolutions_agree_with_a_loop(
    first: list[VoteResolution], second: list[Decision], data: st.DataObject
) -> None:
    expected = by_hand_resolution(first, second)
    resolved = resolve(data.draw(st.permutations(first)), data.draw(st.permutations(second)))
    assert [row[:3] for row in resolved] == expected
    assert resolved == resolve(first, second)


def test_applied_resolutions_change_one_column() -> None:
    by_rule = pl.LazyFrame({"id": ["y", "x", "z"], "tp": [None, True, False], "n": [2, 2, 1]})
    final = pl.LazyFrame({"id": ["x", "y", "of another sample"], "tp": [False, True, True]})
    result = apply_resolutions(by_rule, final, column="tp").collect()
    assert result.rows() == [("y", True, 2), ("x", False, 2), ("z", False, 1)]
    assert (
        apply_resolutions(by_rule, final.limit(0), column="tp").collect().equals(by_rule.collect())
    )


# Rounds of annotation: the rows of each, and values that are no round.

ROUNDS = ["annotation", None, " ", "adjudication", " Adjudication ", "2"]
ROWS = pl.LazyFrame({"file": "d", "line": list(range(2, 8)), "round": ROUNDS}).with_columns(
    pl.col("line").cast(pl.Int64), pl.col("file").cast(pl.String)
)


def lines(rows: pl.LazyFrame) -> list[int]:
    return rows.collect()["line"].to_list()


def test_an_empty_round_is_the_first() -> None:
    assert lines(of_round(ROWS.limit(5), "annotation")) == [2, 3, 4]
    assert lines(of_round(ROWS, "adjudication")) == [5, 6]


def test_rows_without_a_round_column_are_of_the_first_round() -> None:
    bare = ROWS.drop("round")
    assert lines(of_round(bare, "annotation")) == lines(ROWS)
    assert lines(of_round(bare, "adjudication")) == []
    assert unknown_rounds(bare).collect().is_empty()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("2", "is not a round; valid: adjudication, annotation"),
        (" adjudicated", "is not a round; did you mean adjudication?"),
    ],
)
def test_unknown_rounds_are_faults_with_their_places(value: str, problem: str) -> None:
    rows = ROWS.with_columns(
        round=pl.when(pl.col("line") == 7).then(pl.lit(value)).otherwise("round")
    )
    result = unknown_rounds(rows).collect()
    validate([result], Faults, name="faults")
    assert result.rows() == [("d", 7, "round", value, problem)]
