"""The adjudication round: who is asked, what comes of it, and that nothing first changes."""

from __future__ import annotations

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
    give_to_third,
    give_to_those_who_disagree,
    ready,
)
from pipeline.annotate.records import Item, asked_for, standing_answers
from pipeline.errors import ConfigError
from pipeline.formats.annotation_log import NAME, Asked, ask_further, opened, transaction, upcoming
from pipeline.kernels.annotation.adjudication import resolutions
from tests.annotate.desk import ask, say

AB = ("ana", "ben")


@pytest.fixture
def differing(log: sqlite3.Connection) -> sqlite3.Connection:
    """x0 differs, x1 agrees but one is unsure, x2 waits for ben, x3 differs."""
    ask(log, AB, ["x0", "x1", "x2", "x3"])
    say(log, "ana", [("x0", "SVC"), ("x2", "SVC"), ("x3", "SVC")])
    say(log, "ana", [("x1", "SVC")], unsure=True)
    say(log, "ben", [("x0", "free"), ("x1", "SVC"), ("x3", "free")])
    return log


def ids(log: sqlite3.Connection, who: str) -> set[str]:
    return {each.id for each in upcoming(log, who, most=99, named=ROUND)}


def test_only_what_everybody_has_answered_is_ready(differing: sqlite3.Connection) -> None:
    assert [each.id for each in ready(differing)] == ["x0", "x3"]
    assert [each.id for each in ready(differing, unsure=True)] == ["x0", "x1", "x3"]


def test_a_third_person_decides(differing: sqlite3.Connection) -> None:
    before = standing_answers(differing)
    assert give_to_third(differing, " Eva ") == 2
    assert (ids(differing, "Eva"), ids(differing, "ana")) == ({"x0", "x3"}, set())
    say(differing, "Eva", [("x3", "SVC")], named=ROUND, note="clear")
    still, done = adjudications(differing)
    assert (still.item.id, still.label, still.waits_for) == ("x0", None, ("Eva",))
    assert (done.item.id, done.label, done.said[0].note) == ("x3", "SVC", "clear")
    assert [each.label for each in done.item.answers] == ["SVC", "free"]
    assert standing_answers(differing) == before


def test_those_who_disagree_decide_together(differing: sqlite3.Connection) -> None:
    assert give_to_those_who_disagree(differing) == 2
    assert ids(differing, "ana") == ids(differing, "ben") == {"x0", "x3"}
    say(differing, "ana", [("x0", "free"), ("x3", "SVC")], named=ROUND)
    assert [each.label for each in adjudications(differing)] == [None, None]
    say(differing, "ben", [("x0", "free"), ("x3", "free")], named=ROUND)
    found = {each.item.id: (each.label, each.waits_for) for each in adjudications(differing)}
    assert found == {"x3": (None, ()), "x0": ("free", ())}


def test_opening_it_again_adds_what_is_new_and_takes_nothing_away(
    differing: sqlite3.Connection,
) -> None:
    give_to_third(differing, "Eva")
    before = [
        tuple(row) for row in differing.execute("SELECT * FROM tasks WHERE round = ?", (ROUND,))
    ]
    assert give_to_third(differing, "eva") == 0
    say(differing, "ben", [("x2", "free")])
    assert give_to_third(differing, "EVA") == 1
    after = [
        tuple(row) for row in differing.execute("SELECT * FROM tasks WHERE round = ?", (ROUND,))
    ]
    assert after[: len(before)] == before
    assert sorted(asked_for(differing, named=ROUND)) == [
        ("x0", "Eva"),
        ("x2", "Eva"),
        ("x3", "Eva"),
    ]
    assert len({row[4] for row in after}) == 3  # places


def test_what_they_cannot_settle_goes_to_a_third_person(differing: sqlite3.Connection) -> None:
    give_to_those_who_disagree(differing)
    say(differing, "ana", [("x0", "free"), ("x3", "SVC")], named=ROUND)
    say(differing, "ben", [("x0", "free"), ("x3", "free")], named=ROUND)
    assert give_to_those_who_disagree(differing, unsure=True) == 1  # x1, which is new
    assert give_to_third(differing, "Eva") == 1
    assert ids(differing, "Eva") == {"x3"}
    say(differing, "Eva", [("x3", "free")], named=ROUND)
    assert {each.item.id for each in adjudications(differing) if each.label} == {"x0", "x3"}
    assert give_to_third(differing, "Ida") == 0  # Eva has decided


@pytest.mark.parametrize("name", ["", "  ", "Ana", "a\x07b", "x" * 201])
def test_who_is_no_third_person_is_refused(differing: sqlite3.Connection, name: str) -> None:
    with pytest.raises(ConfigError, match=r"name: "):
        give_to_third(differing, name)
    assert asked_for(differing, named=ROUND) == []


def test_everybody_has_an_order_of_their_own(log: sqlite3.Connection) -> None:
    names = [f"x{n:02d}" for n in range(20)]
    ask(log, AB, names)
    say(log, "ana", [(each, "SVC") for each in names])
    say(log, "ben", [(each, "free") for each in names])
    give_to_those_who_disagree(log)
    orders = [[each.id for each in upcoming(log, who, most=99, named=ROUND)] for who in AB]
    assert orders[0] != orders[1] != names
    assert sorted(orders[0]) == sorted(orders[1]) == names


@given(
    said=st.dictionaries(st.sampled_from(["ana", "ben", "eva", "ida"]), st.sampled_from("sf")),
)
def test_a_label_stands_by_the_rule_of_the_join(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, str]
) -> None:
    with opened(tmp_path_factory.mktemp("rule") / NAME) as log:
        ask(log, AB, ["x0"])
        say(log, "ana", [("x0", "s")])
        say(log, "ben", [("x0", "f")])
        with transaction(log):
            people = [Asked(who, "x0", 1) for who in ("ana", "ben", "eva", "ida")]
            ask_further(log, people, round=ROUND)
        for who, label in said.items():
            say(log, who, [("x0", label)], named=ROUND)
        (found,) = adjudications(log)
        made = pl.LazyFrame(
            [("x0", *each, None) for each in said.items()],
            schema=dict.fromkeys(("id", "annotator", "label", "note"), pl.String), orient="row",
        )  # fmt: skip
        first = {"id": ["x0", "x0"], "annotator": AB, "label": ["s", "f"]}
        kernel = resolutions(pl.LazyFrame(first), made).collect()["label"].to_list()
        assert [found.label] == (kernel or [None])


def test_two_servers_open_the_round_at_once(
    differing: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = adjudication.ready

    def meanwhile(connection: sqlite3.Connection, **more: Any) -> list[Item]:
        monkeypatch.setattr(adjudication, "ready", known)
        found = known(connection, **more)
        with opened(tmp_path / NAME) as other:
            other.execute("PRAGMA busy_timeout = 0")
            with suppress(sqlite3.OperationalError):  # it has to wait
                give_to_third(other, "Ida")
        return found

    monkeypatch.setattr(adjudication, "ready", meanwhile)
    assert give_to_third(differing, "Eva") == 2
    give_to_third(differing, "Ida")
    assert ids(differing, "Eva") == ids(differing, "Ida") == {"x0", "x3"}
    places = [row["place"] for row in differing.execute(
        "SELECT place FROM tasks WHERE round = ?", (ROUND,))]  # fmt: skip
    assert len(set(places)) == 4
