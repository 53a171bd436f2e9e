"""Marks of the heat map of all pairs."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import polars as pl
import pytest

from pipeline.report.charts import Look, heat_map, strip_chart
from pipeline.report.charts.matrices import Matrix
from pipeline.report.page.images import svg
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import greys, layers, layers_of, places, texts, tooltip_layers

PRECISION = {"best": 0.4, "middle": 0.3, "worst": 0.15}


def matrix(
    precision: Mapping[str, float] = PRECISION,
    *,
    n: int = 500,
    without: tuple[str, str] | None = None,
) -> Matrix:
    """Return the differences of these precisions, significant from 0.2."""
    rows = [
        (a, b, None if {a, b} == set(without or ()) else precision[a] - precision[b], 0.01,
         abs(precision[a] - precision[b]) >= 0.2)
        for a, b in itertools.permutations(precision, 2)
    ]  # fmt: skip
    names = ("row", "column", "difference", "p_adjusted", "significant")
    cells = pl.DataFrame(rows, schema=list(names), orient="row")
    return Matrix(n, tuple(sorted(precision, key=lambda m: -precision[m])), cells)


def cells(chart: object) -> pl.DataFrame:
    return pl.concat(layer.data for layer in layers_of(chart, "rect"))


def test_each_pair_is_drawn_in_both_directions() -> None:
    by_name = {(a, b): points for a, b, points in
             cells(heat_map([matrix()])).select("row", "column", "points").rows()}  # fmt: skip
    assert by_name == {
        ("best", "middle"): 10.0, ("middle", "best"): -10.0, ("best", "worst"): 25.0,
        ("worst", "best"): -25.0, ("middle", "worst"): 15.0, ("worst", "middle"): -15.0,
    }  # fmt: skip


def test_the_best_is_first_and_the_diagonal_is_blank() -> None:
    result = cells(heat_map([matrix()]))
    ys = dict(result.select("row", "y").rows())
    xs = dict(result.select("column", "x").rows())
    assert sorted(ys, key=ys.__getitem__) == sorted(xs, key=xs.__getitem__) == list(PRECISION)
    assert all(x != ys[row] / 24 * 44 for row, x in result.select("row", "x").rows())


def test_significant_differences_have_a_star() -> None:
    assert texts(heat_map([matrix()]))[:6] == [
        "+10.0",
        "+25.0*",
        "−10.0",
        "+15.0",
        "−25.0*",
        "−15.0",
    ]


def test_a_pair_without_a_test_has_a_cross() -> None:
    chart = heat_map([matrix(without=("best", "worst"))])
    assert texts(chart).count("×") == 2
    assert cells(chart).height == 4


def test_the_print_style_draws_only_the_better_row() -> None:
    chart = heat_map([matrix()], look=Look(style="print"))
    assert cells(chart)["points"].to_list() == [10.0, 25.0, 15.0]
    assert greys(chart)
    equal = matrix({"a": 0.3, "b": 0.3})
    assert cells(heat_map([equal], look=Look(style="print"))).select("row", "column").rows() == [
        ("a", "b")
    ]


def test_all_maps_share_a_colour_scale_with_white_at_0() -> None:
    chart = heat_map([matrix(), matrix({"x": 0.9, "y": 0.493})])
    scales = [layer.encoding["color"]["scale"] for layer in layers_of(chart, "rect")]
    assert {tuple(scale["domain"]) for scale in scales} == {(-41.0, -10.25, 0.0, 10.25, 41.0)}
    assert scales[0]["range"][2] == "#ffffff"
    assert len(chart["concat"]) == 2


def test_forty_measures_are_legible() -> None:
    many = matrix({f"measure_{i:02}": i / 50 for i in range(40)})
    chart = heat_map([many])
    names = {text: place for text, place in places(chart).items() if text.startswith("measure")}
    xs = sorted(x for x, _ in names.values())
    assert len(xs) == 40
    assert min(b - a for a, b in itertools.pairwise(xs)) == 16.0
    (dots,) = layers_of(chart, "point")
    assert dots.data.height == many.cells["significant"].sum()
    assert not [text for text in texts(chart) if text.startswith("+")]
    assert ">measure_39</text>" in svg(chart)


def test_tooltips_show_the_pair_the_difference_and_p() -> None:
    (live,) = tooltip_layers(heat_map([matrix()]), "rect")
    assert [tip["field"] for tip in live.encoding["tooltip"]] == ["row", "column", "points", "p"]
    assert set(live.data["p"]) == {0.01}


def test_names_are_drawn_unchanged() -> None:
    odd = matrix({'a"b,c': 0.2, "<i>\\": 0.1, "two\nlines": 0.3})
    picture = svg(heat_map([odd]))
    assert "<i>" not in picture
    assert "&lt;i&gt;\\" in picture


def test_differences_of_0_have_a_scale() -> None:
    same = heat_map([matrix({"a": 0.3, "b": 0.3})])
    assert texts(same)[:2] == ["0.0", "0.0"]
    assert layers(same)


def test_a_heat_map_without_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="no pair of measures"):
        heat_map([])
    with pytest.raises(ValueError, match="no pair of measures"):
        heat_map([Matrix(10, ("a",), matrix().cells.clear())])


# Marks of the chart of the best measures.

BEST = frames.best({100: ["mi", "dice"], 500: ["dice"], 2000: ["dice", "mi", "t_score"]})


def test_the_best_are_dark_and_those_not_worse_are_pale() -> None:
    among, best = layers_of(strip_chart(BEST), "rect")
    assert sorted(best.data.select("measure", "n").rows()) == [
        ("dice", 500),
        ("dice", 2000),
        ("mi", 100),
    ]
    assert sorted(among.data.select("measure", "n").rows()) == [
        ("dice", 100), ("mi", 2000), ("t_score", 2000),
    ]  # fmt: skip
    assert best.mark["color"] != among.mark["color"]


def test_measures_that_are_best_most_often_are_first() -> None:
    positions = places(strip_chart(BEST))
    assert positions["dice"][1] < positions["mi"][1] < positions["t_score"][1]


def test_wide_cells_show_the_precision() -> None:
    assert texts(strip_chart(BEST)).count("30.0") == 6
    many = frames.best({n: ["dice"] for n in range(10, 1510, 10)})
    assert "30.0" not in texts(strip_chart(many))


def test_headings_of_many_columns_do_not_overlap() -> None:
    chart = strip_chart(frames.best({n: ["dice"] for n in range(10, 1510, 10)}))
    heads = sorted((x, text) for text, (x, y) in places(chart).items() if y < 0 and text != "n")
    assert len(heads) > 8
    assert all(b - a >= 7 * len(text) for (a, text), (b, _) in itertools.pairwise(heads))
    widths = layers_of(chart, "rect")[1].data
    assert widths["x2"].max() <= 560


def test_tooltips_show_the_difference_and_p() -> None:
    live = tooltip_layers(strip_chart(BEST), "rect")[0]
    fields = [tip["field"] for tip in live.encoding["tooltip"]]
    assert fields == ["measure", "n", "precision", "difference", "p_adjusted"]
    assert live.data.filter(measure="mi")["difference"].to_list() == [-2.0]


def test_the_print_style_has_no_colour() -> None:
    assert greys(strip_chart(BEST, look=Look(style="print")))


def test_a_chart_without_best_measures_is_refused() -> None:
    with pytest.raises(ValueError, match="no best measure"):
        strip_chart(pl.DataFrame(BEST.clear()))
