"""Heat maps, dot plots, named points, growth: what is drawn and in which order."""

from __future__ import annotations

import re

import polars as pl
import pytest

from pipeline.report import charts
from pipeline.report.charts import Grid, Look
from pipeline.report.charts.points import beside
from pipeline.report.page import images


def heat(n: int, *, cell: float, domain: tuple[float, float] = (0.0, 1.0), **more: object) -> str:
    names = [f"cluster-{number:03}" for number in range(n)]
    frame = pl.DataFrame(
        {"row": ["a"] * n, "column": names, "value": [i / n for i in range(n)],
         "marked": [i == 0 for i in range(n)], **more}
    )  # fmt: skip
    grid = Grid(rows=["a", "b"], columns=names[::-1], row_title="class", column_title="cluster",
                legend="share", domain=domain, cell=cell)  # fmt: skip
    return images.svg(charts.grid_map(frame, grid, look=Look()))


def fills(drawn: str) -> list[str]:
    found = re.findall(r'aria-roledescription="rect mark".*?fill="(.*?)"', drawn)
    return [colour for colour in found if colour.startswith("rgb")]


def test_a_heat_map_draws_cells_labels_and_frames() -> None:
    drawn = heat(3, cell=20.0)
    assert drawn.count('aria-roledescription="rect mark"') == 4
    assert re.findall(r">(cluster-\d+|[ab])<", drawn) == [
        "cluster-002", "cluster-001", "cluster-000", "a", "b",
    ]  # fmt: skip
    assert 'stroke="#d55e00"' in drawn


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


def test_names_that_would_touch_stand_upright() -> None:
    upright, level = heat(3, cell=24.0), heat(3, cell=90.0)
    assert (upright.count("rotate(270)"), level.count("rotate(270)")) == (3, 0)


def test_the_text_of_dark_cells_is_white() -> None:
    drawn = heat(3, cell=30.0, domain=(-1.0, 1.0), text=["x", "y", "z"])
    assert re.findall(r'fill="([^"]*)"[^>]*>([xyz])<', drawn) == [
        ("#232323", "x"), ("#232323", "y"), ("#232323", "z"),
    ]  # fmt: skip
    dark = heat(3, cell=30.0, domain=(0.0, 0.5), text=["x", "y", "z"])
    assert ("#fefefe", "z") in re.findall(r'fill="([^"]*)"[^>]*>([xyz])<', dark)


def test_a_dot_plot_keeps_the_order_and_leaves_out_nulls() -> None:
    frame = pl.DataFrame({"name": ["V", "N"], "p": [0.5, None], "r": [0.25, 0.0]})
    drawn = images.svg(
        charts.dot_plot(frame, ["V", "N"], title="share", kinds=("p", "r"), look=Look())
    )
    marks = drawn.partition("legend")[0]
    assert drawn.index(">V<") < drawn.index(">N<")
    assert marks.count('aria-roledescription="point"') == 3


@pytest.mark.parametrize("xs", [[1.0], [0.25, 0.25], [0.0, 1e-12]])
def test_points_that_are_all_alike_lie_inside(xs: list[float]) -> None:
    rows = {"name": ["s", "t"][: len(xs)], "x": xs, "y": [2.5] * len(xs)}
    frame = pl.DataFrame(rows).with_columns(x_sd=pl.lit(None, pl.Float64), y_sd=pl.lit(0.0))
    drawn = images.svg(charts.scatter(frame, x_title="x", y_title="y", look=Look(width=200)))
    points = drawn[drawn.index('"point"') :]
    found = re.findall(r"translate\(([0-9.]+),([0-9.]+)\)", points)[: len(xs)]
    assert len(found) == len(xs)
    assert all(20 < float(x) < 180 for x, _ in found)
    assert all(20 < float(y) < Look().height - 20 for _, y in found)


@pytest.mark.parametrize("places", [[(50.0, 50.0)] * 5, [(5.0, 5.0), (95.0, 5.0), (95.0, 95.0)]])
def test_names_hide_no_point_and_no_other_name(places: list[tuple[float, float]]) -> None:
    names = [f"s{number}" for number in range(len(places))]
    put = beside(names, places, Look(width=100, height=100))
    boxes = [(x, y - 6.5, x + 12.6, y + 6.5) for _, x, y in put]
    for number, one in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert (
                one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
            )
        assert all(not (one[0] < x < one[2] and one[1] < y < one[3]) for x, y in places)


def test_points_with_and_without_deviations() -> None:
    frame = pl.DataFrame(
        {"name": ["a", "b"], "x": [0.1, 0.2], "y": [0.3, 0.4], "x_sd": [0.01, None],
         "y_sd": [None, None]}, schema_overrides={"y_sd": pl.Float64},
    )  # fmt: skip
    drawn = images.svg(charts.scatter(frame, x_title="x", y_title="y", look=Look()))
    assert drawn.count('aria-roledescription="point"') == 2
    assert drawn.count('aria-roledescription="rule mark"') == 1


def test_lines_are_named_where_they_begin() -> None:
    frame = pl.DataFrame({"name": ["a", "a", "b"], "k": [1, 50, 1], "share": [0.5, 1.0, 0.5]})
    drawn = images.svg(charts.growth(frame, ["a", "b"], x_title="k", y_title="s", look=Look()))
    assert ">a<" in drawn
    assert ">b<" in drawn
    ys = [float(y) for y in re.findall(r'transform="translate\(-30,([\d.]+)\)"', drawn)]
    assert len(ys) == 2
    assert abs(ys[0] - ys[1]) >= 15.0
