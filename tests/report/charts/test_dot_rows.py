"""Sets without ranks as dots in a precision graph."""

from __future__ import annotations

import itertools

import polars as pl

from pipeline.report.charts import Extras, Look, Window, precision_chart
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import drawn, places, told

CURVE = frames.precision({"good": [True] * 60 + [False] * 140})
SETS = pl.DataFrame(
    [("filter", 50, 0.5, 0.4, 0.6), ("near it", 52, 0.45, 0.35, 0.62), ("none", 80, None, 0.0, 1.0),
     ("large", 900, 0.1, 0.05, 0.2), ("at the very end of it", 198, 0.6, 0.5, 0.7)],
    schema=["subset", "n", "precision", "lower", "upper"], orient="row",
)  # fmt: skip
ALL = Window(first_n=1)


def chart(look: Look = Look()) -> object:  # noqa: B008  frozen
    return precision_chart(CURVE, extras=Extras(subsets=SETS), window=ALL, look=look)


def test_a_diamond_with_its_interval_at_the_size() -> None:
    (dots,) = drawn(chart(), "point")
    assert dots.mark["shape"] == "diamond"
    assert dots.data.select("subset", "n", "precision").rows() == [
        ("filter", 50, 50.0), ("near it", 52, 45.0), ("at the very end of it", 198, 60.0),
    ]  # fmt: skip
    whiskers = [layer for layer in drawn(chart(), "rule") if "lower" in layer.data.columns]
    assert whiskers[0].data["upper"].to_list() == [60.0, 62.0, 70.0]


def test_names_do_not_overlap_and_stay_inside() -> None:
    found = {name: at for name, at in places(chart()).items() if name in set(SETS["subset"])}
    assert set(found) == {"filter", "near it", "at the very end of it"}
    for (one, (x1, y1)), (two, (x2, y2)) in itertools.combinations(found.items(), 2):
        assert abs(y1 - y2) >= 13 or abs(x1 - x2) >= 6.6 * (len(one) + len(two)) / 2
    assert all(x + 6.6 * len(name) / 2 <= 560 for name, (x, _) in found.items())
    assert all(0 <= y <= 340 for _, y in found.values())


def test_the_axis_holds_the_intervals() -> None:
    low = precision_chart(
        CURVE.with_columns(precision=pl.lit(0.1), lower=pl.lit(0.0), upper=pl.lit(0.2)),
        extras=Extras(subsets=SETS), window=ALL,
    )  # fmt: skip
    (line, *_) = drawn(low, "line")
    assert line.encoding["y"]["scale"]["domain"][1] >= 70


def test_the_live_chart_tells_what_a_dot_is() -> None:
    (dots,) = told(chart(), "point")
    assert [tip["title"] for tip in dots.encoding["tooltip"]][:3] == [
        "set",
        "size",
        "precision (%)",
    ]


def test_no_set_in_sight_is_no_error() -> None:
    none = precision_chart(CURVE, extras=Extras(subsets=SETS.clear()), window=ALL)
    assert drawn(none, "point")[0].data.is_empty()
