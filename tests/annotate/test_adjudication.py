"""The adjudication round: who takes part, what it decides, and that first answers stay."""

from __future__ import annotations

import random
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.annotate import adjudication
from pipeline.annotate.adjudication import (
    ROUND,
    adjudications,
    agreement_so_far,
    give_to_third,
    give_to_those_who_disagree,
    ready,
)
from pipeline.annotate.people import add, pace, progress_of, progress_of_all, stop
from pipeline.annotate.records import (
    Answer,
    Item,
    asked_tasks,
    disagreements,
    standing_answers,
    unsure_items,
    with_contents,
)
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import (
    NAME,
    Decision,
    Kind,
    TaskRequest,
    add_tasks,
    append,
    last_entry,
    open_log,
    standing_rows,
    transaction,
    upcoming,
)
from pipeline.kernels.annotation.adjudication import resolutions
from tests.annotate.office import ask, say_desk
from tests.annotate.served import work_in

AB = ("ana", "ben")


@pytest.fixture
def differing(log: sqlite3.Connection) -> sqlite3.Connection:
    """x0 differs, x1 agrees but one is unsure, x2 waits for ben, x3 differs."""
    ask(log, AB, ["x0", "x1", "x2", "x3"])
    say_desk(log, "ana", [("x0", "SVC"), ("x2", "SVC"), ("x3", "SVC")])
    say_desk(log, "ana", [("x1", "SVC")], unsure=True)
    say_desk(log, "ben", [("x0", "free"), ("x1", "SVC"), ("x3", "free")])
    return log


def ids(log: sqlite3.Connection, who: str) -> set[str]:
    return {each.id for each in upcoming(log, who, most=99, round_name=ROUND)}


def test_items_of_a_person_who_has_stopped_go_to_a_third_person(
    differing: sqlite3.Connection, tmp_path: Path
) -> None:
    stop(differing, work_in(tmp_path), "ana")
    assert give_to_those_who_disagree(differing) == 0
    assert give_to_third(differing, "Eva") == 2


def test_an_added_annotator_cannot_be_the_third_person(
    differing: sqlite3.Connection, tmp_path: Path
) -> None:
    add(differing, work_in(tmp_path), "Carla")
    with pytest.raises(ConfigError, match="Carla is an annotator, not a third person"):
        give_to_third(differing, "carla")


def test_items_are_ready_once_everybody_has_answered(differing: sqlite3.Connection) -> None:
    assert [each.id for each in ready(differing)] == ["x0", "x3"]
    assert [each.id for each in ready(differing, unsure=True)] == ["x0", "x1", "x3"]


def test_a_third_person_decides(differing: sqlite3.Connection) -> None:
    before = standing_answers(differing)
    assert give_to_third(differing, " Eva ") == 2
    assert (ids(differing, "Eva"), ids(differing, "ana")) == ({"x0", "x3"}, set())
    say_desk(differing, "Eva", [("x3", "SVC")], round_name=ROUND, note="clear")
    pending, resolved = adjudications(differing)
    assert (pending.item.id, pending.label, pending.waits_for) == ("x0", None, ("Eva",))
    assert (resolved.item.id, resolved.label, resolved.answers[0].note) == ("x3", "SVC", "clear")
    assert [each.label for each in resolved.item.answers] == ["SVC", "free"]
    assert standing_answers(differing) == before


def test_those_who_disagree_decide_together(differing: sqlite3.Connection) -> None:
    assert give_to_those_who_disagree(differing) == 2
    assert ids(differing, "ana") == ids(differing, "ben") == {"x0", "x3"}
    say_desk(differing, "ana", [("x0", "free"), ("x3", "SVC")], round_name=ROUND)
    assert [each.label for each in adjudications(differing)] == [None, None]
    say_desk(differing, "ben", [("x0", "free"), ("x3", "free")], round_name=ROUND)
    outcomes = {each.item.id: (each.label, each.waits_for) for each in adjudications(differing)}
    assert outcomes == {"x3": (None, ()), "x0": ("free", ())}


def test_reopening_the_round_adds_new_items_and_removes_none(
    differing: sqlite3.Connection,
) -> None:
    give_to_third(differing, "Eva")
    before = [
        tuple(row) for row in differing.execute("SELECT * FROM tasks WHERE round = ?", (ROUND,))
    ]
    assert give_to_third(differing, "eva") == 0
    say_desk(differing, "ben", [("x2", "free")])
    assert give_to_third(differing, "EVA") == 1
    after = [
        tuple(row) for row in differing.execute("SELECT * FROM tasks WHERE round = ?", (ROUND,))
    ]
    assert after[: len(before)] == before
    assert sorted(asked_tasks(differing, round_name=ROUND)) == [
        ("x0", "Eva"),
        ("x2", "Eva"),
        ("x3", "Eva"),
    ]
    assert len({row[4] for row in after}) == 3  # places


def test_items_that_annotators_cannot_settle_go_to_a_third_person(
    differing: sqlite3.Connection,
) -> None:
    give_to_those_who_disagree(differing)
    say_desk(differing, "ana", [("x0", "free"), ("x3", "SVC")], round_name=ROUND)
    say_desk(differing, "ben", [("x0", "free"), ("x3", "free")], round_name=ROUND)
    assert give_to_those_who_disagree(differing, unsure=True) == 1  # x1, which is new
    assert give_to_third(differing, "Eva") == 1
    assert ids(differing, "Eva") == {"x3"}
    say_desk(differing, "Eva", [("x3", "free")], round_name=ROUND)
    assert {each.item.id for each in adjudications(differing) if each.label} == {"x0", "x3"}
    assert give_to_third(differing, "Ida") == 0  # Eva has decided


@pytest.mark.parametrize("name", ["", "  ", "Ana", "a\x07b", "x" * 201])
def test_names_that_no_third_person_can_have_are_refused(
    differing: sqlite3.Connection, name: str
) -> None:
    with pytest.raises(ConfigError, match=r"name: "):
        give_to_third(differing, name)
    assert asked_tasks(differing, round_name=ROUND) == []


def test_each_person_gets_items_in_a_different_order(log: sqlite3.Connection) -> None:
    names = [f"x{n:02d}" for n in range(20)]
    ask(log, AB, names)
    say_desk(log, "ana", [(each, "SVC") for each in names])
    say_desk(log, "ben", [(each, "free") for each in names])
    give_to_those_who_disagree(log)
    orders = [[each.id for each in upcoming(log, who, most=99, round_name=ROUND)] for who in AB]
    assert orders[0] != orders[1] != names
    assert sorted(orders[0]) == sorted(orders[1]) == names


@given(
    labels=st.dictionaries(st.sampled_from(["ana", "ben", "eva", "ida"]), st.sampled_from("sf")),
)
def test_adjudicated_labels_follow_the_rule_of_the_join(
    tmp_path_factory: pytest.TempPathFactory, labels: dict[str, str]
) -> None:
    with open_log(tmp_path_factory.mktemp("rule") / NAME) as log:
        ask(log, AB, ["x0"])
        say_desk(log, "ana", [("x0", "s")])
        say_desk(log, "ben", [("x0", "f")])
        with transaction(log):
            people = [TaskRequest(who, "x0", 1) for who in ("ana", "ben", "eva", "ida")]
            add_tasks(log, people, round_name=ROUND)
        for who, label in labels.items():
            say_desk(log, who, [("x0", label)], round_name=ROUND)
        (adjudication,) = adjudications(log)
        answers = pl.LazyFrame(
            [("x0", *each, None) for each in labels.items()],
            schema=dict.fromkeys(("id", "annotator", "label", "note"), pl.String), orient="row",
        )  # fmt: skip
        first = {"id": ["x0", "x0"], "annotator": AB, "label": ["s", "f"]}
        kernel = resolutions(pl.LazyFrame(first), answers).collect()["label"].to_list()
        assert [adjudication.label] == (kernel or [None])


def test_two_servers_open_the_round_at_once(
    differing: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = adjudication.ready

    def meanwhile(connection: sqlite3.Connection, **more: Any) -> list[Item]:
        monkeypatch.setattr(adjudication, "ready", original)
        items = original(connection, **more)
        with open_log(tmp_path / NAME) as other:
            other.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.OperationalError):  # it has to wait
                give_to_third(other, "Ida")
        return items

    monkeypatch.setattr(adjudication, "ready", meanwhile)
    assert give_to_third(differing, "Eva") == 2
    give_to_third(differing, "Ida")
    assert ids(differing, "Eva") == ids(differing, "Ida") == {"x0", "x3"}
    places = [row["place"] for row in differing.execute(
        "SELECT place FROM tasks WHERE round = ?", (ROUND,))]  # fmt: skip
    assert len(set(places)) == 4


# What the pages show about people: seconds, agreement, disagreements.


def answers_from(*labels: str) -> list[Answer]:
    """Read answers from a string per item: a letter for each person, a dot for no answer."""
    return [
        Answer(f"x{n}", f"p{person}", label)
        for n, each in enumerate(labels)
        for person, label in enumerate(each)
        if label != "."
    ]


def test_the_pace_is_the_median_with_quartiles() -> None:
    speed = pace([1, 2, 3, 4, 5, 6, 7, 8, 600])
    assert speed is not None
    assert (speed.lower, speed.median, speed.upper, speed.decisions) == (
        3.0,
        5.0,
        7.0,
        9,
    )


def test_agreement_of_two_people_equals_a_published_table() -> None:
    # 40 and 45 agree, 9 and 6 do not: kappa .6995 as in the kernel's own example
    answers = answers_from(*["ss"] * 40, *["sf"] * 9, *["fs"] * 6, *["ff"] * 45)
    (two,) = agreement_so_far(answers)
    observed, kappa, ac1 = two.coefficients
    assert (two.people, two.items) == (("p0", "p1"), 100)
    assert observed.estimate == pytest.approx(0.85)
    assert (observed.lower, observed.upper) == pytest.approx((0.7672, 0.9069), abs=5e-5)  # Wilson
    assert kappa.estimate == pytest.approx(0.6995, abs=5e-5)
    # 1.96 * 0.0714 to each side
    assert (kappa.lower, kappa.upper) == pytest.approx((0.5596, 0.8394), abs=2e-4)
    assert ac1.name == "gwet_ac1"
    assert ac1.lower < ac1.estimate < ac1.upper


@pytest.mark.parametrize(
    ("items", "offered", "expected"),
    [("ss ss ff sf", "sf", 9 / 17), ("ss ss ff sf", "sfnm", 19 / 27), ("ss ss ss", "sf", 1.0)],
)
def test_offered_labels_count_in_ac1(items: str, offered: str, expected: float) -> None:
    (two,) = agreement_so_far(answers_from(*items.split()), labels=list(offered))
    assert two.coefficients[2].estimate == pytest.approx(expected)


def test_agreement_needs_two_items_in_common() -> None:
    (two,) = agreement_so_far(answers_from("ss", "s.", ".f"))
    assert (two.items, two.coefficients) == (1, ())
    (none,) = agreement_so_far(answers_from("s.", ".f"))
    assert (none.items, none.coefficients) == (0, ())
    assert agreement_so_far(answers_from("s", "f")) == agreement_so_far([]) == ()


def test_agreement_of_three_people_covers_all_and_each_pair() -> None:
    every, *pairs = agreement_so_far(answers_from("sss", "sff", "fff", "ss."))
    assert every.people == ()
    assert [each.people for each in pairs] == [("p0", "p1"), ("p0", "p2"), ("p1", "p2")]
    assert (every.items, [each.items for each in pairs]) == (4, [4, 3, 3])
    # of the three pairs of people on x1 one agrees
    assert every.coefficients[0].estimate == pytest.approx((1 + 1 / 3 + 1 + 1) / 4)
    assert every.coefficients[1].name == "fleiss_kappa"


def test_disagreements_where_all_are_sure_come_first(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1", "x2", "x3"])
    say_desk(log, "ana", [("x0", "SVC")], unsure=True, note="hm")
    say_desk(log, "ana", [("x1", "SVC"), ("x2", "SVC"), ("x3", "SVC")])
    say_desk(log, "ben", [("x0", "free"), ("x1", "SVC"), ("x3", "free")])
    answers = standing_answers(log)
    sure, unsure = disagreements(answers)
    assert (sure.id, unsure.id) == ("x3", "x0")
    assert with_contents(log, [unsure])[0].units == ("left x0", "right x0")
    assert [(each.annotator, each.label, each.unsure, each.note) for each in unsure.answers] == [
        ("ana", "SVC", True, "hm"), ("ben", "free", False, ""),
    ]  # fmt: skip
    assert [each.id for each in unsure_items(answers)] == ["x0"]


def test_items_without_a_task_do_not_count(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1"])
    say_desk(log, "ana", [("x0", "SVC"), ("x1", "SVC")])
    say_desk(log, "ben", [("x0", "free"), ("x1", "free")])
    ask(log, AB, ["x1"])
    assert {each.id for each in standing_answers(log)} == {"x1"}


def test_standing_answers_equal_those_of_the_log(log: sqlite3.Connection) -> None:
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
        answers = [
            (each.id, each.annotator, each.label, each.unsure) for each in standing_answers(log)
        ]
        expected = [
            (row["id"], row["annotator"], row["answer"], bool(row["unsure"]))
            for row in standing_rows(log, last_entry(log), round_name="annotation")
        ]
        assert answers == expected


def test_progress_of_people_agrees_with_the_log(log: sqlite3.Connection) -> None:
    ask(log, AB, ["x0", "x1", "x2"])
    say_desk(log, "ana", [("x0", "SVC")], unsure=True, seconds=2.0)
    say_desk(log, "ana", [("x1", "SVC")], seconds=4.0)
    append(log, [Decision("skip-key", "ana", "x2", "skip")])
    ana, ben = progress_of_all(log)
    for far in (ana, ben):
        own = {"asked": far.asked, "done": far.done, "unsure": far.unsure, "aside": far.aside}
        assert own == progress_of(log, far.annotator)
    assert (ana.asked, ana.done, ana.unsure, ben.done, ben.last) == (3, 2, 1, 0, "")
    assert ana.last == log.execute("SELECT max(at) FROM log").fetchone()[0]
    assert ana.pace == pace([2.0, 4.0])
    assert ana.pace is not None
    assert (ana.pace.median, ana.aside, ben.pace) == (3.0, 1, None)
