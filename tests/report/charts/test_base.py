"""Every kind of chart: its tooltips, its parameters, and its still picture."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report import charts
from pipeline.report.charts import CHARTS, Extras, Grid, Look, Window
from pipeline.report.charts.matrices import Matrix
from pipeline.report.charts.panels import Axes, Panel
from pipeline.report.charts.points import planning_chart
from pipeline.report.charts.spec import (
    Plane,
    keep_apart,
    n_domain,
    round_domain,
    text_width,
    thin_values,
)
from pipeline.report.page.images import size, still, svg
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import hover, layers, layers_of, tooltip_layers

PHONE = 340
"""The width of a chart on a phone; pixels."""
NASTY = "</script><img onerror=x> \"quoted\" \\ 'שלום'"
"""Markup, quotes, a backslash, and letters from right to left."""
LONG = "a_very_long_name_of_a_measure_" * 3
NAMES = ("dice", NASTY, LONG)
CURVES = {name: [i % (k + 2) == 0 for i in range(300)] for k, name in enumerate(NAMES)}
PRECISION = frames.precision(CURVES)
GAPS = {n: (n % 7) / 10 - 0.3 for n in range(1, 301)}
COMPARISON = frames.comparison({("dice", NASTY): GAPS}, significant=range(200, 301))
EXTRAS = Extras(bands=("dice",), cuts=(100, 200), comparison=COMPARISON, marks=("dice", NASTY))
CELLS = pl.DataFrame(
    [(a, b, 0.1 * (i - j), 0.01, True)
     for i, a in enumerate(NAMES) for j, b in enumerate(NAMES) if a != b],
    schema=["row", "column", "difference", "p_adjusted", "significant"], orient="row",
)  # fmt: skip
GRID = Grid(rows=NAMES, columns=NAMES, row_title="class", column_title="cluster", legend="share")
SQUARES = CELLS.select("row", "column", value=pl.lit(0.5), marked="significant", text=pl.lit("x"))
POINTS = pl.DataFrame(
    {"name": NAMES, "x": [0.1, 0.2, 0.3], "y": [1.0, 2.0, 3.0], "x_sd": [0.01, None, 0.02],
     "y_sd": [0.1, None, 0.1], "value": [0.5, 0.6, 0.7], "lower": [0.4, None, 0.6],
     "upper": [0.6, None, 0.8], "p": [0.2, None, 0.4], "r": [0.1, 0.0, 1.0]}
)  # fmt: skip
GROWING = pl.DataFrame([(name, k, k / 20) for name in NAMES for k in range(1, 21)],
                       schema=["name", "k", "share"], orient="row")  # fmt: skip
RATES = pl.DataFrame([(name, r / 100, r / 9) for name in NAMES for r in range(1, 20)],
                     schema=["line", "rate", "y"], orient="row")  # fmt: skip
TRENDS = pl.DataFrame(
    {"n": [1, 2, 3], "lemma": list(NAMES), **{
        name: [0.5, 0.25, 1.0] for of in ("precision", "recall", "L") for name in (of, f"{of.lower()}_trend")
    }}
)  # fmt: skip
PLACES = pl.DataFrame({"precision": [0.5, 1.0], "recall": [0.2, 1.0], "lemmas": [3, 40]})
WHISKERS = pl.DataFrame(
    [("group", name, kind, 0.5, 0.4, 0.6) for name in NAMES for kind in ("a", "b")],
    schema=["group", "label", "kind", "estimate", "lower", "upper"], orient="row",
)  # fmt: skip
RELIABLE = pl.DataFrame(
    [(name, g, g / 2, g / 4, g, 30) for name in NAMES for g in (0.1, 0.5, 0.9)],
    schema=["judge", "mean_prediction", "share", "lower", "upper", "n_judged"], orient="row",
)  # fmt: skip
PANELS = [
    Panel(title, pl.DataFrame(
        [(name, n, 50.0 + n, 40.0, 90.0) for name in NAMES for n in (1, 2, 3)],
        schema=["line", "n", "y", "lower", "upper"], orient="row",
    )) for title in ("rate = 0.1", "rate = 0.2")
]  # fmt: skip

Draw = Callable[[Look], Any]
KINDS: dict[str, Draw] = {
    "precision_chart": lambda look: charts.precision_chart(
        PRECISION, frames.baseline(60, 300), extras=EXTRAS, look=look
    ),
    "recall_chart": lambda look: charts.recall_chart(
        frames.recall(CURVES), n_candidates=300, look=look
    ),
    "precision_recall_chart": lambda look: charts.precision_recall_chart(
        PRECISION, frames.baseline(60, 300), extras=Extras(cuts=(100,)), look=look
    ),
    "difference_chart": lambda look: charts.difference_chart(
        COMPARISON, [("dice", NASTY)], look=look
    ),
    "strip_chart": lambda look: charts.strip_chart(
        frames.best({100: ["dice", NASTY], 5000: [LONG]}), look=look
    ),
    "heat_map": lambda look: charts.heat_map([Matrix(100, NAMES, CELLS)] * 2, look=look),
    "grid_map": lambda look: charts.grid_map(SQUARES, GRID, look=look),
    "dot_plot": lambda look: charts.dot_plot(
        POINTS, NAMES, title="share", kinds=("p", "r"), look=look
    ),
    "scatter": lambda look: charts.scatter(POINTS, x_title="x", y_title="y", look=look),
    "growth": lambda look: charts.growth(GROWING, NAMES, x_title="k", y_title="share", look=look),
    "lexicon_chart": lambda look: charts.lexicon_chart(POINTS, title="L* (%)", look=look),
    "lemma_chart": lambda look: charts.lemma_chart(
        TRENDS, "L", mean=0.5, order="lemmas", look=look
    ),
    "trend_chart": lambda look: charts.trend_chart(
        TRENDS, ["precision", "recall"], order="lemmas", look=look
    ),
    "scatter_chart": lambda look: charts.scatter_chart(PLACES, look=look),
    "small_multiples": lambda look: charts.small_multiples(
        PANELS, Axes(x_title="n", y_title="precision (%)"), look=look
    ),
    "planning_chart": lambda look: planning_chart(
        RATES, y_title="width (percentage points)", goals=[1.0], look=look
    ),
    "reliability_chart": lambda look: charts.reliability_chart(RELIABLE, look=look),
    "whisker_chart": lambda look: charts.whisker_chart(WHISKERS, x_title="agreement", look=look),
}
SIDEWAYS = ("heat_map", "grid_map")
"""Charts that scroll horizontally in a frame on a phone."""


def test_every_chart_is_tested() -> None:
    own = {
        name for name, module in CHARTS.modules_by_name().items() if module.startswith("pipeline.")
    }
    assert own == set(KINDS)


@pytest.mark.parametrize("name", KINDS)
def test_tooltips_name_the_mark_and_its_numbers(name: str) -> None:
    chart = KINDS[name](Look())
    results = [layer for layer in tooltip_layers(chart) if layer.data.height]
    assert results
    for layer in results:
        kinds = [tip["type"] for tip in layer.encoding["tooltip"]]
        assert "quantitative" in kinds
        assert {tip["field"] for tip in layer.encoding["tooltip"]} <= set(layer.data.columns)


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_all_charts_have_the_same_parameters(name: str, narrow: bool) -> None:
    chart = KINDS[name](Look().on_phone if narrow else Look())
    values = {param["name"]: param.get("value") for param in chart["params"]}
    assert values | {"near": None} == {
        "highlight": "", "limits": "pointwise", "n_zoom": None, "near": None,
    }  # fmt: skip
    json.dumps(chart, allow_nan=False)
    assert set(chart["usermeta"]["lexassay"]) == {"names", "key", "more", "limits", "zoom"}


@pytest.mark.parametrize("name", [name for name in KINDS if name not in SIDEWAYS])
def test_the_narrow_drawing_fits_on_a_phone(name: str) -> None:
    width, _ = size(svg(KINDS[name](Look().on_phone)))
    assert 200 < width <= PHONE


@pytest.mark.parametrize("name", KINDS)
def test_the_still_picture_is_the_chart_without_interaction(name: str) -> None:
    chart = KINDS[name](Look())
    resting = still(chart)
    assert "tooltip" not in json.dumps(resting)
    assert not [layer for layer in layers(resting) if layer.name.startswith("live_")]
    names = [param["name"] for param in resting["params"]]
    assert names == ["highlight", "limits", "n_zoom"]
    picture = svg(chart)
    assert "<img" not in picture
    assert "</script" not in picture


@pytest.mark.parametrize("name", ["precision_chart", "heat_map", "lexicon_chart", "scatter"])
def test_marks_that_are_not_highlighted_are_faint(name: str) -> None:
    chart = KINDS[name](Look())
    names = chart["usermeta"]["lexassay"]["names"]
    assert names == sorted(NAMES, key=names.index)
    plain = svg(chart)
    for param in chart["params"]:
        if param["name"] == "highlight":
            param["value"] = NASTY
    bright = svg(chart)
    assert 'opacity="0.15"' not in plain
    assert bright.count('opacity="0.15"') >= 2


def test_intervals_can_be_hidden() -> None:
    chart = KINDS["precision_chart"](Look())
    assert chart["usermeta"]["lexassay"]["limits"] == ["none", "pointwise"]
    for param in chart["params"]:
        if param["name"] == "limits":
            param["value"] = "none"
    assert svg(chart).count('opacity="0"') > svg(KINDS["precision_chart"](Look())).count(
        'opacity="0"'
    )


def test_the_simultaneous_band_is_drawn_with_the_pointwise_one() -> None:
    wide = PRECISION.with_columns(
        lower_band=pl.col("lower") - 0.01, upper_band=pl.col("upper") + 0.01
    )
    chart = charts.precision_chart(wide, extras=Extras(bands=("dice",)), window=Window(first_n=1))
    assert chart["usermeta"]["lexassay"]["limits"] == ["none", "pointwise", "simultaneous"]
    areas = [layer for layer in layers(chart, live=True) if layer.mark["type"] == "area"]
    fields = [layer.encoding["y"]["field"] for layer in areas[:2]]
    assert fields == ["lower_band", "lower"]
    at_rest = layers_of(chart, "area")
    assert [layer.encoding["y"]["field"] for layer in at_rest] == ["lower_band", "lower"]
    (limits,) = (each["value"] for each in chart["params"] if each["name"] == "limits")
    assert limits == "simultaneous"


def test_a_live_chart_has_a_band_for_each_line() -> None:
    chart = KINDS["precision_chart"](Look())
    areas = [layer for layer in layers(chart, live=True) if layer.mark["type"] == "area"]
    assert len(areas) == len(NAMES)
    assert len(layers_of(chart, "area")) == 1


def test_the_range_of_n_can_be_restricted() -> None:
    chart = KINDS["precision_chart"](Look())
    assert chart["usermeta"]["lexassay"]["zoom"] == [100.0, 300.0]
    for param in chart["params"]:
        if param["name"] == "n_zoom":
            param["value"] = [105, 125]
    whole = svg(KINDS["precision_chart"](Look()))
    assert ">112</text>" in svg(chart)
    assert ">112</text>" not in whole
    # The cut at 200 and the lines to the labels are outside the range.
    assert svg(chart).count('opacity="0"') > whole.count('opacity="0"')


def test_tooltips_show_values_with_their_interval() -> None:
    tooltips = hover(KINDS["precision_chart"](Look())).data
    place = sorted(NAMES).index("dice")
    assert tooltips.filter(n=200)[f"m{place}"].item() == "50.00 [40.0, 60.0]"


def _texts(node: ElementTree.Element, x: float = 0.0) -> Iterator[tuple[str, str, float]]:
    """Yield each horizontal text of an SVG picture with its anchor and the x of the anchor."""
    moves = node.get("transform", "")
    if "rotate" in moves or node.get("opacity") == "0":
        return
    x += sum(float(each) for each in re.findall(r"translate\(([-\d.e]+)", moves))
    if node.tag.endswith("text") and node.text:
        yield node.text, node.get("text-anchor", "start"), x
    for child in node:
        yield from _texts(child, x)


@pytest.mark.parametrize("name", KINDS)
def test_no_label_is_cut_off_in_a_wider_font(name: str) -> None:
    picture = svg(KINDS[name](Look()))
    width, _ = size(picture)
    for text, anchor, x in _texts(ElementTree.fromstring(picture)):
        assert anchor != "end" or x >= text_width(text), text
        assert anchor != "start" or x + text_width(text) <= width, text


# Charts are looked up by name, and loaded when one is drawn.

VIEWS = """
import sys
from pipeline.registry import import_all
import_all("pipeline.report.views")
print("altair" in sys.modules)
"""


@pytest.mark.parametrize("name", CHARTS)
def test_a_registered_chart_is_found(name: str) -> None:
    assert getattr(charts, name) is CHARTS.get(name)


def test_an_unknown_chart_is_refused_with_a_suggestion() -> None:
    message = r"unknown chart 'heat_map2'; did you mean heat_map\?; a chart is a function decorated with @chart"
    with pytest.raises(AttributeError, match=message):
        _ = charts.heat_map2
    assert not hasattr(charts, "__wrapped__")


@pytest.mark.long
def test_views_are_imported_without_the_charting_library() -> None:
    """A view imports `charts`, and uses `charts.heat_map` only inside the function that draws."""
    command = [sys.executable, "-c", VIEWS]
    process = subprocess.run(command, capture_output=True, text=True, check=True)
    assert process.stdout == "False\n", (
        "a view imports a chart: import `charts`, call it when drawing"
    )


@given(st.lists(st.floats(-100, 100) | st.none(), min_size=1))
def test_the_domain_holds_all_values(values: list[float | None]) -> None:
    low, high = round_domain(values)
    assert low < high
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values if value is not None)


def test_explicit_ends_of_a_domain_are_kept() -> None:
    assert round_domain([3.0, 44.8], low=0.0) == (0.0, 50.0)
    assert round_domain([3.0, 44.8], low=20.0, high=33.0) == (20.0, 33.0)


def test_the_domain_of_no_values_is_0_to_1() -> None:
    low, high = round_domain([None], low=0.0)
    assert (low, high) == (0.0, 1.0)


def test_a_domain_of_high_n_does_not_start_at_zero() -> None:
    assert n_domain(100, 5102) == (0.0, 5102.0)
    assert n_domain(2000, 3000) == (2000.0, 3000.0)
    assert n_domain(1, 1) == (1.0, 2.0)


def test_a_plane_converts_values_to_pixels() -> None:
    plane = Plane((0.0, 1000.0), (0.0, 50.0), Look(width=500, height=340), "y")
    assert plane.x_pixel(200.0) == 100.0
    assert plane.y_pixel(50.0) == 0.0
    assert plane.y_pixel(0.0) == 340.0
    assert plane.n_per_pixel == pytest.approx(2.0)


# Thinning keeps the ends, the cuts, and every isolated mark.

sizes = st.integers(1, 100_000)


@given(sizes, sizes, st.lists(sizes, max_size=5))
def test_thinning_keeps_the_ends_and_the_cuts(one: int, two: int, cuts: list[int]) -> None:
    first, last = sorted((one, two))
    result = thin_values(range(first, last + 1), points=400, always=cuts)
    assert result == sorted(set(result))
    assert (result[0], result[-1]) == (first, last)
    assert {n for n in cuts if first <= n <= last} <= set(result)
    assert len(result) <= 2 * 400 + len(cuts) + 2


def test_thinning_takes_every_kth_value() -> None:
    assert thin_values(range(100, 1001), points=9, always=[]) == list(range(100, 1001, 100))


def test_short_lists_are_not_thinned() -> None:
    assert thin_values([9, 3, 5, 4, 4], points=400) == [3, 4, 5, 9]


def test_thinning_takes_only_existing_values() -> None:
    there = range(10, 5001, 10)
    result = thin_values(there, points=100, always=[70, 71])
    assert set(result) <= set(there)
    assert 70 in result
    assert 95 <= len(result) <= 105


@given(st.lists(st.integers(1, 1000)), st.floats(1, 100))
def test_marks_are_apart_and_represent_all_values(values: list[int], gap: float) -> None:
    marks = keep_apart(values, gap=gap)
    assert all(b - a >= gap for a, b in itertools.pairwise(marks))
    assert set(marks) <= set(values)
    assert all(any(0 <= value - mark < gap for mark in marks) for value in values)
