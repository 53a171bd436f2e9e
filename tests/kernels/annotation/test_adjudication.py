"""One label per id by three rules, against a loop over the votes."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.adjudication import Rule, adjudicate, disagreements

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
def test_against_a_loop(rows: list[Vote], rule: Rule, data: st.DataObject) -> None:
    expected = by_hand(rows, rule, "c")
    shuffled = data.draw(st.permutations(rows))
    found = adjudicate(frame(shuffled), rule=rule, expert="c").collect()
    assert found.schema == {
        "id": pl.String,
        "label": pl.String,
        "annotators": pl.Int64,
        "agreed": pl.Boolean,
    }
    assert found.rows() == expected


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
def test_by_hand(rule: Rule) -> None:
    assert adjudicate(frame(VOTES), rule=rule, expert="c").collect().rows() == BY_HAND[rule]


def test_an_annotator_has_one_vote() -> None:
    """The same label twice counts once, two labels do not count."""
    rows: list[Vote] = [("x", "a", "s"), ("x", "a", "s"), ("x", "b", "f")]
    assert adjudicate(frame(rows), rule="majority").collect().rows() == [("x", None, 2, False)]
    rows += [("x", "a", "f")]
    assert adjudicate(frame(rows), rule="majority").collect().rows() == [("x", "f", 1, True)]


def test_nobody_has_voted() -> None:
    found = adjudicate(frame([("x", "a", None)]), rule="unanimous").collect()
    assert found.rows() == [("x", None, 0, None)]
    assert adjudicate(frame([]), rule="majority").collect().is_empty()


def test_wrong_rule() -> None:
    with pytest.raises(ValueError, match="needs the name of the expert"):
        adjudicate(frame([]), rule="expert")
    with pytest.raises(ValueError, match="unknown rule 'vote'; valid: majority"):
        adjudicate(frame([]), rule="vote")  # type: ignore[arg-type]  # the mistake


@given(rows=votes)
def test_disagreements_against_a_loop(rows: list[Vote]) -> None:
    labels: dict[str, set[str | None]] = defaultdict(set)
    for item, _, label in rows:
        labels[item] |= {label} - {None}
    expected = {row for row in rows if len(labels[row[0]]) > 1 and row[2] is not None}
    assert disagreements(frame(rows)).collect().rows() == sorted(expected)
