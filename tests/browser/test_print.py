"""Printed, without scripts, in the dark: the page is as good."""

from __future__ import annotations

import pytest

from tests.browser.pages import A4, MARGIN, Open, caption, charts, pdf_pages
from tests.browser.reports import REPORTS

every_report = pytest.mark.parametrize("name", REPORTS)
every_drawn = pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].drawn])
PICTURES = """(figure) => [...figure.querySelectorAll(".chart img, .chart svg.marks, .chart canvas")]
  .filter((each) => each.checkVisibility() && each.naturalWidth !== 0)
  .map((each) => [each.getBoundingClientRect().width, each.getBoundingClientRect().height])"""
"""Width and height of what can be seen of a figure."""


@every_report
def test_it_prints_on_so_many_pages(open_report: Open, name: str) -> None:
    page = open_report(name)
    assert 1 <= pdf_pages(page) <= REPORTS[name].most_pages


@every_drawn
def test_figures_are_printed_once_and_whole(open_report: Open, name: str) -> None:
    width, height = A4[0] - 2 * MARGIN, A4[1] - 2 * MARGIN
    page = open_report(name, width=width, height=height)
    page.emulate_media(media="print")
    for figure in charts(page):
        pictures = figure.evaluate(PICTURES)
        assert len(pictures) == 1, caption(figure)
        assert pictures[0][0] <= width, caption(figure)
        assert figure.evaluate("(each) => each.offsetHeight") <= height, caption(figure)
        assert figure.evaluate("(each) => getComputedStyle(each).breakInside") == "avoid"


@every_drawn
def test_without_scripts_figures_are_still(open_report: Open, name: str) -> None:
    page = open_report(name, scripts=False)
    figures = charts(page)
    assert figures
    seen = {caption(figure): len(figure.evaluate(PICTURES)) for figure in figures}
    assert {name: count for name, count in seen.items() if count != 1} == {}
