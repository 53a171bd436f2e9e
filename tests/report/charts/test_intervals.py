"""Sets without ranks as dots in a precision graph."""

from __future__ import annotations

import itertools

import polars as pl
import pytest

from pipeline.report.charts import Extras, Look, Window, precision_chart, whisker_chart
from tests.report import report_frames as frames
from tests.report.charts.chart_layers import greys, layers_of, places, texts, tooltip_layers

CURVE = frames.precision({"good": [True] * 60 + [False] * 140})
SETS = pl.DataFrame(
    [("filter", 50, 0.5, 0.4, 0.6), ("near it", 52, 0.45, 0.35, 0.62), ("none", 80, None, 0.0, 1.0),
     ("large", 900, 0.1, 0.05, 0.2), ("at the very end of it", 198, 0.6, 0.5, 0.7)],
    schema=["subset", "n", "precision", "lower", "upper"], orient="row",
)  # fmt: skip
ALL = Window(first_n=1)


def chart(look: Look = Look()) -> object:  # noqa: B008  frozen
    return precision_chart(CURVE, extras=Extras(subsets=SETS), window=ALL, look=look)


def test_a_set_is_a_diamond_with_its_interval_at_its_size() -> None:
    (dots,) = layers_of(chart(), "point")
    assert dots.mark["shape"] == "diamond"
    assert dots.data.select("subset", "n", "precision").rows() == [
        ("filter", 50, 50.0), ("near it", 52, 45.0), ("at the very end of it", 198, 60.0),
    ]  # fmt: skip
    whiskers = [layer for layer in layers_of(chart(), "rule") if "lower" in layer.data.columns]
    assert whiskers[0].data["upper"].to_list() == [60.0, 62.0, 70.0]


def test_names_do_not_overlap_and_are_inside_the_chart() -> None:
    by_name = {name: at for name, at in places(chart()).items() if name in set(SETS["subset"])}
    assert set(by_name) == {"filter", "near it", "at the very end of it"}
    for (one, (x1, y1)), (two, (x2, y2)) in itertools.combinations(by_name.items(), 2):
        assert abs(y1 - y2) >= 13 or abs(x1 - x2) >= 6.6 * (len(one) + len(two)) / 2
    assert all(x + 6.6 * len(name) / 2 <= 560 for name, (x, _) in by_name.items())
    assert all(0 <= y <= 340 for _, y in by_name.values())


def test_the_axis_includes_the_intervals() -> None:
    low = precision_chart(
        CURVE.with_columns(precision=pl.lit(0.1), lower=pl.lit(0.0), upper=pl.lit(0.2)),
        extras=Extras(subsets=SETS), window=ALL,
    )  # fmt: skip
    (line, *_) = layers_of(low, "line")
    assert line.encoding["y"]["scale"]["domain"][1] >= 70


def test_tooltips_name_the_set_its_size_and_precision() -> None:
    (dots,) = tooltip_layers(chart(), "point")
    assert [tip["title"] for tip in dots.encoding["tooltip"]][:3] == [
        "set",
        "size",
        "precision (%)",
    ]


def test_a_chart_without_visible_sets_is_no_error() -> None:
    none = precision_chart(CURVE, extras=Extras(subsets=SETS.clear()), window=ALL)
    assert layers_of(none, "point")[0].data.is_empty()


# Marks of the chart of estimates with whiskers.

ROWS = [
    ("labels", "observed", "analytic", 0.9, 0.8, 0.95),
    ("labels", "observed", "bootstrap", 0.9, 0.82, 0.96),
    ("labels", "kappa", "analytic", None, None, None),
    ("labels", "kappa", "bootstrap", 0.5, -0.1, 0.8),
    ("SVC", "observed", "analytic", 0.7, 0.6, 0.8),
]
NAMES = ["group", "label", "kind", "estimate", "lower", "upper"]
TABLE = pl.DataFrame(ROWS, schema=NAMES, orient="row")


def test_each_estimate_has_a_dot_and_a_line() -> None:
    chart = whisker_chart(TABLE, x_title="agreement")
    _, first, second = layers_of(chart, "point")
    assert first.data["estimate"].to_list() == [0.9, 0.7]
    assert second.data.select("lower", "upper").rows() == [(0.82, 0.96), (-0.1, 0.8)]


def test_labels_of_rows_and_groups_do_not_overlap() -> None:
    results = [place for layer in layers_of(whisker_chart(TABLE, x_title="x"), "text")
             if layer.data.height for place in layer.data.filter(pl.col("x") == -8)["y"]]  # fmt: skip
    assert len(results) == 5
    assert min(b - a for a, b in itertools.pairwise(sorted(results))) >= 14


def test_kinds_share_a_row_and_are_named_once() -> None:
    chart = whisker_chart(TABLE, x_title="x")
    assert texts(chart).count("analytic") == texts(chart).count("bootstrap") == 1
    _, first, second = layers_of(chart, "point")
    assert second.data["y"][0] - first.data["y"][0] == 11.0
    # The category has only one kind, which is in the middle of its row.
    assert first.data["y"][1] in {place[1] for place in places(chart).values()}
    assert places(chart)["bootstrap"][1] - places(chart)["analytic"][1] == 15.0


def test_a_single_kind_is_not_named() -> None:
    one = TABLE.filter(kind="bootstrap")
    assert "bootstrap" not in texts(whisker_chart(one, x_title="x"))


def test_a_missing_estimate_has_a_cross() -> None:
    assert texts(whisker_chart(TABLE, x_title="x")).count("×") == 1


def test_the_axis_includes_0_and_the_maximum_of_a_coefficient() -> None:
    domain = layers_of(whisker_chart(TABLE, x_title="x"), "point")[0].encoding["x"]["scale"][
        "domain"
    ]
    assert domain[0] <= -0.1
    assert domain[1] == pytest.approx(1.0)
    shares = TABLE.filter(group="SVC")
    drawn_shares = layers_of(whisker_chart(shares, x_title="precision (%)", percent=True), "point")
    assert drawn_shares[0].encoding["x"]["scale"]["domain"] == [0, 80]
    assert drawn_shares[1].data["estimate"].to_list() == [70.0]


def test_coefficients_without_a_maximum_fill_the_axis() -> None:
    small = TABLE.with_columns(pl.col("estimate", "lower", "upper") * 0.1)
    chart = whisker_chart(small, x_title="coefficient", to_one=False)
    assert layers_of(chart, "point")[0].encoding["x"]["scale"]["domain"][1] < 0.2


def test_tooltips_show_all_columns() -> None:
    live = tooltip_layers(whisker_chart(TABLE, x_title="x"), "point")[0]
    assert [tip["field"] for tip in live.encoding["tooltip"]] == NAMES


def test_the_print_style_has_no_colour() -> None:
    assert greys(whisker_chart(TABLE, x_title="x", look=Look(style="print")))


def test_a_chart_without_estimates_is_refused() -> None:
    with pytest.raises(ValueError, match="no estimate"):
        whisker_chart(TABLE.clear(), x_title="x")
