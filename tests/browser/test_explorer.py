"""The table of all rows: search, sort, filter and open rows by mouse, keyboard and touch."""

from __future__ import annotations

import base64
import csv
import gzip
import io
import math
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from pipeline.formats.tables import to_csv
from pipeline.report.explorer import Kind, encode
from pipeline.report.view import format_cell, format_percent
from tests.browser.pages import PATIENCE_PAGES, WIDTHS_PAGES, Open, expect_none
from tests.browser.reports import REPORTS, TEXTS
from tests.report.report_frames import Reader

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


HAVE = [
    name for name in ("annotated", "clustering", "lexicon", "hostile", "krenn") if name in REPORTS
]


def explorer(page: Page, number: int = 0) -> Locator:
    """Return a table of all rows once it is ready."""
    figure = page.locator("[data-explorer]").nth(number)
    figure.scroll_into_view_if_needed()
    page.locator("[data-explorer][data-ready]").nth(number).wait_for(timeout=PATIENCE_PAGES)
    return figure


def count(figure: Locator) -> int:
    """Return the number of rows that the table shows."""
    text = figure.get_by_role("status").inner_text()
    return int(text.split()[0].replace(",", ""))


def left_edge(mark: Locator) -> int:
    """Return the left edge of an element in whole pixels."""
    box = mark.bounding_box()
    assert box
    return round(box["x"])


def column(figure: Locator, name: str) -> list[str]:
    """Return the texts of a column in the drawn rows, from the top."""
    question = """(figure, name) => {
      const heads = [...figure.querySelectorAll(".slick-header-column")].filter((h) => h.dataset.id);
      const place = heads.findIndex((head) => head.textContent.trim() === name);
      const rows = [...figure.querySelectorAll(".slick-row")].sort((a, b) => a.dataset.row - b.dataset.row);
      return rows.map((row) => row.querySelector(`.l${place}`)?.textContent ?? "");
    }"""
    texts: list[str] = figure.evaluate(question, name)
    return texts


def numbers(texts: list[str]) -> list[float]:
    return [
        float(text.replace(",", "").replace("−", "-")) for text in texts if text not in {"", "–"}
    ]


def head(figure: Locator, name: str) -> Locator:
    return figure.locator(".slick-header-column", has_text=name).first


def pick(figure: Locator, name: str, value: str) -> None:
    """Filter the rows by this value of a column."""
    select = figure.locator(".explorer-filters label", has_text=name).last.locator("select")
    select.select_option(label=value)


def settle(page: Page) -> None:
    """Wait until the table has reacted to the input."""
    page.wait_for_timeout(400)


@pytest.mark.parametrize("width", WIDTHS_PAGES)
@pytest.mark.parametrize("name", HAVE)
def test_every_table_is_drawn(read_report: Open, name: str, width: int) -> None:
    page = read_report(name, width=width)
    tables = page.locator("[data-explorer]").count()
    assert tables
    for number in range(tables):
        figure = explorer(page, number)
        rows = count(figure)
        assert rows
        assert 0 < figure.locator(".slick-row").count() <= 60
        assert figure.get_by_role("grid").get_attribute("aria-rowcount") == str(rows + 1)
        assert not figure.locator(".explorer-plain").is_visible()
        assert figure.evaluate("(figure) => figure.getBoundingClientRect().right") <= width
        assert figure.evaluate("(figure) => figure.scrollWidth <= figure.clientWidth + 1")


def test_a_search_reduces_the_rows(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    every, word = count(figure), column(figure, "l2")[0]
    figure.get_by_role("searchbox").fill(word.upper()[:4])
    settle(page)
    assert 0 < count(figure) < every
    assert all(word[:4] in f"{l1} {l2}" for l1, l2 in
               zip(column(figure, "l1"), column(figure, "l2"), strict=True))  # fmt: skip
    figure.get_by_role("searchbox").fill("no such word")
    settle(page)
    assert count(figure) == 0
    figure.get_by_role("searchbox").fill("")
    settle(page)
    assert count(figure) == every


def test_a_click_on_a_heading_sorts_and_a_second_reverses(open_report: Open) -> None:
    figure = explorer(open_report("annotated"))
    head(figure, "l2").click()
    rising = column(figure, "l2")
    assert rising == sorted(rising)
    assert head(figure, "l2").get_attribute("aria-sort") == "ascending"
    head(figure, "l2").click()
    falling = column(figure, "l2")
    assert falling == sorted(falling, reverse=True)
    assert falling[0] != rising[0]
    head(figure, "t-score").click()
    scores = numbers(column(figure, "t-score"))
    assert scores == sorted(scores)


def test_rows_are_filtered_by_rank_and_by_label(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    every = count(figure)
    figure.get_by_text("Filter", exact=True).click()
    figure.get_by_label("Value").fill("25")
    settle(page)
    assert count(figure) == 25
    figure.get_by_label("Value").fill("")
    for _ in range(10):  # a slow machine answers later
        settle(page)
        if count(figure) == every:
            break
    assert count(figure) == every
    pick(figure, "judged", "yes")
    judged = count(figure)
    assert 0 < judged <= every
    pick(figure, "annotators differ", "no")
    assert 0 < count(figure) < judged


def test_a_row_opens_to_show_all_its_data(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    figure.get_by_text("Filter", exact=True).click()
    pick(figure, "annotators differ", "no")
    figure.locator(".slick-cell").first.click()
    opened = figure.get_by_role("dialog")
    opened.get_by_role("heading", level=3).wait_for(timeout=PATIENCE_PAGES)
    headings = opened.get_by_role("heading", level=4).all_inner_texts()
    assert headings == [
        "Examples", "Contingency table, observed (expected)", "Score and rank", "Judgements",
        "All values",
    ]  # fmt: skip
    assert opened.locator(".explorer-line mark").count() >= 2
    judgements = opened.locator("section:has(h4:text-is('Judgements'))")
    assert judgements.locator("tbody tr").count() == 2
    page.keyboard.press("Escape")
    assert not opened.is_visible()


def test_marked_words_are_aligned(open_report: Open) -> None:
    figure = explorer(open_report("annotated"))
    figure.locator(".slick-cell").first.click()
    lines = figure.locator(".explorer-line")
    lines.first.wait_for(timeout=PATIENCE_PAGES)
    edges = [[left_edge(mark) for mark in line.locator("mark").all()] for line in lines.all()]
    assert len(edges) > 1
    assert {tuple(line) for line in edges} == {tuple(edges[0])}


def test_the_contingency_table_adds_up(open_report: Open) -> None:
    figure = explorer(open_report("annotated"))
    figure.locator(".slick-cell").first.click()
    table = figure.get_by_role("table", name="Contingency table")
    table.wait_for(timeout=PATIENCE_PAGES)
    rows = [[cell.split("(")[0] for cell in row.locator("td").all_inner_texts()[1:]]
            for row in table.locator("tbody tr").all()]  # fmt: skip
    (o11, o12, r1), (o21, o22, r2), (c1, c2, n) = (numbers(row) for row in rows)
    assert (o11 + o12, o21 + o22, o11 + o21, o12 + o22) == (r1, r2, c1, c2)
    assert r1 + r2 == c1 + c2 == n


def test_rows_are_reached_and_opened_by_keyboard(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    figure.get_by_role("button", name="Save as CSV").focus()
    heads = figure.get_by_role("columnheader").count()
    page.keyboard.press("Tab")
    place = """() => [...document.activeElement.parentElement.querySelectorAll("[role=columnheader]")]
      .indexOf(document.activeElement)"""
    for key, at in (("ArrowRight", 1), ("End", heads - 1), ("ArrowRight", heads - 1),
                    ("ArrowLeft", heads - 2), ("Home", 0), ("ArrowRight", 1)):  # fmt: skip
        page.keyboard.press(key)
        assert page.evaluate(place) == at
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className").startswith("slick-cell")
    page.keyboard.press("Enter")
    opened = figure.get_by_role("dialog")
    opened.wait_for(timeout=PATIENCE_PAGES)
    page.keyboard.press("Escape")
    assert not opened.is_visible()
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    row = "document.activeElement.closest('.slick-row').dataset.row"
    assert page.evaluate(row) == "3"
    page.keyboard.press("PageDown")
    assert int(page.evaluate(row)) > 10
    page.keyboard.press("Enter")
    opened.wait_for(timeout=PATIENCE_PAGES)
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.closest('.explorer-grid') !== null")


def test_rows_are_sorted_by_keyboard(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    head(figure, "l1").focus()
    page.keyboard.press("Enter")
    words = column(figure, "l1")
    assert words in (sorted(words), sorted(words, reverse=True))
    assert page.evaluate("document.activeElement.textContent").startswith("l1")


def test_a_phone_shows_few_columns_and_rows_as_a_sheet(open_report: Open) -> None:
    page = open_report("annotated", width=375, finger=True)
    figure = explorer(page)
    heads = [text for text in figure.get_by_role("columnheader").all_inner_texts() if text]
    assert heads[:2] == ["l1", "l2"]
    assert len(heads) <= 4
    figure.locator(".slick-cell").first.tap()
    opened = figure.get_by_role("dialog")
    opened.get_by_role("heading", level=3).wait_for(timeout=PATIENCE_PAGES)
    box = opened.bounding_box()
    assert box is not None
    assert box["width"] <= 375
    assert box["y"] + box["height"] <= 901
    opened.get_by_role("button", name="Close").tap()
    assert not opened.is_visible()


def test_columns_can_be_chosen(open_report: Open) -> None:
    figure = explorer(open_report("annotated"))
    figure.get_by_text("Columns", exact=True).click()
    figure.get_by_label("f2", exact=True).check()
    assert "f2" in figure.get_by_role("columnheader").all_inner_texts()
    assert all(numbers(column(figure, "f2")))
    figure.get_by_label("l1", exact=True).uncheck()
    assert "l1" not in figure.get_by_role("columnheader").all_inner_texts()


def saved_rows(page: Page, figure: Locator) -> list[list[str]]:
    with page.expect_download() as waiting:
        figure.get_by_role("button", name="Save as CSV").click()
    text = Path(waiting.value.path()).read_text(encoding="utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def test_saved_files_have_the_filtered_rows(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    figure.get_by_text("Filter", exact=True).click()
    figure.get_by_label("Value").fill("10")
    settle(page)
    heads, *rows = saved_rows(page, figure)
    assert len(rows) == 10
    assert heads[:3] == ["l1", "l2", "f"]
    assert [row[0] for row in rows] == column(figure, "l1")[:10]


@pytest.mark.parametrize("width", [375, 1400])
def test_hostile_texts_are_shown_as_text(open_report: Open, width: int) -> None:
    page = open_report("hostile", width=width)
    for number in range(page.locator("[data-explorer]").count()):
        figure = explorer(page, number)
        figure.locator(".slick-cell").first.click()
        opened = figure.get_by_role("dialog")
        opened.get_by_role("heading", level=3).wait_for(timeout=PATIENCE_PAGES)
        assert opened.locator("img, script").count() == 0
        assert figure.locator(".slick-row img").count() == 0
        opened.get_by_role("button", name="Close").click()
        assert figure.evaluate("(figure) => figure.scrollWidth <= figure.clientWidth + 1")


def test_hostile_words_are_found_by_a_search(open_report: Open) -> None:
    page = open_report("hostile")
    figure = explorer(page)
    figure.get_by_role("searchbox").fill(TEXTS["markup"])
    settle(page)
    assert count(figure) > 0
    figure.get_by_role("searchbox").fill("עברית")
    settle(page)
    assert count(figure) > 0


def test_without_scripts_the_first_rows_are_a_table(open_report: Open) -> None:
    page = open_report("annotated", scripts=False)
    figure = page.locator("[data-explorer]").first
    assert 20 < figure.locator("tbody tr").count() <= 50
    assert figure.locator("tbody tr").first.is_visible()
    assert figure.locator("a[href$='.csv']").count() == 1


def test_the_first_rows_are_printed_in_the_chosen_order(open_report: Open) -> None:
    page = open_report("annotated")
    figure = explorer(page)
    head(figure, "l2").click()
    page.emulate_media(media="print")
    rows = figure.locator(".explorer-plain tbody tr")
    assert rows.count() == 20
    assert rows.first.is_visible()
    assert not figure.locator(".slick-row").first.is_visible()
    place = figure.locator(".explorer-plain th").all_inner_texts().index("l2")
    words = [row.locator("td").nth(place).inner_text() for row in rows.all()]
    assert words == sorted(words)


def test_the_page_shows_the_packed_rows(open_report: Open) -> None:
    """The saved rows are complete: all ranks once, and no pair is more frequent than its word."""
    page = open_report("annotated")
    figure = explorer(page)
    heads, *rows = saved_rows(page, figure)
    packed = page.locator("script[id$='-rows']").first.text_content() or ""
    assert len(gzip.decompress(b64decode(packed))) > 1000
    f, f1 = heads.index("f"), heads.index("f1")
    expect_none([row for row in rows if not int(row[f]) <= int(row[f1])])
    ranks = [int(row[heads.index("t-score rank")]) for row in rows]
    assert sorted(ranks) == list(range(1, len(rows) + 1))


# The scripts of the table of all rows agree with their counterparts in Python.

TEXTS_EXPLORER_SCRIPTS = [
    "=1+1", "'=1", "'tis", "-5", "-5 kg", "+", "@x", "＝x", " =x", "\t", "a,b", 'say "x"', "a\nb", "",
    "</script>", "\u200b=x", "1e5", "−", "− x", "\ufeff=x", "כתב", "a\rb",
]  # fmt: skip
COLUMNS: dict[str, tuple[Kind, pl.Series]] = {
    "texts": ("text", pl.Series([*TEXTS_EXPLORER_SCRIPTS, None])),
    "many texts": ("text", pl.Series([*(f"w{i} ß" for i in range(300)), None])),
    "counts": ("count", pl.Series([0, 1, None, 255, 256, 70_000, 2**32, 2**48 - 2])),
    "numbers": (
        "number",
        pl.Series([0.5, -1234.567, None, math.inf, -math.inf, 1e-250, 3e250, 9999.6, -0.0001]),
    ),
    "shares": ("share", pl.Series([0.0, 1.0, None, 0.12345, 0.5])),
    "flags": ("flag", pl.Series([True, None, False])),
}
READ = """([head, packed, rows]) => {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const column = new Unpack.Reader(bytes).column(head, rows);
  return Array.from({length: rows}, (_, row) => [Values.missing(column, row),
    column.listed ? column.listed[row] : column.texts ? column.texts[column.keys[row] - 1] ?? null
      : Number.isNaN(column.keys[row]) ? null : column.keys[row], Values.text(column, row)]);
}"""


@pytest.mark.parametrize("name", COLUMNS)
def test_columns_are_unpacked_as_they_were_packed(open_report: Open, name: str) -> None:
    kind, values = COLUMNS[name]
    how, content = encode(values, kind)
    page = open_report("annotated")
    head = {"kind": kind, "code": how}
    cells = page.evaluate(READ, [head, base64.b64encode(content).decode(), len(values)])
    assert [value for _, value, _ in cells] == Reader(content).column(how, len(values))
    assert [missing for missing, _, _ in cells] == values.is_null().to_list()


def test_values_have_the_format_of_the_page(open_report: Open) -> None:
    page = open_report("annotated")
    numbers = [0.5, -1234.0, 0.0000321, 1520.44, 12.345, 3.0, -0.25, 1e-5, 999.96]
    texts = page.evaluate("(numbers) => numbers.map(Values.number)", numbers)
    assert texts == [format_cell(number) for number in numbers]
    shares = "(v) => v.map((n) => Values.text({kind: 'share', keys: [n]}, 0))"
    assert page.evaluate(shares, [0.25, 1.0]) == [format_percent(0.25), format_percent(1.0)]


def test_formulas_are_guarded_as_in_the_files(open_report: Open) -> None:
    page = open_report("annotated")
    script = """(texts) => Saving.csv([{heading: "a", kind: "text", listed: texts}],
      texts.map((_, row) => row))"""
    for text in TEXTS_EXPLORER_SCRIPTS:
        output = page.evaluate(script, [text]).encode()
        expected = to_csv(pl.DataFrame({"a": [text]}))
        assert output.replace(b'"', b"") == expected.replace(b'"', b""), repr(text)
