"""Keying from print, and the round in which first labels are shown."""

from __future__ import annotations

from tests.browser.annotate.cards import answers, label, pairs, says, shows
from tests.browser.annotate.conftest import OpenCard, Serve
from tests.browser.annotate.serving import Subject

LEMMAS = ("gehen", "stehen", "sehen", "drehen")
KEYING = Subject(
    {
        each: {"units": {"lemma": each}, "lexicon_forms": f"{each[:-1]}, {each[:-2]}t"}
        for each in LEMMAS
    },
    kind="keying", labels=(), instructions="ß as printed.",
)  # fmt: skip


def test_keying(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    shows(page, "gehen")
    says(page, "In the lexicon: gehe, geht", "#lexicon")
    says(page, "ß as printed.", "#forms-spelt")
    page.keyboard.type("gehe, gehst, u")
    page.keyboard.press("Enter")
    shows(page, "stehen")
    page.keyboard.type(" , ")
    page.keyboard.press("Enter")
    says(page, "Type the forms, or choose “Not found”.")
    shows(page, "stehen")
    page.keyboard.press("Alt+0")
    shows(page, "sehen")
    page.keyboard.press("Alt+s")
    shows(page, "drehen")
    page.keyboard.type("drehe")
    page.keyboard.press("Alt+u")
    shows(page, "sehen")
    page.keyboard.type("sehe")
    page.keyboard.press("Enter")
    shows(page, "drehen")
    assert page.locator("#forms").input_value() == "drehe"
    page.get_by_role("button", name="Not found").click()
    says(page, "All is done", "#rest")
    wanted = [("gehen", "gehe, gehst, u"), ("stehen", "-"), ("sehen", "sehe"), ("drehen", "-")]
    assert answers(served.log()) == wanted
    page.keyboard.press("r")
    page.locator("#recent-box .cards button").last.click()
    shows(page, "gehen")
    assert page.locator("#forms").input_value() == "gehe, gehst, u"


def test_lines_that_are_pasted_are_forms(serve: Serve, open_card: OpenCard) -> None:
    served = serve(KEYING)
    page = open_card(served.address())
    shows(page, "gehen")
    page.locator("#forms").fill("gehe\ngehst\r\n\ngeht\n")
    page.keyboard.press("Enter")
    shows(page, "stehen")
    assert answers(served.log()) == [("gehen", "gehe, gehst, geht")]


def test_adjudication_shows_first_labels(serve: Serve, open_card: OpenCard) -> None:
    served = serve(Subject(pairs(3), annotators=("anna", "bert")))
    for person, key in (("anna", "1"), ("bert", "3")):
        page = open_card(served.address(person))
        shows(page, "p000")
        assert page.locator("#first").is_hidden()
        page.keyboard.press("n")
        page.keyboard.type(f"by {person}")
        page.keyboard.press("Escape")
        label(page, ["p000"], key)
        shows(page, "p001")
    served.ask({"p000": pairs(1)["p000"]}, ("anna",), "adjudication")
    page = open_card(served.address("anna", "adjudication"))
    cells = page.locator("#first tbody tr").all_inner_texts()
    assert [row.split("\t") for row in cells] == [
        ["anna", "SVC", "by anna"], ["bert", "free", "by bert"],
    ]  # fmt: skip
    label(page, ["p000"], "2")
    says(page, "All is done", "#rest")
    assert page.locator("#far").text_content() == "1 of 1"
    assert answers(served.log())[-1] == ("p000", "figurative")
