"""What the graph of differences draws."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.report.charts import Window, difference_chart
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import drawn, hover

GAPS = {n: n / 1000 for n in range(1, 301)}
TESTED = frames.comparison({("a", "b"): GAPS, ("b", "c"): GAPS}, significant=range(200, 301))


def marks(chart: Any, kind: str) -> list[pl.DataFrame]:
    return [layer.data for layer in drawn(chart, kind)]


def test_difference_in_points_in_the_direction_asked() -> None:
    chart = difference_chart(TESTED, [("a", "b"), ("c", "b")])
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


def test_without_significance_there_is_no_point() -> None:
    none = frames.comparison({("a", "b"): GAPS})
    (points,) = marks(difference_chart(none, [("a", "b")]), "point")
    assert points.is_empty()


def test_the_live_chart_stars_what_is_significant() -> None:
    told = hover(difference_chart(TESTED, [("a", "b")])).data
    assert told.filter(n=150)["m0"].item() == "+15.00"
    assert told.filter(n=250)["m0"].item() == "+25.00 *"


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="no difference to draw"):
        difference_chart(TESTED, [("a", "b")], window=Window(first_n=999))
    with pytest.raises(ValueError, match="no difference to draw"):
        difference_chart(TESTED, [("a", "z")])
