"""What the planning graph draws, and the files it goes into."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import polars as pl
import pytest

import pipeline as lx
from pipeline.report.charts.points import planning_chart
from pipeline.report.page.images import chart_bytes, still
from pipeline.sizing.output import plan_spec, rate_grid
from tests.report.charts.chart_layers import Layer, drawn, texts, told

WIDTHS = lx.plan_width(
    candidates=500, n=[50, 200], precisions=[0.3], rates=rate_grid(0.4, points=6)
)
ASKED = lx.plan_width(candidates=500, n=[50, 200], precisions=[0.3], widths=[0.3])


def layers(chart: Any, kind: str) -> list[tuple[Layer, pl.DataFrame]]:
    return [(layer, layer.data) for layer in drawn(chart, kind)]


def test_a_line_per_list_size_in_per_cent() -> None:
    chart = plan_spec(WIDTHS)
    lines = layers(chart, "line")
    assert len(lines) == 2
    for (layer, frame), n in zip(lines, (50, 200), strict=True):
        expected = WIDTHS.filter(n=n)
        assert frame["n"].to_list() == pytest.approx((100 * expected["rate"]).to_list(), abs=1e-3)
        assert frame["y"].to_list() == pytest.approx((100 * expected["width"]).to_list(), abs=1e-3)
        assert layer.encoding["x"]["title"] == "sampling rate (%)"
        assert layer.encoding["y"]["title"].startswith("expected width")
    assert len({layer.mark["color"] for layer, _ in lines}) == 2
    assert texts(chart) == ["n = 50", "n = 200"]


def test_what_was_asked_for_is_marked() -> None:
    chart = plan_spec(WIDTHS, asked=ASKED)
    dots = [frame for _, frame in layers(chart, "point")]
    assert [frame.height for frame in dots] == [1, 1]
    assert dots[1]["n"].item() == pytest.approx(100 * ASKED.filter(n=200)["rate"].item(), abs=1e-3)
    assert dots[1]["y"].item() == pytest.approx(30, abs=0.5)
    assert "wanted: 30" in texts(chart)
    never = lx.plan_width(candidates=500, n=[50, 200], precisions=[0.3], widths=[0.14])
    assert sum(frame.height for _, frame in layers(plan_spec(WIDTHS, asked=never), "point")) == 1


def test_lines_are_named_by_what_differs() -> None:
    def named(n: list[int], precisions: list[float]) -> list[str]:
        table = lx.plan_width(candidates=5000, n=n, precisions=precisions, rates=[0.1, 0.2])
        return sorted(texts(plan_spec(table)))

    assert named([2000], [0.3]) == ["n = 2,000"]
    assert named([50], [0.1, 0.3]) == ["p = 10.0 %", "p = 30.0 %"]
    assert len(named([50, 60], [0.1, 0.3])) == 4


def test_power_is_that_of_the_better_measure() -> None:
    table = lx.plan_comparison(
        candidates=200, n=[60], precisions=(0.3, 0.5), overlap=0.5, rates=[0.3, 0.6]
    )
    chart = plan_spec(table)
    ((layer, frame),) = layers(chart, "line")
    assert frame["y"].to_list() == pytest.approx((100 * table["power_2"]).to_list(), abs=1e-3)
    assert layer.encoding["y"]["scale"]["domain"] == [0, 100]
    assert layer.encoding["y"]["title"] == "power (%)"


def test_the_widest_intervals_do_not_squeeze_the_rest() -> None:
    wide = lx.plan_width(candidates=500, n=[400], precisions=[0.3], rates=[0.004, 0.2, 0.4])
    ((layer, frame),) = layers(plan_spec(wide), "line")
    assert frame["y"].max() > 70
    assert layer.encoding["y"]["scale"]["domain"][1] == 60


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="no sampling rate to draw"):
        plan_spec(WIDTHS.clear())
    empty = pl.DataFrame(schema={"line": pl.String, "rate": pl.Float64, "y": pl.Float64})
    with pytest.raises(ValueError, match="no sampling rate to draw"):
        planning_chart(empty, y_title="power (%)")


def test_the_live_chart_tells_its_values() -> None:
    (points,) = told(plan_spec(WIDTHS))
    assert [tip["title"] for tip in points.encoding["tooltip"]][:2] == ["line", "sampling rate (%)"]
    assert "tooltip" not in json.dumps(still(plan_spec(WIDTHS)))


@pytest.mark.parametrize(("kind", "start"), [
    ("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>"),
])  # fmt: skip
def test_files(kind: str, start: bytes) -> None:
    made = chart_bytes(plan_spec(WIDTHS), kind, title="a < b")
    assert made.startswith(start)
    if kind == "html":
        page = made.decode()
        assert "<title>a &lt; b</title>" in page
        assert "<script src" not in page
        assert "https://cdn" not in page
    else:
        assert made == chart_bytes(plan_spec(WIDTHS), kind)


def test_the_chart_in_a_notebook_is_one_of_altair() -> None:
    chart = lx.plan_chart(WIDTHS)
    assert isinstance(chart, alt.LayerChart)
    assert chart_bytes(chart, "svg") == chart_bytes(plan_spec(WIDTHS), "svg")


def test_unknown_kind_of_file() -> None:
    with pytest.raises(ValueError, match="no kind of picture 'gif'"):
        chart_bytes(plan_spec(WIDTHS), "gif")
