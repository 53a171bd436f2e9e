"""Forms are keyed from print: letters are never commands, and texts speak of forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import (
    Subject,
    answers,
    ready,
    says,
    shows,
    wait_until_saved,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

LEMMAS = ("one", "two", "three")
KEYING = Subject({each: {"units": {"lemma": each}} for each in LEMMAS}, kind="keying", labels=())


def focused_id(page: Page) -> str:
    """Return the id of the element that has the focus."""
    return str(page.evaluate("document.activeElement.id"))


def test_letters_after_a_note_are_forms(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    ready(page, "one")
    page.keyboard.type("uno, due")
    page.keyboard.press("Enter")
    ready(page, "two")
    page.keyboard.press("Alt+n")
    page.keyboard.type("a note")
    page.keyboard.press("Escape")
    page.keyboard.type("us")
    page.keyboard.press("Alt+n")
    page.keyboard.press("Alt+n")  # leaves the field again
    page.keyboard.type("ati")
    page.keyboard.press("Enter")
    shows(page, "three")
    wait_until_saved(page)
    assert answers(served.log()) == [("one", "uno, due"), ("two", "usati")]
    assert [(row["kind"], row["note"]) for row in served.log()] == [
        ("label", ""), ("label", "a note"),
    ]  # fmt: skip


def test_single_keys_are_no_commands(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    ready(page, "one")
    for place in ("#unsure", "#card"):
        page.locator(place).focus()
        for key in ("0", "s", "u", "h", "n"):
            page.keyboard.press(key)
    assert page.locator("dialog[open]").count() == 0
    assert page.locator("#note-box").is_hidden()
    shows(page, "one")
    page.keyboard.press("Alt+0")
    shows(page, "two")
    wait_until_saved(page)
    assert answers(served.log()) == [("one", "-")]


def test_texts_speak_of_forms(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(KEYING).address())
    ready(page, "one")
    page.keyboard.press("Alt+q")
    says(page, "Unsure: now save the forms")
    page.keyboard.press("Alt+h")
    says(page, "Unsure: applies to the forms of this card", "#help-box")
    text = page.locator("#help-box").inner_text()
    assert "label" not in text.casefold()
    assert page.get_by_label("Single keys").count() == 0
    assert "Single keys" not in text
    page.keyboard.press("Escape")
    page.keyboard.type("uno")
    assert focused_id(page) == "forms"
