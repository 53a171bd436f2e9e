"""What one sender sends: answers that were shown to others stay, an undo means what it meant."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest

from pipeline.annotate.records import First, Settled, add, firsts
from pipeline.annotate.tasks import Work
from pipeline.formats.annotation_log import Decision, Outcome, opened, recent, transaction
from tests.annotate.served import ask, entries, say, work_in

KEYS = count()


@pytest.fixture
def work(tmp_path: Path) -> Work:
    work = work_in(tmp_path)
    ask(work, "ana", "ben")
    return work


def send(work: Work, *decisions: Decision) -> list[str]:
    with opened(work.database) as log, transaction(log):
        outcomes = add(log, decisions)
    return [each.status if isinstance(each, Outcome) else "settled" for each in outcomes]


def label(who: str, item: str, answer: str = "SVC", **more: Any) -> Decision:
    return Decision(f"key{next(KEYS)}", who, item, "label", answer, **more)


def undo(who: str, item: str = "", **more: Any) -> Decision:
    return Decision(f"key{next(KEYS)}", who, item, "undo", **more)


def adjudicate(work: Work, *people: str, item: str = "x0") -> None:
    """Let the annotators disagree on an item, then ask people for it again."""
    say(work, "ana", item, "SVC", note="sure", unsure=True)
    say(work, "ben", item, "free")
    ask(work, *people, ids=[item], named="adjudication")


@pytest.mark.parametrize("people", [("cleo",), ("ana", "ben")])
def test_answers_that_were_shown_no_longer_change(work: Work, people: tuple[str, ...]) -> None:
    adjudicate(work, *people)
    before = entries(work, "key")
    for who in ("ana", "ben"):
        again = label(who, "x0", "figurative"), label(who, "x0", note="on second thoughts")
        assert send(work, *again) == ["settled", "settled"]
        assert send(work, undo(who)) == ["settled"]
    assert entries(work, "key") == before
    assert entries(work, "count(*)") == [2]


def test_they_do_not_change_once_the_third_person_has_decided(work: Work) -> None:
    adjudicate(work, "cleo")
    say(work, "cleo", "x0", "free", round="adjudication")
    assert send(work, label("ana", "x0", "free")) == ["settled"]


def test_a_round_that_is_taken_back_frees_them(work: Work) -> None:
    adjudicate(work, "cleo")
    ask(work, ids=[], named="adjudication")
    assert send(work, label("ana", "x0", "free")) == ["saved"]


def test_other_items_and_the_adjudication_itself_go_on(work: Work) -> None:
    adjudicate(work, "ana", "ben")
    assert send(work, label("ana", "x1"), label("ana", "x0", round="adjudication")) == ["saved"] * 2
    assert send(work, label("ana", "x0", "free", round="adjudication")) == ["saved"]
    assert send(work, undo("ana", round="adjudication")) == ["saved"]
    assert send(work, undo("ana")) == ["saved"]  # of x1
    assert send(work, undo("ana")) == ["settled"]  # of x0


def test_setting_aside_changes_no_answer(work: Work) -> None:
    adjudicate(work, "cleo")
    aside = Decision("aside", "ana", "x0", "skip")
    assert send(work, aside, undo("ana")) == ["saved", "saved"]


def test_what_was_saved_before_is_repeated(work: Work) -> None:
    before = label("ana", "x0", "SVC")
    assert send(work, before) == ["saved"]
    adjudicate(work, "cleo")
    assert send(work, before) == ["repeated"]


def test_who_has_not_answered_yet_still_can_but_for_adjudicators(work: Work) -> None:
    ask(work, "ana", "ben", "dan", "eve")
    adjudicate(work, "cleo", "eve")
    assert send(work, label("dan", "x0")) == ["saved"]
    assert send(work, label("dan", "x0", "free")) == ["settled"]
    assert send(work, label("eve", "x0")) == ["settled"]


def test_the_reason_is_told_with_the_item() -> None:
    assert "first round to 'x0' no longer change" in str(Settled("x0"))


def test_an_undo_after_what_was_not_saved_means_that(work: Work) -> None:
    assert send(work, label("ana", "x1")) == ["saved"]
    say(work, "ana", "x2", "SVC")
    stale = label("ana", "x2", "free", replaces=0)
    assert send(work, stale, undo("ana")) == ["stale", "nothing"]
    assert send(work, label("ana", "zz"), label("ana", "x3"), undo("ana"), undo("ana")) == [
        "unknown", "saved", "saved", "nothing",
    ]  # fmt: skip
    with opened(work.database) as log:
        assert {each.id for each in recent(log, "ana", most=9)} == {"x1", "x2"}


def test_an_undo_after_what_was_saved_before_takes_it_back(work: Work) -> None:
    mine = label("ana", "x1")
    assert send(work, mine) == ["saved"]
    back = undo("ana")
    assert send(work, mine, back) == ["repeated", "saved"]
    assert send(work, mine, back) == ["repeated", "repeated"]
    assert send(work, undo("ana")) == ["nothing"]


def test_an_undo_that_names_an_item_takes_back_no_other(work: Work) -> None:
    assert send(work, label("ana", "x1"), label("ana", "x2")) == ["saved"] * 2
    assert send(work, undo("ana", "x1"), undo("ana", "zz")) == ["nothing"] * 2
    assert send(work, undo("ana", "x2"), undo("ana", "x1")) == ["saved"] * 2
    assert entries(work, "coalesce(undoes, 0)") == [0, 0, 2, 1]


def test_first_answers_are_those_that_stand_by_name(work: Work) -> None:
    say(work, "ben", "x0", "SVC")
    say(work, "ben", "x0", "free", note="no")
    say(work, "ana", "x0", "SVC", unsure=True)
    say(work, "ana", "x1", "SVC")
    assert send(work, undo("ana")) == ["saved"]
    ask(work, "cleo", ids=["x0", "x1"], named="adjudication")
    say(work, "cleo", "x0", "figurative", round="adjudication")
    with opened(work.database) as log:
        assert firsts(log, ["x0", "x1", "zz"]) == {
            "x0": [First("ana", "SVC", True, ""), First("ben", "free", False, "no")],
            "x1": [], "zz": [],
        }  # fmt: skip


def test_first_answers_of_more_items_than_a_query_holds(work: Work) -> None:
    say(work, "ana", "x4", "SVC")
    with opened(work.database) as log:
        found = firsts(log, [*(f"no{n}" for n in range(1200)), "x4"])
    assert [item for item, said in found.items() if said] == ["x4"]
