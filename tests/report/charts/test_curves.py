"""Marks of the graph of differences."""

from __future__ import annotations

import itertools
import json
from typing import Any

import polars as pl
import pytest

from pipeline.report.charts import (
    Extras,
    Look,
    Style,
    Window,
    difference_chart,
    precision_chart,
    precision_recall_chart,
    recall_chart,
)
from pipeline.report.page.images import svg
from tests.report import report_frames as frames
from tests.report.charts import chart_layers
from tests.report.charts.chart_layers import greys, hover, layers_of, places, texts, tooltip_layers

GAPS = {n: n / 1000 for n in range(1, 301)}
COMPARISON = frames.comparison({("a", "b"): GAPS, ("b", "c"): GAPS}, significant=range(200, 301))


def marks(chart: Any, kind: str) -> list[pl.DataFrame]:
    return [layer.data for layer in layers_of(chart, kind)]


def test_differences_have_the_direction_of_the_pair() -> None:
    chart = difference_chart(COMPARISON, [("a", "b"), ("c", "b")])
    forward, backward = marks(chart, "line")
    assert forward.filter(n=150)["y"].item() == 15.0
    assert backward.filter(n=150)["y"].item() == -15.0


def test_significant_points_lie_on_the_line() -> None:
    long = frames.comparison(
        {("a", "b"): {n: (n % 7) / 10 for n in range(1, 3001)}}, significant=[999, 1001, 2500]
    )
    chart = difference_chart(long, [("a", "b")])
    (line,), (points,) = marks(chart, "line"), marks(chart, "point")
    assert points["n"].to_list() == [999, 2500]
    assert points.join(line, on=["n", "y"], how="anti").is_empty()


def test_without_significant_differences_there_is_no_point() -> None:
    none = frames.comparison({("a", "b"): GAPS})
    (points,) = marks(difference_chart(none, [("a", "b")]), "point")
    assert points.is_empty()


def test_tooltips_star_significant_differences() -> None:
    tooltips = hover(difference_chart(COMPARISON, [("a", "b")])).data
    assert tooltips.filter(n=150)["m0"].item() == "+15.00"
    assert tooltips.filter(n=250)["m0"].item() == "+25.00 *"


def test_a_chart_without_differences_is_refused() -> None:
    with pytest.raises(ValueError, match="no difference to draw"):
        difference_chart(COMPARISON, [("a", "b")], window=Window(first_n=999))
    with pytest.raises(ValueError, match="no difference to draw"):
        difference_chart(COMPARISON, [("a", "z")])


# Marks of the precision graph, read back from its specification.

GOOD = [True] * 60 + [False] * 140
POOR = [False, True] * 40 + [False] * 120
TWO = frames.precision({"good": GOOD, "poor": POOR})
BASE = frames.baseline(60, 200)
ALL = Window(first_n=1)


def drawn_precision_graph(chart: Any, kind: str) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    return [(layer.mark, layer.data) for layer in chart_layers.layers_of(chart, kind)]


def texts_precision_graph(chart: Any) -> dict[str, tuple[float, float]]:
    return chart_layers.places(chart)


def test_lines_are_per_cents_at_every_n() -> None:
    chart = precision_chart(TWO, BASE, window=ALL)
    good, poor = (data for _, data in drawn_precision_graph(chart, "line"))
    assert good["n"].to_list() == list(range(1, 201))
    assert good.filter(n=80)["y"].item() == 75.0
    assert poor.filter(n=3)["y"].item() == 33.333


def test_the_first_hundred_are_omitted() -> None:
    for _, data in drawn_precision_graph(precision_chart(TWO, BASE), "line"):
        assert (data["n"].min(), data["n"].max()) == (100, 200)


def test_long_lists_are_thinned_but_keep_the_cuts() -> None:
    long = frames.precision({"good": [i % 3 == 0 for i in range(5000)]})
    chart = precision_chart(long, BASE, extras=Extras(cuts=(101, 2222)), window=Window(first_n=100))
    ((_, data),) = drawn_precision_graph(chart, "line")
    assert {100, 101, 2222, 5000} <= set(data["n"])
    assert 390 <= data.height <= 450


def test_only_the_selected_measures_are_drawn() -> None:
    chart = precision_chart(TWO, BASE, window=Window(measures=("poor",), first_n=1))
    assert len(drawn_precision_graph(chart, "line")) == 1
    assert "poor" in texts_precision_graph(chart)
    assert "good" not in texts_precision_graph(chart)


def test_a_missing_estimate_breaks_the_line() -> None:
    gap = TWO.with_columns(
        precision=pl.when(pl.col("n") == 150).then(None).otherwise(pl.col("precision"))
    )
    for _, data in drawn_precision_graph(precision_chart(gap, BASE), "line"):
        assert data.filter(n=150)["y"].to_list() == [None]


def test_the_baseline_has_a_dotted_interval() -> None:
    rules = drawn_precision_graph(precision_chart(TWO, BASE), "rule")
    levels = [
        (data["y"].item(), mark["strokeDash"]) for mark, data in rules if data.columns == ["y"]
    ]
    assert [(round(y, 6), dash != [1, 0]) for y, dash in levels] == [
        (30.0, False), (25.0, True), (35.0, True),
    ]  # fmt: skip
    assert "baseline 30.00 %" in texts_precision_graph(precision_chart(TWO, BASE))


def test_an_exact_baseline_is_one_line() -> None:
    exact = frames.baseline(60, 200, lower=0.3, upper=0.3)
    rules = drawn_precision_graph(precision_chart(TWO, exact), "rule")
    assert len([data for _, data in rules if data.columns == ["y"]]) == 1


def test_bands_are_drawn_for_the_requested_measures() -> None:
    chart = precision_chart(TWO, BASE, extras=Extras(bands=("poor",)))
    ((_, band),) = drawn_precision_graph(chart, "area")
    assert band.filter(n=200).select("lower", "upper").row(0) == (10.0, 30.0)


def test_labels_of_cuts_are_above_their_lines() -> None:
    chart = precision_chart(TWO, BASE, extras=Extras(cuts=(100, 200, 5000)), window=ALL)
    assert texts_precision_graph(chart)["100"][0] == pytest.approx(280, abs=3)
    assert texts_precision_graph(chart)["200"][0] == 560
    assert "5,000" not in texts_precision_graph(chart)


def test_labels_of_seven_crossing_lines_do_not_overlap() -> None:
    curves = {f"measure_{i}": [j % 7 == i for j in range(210)] for i in range(7)}
    chart = precision_chart(frames.precision(curves), frames.baseline(30, 210))
    ys = sorted(y for text, (x, y) in texts_precision_graph(chart).items() if x > 560)
    assert len(ys) == 8
    assert all(b - a >= 14.99 for a, b in itertools.pairwise(ys))
    assert ys[0] >= 0
    assert ys[-1] <= 340


def test_labels_of_lines_that_end_together_follow_the_lines() -> None:
    result = texts_precision_graph(precision_chart(TWO, BASE, window=ALL))
    assert result["good"][1] < result["poor"][1]


def test_true_curves_are_thin_and_end_with_the_estimates() -> None:
    truth = frames.precision({"good": [True] * 400, "other": [True] * 400})
    chart = precision_chart(TWO, BASE, extras=Extras(truth=truth))
    widths = [
        (mark["strokeWidth"], data["y"].to_list())
        for mark, data in drawn_precision_graph(chart, "line")
    ]
    thin = [ys for width, ys in widths if width < 1 and ys]
    assert thin == [[100.0] * 101]


@pytest.mark.parametrize("stored", [("good", "poor"), ("poor", "good")])
def test_triangles_are_in_the_row_of_the_better_measure(stored: tuple[str, str]) -> None:
    sign = 1 if stored == ("good", "poor") else -1
    tested = frames.comparison(
        {stored: {50: 0.2 * sign, 120: 0.2 * sign, 160: -0.2 * sign, 180: 0.2}},
        significant=[50, 120, 160],
    )
    extras = Extras(comparison=tested, marks=("good", "poor"))
    marks = drawn_precision_graph(precision_chart(TWO, BASE, extras=extras), "point")
    (up, first), (_, sample), (down, second), _ = marks
    assert (up["shape"], down["shape"]) == ("triangle-up", "triangle-down")
    assert sample["x"].item() > 560
    # The window starts at n = 100, so the difference at 50 has no mark.
    assert [data["n"].to_list() for data in (first, second)] == [[120.0], [160.0]]


def test_triangles_do_not_overlap() -> None:
    tested = frames.comparison(
        {("good", "poor"): dict.fromkeys(range(1, 201), 0.2)}, significant=range(1, 201)
    )
    extras = Extras(comparison=tested, marks=("good", "poor"))
    (_, row), *_ = drawn_precision_graph(
        precision_chart(TWO, BASE, extras=extras, window=ALL), "point"
    )
    xs = (row["n"] * 560 / 200).sort()
    assert xs.diff().drop_nulls().min() >= 5.6
    assert len(xs) > 60


SEVEN = frames.precision({f"m{i}": [j % 9 == i for j in range(200)] for i in range(7)})


def test_the_print_style_has_no_colour() -> None:
    extras = Extras(bands=("m1",), truth=SEVEN, cuts=(100,))
    chart = precision_chart(SEVEN, BASE, extras=extras, look=Look(style="print"))
    assert chart_layers.greys(chart)


@pytest.mark.parametrize("style", ["screen", "print"])
def test_seven_lines_have_different_strokes(style: Style) -> None:
    chart = precision_chart(SEVEN, BASE, look=Look(style=style))
    kinds = {
        (mark["color"], *mark["strokeDash"], mark["strokeWidth"])
        for mark, _ in drawn_precision_graph(chart, "line")
    }
    assert len(kinds) == 7


def test_coinciding_lines_have_different_dashes() -> None:
    chart = precision_chart(frames.precision({"mi": GOOD, "mi_too": GOOD}), BASE)
    (below, _), (above, _) = drawn_precision_graph(chart, "line")
    assert below["strokeDash"] != above["strokeDash"]


def test_twelve_coinciding_lines_have_different_strokes() -> None:
    chart = precision_chart(frames.precision({f"m{i:02}": GOOD for i in range(12)}), BASE)
    kinds = {
        (mark["color"], *mark["strokeDash"]) for mark, _ in drawn_precision_graph(chart, "line")
    }
    assert len(kinds) == 12


def test_tooltips_show_every_value() -> None:
    tooltips = chart_layers.hover(precision_chart(TWO, BASE))
    assert tooltips.data.filter(n=150).row(0) == (150, "40.00 [30.0, 50.0]", "26.67 [16.7, 36.7]")


def test_equal_frames_give_equal_charts() -> None:
    first, second = (precision_chart(TWO, BASE) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_a_window_without_estimates_is_refused() -> None:
    with pytest.raises(ValueError, match="no estimate of precision from n = 300"):
        precision_chart(TWO, BASE, window=Window(first_n=300))


def test_limits_of_y_are_kept_and_hide_the_baseline_label() -> None:
    chart = precision_chart(TWO, BASE, window=Window(first_n=1, y_min=50.0, y_max=90.0))
    scales = [layer.encoding["y"]["scale"] for layer in chart_layers.layers_of(chart, "line")]
    assert {tuple(scale["domain"]) for scale in scales} == {(50.0, 90.0)}
    assert not any(text.startswith("baseline") for text in texts_precision_graph(chart))


def test_names_are_drawn_unchanged() -> None:
    names = ["<script>alert(1)</script>", 'a.b["c"], \\', "Ünïcode 漢"]
    curves = {name: [i % 3 == k for i in range(150)] for k, name in enumerate(names)}
    picture = svg(precision_chart(frames.precision(curves), BASE))
    assert "<script" not in picture
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in picture
    assert "Ünïcode 漢" in picture


def test_the_picture_contains_all_labels() -> None:
    picture = svg(precision_chart(TWO, BASE, extras=Extras(cuts=(100, 120, 200))))
    assert 'width="' in picture
    for text in ("good", "poor", "baseline 30.00 %", "100", "precision (%)"):
        assert f">{text}</text>" in picture


@pytest.mark.parametrize("name", ['\\" + datum + "', "two\nlines", "a\\", "datum['x']", "title"])
def test_a_name_cannot_break_out_of_the_tooltip(name: str) -> None:
    live = precision_chart(frames.precision({name: GOOD}), BASE)
    titles = [each["title"] for each in chart_layers.hover(live).encoding["tooltip"]]
    assert not any(sign in title for title in titles for sign in '\\"\n')
    assert svg(live).startswith("<svg")


# Marks of the graphs of recall, and of precision by recall.

TWO_RECALL_GRAPH = frames.precision({"good": GOOD, "poor": POOR})
RECALL = frames.recall({"good": GOOD, "poor": POOR})


def test_recall_is_drawn_in_per_cent_at_every_n() -> None:
    _, good, poor = layers_of(recall_chart(RECALL, n_candidates=200, window=ALL), "line")
    assert good.data.filter(n=30)["y"].item() == 50.0
    assert good.data.filter(n=200)["y"].item() == 100.0
    assert poor.data.filter(n=20)["y"].item() == 25.0


def test_the_random_order_has_proportional_recall() -> None:
    chart = recall_chart(RECALL, n_candidates=400, window=Window(first_n=100))
    random, *_ = layers_of(chart, "line")
    assert random.data.select("n", "y").rows() == [(100.0, 25.0), (200.0, 50.0)]
    assert "random order" in texts(chart)
    assert "random order" not in texts(recall_chart(RECALL))


def test_tooltips_of_recall_without_limits_have_no_brackets() -> None:
    bare = RECALL.with_columns(lower=pl.lit(None, pl.Float64), upper=pl.lit(None, pl.Float64))
    tooltips = hover(recall_chart(bare)).data
    assert tooltips.filter(n=150).row(0) == (150, "100.00", "100.00")
    limited = hover(recall_chart(RECALL)).data
    assert limited.filter(n=150)["m0"].item() == "100.00 [90.0, 100.0]"


def test_recall_is_drawn_with_a_band_and_true_curves() -> None:
    chart = recall_chart(RECALL, extras=Extras(bands=("good",), truth=TWO_RECALL_GRAPH), window=ALL)
    (band,) = layers_of(chart, "area")
    assert band.data.filter(n=30).select("lower", "upper").row(0) == (40.0, 60.0)
    thin = [layer for layer in layers_of(chart, "line") if layer.mark["strokeWidth"] == 0.8]
    assert [layer.data["y"].max() for layer in thin] == [100.0, 100.0]


def test_the_line_of_precision_by_recall_follows_n() -> None:
    good, _ = layers_of(precision_recall_chart(TWO_RECALL_GRAPH, BASE, window=ALL), "line")
    assert good.encoding["order"]["field"] == "n"
    assert good.data.filter(n=30).select("x", "y").row(0) == (50.0, 100.0)
    assert good.data.filter(n=120).select("x", "y").row(0) == (100.0, 50.0)


def test_points_are_drawn_at_the_cuts() -> None:
    chart = precision_recall_chart(
        TWO_RECALL_GRAPH, BASE, extras=Extras(cuts=(30, 120, 999)), window=ALL
    )
    good, poor = layers_of(chart, "point")
    assert good.data.rows() == [(50.0, 100.0), (100.0, 50.0)]
    assert poor.data.height == 2


def test_points_outside_the_range_of_y_are_omitted() -> None:
    window = Window(first_n=1, y_max=60.0)
    chart = precision_recall_chart(
        TWO_RECALL_GRAPH, BASE, extras=Extras(cuts=(30, 120)), window=window
    )
    assert layers_of(chart, "point")[0].data.rows() == [(100.0, 50.0)]


def test_tooltips_show_n_precision_and_recall() -> None:
    (layer,) = tooltip_layers(precision_recall_chart(TWO_RECALL_GRAPH, BASE, window=ALL))
    assert [tip["title"] for tip in layer.encoding["tooltip"]] == [
        "measure", "n", "recall (%)", "precision (%)",
    ]  # fmt: skip
    assert layer.data.height == 400


def test_the_baseline_is_drawn_if_there_is_one() -> None:
    assert "baseline 30.00 %" in texts(precision_recall_chart(TWO_RECALL_GRAPH, BASE))
    assert not [
        text for text in texts(precision_recall_chart(TWO_RECALL_GRAPH)) if "baseline" in text
    ]


def test_the_print_style_of_recall_graphs_has_no_colour() -> None:
    look = Look(style="print")
    assert greys(recall_chart(RECALL, n_candidates=200, extras=Extras(bands=("good",)), look=look))
    assert greys(
        precision_recall_chart(TWO_RECALL_GRAPH, BASE, extras=Extras(cuts=(120,)), look=look)
    )


def test_thirty_labels_do_not_overlap() -> None:
    curves = {f"m{i:02}": [j % 31 == i for j in range(200)] for i in range(30)}
    positions = places(recall_chart(frames.recall(curves), n_candidates=200))
    ys = sorted(y for name, (x, y) in positions.items() if x > 560)
    assert len(ys) == 31
    assert min(b - a for a, b in itertools.pairwise(ys)) >= 14.99


def test_a_recall_graph_without_estimates_is_refused() -> None:
    with pytest.raises(ValueError, match="no estimate of recall from n = 300"):
        recall_chart(RECALL, window=Window(first_n=300))
    with pytest.raises(ValueError, match="no estimate of precision and recall from n = 300"):
        precision_recall_chart(TWO_RECALL_GRAPH, window=Window(first_n=300))
