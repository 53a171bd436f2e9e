"""Which answers count: those up to everybody's first open card, whatever is said on them."""

from __future__ import annotations

import random
import sqlite3

from pipeline.annotate.estimates import counted
from pipeline.formats.annotation_log import Asked, Decision, append, take_over
from tests.annotate.desk import say

ITEMS = {each: {"units": {"l1": each, "l2": each}} for each in "abcdef"}


def lay_out(log: sqlite3.Connection) -> None:
    """Ana has a b c d, Ben has d e f."""
    asked = [Asked("ana", each, n) for n, each in enumerate("abcd", 1)]
    take_over(log, ITEMS, [*asked, *(Asked("ben", each, n) for n, each in enumerate("def", 1))])


def test_nothing_counts_before_somebody_has_answered(log: sqlite3.Connection) -> None:
    lay_out(log)
    found = counted(log)
    assert (found.order, found.answered, found.asked, found.held) == ((), 0, 6, 0)


def test_what_comes_after_an_open_card_does_not_count_yet(log: sqlite3.Connection) -> None:
    lay_out(log)
    say(log, "ana", [("a", "s"), ("c", "s")])
    assert (counted(log).order, counted(log).answered, counted(log).held) == (("a",), 2, 1)
    say(log, "ana", [("b", "f")])
    assert counted(log).order == ("a", "c", "b")


def test_an_item_of_two_counts_when_both_have_come_by_it(log: sqlite3.Connection) -> None:
    lay_out(log)
    say(log, "ben", [("d", "s"), ("e", "s")])
    assert counted(log).order == ("e",)
    say(log, "ana", [("d", "f")])
    assert (counted(log).order, counted(log).held) == (("e",), 1)  # ana's a, b, c are open
    say(log, "ana", [("a", "s"), ("b", "s"), ("c", "s")])
    assert counted(log).order == ("e", "d", "a", "b", "c")


def test_an_answer_that_changes_keeps_its_place(log: sqlite3.Connection) -> None:
    lay_out(log)
    say(log, "ana", [("a", "s"), ("b", "s")])
    say(log, "ana", [("a", "f")])
    assert counted(log).order == ("a", "b")
    append(log, [Decision(f"undo-{n}-key", "ana", "", "undo") for n in range(2)])
    assert counted(log).order == ("a",)


def test_the_labels_make_no_difference(log: sqlite3.Connection) -> None:
    lay_out(log)
    for who, each in [("ana", "a"), ("ben", "d"), ("ana", "b"), ("ben", "e")]:
        say(log, who, [(each, random.choice("sf"))])
    assert counted(log).order == ("a", "b", "e")
