"""Small multiples: every panel has the same axes and strokes, and no text runs as a script."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from pipeline.report.charts.panels import HEIGHT, Axes, Panel, small_multiples
from pipeline.report.charts.style import Look, Slot
from pipeline.report.page import images

SCHEMA = {"line": pl.String, **dict.fromkeys(("n", "y", "lower", "upper"), pl.Float64)}
LINES = Axes(x_title="n", y_title="precision (%)")
DOTS = Axes(x_title="rate", y_title="precision (%)", joined=False)


def rows(*values: tuple[str, float, float | None, float | None, float | None]) -> pl.DataFrame:
    return pl.DataFrame(list(values), schema=SCHEMA, orient="row")


ONE = rows(("mi", 100, 30, 25, 35), ("mi", 200, 20, 15, 25), ("dice", 100, 40, 30, 50))
OTHER = rows(("mi", 100, 80, 70, 90), ("mi", 900, 60, 50, 70))


def panels(chart: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the panels, without the key."""
    return [each for each in chart["concat"] if "title" in each]


def domains(panel: dict[str, Any], axis: str) -> set[tuple[float, ...]]:
    results = (layer["encoding"].get(axis, {}).get("scale") for layer in panel["layer"])
    return {tuple(scale["domain"]) for scale in results if scale}


def test_all_panels_have_the_same_axes() -> None:
    chart = small_multiples([Panel("a", ONE), Panel("b", OTHER)], LINES)
    for axis, expected in (("x", (0.0, 900.0)), ("y", (0.0, 100.0))):
        assert {each for panel in panels(chart) for each in domains(panel, axis)} == {expected}


def test_selected_panels_have_the_axes_of_all() -> None:
    whole = pl.concat([ONE, OTHER])
    chart = small_multiples([Panel("a", ONE)], LINES, span=whole)
    assert domains(panels(chart)[0], "x") == {(0.0, 900.0)}


def test_names_have_the_strokes_of_the_report_in_every_panel() -> None:
    look = Look(slots={"mi": Slot(1, 0), "dice": Slot(2, 0)})
    chart = small_multiples([Panel("a", ONE), Panel("b", OTHER)], LINES, look=look)
    key = chart["usermeta"]["lexassay"]["key"]
    assert [(each["name"], each["colour"]) for each in key] == [
        ("dice", "#008a68"),
        ("mi", "#b03000"),
    ]
    for panel in panels(chart):
        used = {layer["mark"].get("color") for layer in panel["layer"]} - {None}
        assert used <= {"#008a68", "#b03000", "#222222"}


def test_panels_are_stacked_on_a_phone() -> None:
    wide = small_multiples([Panel("a", ONE), Panel("b", OTHER)], LINES, columns=2)
    narrow = small_multiples([Panel("a", ONE), Panel("b", OTHER)], LINES, look=Look().on_phone)
    assert (wide["columns"], narrow["columns"]) == (2, 1)
    assert len(panels(narrow)) == len(narrow["concat"]) == 2
    assert wide["concat"][-1]["layer"][-1]["mark"]["type"] == "text"  # the key, for paper
    assert wide["concat"][0]["height"] == HEIGHT


def test_dots_have_whiskers_and_settings_of_limits() -> None:
    chart = small_multiples(
        [Panel("", rows(("", 0.1, 30, 25, 35), ("", 0.2, 20, None, None)))], DOTS
    )
    marks = [layer for layer in chart["concat"][0]["layer"] if "tooltip" in layer["encoding"]]
    assert [layer["mark"]["type"] for layer in marks] == ["rule", "point"]
    assert chart["usermeta"]["lexassay"]["limits"] == ["none", "pointwise"]
    assert chart["usermeta"]["lexassay"]["key"] == []


def test_without_limits_there_is_no_choice_of_limits() -> None:
    chart = small_multiples([Panel("", rows(("a", 1, 3, None, None)))], DOTS)
    assert chart["usermeta"]["lexassay"]["limits"] == []


@pytest.mark.parametrize("joined", [True, False])
def test_hostile_texts_are_drawn_as_texts(joined: bool) -> None:
    bad = '</script><img onerror=alert(1)>"\\\n'
    ticks = [bad, "שלום"]
    axes = Axes(x_title=bad, y_title="y", ticks=() if joined else ticks, joined=joined)
    frame = rows((bad, 0, 1, 0, 2), ("b", 1, 2, 1, 3))
    chart = small_multiples([Panel(bad, frame), Panel("", frame)], axes)
    picture = images.svg(chart)
    assert "<img" not in picture
    assert picture.startswith("<svg")
    json.dumps(chart, allow_nan=False)


def test_null_and_single_values_can_be_drawn() -> None:
    frame = rows(("a", 5, None, None, None), ("a", 6, 0, 0, 0))
    assert images.svg(small_multiples([Panel("", frame), Panel("", frame.clear())], LINES))
    assert images.svg(small_multiples([Panel("", rows(("a", 0, -1, -2, 0)))], DOTS))


@pytest.mark.parametrize(
    "panels", [[], [Panel("", ONE.clear())], [Panel("", rows(("a", 1, None, 1, 2)))]]
)
def test_panels_without_estimates_are_refused(panels: list[Panel]) -> None:
    with pytest.raises(ValueError, match="no estimate to draw"):
        small_multiples(panels, LINES)


def test_the_print_style_has_no_colour() -> None:
    chart = small_multiples([Panel("a", ONE)], LINES, look=Look(style="print"))
    colours = [layer["mark"]["color"] for panel in chart["concat"] for layer in panel["layer"]
               if "color" in layer["mark"]]  # fmt: skip
    assert all(each[1:3] == each[3:5] == each[5:7] for each in colours)
