"""Every key press makes one decision, and every command has a key."""

from __future__ import annotations

from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import (
    LABELS,
    Subject,
    answers,
    label,
    pairs,
    ready,
    says,
    shows,
    wait_until_saved,
)
from tests.browser.pages import evaluate_list
from tests.browser.reports import MARKUP, TEXTS

# Labels, units, examples and notes are shown as text and do not affect the layout.

LABELS_HOSTILE = (MARKUP, TEXTS["quotes"], TEXTS["controls of direction"], "free")
EXAMPLES = [*TEXTS.values(), "[[" * 50_000, f"x {'[[a]] ' * 10_000}", MARKUP.join(["[[", "]]"])]
SUBJECT = Subject(
    {MARKUP: {"units": {"l1": TEXTS["controls of direction"], "l2": MARKUP}, "examples": EXAMPLES}},
    title=TEXTS["markup with blanks"], instructions=MARKUP, labels=LABELS_HOSTILE,
    guidelines=dict.fromkeys(LABELS_HOSTILE, MARKUP),
)  # fmt: skip
BLANKS = """() => document.body.textContent.replace(/[\\s\\u00a0]+/g, " ")"""
CONTROLS = """() => document.querySelector("main").textContent.match(/[\\u202a-\\u202e\\u2066-\\u2069\\u200e\\u200f]/g) ?? []"""


def test_texts_never_become_elements(serve: Serve, open_card: OpenCard) -> None:
    served = serve(SUBJECT)
    page = open_card(served.address())
    page.keyboard.press("e")
    page.keyboard.press("g")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.type(MARKUP)
    page.keyboard.press("Escape")
    ready(page, MARKUP)
    page.locator(".label").first.click()
    says(page, "All done", "#rest")
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").click()
    shows(page, MARKUP)
    says(page, f"Your answer: {MARKUP}; note: {MARKUP}", "#current-answer")
    assert page.locator("img").count() == 0
    assert page.title() == " ".join(TEXTS["markup with blanks"].split())
    wait_until_saved(page)
    assert answers(served.log()) == [(MARKUP, MARKUP)]
    text = str(page.evaluate(BLANKS))
    page.reload()
    says(page, "All done", "#rest")
    page.keyboard.press("u")
    shows(page, MARKUP)
    for kind in ("markup", "quotes", "right to left"):
        assert TEXTS[kind] in text, kind


def test_direction_controls_are_visible_and_have_no_effect(
    serve: Serve, open_card: OpenCard
) -> None:
    page = open_card(serve(SUBJECT).address())
    page.keyboard.press("e")
    assert evaluate_list(page, CONTROLS) == []
    marks = page.locator(".unit").first.locator(".control").all_text_contents()
    assert marks == ["RLO", "LRI", "PDI", "RLM"]
    letters = "() => document.querySelector('.unit').textContent"
    assert page.evaluate(letters) == "RLOabcLRIdefPDIRLM"


def test_joiners_within_words_are_kept(serve: Serve, open_card: OpenCard) -> None:
    word = "می\u200cخواهم"
    items = {"a": {"units": {"l1": word, "l2": f"{word}\u200c x"}, "examples": []}}
    page = open_card(serve(Subject(items)).address())
    assert page.locator(".unit").first.text_content() == word
    assert page.locator(".unit").last.locator(".control").all_text_contents() == ["ZWNJ"]


def test_long_texts_are_shortened_around_the_marked_word(serve: Serve, open_card: OpenCard) -> None:
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
    says(page, "All done", "#rest")


def test_brackets_in_the_text_are_kept(serve: Serve, open_card: OpenCard) -> None:
    text = "[no] [[nor this]] ⟦⟦in⟧⟧ a ⟦…⟧ of ⟦⟦Frage⟧⟧."
    items = {"a": {"units": {"l1": "x", "l2": "y"}, "examples": [text]}}
    page = open_card(serve(Subject(items)).address())
    example = page.locator("#examples li").first
    assert example.locator("mark").all_text_contents() == ["in", "Frage"]
    assert example.text_content() == "[no] [[nor this]] in a […] of Frage."


def test_a_hundred_keys_give_a_hundred_decisions(serve: Serve, open_card: OpenCard) -> None:
    items = pairs(100)
    served = serve(Subject(items))
    page = open_card(served.address())
    for number, item in enumerate(items):
        ready(page, item)
        page.keyboard.press(str(number % 3 + 1))
    shows(page, "")
    says(page, "All done", "#rest")
    expected = [(item, LABELS[number % 3]) for number, item in enumerate(items)]
    wait_until_saved(page)
    assert answers(served.log()) == expected
    assert all(0 <= row["seconds"] <= 600 for row in served.log())
    assert page.locator("#progress-text").text_content() == "100 of 100"


def test_undo_reaches_any_earlier_decision(serve: Serve, open_card: OpenCard) -> None:
    items = list(pairs(60))
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    label(page, items[:30])
    ready(page, items[30])
    for item in reversed(items[:30]):
        page.keyboard.press("u")
        ready(page, item)
        assert page.locator("#current-answer").is_hidden()
    page.keyboard.press("u")
    says(page, "Nothing to undo")
    label(page, items[:3], "2")
    shows(page, items[3])
    wait_until_saved(page)
    assert answers(served.log())[-3:] == [(item, "figurative") for item in items[:3]]


def test_undo_shows_the_former_answer_after_a_reload(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3)))
    page = open_card(served.address())
    label(page, ["p000"])
    shows(page, "p001")
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").click()
    label(page, ["p000"], "3")
    shows(page, "p001")
    page.reload()
    ready(page, "p001")
    page.keyboard.press("u")
    shows(page, "p000")
    says(page, "Your answer: SVC", "#current-answer")
    assert page.locator(".label[aria-pressed=true]").get_attribute("data-label") == "SVC"


def test_a_held_key_labels_once(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    ready(page, "p000")
    for _ in range(20):
        page.keyboard.down("1")  # all events after the first are repeats
        page.wait_for_timeout(10)
    page.keyboard.up("1")
    ready(page, "p001")
    page.locator(".label").first.focus()
    for _ in range(20):
        page.keyboard.down("Enter")
        page.wait_for_timeout(10)
    page.keyboard.up("Enter")
    shows(page, "p002")
    wait_until_saved(page)
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_commands_keep_their_keys(serve: Serve, open_card: OpenCard) -> None:
    labels = ("unit", "sure", "idiom", "hit", "x?")
    served = serve(Subject(pairs(9), labels=labels))
    page = open_card(served.address())
    label(page, ["p000"], "i")
    label(page, ["p001"], "s")
    label(page, ["p002"], "4")
    ready(page, "p003")
    page.keyboard.press("U")
    ready(page, "p002")
    page.keyboard.press("h")
    keys = page.locator("#help-box tr").filter(has_text="Undo").locator("kbd").all_text_contents()
    assert keys == ["U"]
    keys = page.locator("#help-box tr").filter(has_text="idiom").locator("kbd").all_text_contents()
    assert keys == ["3", "I"]
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    label(page, ["p002"], "5")
    shows(page, "p003")
    wait_until_saved(page)
    assert answers(served.log(), "skip") == [("p001", None)]
    assert (served.log()[-1]["answer"], served.log()[-1]["unsure"]) == ("x?", 1)


def test_keys_typed_in_a_field_are_no_commands(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    shows(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("123 us?q/ <b>")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    ready(page, "p000")
    page.keyboard.press("1")
    shows(page, "p001")
    says(page, "Saved: SVC")
    (row,) = served.log()
    assert (row["note"], row["unsure"], row["answer"]) == ("123 us?q/ <b>", 1, "SVC")
    page.keyboard.press("/")
    page.locator("#search-text").type("us?q")
    page.locator("#search-box .cards button").click()
    shows(page, "p000")
    assert page.locator("#note").input_value() == "123 us?q/ <b>"
    assert page.locator("#unsure").get_attribute("aria-pressed") == "true"


def test_a_note_of_a_decided_card_is_saved_at_once(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    label(page, ["p000"], "2")
    shows(page, "p001")
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").click()
    shows(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("later")
    page.keyboard.press("Control+Enter")
    says(page, "Note saved")
    shows(page, "p000")
    wait_until_saved(page)
    assert [(r["answer"], r["note"]) for r in served.log()] == [
        ("figurative", ""), ("figurative", "later"),
    ]  # fmt: skip
    page.keyboard.press("n")
    page.keyboard.type(" on")
    ready(page, "p000")
    page.locator(".label").last.click()  # leaving the field saves the note
    shows(page, "p001")
    wait_until_saved(page)
    assert (served.log()[-1]["answer"], served.log()[-1]["note"]) == ("free", "later on")


def test_a_typed_note_survives_a_reload(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(4))).address())
    shows(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("half a tho")
    page.reload()
    shows(page, "p000")
    assert page.locator("#note").input_value() == "half a tho"


def test_skipped_cards_come_last(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4), labels=("a", "b")))
    page = open_card(served.address())
    label(page, ["p000", "p001"], "s")
    label(page, ["p002", "p003"])
    says(page, "except the cards you set aside", "#rest")
    assert page.locator("#progress-text").text_content() == "2 of 4, 2 set aside"
    page.get_by_role("button", name="Show", exact=True).press("Enter")
    label(page, ["p000"])
    label(page, ["p001"], "s")
    says(page, "1 card is left", "#rest")
    page.locator("#rest .cards button").click()
    label(page, ["p001"])
    says(page, "All done", "#rest")
    wait_until_saved(page)
    assert answers(served.log()) == [(item, "a") for item in ("p002", "p003", "p000", "p001")]


def test_more_examples_are_shown_on_request(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(2))).address())
    examples = page.locator("#examples li:visible")
    assert examples.count() == 3
    assert page.locator("#examples li").first.locator("mark").all_text_contents() == ["in", "Frage"]
    page.keyboard.press("e")
    assert examples.count() == 4
    assert page.locator("#more").is_hidden()
