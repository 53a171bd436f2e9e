"""The page of a sweep: its controls, the state in the address, and saved files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from tests.browser.pages import AXE, expect_none
from tests.browser.reports import TEXTS
from tests.browser.test_page import FAINT, LOOK
from tests.browser.watch import Watch
from tests.report.test_sweep_explorer import grid, table
from tests.report.test_sweep_explorer import page as sweep_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

MEASURES = tuple(f"m{number:02}" for number in range(12))
POINTS = grid(rate=[0.1, 0.2, 0.5], span=[1, 2, 3, 4], corpus=["EWT", "Brown"])
SECONDS = 60_000
"""Milliseconds that any step may take."""
Show = Callable[..., "Page"]


def estimates() -> str:
    """Return a page with estimates that grow with each setting and with the measure."""
    p = pl.col("precision") / 2
    tables = [
        table(
            0.1 + 0.01 * place, (100, 500), MEASURES[:4] if place == 5 else MEASURES
        ).with_columns(p, lower=p / 3, upper=(2 + p) / 3)
        for place in range(len(POINTS))
    ]
    return sweep_html(POINTS, tables)


@pytest.fixture
def show(chromium: Browser, tmp_path: Path) -> Iterator[Show]:
    """Return a function that opens a page in a new window; no page may have a fault."""
    watches: list[Watch] = []

    def open_one(html: str, *, state: str = "", width: int = 1400, dark: bool = False) -> Page:
        file = tmp_path / "index.html"
        file.write_text(html, encoding="utf-8")
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(SECONDS)
        watches.append(Watch(context, file.as_uri()))
        page = context.new_page()
        page.goto(file.as_uri() + state)
        page.locator("#sweep[data-ready]").wait_for(state="attached")
        return page

    yield open_one
    for watch in watches:
        watch.context.close()
    assert [fault for watch in watches for fault in watch.faults] == []


def control(page: Page, name: str) -> Locator:
    """Return the control of a setting."""
    return page.get_by_role("region", name="Estimates by setting").get_by_label(name, exact=True)


def texts(page: Page) -> list[str]:
    """Return the texts of the graph."""
    return page.locator(".sweep-graph svg text").all_text_contents()


def caption(page: Page) -> str:
    return page.locator("#sweep-caption").inner_text()


def rows(page: Page, name: str) -> list[list[str]]:
    """Return the cells of a table, headings first."""
    lines = page.get_by_role("region", name=name, exact=True).locator("tr").all()
    return [each.locator("th, td").all_inner_texts() for each in lines]


@pytest.mark.smoke
def test_graph_and_tables_follow_the_controls(show: Show) -> None:
    page = show(estimates())
    assert control(page, "span").input_value() == "x"
    assert control(page, "measure").input_value() == "line"
    assert "rate = 0.5" in texts(page)
    assert "Of 12 values of measure, the 8 with the highest means are drawn." in caption(page)
    control(page, "corpus").select_option("row")
    assert "corpus = Brown, rate = 0.5" in texts(page)
    control(page, "rate").select_option(label="0.2")
    assert "corpus = Brown" in texts(page)
    assert "rate = 0.2" in caption(page)
    control(page, "n").select_option(label="100")
    heads, *cells = rows(page, "Estimates")
    assert heads[:2] == ["corpus", "span"]
    assert [row[:2] for row in cells] == [[c, s] for c in ("EWT", "Brown") for s in "1234"]
    # Rate 0.2, span 2, Brown is point 11; the last measure is m11: (.1 + .11 + 1.1 + .1) / 2.
    assert cells[5][heads.index("m11")] == "70.5 [23.5, 90.2]"
    control(page, "Show").select_option("heat")
    assert {"m00", "m11"} <= set(texts(page))
    control(page, "rate").select_option("all")
    assert "Each value is a mean over rate, of at most 3 estimates" in caption(page)


def test_a_setting_replaces_another_on_an_axis(show: Show) -> None:
    page = show(estimates())
    control(page, "rate").select_option("x")
    assert control(page, "span").input_value() == "col"
    control(page, "corpus").select_option("col")
    assert control(page, "span").input_value() == "=0"
    control(page, "measure").select_option("x")
    assert control(page, "rate").input_value() == "line"


def test_the_address_holds_the_state(show: Show) -> None:
    page = show(estimates())
    control(page, "rate").select_option("row")
    control(page, "corpus").select_option(label="Brown")
    page.locator(".sweep-values summary", has_text="measure").click()
    page.get_by_role("checkbox", name="m11").uncheck()
    page.get_by_role("checkbox", name="confidence limits").uncheck()
    before = (texts(page), caption(page), rows(page, "The best"))
    assert "m11" not in before[0]
    again = show(estimates(), state=page.evaluate("location.hash"))
    assert (texts(again), caption(again), rows(again, "The best")) == before
    assert not again.get_by_role("checkbox", name="confidence limits").is_checked()


@pytest.mark.parametrize(
    "state", ["#sweep?", "#sweep?show=x&column:n==9&setting:rate=x&setting:span=x", "#sweep?%zz=%"]
)
def test_an_invalid_address_is_ignored(show: Show, state: str) -> None:
    page = show(estimates(), state=state)
    assert page.locator(".sweep-graph svg").count() == 1


def test_controls_work_by_keyboard(show: Show) -> None:
    page = show(estimates())
    control(page, "Show").focus()
    page.keyboard.press("ArrowDown")
    assert control(page, "Show").input_value() == "heat"
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.value") == "=2"
    assert "rate = 0.5" in caption(page)


def saved_text(page: Page, name: str) -> str:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=name).click()
    return Path(waiting.value.path()).read_text(encoding="utf-8-sig")


def test_saved_files_have_the_drawn_estimates(show: Show) -> None:
    page = show(estimates())
    heads, *lines = csv.reader(io.StringIO(saved_text(page, "Save as CSV")))
    columns = ["rate", "span", "measure", "corpus", "n", "estimate", "value", "lower", "upper"]
    assert heads == [*columns, "averaged"]
    assert len(lines) == 3 * 4 * 8
    picture = saved_text(page, "Save as SVG")
    assert picture.startswith("<svg")
    assert 'xmlns="http://www.w3.org/2000/svg"' in picture
    assert "var(" not in picture
    assert not re.search(r'(fill|stroke)="(undefined|null)"', picture)


# The selection and the tests, computed again in Python

BEST = """([quantity, value, lower, upper, lowest]) => {
  const found = SweepCube.best(quantity, {value, lower, upper}, value.map((_, at) => at), lowest);
  return [found.top, found.among, found.by];
}"""


def best(
    value: list[float], lower: list[float], upper: list[float], *, lowest: bool
) -> tuple[int, list[int]]:
    """Return the best and those that are not significantly worse, on the logit scale."""
    sign = -1 if lowest else 1
    top = max(range(len(value)), key=lambda at: sign * value[at])
    others = [at for at in range(len(value)) if at != top]

    def logit(p: float) -> float:
        return float(np.log(p / (1 - p)))

    def error(at: int, side: list[float]) -> float:
        return (logit(value[at]) - logit(side[at])) / NormalDist().inv_cdf(0.975)

    among = []
    for at in others:
        facing = (lower, upper) if not lowest else (upper, lower)
        spread = np.hypot(error(top, facing[0]), error(at, facing[1]))
        z = sign * (logit(value[top]) - logit(value[at])) / spread
        if z <= 0 or (1 - NormalDist().cdf(z)) * len(others) > 0.05:
            among.append(at)
    return top, among


def test_the_best_agree_with_tests_in_python(show: Show) -> None:
    page = show(estimates())
    random = np.random.default_rng(5)
    quantity = {"share": True, "step": 1e-5, "z": NormalDist().inv_cdf(0.975)}
    sizes = set()
    for number in range(20):
        value = random.uniform(0.2, 0.6, 2 + 2 * number)
        width = random.uniform(0.02, 0.1, len(value))
        sets = [each.tolist() for each in (value, value - width, value + 1.5 * width)]
        lowest = bool(number % 2)
        top, among, by = page.evaluate(BEST, [quantity, *sets, lowest])
        assert (top, among, by) == (*best(*sets, lowest=lowest), "logit")
        sizes.add(len(among))
    assert len(sizes) > 3


def test_the_tail_agrees_with_the_normal_distribution(show: Show) -> None:
    page = show(estimates())
    zs = [-3.0, -1.0, 0.0, 0.5, 1.96, 3.0, 5.0, 8.0]
    tails = page.evaluate("(zs) => zs.map(SweepCube.tail)", zs)
    assert tails == pytest.approx([NormalDist().cdf(-z) for z in zs], rel=1e-6)


def test_estimates_without_limits_are_near_within_a_point(show: Show) -> None:
    page = show(estimates())
    none = [None] * 4
    quantity = {"share": True, "step": 1e-5, "z": 1.96}
    question = BEST.replace(
        "{value, lower, upper}", "{value, lower: value.map(() => NaN), upper: value.map(() => NaN)}"
    )
    selection = page.evaluate(question, [quantity, [0.5, 0.495, 0.49, 0.48], none, none, False])
    assert selection == [0, [1, 2], "near"]


SELECT = """([head, places, codes, roles, lists]) => {
  const quantity = {...head.quantities[0], own: head.quantities[0].axes,
    axes: [...head.settings, ...head.quantities[0].axes], inner: 6, value: codes};
  const found = SweepCube.select({head, places, quantities: [quantity]}, quantity, roles, lists);
  return [[...found.value].map((v) => Number.isNaN(v) ? null : v), [...found.count]];
}"""


def test_a_selection_agrees_with_a_loop(show: Show) -> None:
    page = show(estimates())
    axes = [("s0", 3), ("s1", 2), ("a", 2), ("b", 3)]
    points = [*product(range(3), range(2))][:-1]
    codes = np.random.default_rng(2).integers(0, 1000, (len(points), 2, 3))
    codes[1, 0, 2] = 65_535
    heads: list[dict[str, Any]] = [{"key": key, "texts": ["t"] * size} for key, size in axes]
    quantity = {"axes": heads[2:], "low": 5.0, "step": 2.0}
    head = {
        "points": len(points), "nothing": 65_535, "settings": heads[:2], "quantities": [quantity],
    }  # fmt: skip
    places = np.array(points).T.tolist()
    # s0 are rows 2 and 0; s1 is averaged over; a are lines; b is fixed at its last value.
    roles = {"s0": "row", "s1": "all", "a": "line", "b": 2}
    values = [head, places, codes.ravel().tolist(), roles, {"row": [2, 0], "line": [0, 1]}]
    value, count = page.evaluate(SELECT, values)
    for (row, s0), line in product(enumerate([2, 0]), range(2)):
        cells = [
            5.0 + 2.0 * int(codes[at, line, 2])
            for at, point in enumerate(points)
            if point[0] == s0 and codes[at, line, 2] != 65_535
        ]
        assert count[row * 2 + line] == len(cells)
        assert value[row * 2 + line] == pytest.approx(np.mean(cells))


# Appearance


@pytest.mark.parametrize("name", ["markup with blanks", "quotes", "right to left", "very long"])
def test_hostile_names_are_shown_as_text(show: Show, name: str) -> None:
    text = TEXTS[name].strip()
    points = grid(**{f"stages.{text}": [text, "b", "c"]})
    page = show(sweep_html(points, [table(0.1, measures=(text, "mi"))] * 3), width=375)
    assert page.locator("img[onerror], img[src='x']").count() == 0
    start = " ".join(text.split())[:20]
    assert any(start[:8] in each for each in texts(page))
    control(page, "measure").select_option("x")
    control(page, "Show").select_option("heat")
    saved_text(page, "Save as CSV")


@pytest.mark.parametrize("view", ["lines", "heat"])
@pytest.mark.parametrize(("width", "dark"), [(375, False), (1400, False), (1400, True)])
def test_estimates_are_legible_and_fit_the_window(
    show: Show, width: int, dark: bool, view: str
) -> None:
    page = show(estimates(), width=width, dark=dark, state=f"#sweep?as={view}")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    expect_none(page.evaluate(FAINT))
    size = "(svg) => svg.viewBox.baseVal.width / svg.getBoundingClientRect().width"
    assert page.locator(".sweep-graph svg").evaluate(size) == pytest.approx(1, abs=0.01)


@pytest.mark.axe
@pytest.mark.parametrize("view", ["lines", "heat"])
def test_graphs_have_no_serious_violation(show: Show, view: str) -> None:
    page = show(estimates(), state=f"#sweep?as={view}")
    page.locator(".sweep-values summary").first.click()
    page.evaluate(AXE.read_text(encoding="utf-8"))
    expect_none(page.evaluate(LOOK))


def test_printed_pages_have_the_graph_without_controls(show: Show) -> None:
    page = show(estimates(), width=680)
    page.emulate_media(media="print")
    assert not page.locator(".sweep-controls").is_visible()
    box = page.locator(".sweep-graph svg").bounding_box()
    assert box is not None
    assert box["width"] <= 680


def test_a_point_shows_a_tooltip(show: Show) -> None:
    page = show(estimates())
    graph = page.locator(".sweep-graph")
    point = """(graph) => {
      const box = graph.querySelector("svg").getBoundingClientRect();
      for (let x = 50; x < box.width; x += 6) for (let y = 20; y < box.height; y += 6) {
        const at = {clientX: box.left + x, clientY: box.top + y, bubbles: true};
        graph.dispatchEvent(new PointerEvent("pointermove", at));
        const tip = document.querySelector(".tip:not([hidden])");
        if (tip && tip.innerText.includes("precision")) return tip.innerText;
      }
      return "";
    }"""
    text = graph.evaluate(point)
    assert re.search(r"precision \(%\)\s+\d+\.\d \[", text)
    assert "measure" in text


# Degenerate sweeps


@pytest.mark.parametrize(
    ("points", "tables"),
    [
        pytest.param(grid(rate=[1]), [table(0.1)], id="one point"),
        pytest.param(grid(rate=[1, 2]), [table(0.1, (10,), ("mi",))] * 2, id="one measure"),
        pytest.param(grid(seed=list(range(60))), [table(0.1)] * 60, id="60 values"),
        pytest.param(grid(rate=[1, 2]), [table(0.1), table(0.1).clear()], id="one without rows"),
        pytest.param(
            [{"point": "EWT 1", "span": 1}, {"point": "EWT 5", "span": 5}], [table(0.1)] * 2,
            id="named points",
        ),
    ],
)  # fmt: skip
def test_degenerate_sweeps_are_drawn(show: Show, points: list[Any], tables: list[Any]) -> None:
    page = show(sweep_html(points, tables))
    for view in ("lines", "heat"):
        control(page, "Show").select_option(view)
        assert page.locator(".sweep-graph svg").count() == 1
        assert len(rows(page, "The best")) > 1
