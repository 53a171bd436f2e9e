"""Every figure: it can be read on a phone, and answers to the mouse and to the finger."""

from __future__ import annotations

import pytest

from tests.browser.pages import Open, answer, caption, charts, found, nothing
from tests.browser.reports import REPORTS

SMALLEST = 9
"""Pixels of the smallest text of a figure."""
every_drawn = pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].drawn])


@every_drawn
def test_texts_can_be_read_on_a_phone(read_report: Open, name: str) -> None:
    page = read_report(name, width=375)
    sizes = """() => {
      const texts = [...document.querySelectorAll(".chart svg text")]
        .filter((text) => text.textContent.trim() && text.checkVisibility({opacityProperty: true}));
      return texts.map((text) => {
        const scale = text.getScreenCTM();
        const size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(scale.a, scale.b);
        return [Math.round(size * 10) / 10, text.textContent];
      });
    }"""
    texts = found(page, sizes)
    assert texts
    examples = {size: text for size, text in reversed(texts) if size < SMALLEST}
    nothing([f"{size} px, as {text!r}" for size, text in sorted(examples.items())])


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
@every_drawn
def test_every_figure_answers(open_report: Open, name: str, finger: bool) -> None:
    page = open_report(name, width=375 if finger else 1400, finger=finger)
    figures = charts(page)
    assert figures
    silent = [caption(each) for each in figures if not answer(page, each, finger=finger)]
    nothing(silent)
