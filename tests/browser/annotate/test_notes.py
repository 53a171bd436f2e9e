"""A note is saved on its own card, and the page says which notes are not saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import (
    Subject,
    SubjectServer,
    label,
    label_in_both,
    open_answer,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
)

if TYPE_CHECKING:
    pass


def notes(served: SubjectServer) -> list[tuple[Any, ...]]:
    """Return item, kind, answer and note of all entries of the log."""
    return [(row["id"], row["kind"], row["answer"], row["note"]) for row in served.log()]


def test_undo_saves_the_note_of_the_open_card(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    label(page, ["p000", "p001"])
    ready(page, "p002")
    open_answer(page, "p000", 1)
    page.keyboard.press("2")
    ready(page, "p002")
    open_answer(page, "p001", 1)
    page.keyboard.press("n")
    page.keyboard.type("of p001")
    page.keyboard.press("Alt+u")
    says(page, "Note saved")
    shows(page, "p001")
    wait_until_saved(page)
    saved = [
        ("p000", "label", "SVC", ""), ("p001", "label", "SVC", ""),
        ("p000", "label", "figurative", ""), ("p001", "label", "SVC", "of p001"),
    ]  # fmt: skip
    assert notes(served) == saved
    page.keyboard.press("u")
    says(page, "Undone: SVC")
    page.keyboard.press("Escape")
    ready(page, "p001")
    page.keyboard.press("u")
    shows(page, "p000")
    wait_until_saved(page)
    assert notes(served) == [*saved, ("p001", "undo", None, ""), ("p000", "undo", None, "")]


def test_a_note_does_not_go_to_a_rejected_card(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    one = open_card(served.address())
    two = open_card(served.address())
    label_in_both(one, two)
    ready(two, "p001")
    two.keyboard.press("n")
    two.keyboard.type("of p001")
    two.keyboard.press("Alt+1")
    says(two, "You chose free here", "#trouble-text")
    wait_until_saved(two)
    saved = [("p000", "label", "SVC", ""), ("p001", "label", "SVC", "of p001")]
    assert notes(served) == saved
    ready(two, "p000")
    two.keyboard.press("n")
    two.keyboard.type("of p000")
    two.keyboard.press("Escape")  # is saved with the answer
    ready(two, "p000")
    assert notes(served) == saved
    two.keyboard.press("3")
    shows(two, "p002")
    wait_until_saved(two)
    assert notes(served) == [*saved, ("p000", "label", "free", "of p000")]


@pytest.mark.parametrize("way", ["skip", "list", "reload"])
def test_a_note_is_saved_when_its_card_is_left(serve: Serve, open_card: OpenCard, way: str) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    label(page, ["p000", "p001"])
    ready(page, "p002")
    open_answer(page, "p001")
    page.keyboard.press("n")
    page.keyboard.type("of p001")
    if way == "skip":
        page.keyboard.press("Alt+s")
    elif way == "list":
        page.keyboard.press("Alt+r")
        page.locator("#recent-box .cards button").last.click()
        shows(page, "p000")
    else:
        page.reload()
    if way != "list":
        shows(page, "p002")
    wait_until_saved(page)
    assert notes(served)[2:] == [("p001", "label", "SVC", "of p001")]
    assert page.locator("#note-box").is_hidden()


def test_the_page_says_that_a_note_is_not_saved(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    label(page, ["p000"])
    ready(page, "p001")
    wait_until_saved(page)
    open_answer(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("half a tho")
    page.wait_for_timeout(200)
    again = open_card(served.address(), context=page.context)
    page.close()  # as in a crash: the page cannot save anything
    ready(again, "p001")
    open_answer(again, "p000")
    assert again.locator("#note").input_value() == "half a tho"
    says(again, "Not saved yet: choose “Done” to save the note.", "#note-hint")
    again.get_by_role("button", name="Done").click()
    says(again, "Note saved")
    says(again, "Saved when you leave the field.", "#note-hint")
    wait_until_saved(again)
    assert notes(served)[1:] == [("p000", "label", "SVC", "half a tho")]


def test_messages_do_not_stay_beside_other_cards(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    label(page, ["p000"])
    ready(page, "p001")
    says(page, "Saved: SVC")  # with the next card
    open_answer(page, "p000")
    assert page.locator("#message").inner_text() == ""
    page.keyboard.press("n")
    page.keyboard.type("x")
    page.keyboard.press("Escape")
    says(page, "Note saved")
    page.keyboard.press("n")
    page.keyboard.type("y")
    assert page.locator("#message").inner_text() == ""
    page.keyboard.press("Escape")
    says(page, "Note saved")
    page.keyboard.press("s")
    shows(page, "p001")
    assert page.locator("#message").inner_text() == ""
