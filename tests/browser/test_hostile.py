"""Whatever stands in the data is text, and nothing but text."""

from __future__ import annotations

import pytest

from tests.browser.hostile import TEXTS, WORDS
from tests.browser.pages import Open, found

BLANKS = """() => document.body.innerText.replace(/[\\s\\u00a0]+/g, " ")"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_no_text_becomes_an_element(read_report: Open, scripts: bool) -> None:
    page = read_report("hostile", scripts=scripts)
    assert page.locator("img[onerror], img[src='x'], img[src^='x/']").count() == 0
    assert page.title() == " ".join(TEXTS["markup with blanks"].split())


@pytest.mark.parametrize("kind", TEXTS)
def test_a_text_is_shown_as_it_is(read_report: Open, kind: str) -> None:
    page = read_report("hostile")
    shown = str(page.evaluate(BLANKS))
    assert " ".join(TEXTS[kind].split())[:300] in shown


def test_words_are_among_the_texts_of_tables(read_report: Open) -> None:
    page = read_report("hostile")
    cells = "() => [...document.querySelectorAll('td, th')].map((cell) => cell.textContent.trim())"
    there = found(page, cells)
    assert [word[:40] for word in WORDS if not any(word[:40] in cell for cell in there)] == []
