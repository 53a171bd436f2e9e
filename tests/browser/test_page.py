"""Every page, at the width of a phone, of a tablet and of a screen."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.pages import WIDTHS, Open, caption, charts, found, nothing
from tests.browser.reports import REPORTS

SMOKE = [
    pytest.param(name, marks=[pytest.mark.smoke] if name == "collocations" else [])
    for name in REPORTS
]
every_report = pytest.mark.parametrize("name", SMOKE)
every_width = pytest.mark.parametrize("width", WIDTHS)


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
