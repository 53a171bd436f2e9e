"""By keyboard alone, by finger alone, on a phone, in the dark, with ears."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browser.annotate.cards import EXAMPLES, answers, label, pairs, says, shows, waits
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject
from tests.browser.pages import AXE, WIDTHS, found, nothing
from tests.browser.test_axe import LOOK

if TYPE_CHECKING:
    from playwright.sync_api import Page

LONG = {"units": {"l1": "w" * 300, "l2": "في السؤال", "l3": "lang " * 60}, "examples": EXAMPLES}
WIDE = Subject({"a": LONG, **pairs(4)}, labels=("w" * 80, "ein langes Etikett", "free", "x" * 30))
KEYING = Subject(
    {"k1": {"units": {"lemma": "gehen"}, "lexicon_forms": "gehe, ging"}, "k2": {"units": {"lemma": "l" * 300}}},
    kind="keying", labels=(), instructions="As printed.",
)  # fmt: skip
SMALL = """() => [...document.querySelectorAll("button, input, textarea")]
  .filter((each) => each.checkVisibility()).map((each) => [each.textContent, each.getBoundingClientRect()])
  .filter(([, {width, height}]) => width < 44 || height < 44).map(([text]) => text)"""
NO_FOCUS = """() => { const each = document.activeElement;
  return each === document.body || getComputedStyle(each).outlineStyle === "none"; }"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("subject", [WIDE, KEYING], ids=["annotation", "keying"])
def test_no_sideways_scrolling(
    serve: Serve, open_card: OpenCard, subject: Subject, width: int
) -> None:
    page = open_card(serve(subject).address(), width=width, height=700)
    fits = "document.documentElement.scrollWidth <= innerWidth"
    assert page.evaluate(fits)
    for key in ("h", "g", "r", "/"):
        page.keyboard.press("Escape")
        page.keyboard.press(key if subject is WIDE else f"Alt+{key}")
        assert page.locator("dialog[open]").count() == 1
        assert page.evaluate(fits), key
        page.keyboard.press("Escape")


@pytest.mark.smoke
def test_by_finger_alone(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address(), width=375, height=740, finger=True)
    assert found(page, SMALL) == []
    page.get_by_role("button", name="1 more example").tap()
    page.get_by_role("button", name="Unsure").tap()
    page.get_by_role("button", name="free").tap()
    shows(page, "p001")
    page.get_by_role("button", name="Skip").tap()
    shows(page, "p002")
    page.get_by_role("button", name="Undo").tap()
    shows(page, "p001")
    page.get_by_role("button", name="Note", exact=True).tap()
    page.locator("#note").fill("by finger")
    assert found(page, SMALL) == []
    page.get_by_role("button", name="SVC").tap()
    shows(page, "p002")
    page.get_by_role("button", name="Recent").tap()
    assert found(page, SMALL) == []
    page.locator("#recent-box .cards button").last.tap()
    shows(page, "p000")
    rows = [row for row in served.log() if row["kind"] == "label"]
    said = [(row["id"], row["answer"], row["unsure"], row["note"]) for row in rows]
    assert said == [("p000", "free", 1, ""), ("p001", "SVC", 0, "by finger")]


def test_labels_are_in_sight_on_a_phone(serve: Serve, open_card: OpenCard) -> None:
    long = {"units": {"l1": "in Frage", "l2": "stellen"}, "examples": ["lang " * 300] * 3}
    page = open_card(serve(Subject({"a": long})).address(), width=375, height=740)
    seen = "(each) => { const {top, bottom} = each.getBoundingClientRect(); return top >= 0 && bottom <= innerHeight; }"
    for button in page.locator(".label").all():
        assert button.evaluate(seen)


def test_by_tab_and_enter_alone(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3)))
    page = open_card(served.address())
    shows(page, "p000")
    for item, text in (("p000", "figurative"), ("p001", "Skip"), ("p002", "free")):
        shows(page, item)
        _tab_to(page, text)
        page.keyboard.press("Enter")
    says(page, "but for what you set aside", "#rest")
    _tab_to(page, "Go through them")
    page.keyboard.press("Enter")
    shows(page, "p001")
    _tab_to(page, "SVC")
    page.keyboard.press("Space")
    says(page, "All is done", "#rest")
    wanted = [("p000", "figurative"), ("p002", "free"), ("p001", "SVC")]
    assert answers(served.log()) == wanted


def _tab_to(page: Page, text: str) -> None:
    """Press Tab until the focus, which is always seen, is on a button with a text."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            continue  # the browser's own buttons
        assert not page.evaluate(NO_FOCUS)
        if text in str(page.evaluate("document.activeElement.textContent")):
            return
    raise AssertionError(f"no Tab leads to {text}")


def test_what_is_saved_is_said(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(9))).address())
    assert page.locator("#said, #waiting-text").evaluate_all(
        "(all) => all.map((each) => each.getAttribute('role'))"
    ) == ["status", "status"]
    label(page, ["p000"])
    says(page, "Saved: SVC")
    page.context.set_offline(True)
    label(page, ["p001"])
    says(page, "Not saved yet: SVC")
    waits(page, 1)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_violation(serve: Serve, open_card: OpenCard, dark: bool) -> None:
    served = serve(Subject(pairs(9), guidelines={"SVC": "Support verb"}))
    page = open_card(served.address(), dark=dark)
    label(page, ["p000"])
    shows(page, "p001")
    faults = _look(page, "card")
    for key in ("h", "g", "r", "/"):
        page.keyboard.press(key)
        if key == "r":
            page.locator("#recent-box .cards").wait_for()
        faults += _look(page, key)
        page.keyboard.press("Escape")
    page.context.set_offline(True)
    label(page, ["p001"])
    waits(page, 1)
    page.keyboard.press("n")
    page.keyboard.type("a note")
    faults += _look(page, "away")
    nothing(faults)


@pytest.mark.axe
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_serious_violation_in_other_states(
    serve: Serve, open_card: OpenCard, dark: bool
) -> None:
    served = serve(Subject(pairs(2), labels=("a", "b")))
    other = open_card(served.address())
    page = open_card(served.address(), dark=dark)
    label(other, ["p000"])
    shows(other, "p001")
    label(page, ["p000"], "2")
    says(page, "Decided in another window", "#trouble-text")
    faults = _look(page, "stale")
    page.keyboard.press("2")
    label(page, ["p001"], "s")
    says(page, "but for what you set aside", "#rest")
    faults += _look(page, "aside")
    faults += _look(open_card(serve(KEYING).address(), dark=dark), "keying")
    nothing(faults)


def _look(page: Page, where: str) -> list[str]:
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return [f"{where}: {fault}" for fault in page.evaluate(LOOK)]
