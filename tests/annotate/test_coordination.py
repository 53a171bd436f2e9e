"""What is shown of people: seconds, agreement, what they differ in."""

from __future__ import annotations

import random
import sqlite3

import pytest

from pipeline.annotate.adjudication import agreement_so_far
from pipeline.annotate.progress import how_far, how_far_all, pace
from pipeline.annotate.records import Answer, disagreements, doubtful, standing_answers, with_units
from pipeline.formats.annotation_log import Decision, Kind, append, last_entry, standing_rows
from tests.annotate.desk import ask, say

AB = ("ana", "ben")


def given(*labels: str) -> list[Answer]:
    """One string an item, one letter a person, a dot for nobody."""
    return [
        Answer(f"x{n}", f"p{person}", label)
        for n, each in enumerate(labels)
        for person, label in enumerate(each)
        if label != "."
    ]


def test_the_pace_is_the_median_with_quartiles() -> None:
    found = pace([1, 2, 3, 4, 5, 6, 7, 8, 600])
    assert found is not None
    assert (found.lower, found.median, found.upper, found.decisions) == (3.0, 5.0, 7.0, 9)


def test_agreement_of_two_is_that_of_a_published_table() -> None:
    # 40 and 45 agree, 9 and 6 do not: kappa .6995 as in the kernel's own example
    said = given(*["ss"] * 40, *["sf"] * 9, *["fs"] * 6, *["ff"] * 45)
    (two,) = agreement_so_far(said)
    observed, kappa, ac1 = two.coefficients
    assert (two.people, two.items) == (("p0", "p1"), 100)
    assert observed.estimate == pytest.approx(0.85)
    assert (observed.lower, observed.upper) == pytest.approx((0.7672, 0.9069), abs=5e-5)  # Wilson
    assert kappa.estimate == pytest.approx(0.6995, abs=5e-5)
    # 1.96 * 0.0714 to each side
    assert (kappa.lower, kappa.upper) == pytest.approx((0.5596, 0.8394), abs=2e-4)
    assert ac1.title == "Gwet's AC1"
    assert ac1.lower < ac1.estimate < ac1.upper


def test_nothing_is_said_on_fewer_than_two_items_in_common() -> None:
    (two,) = agreement_so_far(given("ss", "s.", ".f"))
    assert (two.items, two.coefficients) == (1, ())
    (none,) = agreement_so_far(given("s.", ".f"))
    assert (none.items, none.coefficients) == (0, ())
    assert agreement_so_far(given("s", "f")) == agreement_so_far([]) == ()


def test_three_people_are_also_taken_together() -> None:
    every, *pairs = agreement_so_far(given("sss", "sff", "fff", "ss."))
    assert every.people == ()
    assert [each.people for each in pairs] == [("p0", "p1"), ("p0", "p2"), ("p1", "p2")]
    assert (every.items, [each.items for each in pairs]) == (4, [4, 3, 3])
    # of the three pairs of people on x1 one agrees
    assert every.coefficients[0].estimate == pytest.approx((1 + 1 / 3 + 1 + 1) / 4)
    assert every.coefficients[1].title == "Fleiss' kappa"


def test_disagreements_where_all_are_sure_come_first(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1", "x2", "x3"])
    say(log, "ana", [("x0", "SVC")], unsure=True, note="hm")
    say(log, "ana", [("x1", "SVC"), ("x2", "SVC"), ("x3", "SVC")])
    say(log, "ben", [("x0", "free"), ("x1", "SVC"), ("x3", "free")])
    answers = standing_answers(log)
    sure, unsure = disagreements(answers)
    assert (sure.id, unsure.id) == ("x3", "x0")
    assert with_units(log, [unsure])[0].units == ("left x0", "right x0")
    assert [(each.annotator, each.label, each.unsure, each.note) for each in unsure.answers] == [
        ("ana", "SVC", True, "hm"), ("ben", "free", False, ""),
    ]  # fmt: skip
    assert [each.id for each in doubtful(answers)] == ["x0"]


def test_what_is_no_longer_asked_for_does_not_count(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1"])
    say(log, "ana", [("x0", "SVC"), ("x1", "SVC")])
    say(log, "ben", [("x0", "free"), ("x1", "free")])
    ask(log, AB, ["x1"])
    assert {each.id for each in standing_answers(log)} == {"x1"}


def test_answers_that_stand_are_those_of_the_log(log: sqlite3.Connection) -> None:
    bits = random.Random(7)
    names = [f"x{n}" for n in range(6)]
    ask(log, AB, names)
    for n in range(200):
        who, each = bits.choice(AB), bits.choice(names)
        kind: Kind = bits.choice(["label", "label", "skip", "undo"])
        decision = Decision(
            f"key-{n:05d}", who, "" if kind == "undo" else each, kind,
            bits.choice(["s", "f", None]) if kind == "label" else None, bits.random() < 0.5,
        )  # fmt: skip
        append(log, [decision])
        found = [
            (each.id, each.annotator, each.label, each.unsure) for each in standing_answers(log)
        ]
        stands = [
            (row["id"], row["annotator"], row["answer"], bool(row["unsure"]))
            for row in standing_rows(log, last_entry(log), named="annotation")
        ]
        assert found == stands


def test_how_far_is_what_the_log_says(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1", "x2"])
    say(log, "ana", [("x0", "SVC")], unsure=True, seconds=2.0)
    say(log, "ana", [("x1", "SVC")], seconds=4.0)
    append(log, [Decision("skip-key", "ana", "x2", "skip")])
    ana, ben = how_far_all(log, standing_answers(log))
    for far in (ana, ben):
        own = {"asked": far.asked, "done": far.done, "unsure": far.unsure, "aside": far.aside}
        assert own == how_far(log, far.annotator)
    assert (ana.asked, ana.done, ana.unsure, ben.done, ben.last) == (3, 2, 1, 0, "")
    assert ana.last == log.execute("SELECT max(at) FROM log").fetchone()[0]
    assert ana.pace == pace([2.0, 4.0])
    assert ana.pace is not None
    assert (ana.pace.median, ana.aside, ben.pace) == (3.0, 1, None)
