"""Whatever stands in labels, units, examples and notes is text, and moves nothing else."""

from __future__ import annotations

from tests.browser.annotate.cards import answers, label, says, shows
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject
from tests.browser.hostile import MARKUP, TEXTS
from tests.browser.pages import found

LABELS = (MARKUP, TEXTS["quotes"], TEXTS["controls of direction"], "free")
EXAMPLES = [*TEXTS.values(), "[[" * 50_000, f"x {'[[a]] ' * 10_000}", MARKUP.join(["[[", "]]"])]
SUBJECT = Subject(
    {MARKUP: {"units": {"l1": TEXTS["controls of direction"], "l2": MARKUP}, "examples": EXAMPLES}},
    title=TEXTS["markup with blanks"], instructions=MARKUP, labels=LABELS,
    guidelines=dict.fromkeys(LABELS, MARKUP),
)  # fmt: skip
BLANKS = """() => document.body.textContent.replace(/[\\s\\u00a0]+/g, " ")"""
CONTROLS = """() => document.querySelector("main").textContent.match(/[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/g) ?? []"""


def test_no_text_becomes_an_element(serve: Serve, open_card: OpenCard) -> None:
    served = serve(SUBJECT)
    page = open_card(served.address())
    page.keyboard.press("e")
    page.keyboard.press("g")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type(MARKUP)
    page.keyboard.press("Escape")
    page.locator(".label").first.click()
    says(page, "All is done", "#rest")
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").click()
    shows(page, MARKUP)
    says(page, f"Your answer: {MARKUP}; note: {MARKUP}", "#stands")
    assert page.locator("img").count() == 0
    assert page.title() == " ".join(TEXTS["markup with blanks"].split())
    assert answers(served.log()) == [(MARKUP, MARKUP)]
    shown = str(page.evaluate(BLANKS))
    page.reload()
    says(page, "All is done", "#rest")
    page.keyboard.press("u")
    shows(page, MARKUP)
    for kind in ("markup", "quotes", "right to left"):
        assert TEXTS[kind] in shown, kind


def test_controls_of_direction_are_seen_and_do_nothing(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(SUBJECT).address())
    page.keyboard.press("e")
    assert found(page, CONTROLS) == []
    marks = page.locator(".unit").first.locator(".control").all_text_contents()
    assert marks == ["RLO", "LRI", "PDI", "RLM"]
    letters = "() => document.querySelector('.unit').textContent"
    assert page.evaluate(letters) == "RLOabcLRIdefPDIRLM"


def test_joiners_in_words_stay(serve: Serve, open_card: OpenCard) -> None:
    word = "می\u200cخواهم"
    items = {"a": {"units": {"l1": word, "l2": f"{word}\u200c x"}, "examples": []}}
    page = open_card(serve(Subject(items)).address())
    assert page.locator(".unit").first.text_content() == word
    assert page.locator(".unit").last.locator(".control").all_text_contents() == ["ZWNJ"]


def test_a_long_text_is_cut_around_the_marked_word(serve: Serve, open_card: OpenCard) -> None:
    text = f"{'😀wort ' * 70_000}[[hier]] {'danach ' * 70_000}"
    items = {"a": {"units": {"l1": "w" * 1_000_000, "l2": "x"}, "examples": [text]}}
    served = serve(Subject(items))
    page = open_card(served.address())
    example = page.locator("#examples li").first
    assert example.locator("mark").all_text_contents() == ["hier"]
    assert len(example.text_content() or "") < 2_200
    example.get_by_role("button", name="show all").click()
    assert len(example.text_content() or "") == len(text) - len("[[]]")
    assert "\ufffd" not in (example.text_content() or "")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    label(page, ["a"])
    says(page, "All is done", "#rest")


def test_brackets_of_the_text_itself(serve: Serve, open_card: OpenCard) -> None:
    text = "[no] [[nor this]] ⟦⟦in⟧⟧ a ⟦…⟧ of ⟦⟦Frage⟧⟧."
    items = {"a": {"units": {"l1": "x", "l2": "y"}, "examples": [text]}}
    page = open_card(serve(Subject(items)).address())
    example = page.locator("#examples li").first
    assert example.locator("mark").all_text_contents() == ["in", "Frage"]
    assert example.text_content() == "[no] [[nor this]] in a […] of Frage."
