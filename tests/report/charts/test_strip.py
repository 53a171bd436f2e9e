"""What the chart of the best measures draws."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from pipeline.report.charts import Look, strip_chart
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import drawn, greys, places, texts, told

BEST = frames.best({100: ["mi", "dice"], 500: ["dice"], 2000: ["dice", "mi", "t_score"]})


def test_dark_for_the_best_and_pale_for_those_not_worse() -> None:
    among, best = drawn(strip_chart(BEST), "rect")
    assert sorted(best.data.select("measure", "n").rows()) == [
        ("dice", 500),
        ("dice", 2000),
        ("mi", 100),
    ]
    assert sorted(among.data.select("measure", "n").rows()) == [
        ("dice", 100), ("mi", 2000), ("t_score", 2000),
    ]  # fmt: skip
    assert best.mark["color"] != among.mark["color"]


def test_those_that_are_best_most_often_stand_first() -> None:
    found = places(strip_chart(BEST))
    assert found["dice"][1] < found["mi"][1] < found["t_score"][1]


def test_wide_cells_hold_the_precision() -> None:
    assert texts(strip_chart(BEST)).count("30.0") == 6
    many = frames.best({n: ["dice"] for n in range(10, 1510, 10)})
    assert "30.0" not in texts(strip_chart(many))


def test_the_heads_of_many_columns_do_not_overlap() -> None:
    chart = strip_chart(frames.best({n: ["dice"] for n in range(10, 1510, 10)}))
    heads = sorted((x, text) for text, (x, y) in places(chart).items() if y < 0 and text != "n")
    assert len(heads) > 8
    assert all(b - a >= 7 * len(text) for (a, text), (b, _) in itertools.pairwise(heads))
    widths = drawn(chart, "rect")[1].data
    assert widths["x2"].max() <= 560


def test_the_live_chart_tells_the_difference_and_p() -> None:
    live = told(strip_chart(BEST), "rect")[0]
    fields = [tip["field"] for tip in live.encoding["tooltip"]]
    assert fields == ["measure", "n", "precision", "difference", "p_adjusted"]
    assert live.data.filter(measure="mi")["difference"].to_list() == [-2.0]


def test_print_has_no_colour() -> None:
    assert greys(strip_chart(BEST, look=Look(style="print")))


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(ValueError, match="no best measure"):
        strip_chart(pl.DataFrame(BEST.clear()))
