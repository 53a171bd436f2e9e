"""What the precision graph draws, read back from its specification."""

from __future__ import annotations

import itertools
import json
from typing import Any

import polars as pl
import pytest

from pipeline.report.charts import Extras, Look, Style, Window, precision_chart
from pipeline.report.page.images import svg
from tests.report import report_frames as frames
from tests.report.charts import chart_layers

GOOD = [True] * 60 + [False] * 140
POOR = [False, True] * 40 + [False] * 120
TWO = frames.precision({"good": GOOD, "poor": POOR})
BASE = frames.baseline(60, 200)
ALL = Window(first_n=1)


def drawn(chart: Any, kind: str) -> list[tuple[dict[str, Any], pl.DataFrame]]:
    return [(layer.mark, layer.data) for layer in chart_layers.drawn(chart, kind)]


def texts(chart: Any) -> dict[str, tuple[float, float]]:
    return chart_layers.places(chart)


def test_lines_are_per_cents_at_every_n() -> None:
    chart = precision_chart(TWO, BASE, window=ALL)
    good, poor = (data for _, data in drawn(chart, "line"))
    assert good["n"].to_list() == list(range(1, 201))
    assert good.filter(n=80)["y"].item() == 75.0
    assert poor.filter(n=3)["y"].item() == 33.333


def test_first_hundred_are_left_out() -> None:
    for _, data in drawn(precision_chart(TWO, BASE), "line"):
        assert (data["n"].min(), data["n"].max()) == (100, 200)


def test_long_lists_are_thinned_but_hold_the_cuts() -> None:
    long = frames.precision({"good": [i % 3 == 0 for i in range(5000)]})
    chart = precision_chart(long, BASE, extras=Extras(cuts=(101, 2222)), window=Window(first_n=100))
    ((_, data),) = drawn(chart, "line")
    assert {100, 101, 2222, 5000} <= set(data["n"])
    assert 390 <= data.height <= 450


def test_measures_are_chosen_and_in_order() -> None:
    chart = precision_chart(TWO, BASE, window=Window(measures=("poor",), first_n=1))
    assert len(drawn(chart, "line")) == 1
    assert "poor" in texts(chart)
    assert "good" not in texts(chart)


def test_an_estimate_that_is_missing_breaks_the_line() -> None:
    gap = TWO.with_columns(
        precision=pl.when(pl.col("n") == 150).then(None).otherwise(pl.col("precision"))
    )
    for _, data in drawn(precision_chart(gap, BASE), "line"):
        assert data.filter(n=150)["y"].to_list() == [None]


def test_baseline_with_a_dotted_interval() -> None:
    rules = drawn(precision_chart(TWO, BASE), "rule")
    levels = [
        (data["y"].item(), mark["strokeDash"]) for mark, data in rules if data.columns == ["y"]
    ]
    assert [(round(y, 6), dash != [1, 0]) for y, dash in levels] == [
        (30.0, False), (25.0, True), (35.0, True),
    ]  # fmt: skip
    assert "baseline 30.00 %" in texts(precision_chart(TWO, BASE))


def test_baseline_without_width_is_one_line() -> None:
    exact = frames.baseline(60, 200, lower=0.3, upper=0.3)
    rules = drawn(precision_chart(TWO, exact), "rule")
    assert len([data for _, data in rules if data.columns == ["y"]]) == 1


def test_bands_are_drawn_for_those_asked() -> None:
    chart = precision_chart(TWO, BASE, extras=Extras(bands=("poor",)))
    ((_, band),) = drawn(chart, "area")
    assert band.filter(n=200).select("lower", "upper").row(0) == (10.0, 30.0)


def test_cut_labels_stand_over_their_lines() -> None:
    chart = precision_chart(TWO, BASE, extras=Extras(cuts=(100, 200, 5000)), window=ALL)
    assert texts(chart)["100"][0] == pytest.approx(280, abs=3)
    assert texts(chart)["200"][0] == 560
    assert "5,000" not in texts(chart)


def test_labels_of_seven_lines_that_meet_do_not_overlap() -> None:
    curves = {f"measure_{i}": [j % 7 == i for j in range(210)] for i in range(7)}
    chart = precision_chart(frames.precision(curves), frames.baseline(30, 210))
    ys = sorted(y for text, (x, y) in texts(chart).items() if x > 560)
    assert len(ys) == 8
    assert all(b - a >= 14.99 for a, b in itertools.pairwise(ys))
    assert ys[0] >= 0
    assert ys[-1] <= 340


def test_labels_of_lines_that_end_together_follow_the_lines() -> None:
    found = texts(precision_chart(TWO, BASE, window=ALL))
    assert found["good"][1] < found["poor"][1]


def test_true_curves_are_thin_and_end_where_the_others_do() -> None:
    truth = frames.precision({"good": [True] * 400, "other": [True] * 400})
    chart = precision_chart(TWO, BASE, extras=Extras(truth=truth))
    widths = [(mark["strokeWidth"], data["y"].to_list()) for mark, data in drawn(chart, "line")]
    thin = [ys for width, ys in widths if width < 1 and ys]
    assert thin == [[100.0] * 101]


@pytest.mark.parametrize("stored", [("good", "poor"), ("poor", "good")])
def test_triangles_stand_in_the_row_of_the_better_measure(stored: tuple[str, str]) -> None:
    sign = 1 if stored == ("good", "poor") else -1
    tested = frames.comparison(
        {stored: {50: 0.2 * sign, 120: 0.2 * sign, 160: -0.2 * sign, 180: 0.2}},
        significant=[50, 120, 160],
    )
    extras = Extras(comparison=tested, marks=("good", "poor"))
    marks = drawn(precision_chart(TWO, BASE, extras=extras), "point")
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
    (_, row), *_ = drawn(precision_chart(TWO, BASE, extras=extras, window=ALL), "point")
    xs = (row["n"] * 560 / 200).sort()
    assert xs.diff().drop_nulls().min() >= 5.6
    assert len(xs) > 60


SEVEN = frames.precision({f"m{i}": [j % 9 == i for j in range(200)] for i in range(7)})


def test_print_has_no_colour() -> None:
    extras = Extras(bands=("m1",), truth=SEVEN, cuts=(100,))
    chart = precision_chart(SEVEN, BASE, extras=extras, look=Look(style="print"))
    assert chart_layers.greys(chart)


@pytest.mark.parametrize("style", ["screen", "print"])
def test_seven_lines_differ_in_how_they_are_drawn(style: Style) -> None:
    chart = precision_chart(SEVEN, BASE, look=Look(style=style))
    kinds = {
        (mark["color"], *mark["strokeDash"], mark["strokeWidth"])
        for mark, _ in drawn(chart, "line")
    }
    assert len(kinds) == 7


def test_lines_on_top_of_each_other_are_both_seen() -> None:
    chart = precision_chart(frames.precision({"mi": GOOD, "mi_too": GOOD}), BASE)
    (below, _), (above, _) = drawn(chart, "line")
    assert below["strokeDash"] != above["strokeDash"]


def test_twelve_lines_on_top_of_each_other_differ() -> None:
    chart = precision_chart(frames.precision({f"m{i:02}": GOOD for i in range(12)}), BASE)
    kinds = {(mark["color"], *mark["strokeDash"]) for mark, _ in drawn(chart, "line")}
    assert len(kinds) == 12


def test_the_live_chart_tells_every_value() -> None:
    found = chart_layers.hover(precision_chart(TWO, BASE))
    assert found.data.filter(n=150).row(0) == (150, "40.00 [30.0, 50.0]", "26.67 [16.7, 36.7]")


def test_the_same_frame_gives_the_same_chart() -> None:
    first, second = (precision_chart(TWO, BASE) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_a_window_without_estimates_is_an_error() -> None:
    with pytest.raises(ValueError, match="no estimate of precision from n = 300 on"):
        precision_chart(TWO, BASE, window=Window(first_n=300))


def test_limits_of_y_are_kept_and_the_baseline_below_them_has_no_label() -> None:
    chart = precision_chart(TWO, BASE, window=Window(first_n=1, y_min=50.0, y_max=90.0))
    scales = [layer.encoding["y"]["scale"] for layer in chart_layers.drawn(chart, "line")]
    assert {tuple(scale["domain"]) for scale in scales} == {(50.0, 90.0)}
    assert not any(text.startswith("baseline") for text in texts(chart))


def test_names_are_drawn_as_they_are() -> None:
    names = ["<script>alert(1)</script>", 'a.b["c"], \\', "Ünïcode 漢"]
    curves = {name: [i % 3 == k for i in range(150)] for k, name in enumerate(names)}
    picture = svg(precision_chart(frames.precision(curves), BASE))
    assert "<script" not in picture
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in picture
    assert "Ünïcode 漢" in picture


def test_the_picture_holds_all_labels_inside() -> None:
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
