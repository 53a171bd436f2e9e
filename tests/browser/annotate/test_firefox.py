"""The pages in Firefox: no accidental labels, no lost decisions, keyboard access, no faults.

Playwright drives the system's Firefox by WebDriver BiDi, not its own build.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.annotate.conftest import CardWatch, OpenCard, Serve
from tests.browser.annotate.serving import (
    Subject,
    answers,
    label,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
)
from tests.browser.annotate.test_presses import NUMPAD, PRESS, count_seen_labels, refused_presses
from tests.browser.conftest import FIREFOX
from tests.browser.pages import PATIENCE_PAGES

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Playwright, Route

pytestmark = pytest.mark.firefox
HOW: dict[str, Any] = {"channel": "moz-firefox", "executable_path": FIREFOX}


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Return a Firefox for all tests of this file."""
    browser = playwright.firefox.launch(**HOW)
    yield browser
    browser.close()


def test_faults_of_pages_are_recorded(browser: Browser, serve: Serve) -> None:
    served = serve(Subject(pairs(1)))
    with browser.new_context() as context:
        watch = CardWatch(context, served.origin)
        page = context.new_page()
        page.goto(served.address())
        ready(page, "p000")
        assert watch.faults == []
        page.evaluate("document.body.append(document.createElement('script'))")
        page.evaluate("document.body.lastChild.textContent = '1'")  # the policy forbids it
        with page.expect_console_message():
            page.evaluate("console.error('last')")
    assert [fault.partition(":")[0] for fault in watch.faults] == ["error", "console"]
    assert "script-src" in watch.faults[0]


def test_a_number_pad_without_numlock_labels_nothing(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    for key, number in NUMPAD.items():
        page.evaluate(
            "(how) => document.dispatchEvent(new KeyboardEvent('keydown', how))",
            {"key": key, "code": f"Numpad{number}", "location": 3, "bubbles": True},
        )
    page.keyboard.press("Shift+Numpad1")  # this also sends End
    shows(page, "p000")
    page.keyboard.press("Numpad2")
    shows(page, "p001")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "figurative")]


@pytest.mark.parametrize("pause", [15, 80, 300])
def test_fast_presses_label_only_visible_cards(
    serve: Serve, open_card: OpenCard, pause: int
) -> None:
    served = serve(Subject(pairs(30)))
    page = open_card(served.address())
    ready(page, "p000")
    page.evaluate(PRESS, [pause, 6])
    if pause < 250:
        says(page, "Ignored: the card had only just appeared", "#refused")
    wait_until_saved(page)
    assert count_seen_labels(served) + refused_presses(page) == 6


def test_a_double_click_labels_one_card(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    page.locator(".label").first.dblclick()
    shows(page, "p001")
    says(page, "Ignored: the card had only just appeared", "#refused")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "SVC")]
    assert refused_presses(page) == 1


def test_cards_do_not_wait_for_the_server(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    routes: list[Route] = []
    away = True
    page.route("**/decisions*", lambda route: routes.append(route) if away else route.continue_())
    label(page, ["p000", "p001", "p002"])
    shows(page, "p003")
    assert served.log() == []
    away = False
    for route in routes:
        route.continue_()
    wait_until_saved(page)
    assert answers(served.log()) == [(item, "SVC") for item in ("p000", "p001", "p002")]


def process(profile: Path) -> int:
    """Return the process of the Firefox with this profile."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_text(errors="replace").split("\0")
            if str(profile) in words and "-contentproc" not in words:
                return int(path.parent.name)
    raise AssertionError("there is no such browser")


def test_offline_decisions_survive_a_killed_browser(
    playwright: Playwright, serve: Serve, tmp_path: Path
) -> None:
    served = serve(Subject(pairs(20)))
    profile = tmp_path / "profile"

    def start() -> BrowserContext:
        context = playwright.firefox.launch_persistent_context(profile, **HOW)
        context.set_default_timeout(PATIENCE_PAGES)
        context.new_page().goto(served.address())
        return context

    context = start()
    items = list(pairs(9))
    ready(context.pages[-1], "p000")
    context.set_offline(True)
    label(context.pages[-1], items)
    shows(context.pages[-1], "p009")
    os.kill(process(profile), signal.SIGKILL)
    with suppress(Exception):  # it may have noticed the lost connection already
        context.close()
    assert served.log() == []
    context = start()
    wait_until_saved(context.pages[-1])
    ready(context.pages[-1], "p009")
    context.close()
    assert answers(served.log()) == [(item, "SVC") for item in items]


def test_cards_can_be_labelled_by_keyboard_alone(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    label(page, ["p000"], "2")
    label(page, ["p001"], "s")
    ready(page, "p002")
    page.keyboard.press("n")
    page.keyboard.type("1 us")
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    label(page, ["p002"], "3")
    ready(page, "p003")
    for box in ("h", "r", "/", "g"):
        page.keyboard.press(box)
        page.locator("dialog[open]").wait_for()
        page.keyboard.press("Escape")
        page.locator("dialog[open]").wait_for(state="detached")
    page.keyboard.press("u")
    ready(page, "p002")
    assert page.locator("#note").input_value() == "1 us"
    page.locator(".label").last.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    shows(page, "p003")
    wait_until_saved(page)
    rows = [(row["kind"], row["id"], row["answer"], row["note"]) for row in served.log()]
    assert rows == [
        ("label", "p000", "figurative", ""), ("skip", "p001", None, ""),
        ("label", "p002", "free", "1 us"), ("undo", "p002", None, ""),
        ("label", "p002", "figurative", "1 us"),
    ]  # fmt: skip
