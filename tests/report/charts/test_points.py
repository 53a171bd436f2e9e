"""Heat maps, dot plots, named points, growth: their marks and the order of these."""

from __future__ import annotations

import json
import re
from typing import Any

import altair as alt
import polars as pl
import pytest

import pipeline as lx
from pipeline.report import charts
from pipeline.report.charts import Grid, Look, reliability_chart
from pipeline.report.charts.points import label_positions, planning_chart
from pipeline.report.charts.spec import text_width
from pipeline.report.page import images
from pipeline.report.page.images import chart_bytes, still
from pipeline.sizing.output import plan_spec, rate_grid
from tests.report.charts.chart_layers import Layer, greys, layers_of, texts, tooltip_layers


def heat(n: int, *, cell: float, domain: tuple[float, float] = (0.0, 1.0), **more: object) -> str:
    names = [f"cluster-{number:03}" for number in range(n)]
    frame = pl.DataFrame(
        {"row": ["a"] * n, "column": names, "value": [i / n for i in range(n)],
         "marked": [i == 0 for i in range(n)], **more}
    )  # fmt: skip
    grid = Grid(rows=["a", "b"], columns=names[::-1], row_title="class", column_title="cluster",
                legend="share", domain=domain, cell=cell)  # fmt: skip
    return images.svg(charts.grid_map(frame, grid, look=Look()))


def test_a_picture_has_room_for_the_title_of_the_legend_in_a_wide_font() -> None:
    frame = pl.DataFrame({"row": ["a"], "column": ["b"], "value": [0.5], "marked": [False]})
    legend = "share of the cluster's types in the class"
    grid = Grid(rows=["a"], columns=["b"], row_title="", column_title="", legend=legend)
    picture = images.svg(charts.grid_map(frame, grid, look=Look(style="print")))
    assert images.size(picture)[0] > text_width(legend)


def fills(picture: str) -> list[str]:
    result = re.findall(r'aria-roledescription="rect mark".*?fill="(.*?)"', picture)
    return [colour for colour in result if colour.startswith("rgb")]


def test_a_heat_map_draws_cells_labels_and_frames() -> None:
    picture = heat(3, cell=20.0)
    assert picture.count('aria-roledescription="rect mark"') == 4
    assert re.findall(r">(cluster-\d+|[ab])<", picture) == [
        "cluster-002", "cluster-001", "cluster-000", "a", "b",
    ]  # fmt: skip
    assert 'stroke="#d55e00"' in picture


def test_equal_values_have_equal_shades_and_zero_is_white() -> None:
    shades = fills(heat(4, cell=20.0))
    assert len(set(shades)) == 4
    assert shades[0] == "rgb(255, 255, 255)"


def test_narrow_cells_have_fewer_labels() -> None:
    wide, narrow = heat(60, cell=14.0), heat(60, cell=4.0)
    assert len(re.findall(r">cluster-\d+<", wide)) == 60
    assert len(re.findall(r">cluster-\d+<", narrow)) == 20
    assert 'stroke="#d55e00" stroke-width="1.6"' in wide
    assert 'stroke="#d55e00" stroke-width="0.6"' in narrow


def test_names_that_would_overlap_are_upright() -> None:
    upright, level = heat(3, cell=24.0), heat(3, cell=90.0)
    assert (upright.count("rotate(270)"), level.count("rotate(270)")) == (3, 0)


def test_the_text_of_dark_cells_is_white() -> None:
    picture = heat(3, cell=30.0, domain=(-1.0, 1.0), text=["x", "y", "z"])
    assert re.findall(r'fill="([^"]*)"[^>]*>([xyz])<', picture) == [
        ("#232323", "x"), ("#232323", "y"), ("#232323", "z"),
    ]  # fmt: skip
    dark = heat(3, cell=30.0, domain=(0.0, 0.5), text=["x", "y", "z"])
    assert ("#fefefe", "z") in re.findall(r'fill="([^"]*)"[^>]*>([xyz])<', dark)


def test_a_dot_plot_keeps_the_order_and_omits_nulls() -> None:
    frame = pl.DataFrame({"name": ["V", "N"], "p": [0.5, None], "r": [0.25, 0.0]})
    picture = images.svg(
        charts.dot_plot(frame, ["V", "N"], title="share", kinds=("p", "r"), look=Look())
    )
    marks = picture.partition("legend")[0]
    assert picture.index(">V<") < picture.index(">N<")
    assert marks.count('aria-roledescription="point"') == 3


@pytest.mark.parametrize("xs", [[1.0], [0.25, 0.25], [0.0, 1e-12]])
def test_equal_points_are_inside_the_chart(xs: list[float]) -> None:
    rows = {"name": ["s", "t"][: len(xs)], "x": xs, "y": [2.5] * len(xs)}
    frame = pl.DataFrame(rows).with_columns(x_sd=pl.lit(None, pl.Float64), y_sd=pl.lit(0.0))
    picture = images.svg(charts.scatter(frame, x_title="x", y_title="y", look=Look(width=200)))
    points = picture[picture.index('"point"') :]
    result = re.findall(r"translate\(([0-9.]+),([0-9.]+)\)", points)[: len(xs)]
    assert len(result) == len(xs)
    assert all(20 < float(x) < 180 for x, _ in result)
    assert all(20 < float(y) < Look().height - 20 for _, y in result)


@pytest.mark.parametrize("places", [[(50.0, 50.0)] * 5, [(5.0, 5.0), (95.0, 5.0), (95.0, 95.0)]])
def test_names_cover_no_point_and_no_other_name(places: list[tuple[float, float]]) -> None:
    names = [f"s{number}" for number in range(len(places))]
    positions = label_positions(names, places, Look(width=100, height=100))
    boxes = [(x, y - 6.5, x + 12.6, y + 6.5) for _, x, y in positions]
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
        assert all(not (one[0] < x < one[2] and one[1] < y < one[3]) for x, y in places)


def test_points_have_deviations_if_these_are_known() -> None:
    frame = pl.DataFrame(
        {"name": ["a", "b"], "x": [0.1, 0.2], "y": [0.3, 0.4], "x_sd": [0.01, None],
         "y_sd": [None, None]}, schema_overrides={"y_sd": pl.Float64},
    )  # fmt: skip
    picture = images.svg(charts.scatter(frame, x_title="x", y_title="y", look=Look()))
    assert picture.count('aria-roledescription="point"') == 2
    assert len(re.findall(r'"x: 0\.[^"]*"[^>]*="rule mark"', picture)) == 1


def test_lines_are_named_at_their_start() -> None:
    frame = pl.DataFrame({"name": ["a", "a", "b"], "k": [1, 50, 1], "share": [0.5, 1.0, 0.5]})
    picture = images.svg(charts.growth(frame, ["a", "b"], x_title="k", y_title="s", look=Look()))
    assert ">a<" in picture
    assert ">b<" in picture
    ys = [float(y) for y in re.findall(r'<text [^>]*translate\(-30,([\d.]+)\)"', picture)]
    assert len(ys) == 2
    assert abs(ys[0] - ys[1]) >= 15.0


# Marks of the planning graph, and the files that it is written to.

WIDTHS = lx.plan_width(
    candidates=500, n=[50, 200], precisions=[0.3], rates=rate_grid(0.4, points=6)
)
WIDTH_GOALS = lx.plan_width(candidates=500, n=[50, 200], precisions=[0.3], widths=[0.3])


def layers(chart: Any, kind: str) -> list[tuple[Layer, pl.DataFrame]]:
    return [(layer, layer.data) for layer in layers_of(chart, kind)]


def test_each_list_size_has_a_line_in_per_cent() -> None:
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


def test_requested_widths_are_marked() -> None:
    chart = plan_spec(WIDTHS, points=WIDTH_GOALS)
    dots = [frame for _, frame in layers(chart, "point")]
    assert [frame.height for frame in dots] == [1, 1]
    assert dots[1]["n"].item() == pytest.approx(
        100 * WIDTH_GOALS.filter(n=200)["rate"].item(), abs=1e-3
    )
    assert dots[1]["y"].item() == pytest.approx(30, abs=0.5)
    assert "wanted: 30" in texts(chart)
    never = lx.plan_width(candidates=500, n=[50, 200], precisions=[0.3], widths=[0.14])
    assert sum(frame.height for _, frame in layers(plan_spec(WIDTHS, points=never), "point")) == 1


def test_lines_are_named_by_the_values_that_differ() -> None:
    def texts_of(n: list[int], precisions: list[float]) -> list[str]:
        table = lx.plan_width(candidates=5000, n=n, precisions=precisions, rates=[0.1, 0.2])
        return sorted(texts(plan_spec(table)))

    assert texts_of([2000], [0.3]) == ["n = 2,000"]
    assert texts_of([50], [0.1, 0.3]) == ["p = 10.0 %", "p = 30.0 %"]
    assert len(texts_of([50, 60], [0.1, 0.3])) == 4


def test_power_is_that_of_the_better_measure() -> None:
    table = lx.plan_comparison(
        candidates=200, n=[60], precisions=(0.3, 0.5), overlap=0.5, rates=[0.3, 0.6]
    )
    chart = plan_spec(table)
    ((layer, frame),) = layers(chart, "line")
    assert frame["y"].to_list() == pytest.approx((100 * table["power_2"]).to_list(), abs=1e-3)
    assert layer.encoding["y"]["scale"]["domain"] == [0, 100]
    assert layer.encoding["y"]["title"] == "power (%)"


def test_the_axis_excludes_extremely_wide_intervals() -> None:
    wide = lx.plan_width(candidates=500, n=[400], precisions=[0.3], rates=[0.004, 0.2, 0.4])
    ((layer, frame),) = layers(plan_spec(wide), "line")
    assert frame["y"].max() > 70
    assert layer.encoding["y"]["scale"]["domain"][1] == 60


def test_a_planning_chart_without_rates_is_refused() -> None:
    with pytest.raises(ValueError, match="no sampling rate to draw"):
        plan_spec(WIDTHS.clear())
    empty = pl.DataFrame(schema={"line": pl.String, "rate": pl.Float64, "y": pl.Float64})
    with pytest.raises(ValueError, match="no sampling rate to draw"):
        planning_chart(empty, y_title="power (%)")


def test_tooltips_show_the_planned_values() -> None:
    (points,) = tooltip_layers(plan_spec(WIDTHS))
    assert [tip["title"] for tip in points.encoding["tooltip"]][:2] == ["line", "sampling rate (%)"]
    assert "tooltip" not in json.dumps(still(plan_spec(WIDTHS)))


@pytest.mark.parametrize(("kind", "start"), [
    ("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!DOCTYPE html>"),
])  # fmt: skip
def test_charts_can_be_written_in_every_format(kind: str, start: bytes) -> None:
    result = chart_bytes(plan_spec(WIDTHS), kind, title="a < b")
    assert result.startswith(start)
    if kind == "html":
        page = result.decode()
        assert "<title>a &lt; b</title>" in page
        assert "<script src" not in page
        assert "https://cdn" not in page
    else:
        assert result == chart_bytes(plan_spec(WIDTHS), kind)


@pytest.mark.long
def test_the_chart_in_a_notebook_is_one_of_altair() -> None:
    chart = lx.plan_chart(WIDTHS)
    assert isinstance(chart, alt.LayerChart)
    assert chart_bytes(chart, "svg") == chart_bytes(plan_spec(WIDTHS), "svg")


def test_an_unknown_file_format_is_refused() -> None:
    with pytest.raises(ValueError, match="no kind of picture 'gif'"):
        chart_bytes(plan_spec(WIDTHS), "gif")


# Marks of the reliability graph.

BINS = pl.DataFrame(
    [("good", 0.1, 0.05, 0.0, 0.2, 40), ("good", 0.9, 0.85, 0.6, 0.95, 12),
     ("guess", 0.5, 0.11, 0.08, 0.15, 300)],
    schema=["judge", "mean_prediction", "share", "lower", "upper", "n_judged"], orient="row",
)  # fmt: skip


def test_each_bin_has_a_point_and_its_limits() -> None:
    chart = reliability_chart(BINS)
    good, guess = (
        layer.data for layer in layers_of(chart, "rule") if "lower" in layer.data.columns
    )
    assert good.rows() == [(10.0, 0.0, 20.0), (90.0, 60.0, 95.0)]
    assert guess.rows() == [(50.0, 8.0, 15.0)]
    first, second, *_ = layers_of(chart, "point")
    assert first.data.rows() == [(10.0, 5.0), (90.0, 85.0)]
    assert second.data.rows() == [(50.0, 11.0)]


def test_the_chart_has_a_diagonal_and_names() -> None:
    chart = reliability_chart(BINS)
    diagonal = layers_of(chart, "line")[0].data
    assert diagonal["x"].to_list() == diagonal["y"].to_list() == [0.0, 100.0]
    assert {"good", "guess", "perfect calibration"} <= set(texts(chart))


def test_tooltips_show_all_values() -> None:
    live = tooltip_layers(reliability_chart(BINS), "point")[0]
    assert [tip["field"] for tip in live.encoding["tooltip"]] == [
        "line", "x", "y", "lower", "upper", "n_judged",
    ]  # fmt: skip


def test_the_print_style_has_no_colour() -> None:
    assert greys(reliability_chart(BINS, look=Look(style="print")))


def test_a_reliability_chart_without_predictions_is_refused() -> None:
    with pytest.raises(ValueError, match="no judged prediction"):
        reliability_chart(BINS.clear())
