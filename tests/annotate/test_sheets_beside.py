"""Sheets taken over while others work: their notes, answers that were shown, two who write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pipeline.annotate import sync, tasks
from pipeline.annotate.adjudication import give_to_third
from pipeline.annotate.sync import Taken, answers, hand_to_sheets, take_over_sheets
from pipeline.annotate.tasks import Work
from pipeline.api.run import run
from pipeline.errors import DataError
from pipeline.formats.annotation_log import Decision, opened
from tests.annotate.office import Office, labelled


@pytest.fixture
def handed(office: Office) -> tuple[Office, Work, list[str]]:
    """Both have labelled all in the page, and have sheets with it."""
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *labelled(ids, "anna", "SSr"), *labelled(ids, "ben", "rSS"))
    hand_to_sheets(work)
    return office, work, ids


def notes(office: Office) -> list[tuple[str, str]]:
    return office.run().table("judged.notes").select("id", "note").sort("note").rows()


def page(work: Work, item: str) -> str | None:
    (found,) = [a["note"] for a in answers(work) if (a["annotator"], a["id"]) == ("anna", item)]
    return None if found is None else str(found)


def test_a_note_that_comes_to_a_label_in_the_sheet_is_kept(
    handed: tuple[Office, Work, list[str]],
) -> None:
    office, work, ids = handed
    office.label("anna", {ids[0]: "a later thought"}, column="note")
    assert notes(office) == [(ids[0], "a later thought")]
    assert take_over_sheets(work) == Taken(answers=1)
    assert page(work, ids[0]) == "a later thought"
    assert take_over_sheets(work) == Taken()
    assert notes(office) == [(ids[0], "a later thought")]  # once


def test_notes_on_both_sides_are_both_kept(handed: tuple[Office, Work, list[str]]) -> None:
    office, work, ids = handed
    office.label("anna", {ids[0]: "of the sheet"}, column="note")
    said = Decision("noted-01", "anna", ids[0], answer="SVC", note="of the page")
    office.decide(work, said)
    assert take_over_sheets(work) == Taken()
    assert page(work, ids[0]) == "of the page"
    assert notes(office) == [(ids[0], "of the page"), (ids[0], "of the sheet")]


def test_a_note_that_the_page_has_changed_is_old_in_the_sheet(office: Office) -> None:
    work = office.work()
    ids = office.ids(work)
    office.decide(work, *labelled(ids, "ben", "SSr"), *labelled(ids[1:], "anna", "SS"))
    office.decide(work, Decision("noted-01", "anna", ids[0], answer="SVC", note="old"))
    hand_to_sheets(work)
    office.decide(work, Decision("noted-02", "anna", ids[0], answer="SVC", note="new"))
    assert take_over_sheets(work) == Taken()
    assert notes(office) == [(ids[0], "new")]


def test_a_first_label_that_was_shown_does_not_change_in_a_sheet(
    handed: tuple[Office, Work, list[str]],
) -> None:
    office, work, ids = handed
    with opened(work.database) as log:
        assert give_to_third(log, "carla") == 2
    office.label("anna", {ids[0]: "free", ids[1]: "free"})
    taken = take_over_sheets(work)
    assert taken.answers == 1  # nobody was shown the second
    (conflict,) = taken.conflicts
    assert conflict.endswith("'free', but 'SVC' has been shown to those who adjudicate, and stays")
    said = {a["id"]: a["label"] for a in answers(work) if a["annotator"] == "anna"}
    assert said == {ids[0]: "SVC", ids[1]: "free", ids[2]: "free"}
    with pytest.raises(DataError, match="gives"):
        office.run()
    office.label("anna", {ids[0]: "SVC"})
    first = office.run().table("judged.annotations").filter(id=ids[0])
    assert sorted(first["label"]) == ["SVC", "free"]


def test_what_the_page_takes_while_sheets_are_read_is_not_overruled(
    handed: tuple[Office, Work, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    office, work, ids = handed
    office.label("anna", {ids[0]: "free"})
    read = sync._cells

    def slowly(*given: Any) -> Iterator[sync._Cell]:
        yield from read(*given)
        office.decide(work, Decision("quick-01", "anna", ids[0], answer="figurative"))

    monkeypatch.setattr(sync, "_cells", slowly)
    taken = take_over_sheets(work)
    assert taken.answers == 0
    assert len(taken.conflicts) == 1


def test_a_later_stage_that_fails_keeps_nobody_from_judging(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*given: Any, **more: Any) -> None:
        raise DataError("the choice asks for longer lists than there are")

    def fails_late(*given: Any, **more: Any) -> None:
        run(*given, **more)
        fails()

    monkeypatch.setattr(tasks, "run", fails)
    with pytest.raises(DataError, match="longer lists"):
        office.work()
    monkeypatch.setattr(tasks, "run", fails_late)
    assert office.work().annotators == ("anna", "ben")
