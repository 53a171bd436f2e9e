"""Every page and figure: on phone, tablet and screen, with mouse and touch, in dark mode."""

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
    answer,
    caption,
    charts,
    evaluate_list,
    expect_none,
    pdf_pages,
)
from tests.browser.reports import REPORTS, TEXTS, WORDS, every_drawn, every_report

LOOK = """async () => {
  const late = new Promise((_, fail) => setTimeout(fail, 240000, new Error("axe gave no answer")));
  const run = axe.run(document, {resultTypes: ["violations"]});
  const {violations} = await Promise.race([run, late]);
  return violations.filter(({impact}) => ["serious", "critical"].includes(impact))
    .map(({id, nodes}) => `${id}: ${nodes.length} times, as ${nodes[0].html.slice(0, 200)}`);
}"""


@pytest.mark.axe
@pytest.mark.parametrize("name", REPORTS)
def test_reports_have_no_serious_violation(read_report: Open, name: str) -> None:
    page = read_report(name)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    expect_none(page.evaluate(LOOK))


BLANKS = """() => document.body.innerText.replace(/[\\s\\u00a0]+/g, " ")"""


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_no_hostile_text_becomes_an_element(read_report: Open, scripts: bool) -> None:
    page = read_report("hostile", scripts=scripts)
    assert page.locator("img[onerror], img[src='x'], img[src^='x/']").count() == 0
    assert page.title() == " ".join(TEXTS["markup with blanks"].split())


@pytest.mark.parametrize("kind", TEXTS)
def test_hostile_texts_are_shown_unchanged(read_report: Open, kind: str) -> None:
    page = read_report("hostile")
    text = str(page.evaluate(BLANKS))
    assert " ".join(TEXTS[kind].split())[:300] in text


def test_hostile_words_are_among_the_texts_of_tables(read_report: Open) -> None:
    page = read_report("hostile")
    cells = "() => [...document.querySelectorAll('td, th')].map((cell) => cell.textContent.trim())"
    there = evaluate_list(page, cells)
    assert [word[:40] for word in WORDS if not any(word[:40] in cell for cell in there)] == []


SMOKE = [
    pytest.param(name, marks=[pytest.mark.smoke] if name == "collocations" else [])
    for name in REPORTS
]
smoke_report = pytest.mark.parametrize("name", SMOKE)
every_width = pytest.mark.parametrize("width", WIDTHS_PAGES)


@every_width
@smoke_report
def test_a_page_opens_without_faults(read_report: Open, name: str, width: int) -> None:
    """The fixture watches for forbidden acts of the page."""
    page = read_report(name, width=width)
    assert page.title()
    figures = charts(page)
    assert bool(figures) == REPORTS[name].drawn
    expect_none([caption(each) for each in figures if not each.locator(".marks:visible").count()])


@every_width
@smoke_report
def test_a_page_does_not_scroll_sideways(read_report: Open, name: str, width: int) -> None:
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
    expect_none(evaluate_list(page, wide))


@smoke_report
def test_headings_are_in_order(read_report: Open, name: str) -> None:
    page = read_report(name)
    headings = "() => [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map((h) => +h.tagName[1])"
    levels = evaluate_list(page, headings)
    assert levels[:1] == [1]
    assert levels.count(1) == 1
    expect_none([pair for pair in pairwise(levels) if pair[1] > pair[0] + 1])


@smoke_report
def test_every_figure_has_a_description(read_report: Open, name: str) -> None:
    page = read_report(name)
    silent = """(figure) => {
      const said = (each) => each.getAttribute("alt") || each.getAttribute("aria-label")
        || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent || "";
      const pictures = "img, [role=img], [role^=graphics], [role=figure], canvas";
      return [...figure.querySelectorAll(pictures)]
        .filter((each) => each.checkVisibility() && said(each).trim()).length === 0;
    }"""
    expect_none([caption(figure) for figure in charts(page) if figure.evaluate(silent)])


@smoke_report
def test_every_table_has_headings(read_report: Open, name: str) -> None:
    page = read_report(name)
    bare = """() => [...document.querySelectorAll("table")].filter((table) => {
      const heads = [...table.querySelectorAll("th")];
      const rows = (each) => ["col", "row", "colgroup", "rowgroup"].includes(each.scope);
      return heads.length === 0 || !heads.every(rows);
    }).map((table) => table.innerText.slice(0, 60))"""
    assert page.locator("table").count() > 0
    expect_none(evaluate_list(page, bare))


@smoke_report
def test_links_lead_somewhere(read_report: Open, name: str) -> None:
    page = read_report(name)
    anchors = """() => [...document.querySelectorAll('a[href^="#"]')]
      .map((link) => link.getAttribute("href").slice(1))
      .filter((name) => name && !document.getElementById(decodeURIComponent(name)))"""
    files = """() => [...document.querySelectorAll('a[href]:not([href^="#"])')]
      .map((link) => link.getAttribute("href"))
      .filter((address) => !/^(https?|mailto|blob|data):/.test(address))"""
    folder = Path(unquote(urlsplit(page.url).path)).parent
    expect_none(evaluate_list(page, anchors))
    expect_none(
        [each for each in evaluate_list(page, files) if not (folder / unquote(each)).is_file()]
    )


PICTURES = """(figure) => [...figure.querySelectorAll(".chart img, .chart svg.marks, .chart canvas")]
  .filter((each) => each.checkVisibility() && each.naturalWidth !== 0)
  .map((each) => [each.getBoundingClientRect().width, each.getBoundingClientRect().height])"""
"""Width and height of the visible pictures of a figure."""


@every_report
def test_a_report_prints_on_few_pages(open_report: Open, name: str) -> None:
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
def test_figures_are_static_without_scripts(open_report: Open, name: str) -> None:
    page = open_report(name, scripts=False)
    figures = charts(page)
    assert figures
    counts = {caption(figure): len(figure.evaluate(PICTURES)) for figure in figures}
    assert {name: count for name, count in counts.items() if count != 1} == {}


FAINT = """() => {
  const canvas = document.createElement("canvas");
  const brush = canvas.getContext("2d", {willReadFrequently: true});
  const known = new Map();
  const parts = (colour) => {
    if (!known.has(colour)) {
      brush.clearRect(0, 0, 1, 1);
      brush.fillStyle = colour;
      brush.fillRect(0, 0, 1, 1);
      known.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const light = (colour) => {
    const linear = (part) => (part /= 255) <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
    const [red, green, blue] = parts(colour).map(linear);
    return .2126 * red + .7152 * green + .0722 * blue;
  };
  const filled = new Map();
  const shapes = (frame) => {
    if (!filled.has(frame)) {
      const all = [...frame.querySelectorAll(":scope > rect, .background, .mark-rect path")];
      filled.set(frame, all.map((each) => [getComputedStyle(each), each.getBoundingClientRect()])
        .filter(([style]) => style.fill !== "none" && parts(style.fill)[3] * style.fillOpacity > 127)
        .map(([style, box]) => [style.fill, box]).reverse());
    }
    return filled.get(frame);
  };
  const ground = (each) => {
    const frame = each.closest("svg");
    const box = each.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const holds = ([, b]) => b.left <= x && x <= b.right && b.top <= y && y <= b.bottom;
    const behind = frame ? shapes(frame).find(holds) : undefined;
    if (behind) return behind[0];
    for (let up = frame ?? each; up; up = up.parentElement) {
      const colour = getComputedStyle(up).backgroundColor;
      if (parts(colour)[3] > 127) return colour;
    }
    return "white";
  };
  const faint = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const each = walk.currentNode.parentElement;
    const seen = {visibilityProperty: true, opacityProperty: true};
    if (!walk.currentNode.data.trim() || !each.checkVisibility(seen)) continue;
    const style = getComputedStyle(each);
    const ink = each.closest("svg") ? style.fill : style.color;
    const [low, high] = [light(ink), light(ground(each))].sort((a, b) => a - b);
    const large = parseFloat(style.fontSize) >= (style.fontWeight >= 700 ? 18.66 : 24);
    const contrast = (high + .05) / (low + .05);
    if (contrast < (large ? 3 : 4.5))
      faint.set(`${ink} on ${ground(each)}: ${contrast.toFixed(2)}`, walk.currentNode.data.slice(0, 40));
  }
  return [...faint];
}"""
"""Texts with too little contrast to their background: WCAG 2, level AA."""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@every_report
def test_texts_have_enough_contrast(read_report: Open, name: str, dark: bool) -> None:
    page = read_report(name, dark=dark)
    expect_none(evaluate_list(page, FAINT))


@every_report
def test_the_page_follows_a_preference_for_dark(read_report: Open, name: str) -> None:
    page = read_report(name, dark=True)
    ground = "() => getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)"
    assert max(evaluate_list(page, ground)[:3]) < 80


SMALLEST = 9
"""Smallest allowed text of a figure, in pixels."""


@every_drawn
def test_texts_of_figures_are_legible_on_a_phone(read_report: Open, name: str) -> None:
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
    texts = evaluate_list(page, sizes)
    assert texts
    examples = {size: text for size, text in reversed(texts) if size < SMALLEST}
    expect_none([f"{size} px, as {text!r}" for size, text in sorted(examples.items())])


@pytest.mark.parametrize("finger", [False, True], ids=["mouse", "finger"])
@every_drawn
def test_every_figure_shows_a_tooltip(open_report: Open, name: str, finger: bool) -> None:
    page = open_report(name, width=375 if finger else 1400, finger=finger)
    figures = charts(page)
    assert figures
    silent = [caption(each) for each in figures if not answer(page, each, finger=finger)]
    expect_none(silent)


# The first screen, and the collapsed sections below it

MEASURED = ("collocations", "annotated", "designed", "clustering", "lexicon")


@pytest.mark.parametrize("name", MEASURED)
def test_the_first_screen_shows_the_main_results(open_report: Open, name: str) -> None:
    """A table, a figure and at most five sentences fit in 1400 x 900 pixels."""
    page = open_report(name, unfold=False)
    bottoms = evaluate_list(page, """() => [...document.querySelectorAll(
      ".overview table, .overview .chart, .overview .finding")]
      .map((each) => Math.round(each.getBoundingClientRect().bottom))""")  # fmt: skip
    assert len(bottoms) >= 3
    expect_none([bottom for bottom in bottoms if bottom > 900])
    assert page.locator(".overview .finding").count() <= 5
    sections = page.locator("details.stage")
    assert sections.count() > 0
    assert page.locator("details.stage[open]").count() == 0


def test_a_link_opens_its_target_section(open_report: Open) -> None:
    page = open_report("collocations", unfold=False)
    link = page.get_by_role("navigation").get_by_role("link").nth(2)
    place = page.locator(str(link.get_attribute("href")))
    assert place.locator("details.stage[open]").count() == 0
    link.click()
    place.locator("details.stage[open]").wait_for()
    page.wait_for_function(
        """() => {
      const here = document.querySelector("nav [aria-current]");
      return here && here.hash === location.hash;
    }""",
        polling=50,
    )


AXIS_LABELS = """() => [...document.querySelectorAll("[data-figure]")].map((each) =>
  [...each.querySelectorAll(".role-axis-label text")].map((text) => text.textContent).sort().join(" "))"""
"""The labels of the axes of each figure."""


def test_one_toolbar_controls_all_figures(open_report: Open) -> None:
    page = open_report("annotated")
    bar = page.get_by_role("region", name="All figures")
    assert bar.count() == 1
    assert page.locator(".tools select").count() == 1
    before = evaluate_list(page, AXIS_LABELS)
    bar.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(400)
    zoomed = evaluate_list(page, AXIS_LABELS)
    assert len(zoomed) == len(before)
    assert sum(one != other for one, other in zip(before, zoomed, strict=True)) >= 2
    bar.get_by_role("button", name="Reset").click()
    page.wait_for_timeout(400)
    assert evaluate_list(page, AXIS_LABELS) == before
