"""What the graphs of recall, and of precision by recall, draw."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from pipeline.report.charts import Extras, Look, Window, precision_recall_chart, recall_chart
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import drawn, greys, hover, places, texts, told

GOOD = [True] * 60 + [False] * 140
POOR = [False, True] * 40 + [False] * 120
TWO = frames.precision({"good": GOOD, "poor": POOR})
RECALL = frames.recall({"good": GOOD, "poor": POOR})
BASE = frames.baseline(60, 200)
ALL = Window(first_n=1)


def test_recall_in_per_cent_at_every_n() -> None:
    _, good, poor = drawn(recall_chart(RECALL, n_candidates=200, window=ALL), "line")
    assert good.data.filter(n=30)["y"].item() == 50.0
    assert good.data.filter(n=200)["y"].item() == 100.0
    assert poor.data.filter(n=20)["y"].item() == 25.0


def test_a_random_order_finds_its_share() -> None:
    chart = recall_chart(RECALL, n_candidates=400, window=Window(first_n=100))
    random, *_ = drawn(chart, "line")
    assert random.data.select("n", "y").rows() == [(100.0, 25.0), (200.0, 50.0)]
    assert "random order" in texts(chart)
    assert "random order" not in texts(recall_chart(RECALL))


def test_recall_without_limits_is_told_without_brackets() -> None:
    bare = RECALL.with_columns(lower=pl.lit(None, pl.Float64), upper=pl.lit(None, pl.Float64))
    said = hover(recall_chart(bare)).data
    assert said.filter(n=150).row(0) == (150, "100.00", "100.00")
    limited = hover(recall_chart(RECALL)).data
    assert limited.filter(n=150)["m0"].item() == "100.00 [90.0, 100.0]"


def test_recall_with_a_band_and_the_truth() -> None:
    chart = recall_chart(RECALL, extras=Extras(bands=("good",), truth=TWO), window=ALL)
    (band,) = drawn(chart, "area")
    assert band.data.filter(n=30).select("lower", "upper").row(0) == (40.0, 60.0)
    thin = [layer for layer in drawn(chart, "line") if layer.mark["strokeWidth"] == 0.8]
    assert [layer.data["y"].max() for layer in thin] == [100.0, 100.0]


def test_precision_by_recall_goes_along_n() -> None:
    good, _ = drawn(precision_recall_chart(TWO, BASE, window=ALL), "line")
    assert good.encoding["order"]["field"] == "n"
    assert good.data.filter(n=30).select("x", "y").row(0) == (50.0, 100.0)
    assert good.data.filter(n=120).select("x", "y").row(0) == (100.0, 50.0)


def test_points_stand_at_the_cuts() -> None:
    chart = precision_recall_chart(TWO, BASE, extras=Extras(cuts=(30, 120, 999)), window=ALL)
    good, poor = drawn(chart, "point")
    assert good.data.rows() == [(50.0, 100.0), (100.0, 50.0)]
    assert poor.data.height == 2


def test_points_outside_the_range_of_y_are_left_out() -> None:
    window = Window(first_n=1, y_max=60.0)
    chart = precision_recall_chart(TWO, BASE, extras=Extras(cuts=(30, 120)), window=window)
    assert drawn(chart, "point")[0].data.rows() == [(100.0, 50.0)]


def test_the_live_graph_tells_n_precision_and_recall() -> None:
    (met,) = told(precision_recall_chart(TWO, BASE, window=ALL))
    assert [tip["title"] for tip in met.encoding["tooltip"]] == [
        "measure", "n", "recall (%)", "precision (%)",
    ]  # fmt: skip
    assert met.data.height == 400


def test_the_baseline_is_drawn_if_it_is_given() -> None:
    assert "baseline 30.00 %" in texts(precision_recall_chart(TWO, BASE))
    assert not [text for text in texts(precision_recall_chart(TWO)) if "baseline" in text]


def test_print_has_no_colour() -> None:
    look = Look(style="print")
    assert greys(recall_chart(RECALL, n_candidates=200, extras=Extras(bands=("good",)), look=look))
    assert greys(precision_recall_chart(TWO, BASE, extras=Extras(cuts=(120,)), look=look))


def test_thirty_labels_do_not_overlap() -> None:
    curves = {f"m{i:02}": [j % 31 == i for j in range(200)] for i in range(30)}
    found = places(recall_chart(frames.recall(curves), n_candidates=200))
    ys = sorted(y for name, (x, y) in found.items() if x > 560)
    assert len(ys) == 31
    assert min(b - a for a, b in itertools.pairwise(ys)) >= 14.99


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="no estimate of recall from n = 300 on"):
        recall_chart(RECALL, window=Window(first_n=300))
    with pytest.raises(ValueError, match="no estimate of precision and recall from n = 300 on"):
        precision_recall_chart(TWO, window=Window(first_n=300))
