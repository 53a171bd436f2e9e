"""Every page, at the width of a phone, of a tablet and of a screen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.pages import (
    A4,
    AXE,
    MARGIN,
    WIDTHS_PAGES,
    Open,
    caption,
    charts,
    found,
    nothing,
    pdf_pages,
)
from tests.browser.reports import REPORTS, TEXTS, WORDS

# --- What axe-core finds fault with, for those who read with their ears or their fingers.

LOOK = """async () => {
  const {violations} = await axe.run(document, {resultTypes: ["violations"]});
  return violations.filter(({impact}) => ["serious", "critical"].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.length} times, as ${nodes[0].html.slice(0, 200)}`);
}"""


@pytest.mark.axe
@pytest.mark.parametrize("name", REPORTS)
def test_no_serious_violation(read_report: Open, name: str) -> None:
    page = read_report(name)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    nothing(page.evaluate(LOOK))


# --- Whatever stands in the data is text, and nothing but text.

BLANKS = """() => document.body.innerText.replace(/[\\s\\u00a0]+/g, " ")"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_no_hostile_text_becomes_an_element(read_report: Open, scripts: bool) -> None:
    page = read_report("hostile", scripts=scripts)
    assert page.locator("img[onerror], img[src='x'], img[src^='x/']").count() == 0
    assert page.title() == " ".join(TEXTS["markup with blanks"].split())


@pytest.mark.parametrize("kind", TEXTS)
def test_a_hostile_text_is_shown_as_it_is(read_report: Open, kind: str) -> None:
    page = read_report("hostile")
    shown = str(page.evaluate(BLANKS))
    assert " ".join(TEXTS[kind].split())[:300] in shown


def test_hostile_words_are_among_the_texts_of_tables(read_report: Open) -> None:
    page = read_report("hostile")
    cells = "() => [...document.querySelectorAll('td, th')].map((cell) => cell.textContent.trim())"
    there = found(page, cells)
    assert [word[:40] for word in WORDS if not any(word[:40] in cell for cell in there)] == []


SMOKE = [
    pytest.param(name, marks=[pytest.mark.smoke] if name == "collocations" else [])
    for name in REPORTS
]
every_report = pytest.mark.parametrize("name", SMOKE)
every_width = pytest.mark.parametrize("width", WIDTHS_PAGES)


@every_width
@every_report
def test_it_opens_without_a_fault(read_report: Open, name: str, width: int) -> None:
    """What a page may not do is watched by the fixture."""
    page = read_report(name, width=width)
    assert page.title()
    figures = charts(page)
    assert bool(figures) == REPORTS[name].drawn
    nothing([caption(each) for each in figures if not each.locator(".marks:visible").count()])


@every_width
@every_report
def test_it_does_not_scroll_sideways(read_report: Open, name: str, width: int) -> None:
    page = read_report(name, width=width)
    wide = """() => {
      const root = document.scrollingElement;
      if (root.scrollWidth <= root.clientWidth) return [];
      const open = (each) => getComputedStyle(each).overflowX === "visible";
      const over = (each) => each.getBoundingClientRect().right > root.clientWidth + 1
        || (open(each) && each.scrollWidth > each.clientWidth + 1 && each.clientWidth > 0);
      const framed = (each) => {
        for (let up = each.parentElement; up && up !== document.body; up = up.parentElement)
          if (!open(up)) return true;
        return false;
      };
      const names = [...document.body.querySelectorAll("*")]
        .filter((each) => over(each) && !framed(each))
        .map((each) => `${each.tagName}.${each.className}: ${each.textContent.slice(0, 60)}`);
      return [`${root.scrollWidth} pixels in a window of ${root.clientWidth}`, ...names];
    }"""
    nothing(found(page, wide))


@every_report
def test_headings_are_in_order(read_report: Open, name: str) -> None:
    page = read_report(name)
    headings = "() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => +h.tagName[1])"
    levels = found(page, headings)
    assert levels[:1] == [1]
    assert levels.count(1) == 1
    nothing([pair for pair in pairwise(levels) if pair[1] > pair[0] + 1])


@every_report
def test_every_figure_says_in_words_what_it_shows(read_report: Open, name: str) -> None:
    page = read_report(name)
    silent = """(figure) => {
      const said = (each) => each.getAttribute("alt") || each.getAttribute("aria-label")
        || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent || "";
      const pictures = "img, [role=img], [role^=graphics], [role=figure], canvas";
      return [...figure.querySelectorAll(pictures)]
        .filter((each) => each.checkVisibility() && said(each).trim()).length === 0;
    }"""
    nothing([caption(figure) for figure in charts(page) if figure.evaluate(silent)])


@every_report
def test_every_table_has_headings(read_report: Open, name: str) -> None:
    page = read_report(name)
    bare = """() => [...document.querySelectorAll("table")].filter((table) => {
      const heads = [...table.querySelectorAll("th")];
      const rows = (each) => ["col", "row", "colgroup", "rowgroup"].includes(each.scope);
      return heads.length === 0 || !heads.every(rows);
    }).map((table) => table.innerText.slice(0, 60))"""
    assert page.locator("table").count() > 0
    nothing(found(page, bare))


@every_report
def test_links_lead_somewhere(read_report: Open, name: str) -> None:
    page = read_report(name)
    anchors = """() => [...document.querySelectorAll('a[href^="#"]')]
      .map((link) => link.getAttribute("href").slice(1))
      .filter((name) => name && !document.getElementById(decodeURIComponent(name)))"""
    files = """() => [...document.querySelectorAll('a[href]:not([href^="#"])')]
      .map((link) => link.getAttribute("href"))
      .filter((address) => !/^(https?|mailto|blob|data):/.test(address))"""
    folder = Path(unquote(urlsplit(page.url).path)).parent
    nothing(found(page, anchors))
    nothing([each for each in found(page, files) if not (folder / unquote(each)).is_file()])


# --- Printed, without scripts, in the dark: the page is as good.

every_report_print = pytest.mark.parametrize("name", REPORTS)
every_drawn = pytest.mark.parametrize("name", [name for name in REPORTS if REPORTS[name].drawn])
PICTURES = """(figure) => [...figure.querySelectorAll(".chart img, .chart svg.marks, .chart canvas")]
  .filter((each) => each.checkVisibility() && each.naturalWidth !== 0)
  .map((each) => [each.getBoundingClientRect().width, each.getBoundingClientRect().height])"""
"""Width and height of what can be seen of a figure."""


@every_report_print
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
