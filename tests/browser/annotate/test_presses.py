"""No gesture labels a card that nobody can have read, and every ignored press is reported."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from pipeline.annotate.people import revoke
from pipeline.formats.annotation_log import open_log
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import (
    Subject,
    SubjectServer,
    answers,
    label,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
    waits,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

SEEN = 0.25
"""Seconds that a card must have been visible."""


def refused_presses(page: Page) -> int:
    return int(page.locator("#refused").get_attribute("data-count") or 0)


def count_seen_labels(served: SubjectServer) -> int:
    """Return the number of labels, after a check that their cards were visible."""
    rows = [row for row in served.log() if row["kind"] == "label"]
    assert all(row["seconds"] >= SEEN for row in rows)
    return len(rows)


def delay(page: Page, seconds: float) -> None:
    """Delay every decision on its way to the server."""

    def later(route: Route) -> None:
        time.sleep(seconds)
        route.continue_()

    if seconds:
        page.route("**/decisions*", later)


PRESS = """(pauses) => new Promise((done) => {
  const press = () => document.dispatchEvent(new KeyboardEvent("keydown", {key: "1", code: "Digit1", bubbles: true}));
  press();
  const [pause, count] = pauses;
  let left = count - 1;
  const timer = setInterval(() => { press(); if ((left -= 1) === 0) { clearInterval(timer); done(); } }, pause);
})"""


@pytest.mark.parametrize("latency", [0, 0.4])
@pytest.mark.parametrize("pause", [15, 80, 300])
def test_fast_presses_label_only_visible_cards(
    serve: Serve, open_card: OpenCard, pause: int, latency: float
) -> None:
    served = serve(Subject(pairs(30)))
    page = open_card(served.address())
    delay(page, latency)
    ready(page, "p000")
    page.evaluate(PRESS, [pause, 6])
    wait_until_saved(page)
    assert count_seen_labels(served) + refused_presses(page) == 6
    assert refused_presses(page) >= (pause < 250)


def test_a_double_click_or_tap_labels_one_card(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.locator(".label").first.dblclick()
    shows(page, "p001")
    says(page, "Ignored: the card had only just appeared", "#refused")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "SVC")]
    phone = open_card(served.address(), width=375, height=740, finger=True)
    ready(phone, "p001")
    phone.locator(".label").last.tap()
    phone.locator(".label").last.tap()
    shows(phone, "p002")
    wait_until_saved(phone)
    assert count_seen_labels(served) == 2
    assert (refused_presses(page), refused_presses(phone)) == (1, 1)


NUMPAD = {"End": 1, "ArrowDown": 2, "PageDown": 3, "ArrowLeft": 4, "Clear": 5, "Insert": 0}


def test_a_number_pad_without_numlock_labels_nothing(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    window = page.context.new_cdp_session(page)
    for key, number in NUMPAD.items():
        for kind in ("keyDown", "keyUp"):
            window.send("Input.dispatchKeyEvent", {
                "type": kind, "key": key, "code": f"Numpad{number}", "location": 3, "isKeypad": True,
            })  # fmt: skip
    shows(page, "p000")
    assert served.log() == []
    window.send("Input.dispatchKeyEvent", {
        "type": "keyDown", "key": "2", "code": "Numpad2", "text": "2", "location": 3,
    })  # fmt: skip
    shows(page, "p001")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "figurative")]


def test_digits_work_by_position_on_a_french_keyboard(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.evaluate("""document.dispatchEvent(new KeyboardEvent("keydown",
      {key: "é", code: "Digit2", bubbles: true}))""")
    shows(page, "p001")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "figurative")]


# Changed keys and single keys switched off


def test_single_keys_can_be_switched_off(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.keyboard.press("h")
    page.get_by_label("Single keys").uncheck()
    page.keyboard.press("Escape")
    for key in ("1", "s", "g", "u"):
        page.keyboard.press(key)
    assert page.locator("dialog[open]").count() == 0
    shows(page, "p000")
    page.reload()
    ready(page, "p000")
    page.keyboard.press("1")
    page.keyboard.press("Alt+2")
    shows(page, "p001")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "figurative")]
    assert page.locator(".label kbd").first.inner_text() == "Alt + 1"


def test_a_key_can_be_changed(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.keyboard.press("h")
    page.get_by_label("Change the key: figurative").click()
    page.keyboard.press("u")
    says(page, "U is the key of “Undo, any number of times”", "#help-box")
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    label(page, ["p000"], "x")
    shows(page, "p001")
    page.reload()
    label(page, ["p001"], "x")
    label(page, ["p002"], "2")
    wait_until_saved(page)
    assert {answer for _, answer in answers(served.log())} == {"figurative"}
    page.keyboard.press("h")
    page.get_by_role("button", name="Reset all keys").click()
    page.keyboard.press("Escape")
    ready(page, "p003")
    page.keyboard.press("x")
    shows(page, "p003")


# Details that save work


def test_a_skip_keeps_note_and_unsure_mark(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(2)))
    page = open_card(served.address())
    ready(page, "p000")
    page.keyboard.press("q")
    page.keyboard.press("n")
    page.keyboard.type("ask Ben")
    page.keyboard.press("Escape")
    page.keyboard.press("s")
    label(page, ["p001"])
    page.get_by_role("button", name="Show", exact=True).click()
    ready(page, "p000")
    assert page.locator("#note").input_value() == "ask Ben"
    assert page.locator("#unsure").get_attribute("aria-pressed") == "true"
    page.keyboard.press("1")
    says(page, "All done", "#rest")
    last = served.log()[-1]
    assert (last["answer"], last["note"], last["unsure"]) == ("SVC", "ask Ben", 1)


def test_an_undo_in_another_window_is_reported(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    one = open_card(served.address())
    label(one, ["p000"])
    ready(one, "p001")
    wait_until_saved(one)
    two = open_card(served.address(), context=one.context)
    ready(two, "p001")
    two.keyboard.press("u")
    shows(two, "p000")
    says(one, "Another window has undone: in:Frage0 · stellen0")
    label(two, ["p000"], "3")
    wait_until_saved(two)
    one.bring_to_front()
    one.keyboard.press("u")
    says(one, "Undone")
    wait_until_saved(one)
    assert [row["kind"] for row in served.log()] == ["label", "undo", "label", "undo"]


def test_lists_get_the_focus_and_close_with_one_key(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    label(page, ["p000", "p001"])
    ready(page, "p002")
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").first.wait_for()
    assert page.evaluate("document.activeElement.matches('#recent-box .cards button')")
    page.keyboard.press("Enter")
    shows(page, "p001")
    page.keyboard.press("/")
    page.keyboard.type("Frage")
    page.locator("#search-box .cards button").first.wait_for()
    page.keyboard.press("Escape")
    assert page.locator("dialog[open]").count() == 0


def test_a_search_says_that_there_are_more_results(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    ready(page, "p000")
    served.answer_all("anna", "free")
    page.reload()
    says(page, "All done", "#rest")
    page.keyboard.press("/")
    page.keyboard.type("Frage")
    says(page, "Only the first 50 are shown", "#search-box")
    assert page.locator("#search-box .cards button").count() == 50


def test_progress_towards_a_goal_is_shown(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(9))).address())
    ready(page, "p000")
    page.get_by_role("button", name="Goal").click()
    page.locator("#goal").fill("2")
    page.get_by_role("button", name="Set", exact=True).click()
    label(page, ["p000"])
    says(page, "goal: 1 of 2", "#goal-progress")
    ready(page, "p001")
    page.keyboard.press("u")
    says(page, "goal: 0 of 2", "#goal-progress")
    label(page, ["p000"])
    says(page, "goal: 1 of 2", "#goal-progress")
    label(page, ["p001"])
    says(page, "You have reached your goal: 2 cards.", "#goal-progress")
    says(page, "Saved: SVC")
    page.reload()
    ready(page, "p002")
    says(page, "You have reached your goal: 2 cards.", "#goal-progress")
    page.keyboard.press("u")
    says(page, "goal: 1 of 2", "#goal-progress")


def test_progress_counts_undone_decisions_offline(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(3))).address())
    label(page, ["p000", "p001", "p002"])
    says(page, "All done", "#rest")
    wait_until_saved(page)
    page.context.set_offline(True)
    page.keyboard.press("u")
    ready(page, "p002")
    says(page, "2 of 3", "#progress-text")
    page.keyboard.press("u")
    ready(page, "p001")
    says(page, "1 of 3", "#progress-text")
    label(page, ["p001"])
    shows(page, "p002")
    says(page, "2 of 3", "#progress-text")
    page.context.set_offline(False)
    waits(page, 0)
    says(page, "2 of 3", "#progress-text")


def test_right_to_left_pairs_are_laid_out_in_their_language(
    serve: Serve, open_card: OpenCard
) -> None:
    items = {"a": {"units": {"l1": "سؤال", "l2": "طرح"}, "examples": ["طرح [[سؤال]]"]}, **pairs(1)}
    served = serve(Subject(items, language="ar"))
    page = open_card(served.address())
    ready(page, "a")
    first, second = (each.bounding_box() for each in page.locator(".unit").all())
    assert first is not None
    assert second is not None
    assert first["x"] > second["x"]
    assert page.locator("#units").get_attribute("lang") == "ar"
    assert page.locator("#card").get_attribute("aria-label") == "سؤال · طرح"


def test_a_new_link_sends_decisions_of_the_old_one(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.context.set_offline(True)
    label(page, ["p000", "p001"])
    waits(page, 2)
    with open_log(served.work.database) as log:
        new = served.links.address(revoke(log, served.work, "anna").person)
    page.context.set_offline(False)
    says(page, "This link is no longer valid", "#waiting-text")
    again = open_card(f"{served.origin}{new}", context=page.context)
    ready(again, "p002")
    wait_until_saved(again)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_training_can_be_repeated_until_it_is_passed(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    served.train(["SVC", "free"], mark=0.9)
    page = open_card(served.address())
    page.locator("#card[data-ready]").wait_for()
    page.keyboard.press("1")
    says(page, "Right: SVC.", "#feedback")
    page.keyboard.press("Enter")
    page.locator("#card[data-ready]").wait_for()
    page.keyboard.press("2")
    says(page, "You chose figurative; the answer is free.", "#feedback")
    says(page, "because 1", "#feedback")
    page.get_by_role("button", name="Continue").click()
    says(page, "1 of 2 answers were right (50%); the pass mark is 90%", "#rest")
    page.get_by_role("button", name="Try again").click()
    for key in ("1", "3"):
        page.locator("#card[data-ready]").wait_for()
        page.keyboard.press(key)
        page.get_by_role("button", name="Continue").click()
    says(page, "Training passed", "#rest")
    page.get_by_role("button", name="Begin").click()
    label(page, ["p000"])
    shows(page, "p001")
