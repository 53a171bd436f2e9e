"""Findings of two runs side by side: nothing gets lost, nothing is called better."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.across_runs import Pair, paired
from pipeline.findings.base import Finding, Told


def told(name: str, value: float, about: str = "L*", question: str = "how good") -> Told:
    text = f"L* of {name}: {100 * value:.1f} %."
    return Told(
        "quality", Finding(about=about, text=text, question=question, name=name, value=value)
    )


def kinds(pairs: list[Pair]) -> list[str]:
    return [pair.kind for pair in pairs]


def test_equal_sentences_are_said_by_both() -> None:
    (pair,) = paired([told("a", 0.5)], [told("a", 0.5)])
    assert (pair.kind, pair.change) == ("both", "")


def test_other_numbers_have_a_change_in_points() -> None:
    (pair,) = paired([told("a", 0.5)], [told("a", 0.375)])
    assert (pair.kind, pair.change) == ("other", "−12.5 points")


def test_another_name_has_no_change() -> None:
    (pair,) = paired([told("a", 0.5)], [told("b", 0.375)])
    assert (pair.kind, pair.change) == ("other", "")


def test_another_size_has_no_change() -> None:
    one, two = (
        Finding(about="best", text=f"{v} %.", question="q", name="mi", n=n, value=v / 100)
        for v, n in ((50.0, 100), (40.0, 200))
    )
    assert Pair("tests", one, two).change == ""


def test_of_several_names_each_finds_its_own() -> None:
    pairs = paired([told("a", 0.1), told("b", 0.2)], [told("b", 0.3), told("a", 0.4)])
    assert [
        (pair.first.name, pair.second.name) for pair in pairs if pair.first and pair.second
    ] == [
        ("a", "a"),
        ("b", "b"),
    ]


def test_unlike_names_are_not_matched_where_there_are_several() -> None:
    pairs = paired([told("a", 0.1), told("b", 0.2)], [told("c", 0.3), told("d", 0.4)])
    assert sorted(kinds(pairs)) == ["first", "first", "second", "second"]


def test_another_question_is_another_finding() -> None:
    pairs = paired([told("a", 0.1)], [told("a", 0.1, question="how sure")])
    assert kinds(pairs) == ["first", "second"]


def test_nothing_against_nothing() -> None:
    assert paired([], []) == []


FOUND = st.lists(
    st.builds(
        told, st.sampled_from("abc"), st.sampled_from([0.1, 0.2]), st.sampled_from(["L*", "lost"])
    ),
    max_size=6,
)


@given(FOUND, FOUND)
def test_no_finding_is_lost_and_none_comes_twice(first: list[Told], second: list[Told]) -> None:
    pairs = paired(first, second)
    mine = [pair.first for pair in pairs if pair.first is not None]
    its = [pair.second for pair in pairs if pair.second is not None]
    assert mine == [each.finding for each in first]
    assert sorted(map(repr, its)) == sorted(repr(each.finding) for each in second)


@given(FOUND)
def test_a_run_against_itself_says_the_same(found: list[Told]) -> None:
    assert set(kinds(paired(found, found))) <= {"both"}
