"""What the reliability graph draws."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.report.charts import Look, reliability_chart
from tests.report.charts.chart_layers import drawn, greys, texts, told

BINS = pl.DataFrame(
    [("good", 0.1, 0.05, 0.0, 0.2, 40), ("good", 0.9, 0.85, 0.6, 0.95, 12),
     ("guess", 0.5, 0.11, 0.08, 0.15, 300)],
    schema=["judge", "mean_prediction", "share", "lower", "upper", "n_judged"], orient="row",
)  # fmt: skip


def test_a_point_and_its_limits_for_each_bin() -> None:
    chart = reliability_chart(BINS)
    good, guess = (layer.data for layer in drawn(chart, "rule") if "lower" in layer.data.columns)
    assert good.rows() == [(10.0, 0.0, 20.0), (90.0, 60.0, 95.0)]
    assert guess.rows() == [(50.0, 8.0, 15.0)]
    first, second, *_ = drawn(chart, "point")
    assert first.data.rows() == [(10.0, 5.0), (90.0, 85.0)]
    assert second.data.rows() == [(50.0, 11.0)]


def test_the_diagonal_and_the_names() -> None:
    chart = reliability_chart(BINS)
    diagonal = drawn(chart, "line")[0].data
    assert diagonal["x"].to_list() == diagonal["y"].to_list() == [0.0, 100.0]
    assert {"good", "guess", "what it says is right"} <= set(texts(chart))


def test_the_live_chart_tells_all() -> None:
    live = told(reliability_chart(BINS), "point")[0]
    assert [tip["field"] for tip in live.encoding["tooltip"]] == [
        "line", "x", "y", "lower", "upper", "n_judged",
    ]  # fmt: skip


def test_print_has_no_colour() -> None:
    assert greys(reliability_chart(BINS, look=Look(style="print")))


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="no judged prediction"):
        reliability_chart(BINS.clear())
