"""One key is one decision, and every command has a key."""

from __future__ import annotations

from tests.browser.annotate.cards import answers, label, pairs, says, shows
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import LABELS, Subject


def test_300_decisions_by_300_keys(serve: Serve, open_card: OpenCard) -> None:
    items = pairs(300)
    served = serve(Subject(items))
    page = open_card(served.address())
    for number, item in enumerate(items):
        shows(page, item)
        page.keyboard.press(str(number % 3 + 1))
    shows(page, "")
    says(page, "All is done", "#rest")
    wanted = [(item, LABELS[number % 3]) for number, item in enumerate(items)]
    assert answers(served.log()) == wanted
    assert all(0 <= row["seconds"] <= 600 for row in served.log())
    assert page.locator("#far").text_content() == "300 of 300"


def test_undo_as_far_back_as_one_likes(serve: Serve, open_card: OpenCard) -> None:
    items = list(pairs(60))
    served = serve(Subject(pairs(60)))
    page = open_card(served.address())
    label(page, items[:50])
    shows(page, items[50])
    for item in reversed(items[:50]):
        page.keyboard.press("u")
        shows(page, item)
        assert page.locator("#stands").is_hidden()
    page.keyboard.press("u")
    says(page, "There is nothing to undo")
    label(page, items[:3], "2")
    shows(page, items[3])
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
    shows(page, "p001")
    page.keyboard.press("u")
    shows(page, "p000")
    says(page, "Your answer: SVC", "#stands")
    assert page.locator(".label[aria-pressed=true]").get_attribute("data-label") == "SVC"


def test_a_held_key_labels_once(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(9)))
    page = open_card(served.address())
    shows(page, "p000")
    for _ in range(20):
        page.keyboard.down("1")  # the second and all that follow are repeats
        page.wait_for_timeout(10)
    page.keyboard.up("1")
    shows(page, "p001")
    page.locator(".label").first.focus()
    for _ in range(20):
        page.keyboard.down("Enter")
        page.wait_for_timeout(10)
    page.keyboard.up("Enter")
    shows(page, "p002")
    assert answers(served.log()) == [("p000", "SVC"), ("p001", "SVC")]


def test_keys_of_labels_win(serve: Serve, open_card: OpenCard) -> None:
    labels = ("unit", "sure", "none", "hit", "?")
    served = serve(Subject(pairs(9), labels=labels))
    page = open_card(served.address())
    label(page, ["p000"], "u")
    label(page, ["p001"], "s")
    label(page, ["p002"], "Shift+S")
    label(page, ["p003"], "h")
    shows(page, "p004")
    page.keyboard.press("Shift+U")
    shows(page, "p003")
    page.keyboard.press("Shift+H")
    keys = page.locator("#help-box tr").filter(has_text="Undo").locator("kbd").all_text_contents()
    assert keys == ["Shift + U"]
    page.keyboard.press("Escape")
    page.keyboard.press("q")
    label(page, ["p003"], "1")
    shows(page, "p004")
    assert answers(served.log(), "skip") == [("p002", None)]
    assert (served.log()[-1]["answer"], served.log()[-1]["unsure"]) == ("unit", 1)


def test_nothing_fires_in_a_field(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4)))
    page = open_card(served.address())
    shows(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("123 us?q/ <b>")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.keyboard.press("1")
    shows(page, "p001")
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
    assert [(r["answer"], r["note"]) for r in served.log()] == [
        ("figurative", ""), ("figurative", "later"),
    ]  # fmt: skip
    page.keyboard.press("n")
    page.keyboard.type(" on")
    page.locator(".label").last.click()  # leaves the field, which saves, and decides
    shows(page, "p001")
    assert (served.log()[-1]["answer"], served.log()[-1]["note"]) == ("free", "later on")


def test_what_is_typed_outlives_a_reload(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(4))).address())
    shows(page, "p000")
    page.keyboard.press("n")
    page.keyboard.type("half a tho")
    page.reload()
    shows(page, "p000")
    assert page.locator("#note").input_value() == "half a tho"


def test_cards_set_aside_come_last_and_are_asked_for(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(4), labels=("a", "b")))
    page = open_card(served.address())
    label(page, ["p000", "p001"], "s")
    label(page, ["p002", "p003"])
    says(page, "but for what you set aside", "#rest")
    assert page.locator("#far").text_content() == "2 of 4, 2 set aside"
    page.get_by_role("button", name="Go through them").press("Enter")
    label(page, ["p000"])
    label(page, ["p001"], "s")
    says(page, "1 card is left", "#rest")
    page.locator("#rest .cards button").click()
    label(page, ["p001"])
    says(page, "All is done", "#rest")
    assert answers(served.log()) == [(item, "a") for item in ("p002", "p003", "p000", "p001")]


def test_more_examples(serve: Serve, open_card: OpenCard) -> None:
    page = open_card(serve(Subject(pairs(2))).address())
    shown = page.locator("#examples li:visible")
    assert shown.count() == 3
    assert page.locator("#examples li").first.locator("mark").all_text_contents() == ["in", "Frage"]
    page.keyboard.press("e")
    assert shown.count() == 4
    assert page.locator("#more").is_hidden()
