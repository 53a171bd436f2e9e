"""Charts of points: scatter plots, values and trends of lemmas, planning and reliability."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from pipeline.report.charts import spec
from pipeline.report.charts.curves import End, dash_covered_lines, end_labels, line_ends
from pipeline.report.charts.spec import (
    DECIMAL,
    LIVE,
    NONE,
    Channel,
    Layer,
    Live,
    Plane,
    Spec,
    amount,
    chart,
    end_at,
    kinds,
    label_margin,
    layer,
    layer_chart_with_theme,
    level,
    line,
    number_tooltip,
    opacity,
    other,
    others,
    path,
    points,
    round_domain,
    text_tooltip,
    text_width,
)
from pipeline.report.charts.spec import names as name_labels
from pipeline.report.charts.style import (
    BASELINE,
    BASELINE_LIMIT,
    BRIGHT,
    GREY,
    INK,
    PAPER,
    SCREEN,
    SERIES,
    Look,
    Stroke,
    by_place,
    slot_stroke,
    strokes,
)

_PER_CENT = (0.0, 100.0)
AVERAGE = Stroke(INK, width=1.4)
_HEIGHT, _WIDTH = 13.0, 6.3
"""Height of a line of text and width of a letter; pixels."""
_SHORT, _LONG = 110.0, 260.0
"""The maximum width of a name, on a phone and elsewhere; pixels."""
_OFF = 8.0
"""Distance of a label from the middle of its point; pixels."""
_ALIKE, _ROOM = 1e-6, 0.05
"""An axis shorter than the first is extended by the second on either side."""
RATE = "sampling rate (%)"
"""Default title of the x axis of planning charts."""
MOST = 60.0
"""Where the y axis of widths ends at most; percentage points."""
_RIGHT = "perfect calibration"
"""Label of the diagonal."""

# Values, moving averages, and precision against recall of sampled lemmas


@chart()
def lemma_chart(
    trends: pl.DataFrame, name: str, *, mean: float, order: str, look: Look = SCREEN
) -> Spec:
    """Draw a point for each lemma, the moving average as a line, the mean as a rule.

    Parameters
    ----------
    trends : DataFrame
        `schemas.LexiconTrends`, or some of its rows.
    name : str
        "precision", "recall" or "L".
    mean : float
        Over all sampled lemmas.
    order : str
        Title of the x axis.
    look : Look
        Style and size.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, figures 1,
    2 and 4.
    """
    plane = _trend_plane(trends, f"{name} (%)", order, look)
    own, mean_text = slot_stroke(SERIES[name], look), f"mean {100 * mean:.2f} %"
    rows = _per_cent(trends, name, f"{name.lower()}_trend")
    path = rows["y_trend"].to_list()
    tips = [text_tooltip("lemma", "lemma"), number_tooltip("y", f"{name} (%)", ".2f")]
    parts = [
        _points(rows, plane, own, tips),
        level(round(100 * mean, 3), plane, BASELINE),
        line(rows.select("n", "y_trend"), plane, AVERAGE, y="y_trend"),
        *end_labels([
            End("moving average", path, AVERAGE), End(mean_text, [100 * mean], BASELINE),
        ], plane),
        spec.tooltip_points(rows.select("n", "y", "lemma"), plane, tips, size=160),
    ]  # fmt: skip
    more = {"moving average": AVERAGE, mean_text: BASELINE}
    return layer_chart_with_theme(parts, look, Live(more=more, zoom=plane.x))


@chart()
def trend_chart(
    trends: pl.DataFrame, names: Sequence[str], *, order: str, look: Look = SCREEN
) -> Spec:
    """Draw the moving averages only, a line for each name.

    Parameters
    ----------
    trends : DataFrame
        `schemas.LexiconTrends`, or some of its rows.
    names : sequence of str
        Some of "precision", "recall" and "L".
    order : str
        Title of the x axis.
    look : Look
        Style and size.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, figures 3
    and 5.
    """
    columns = [f"{name.lower()}_trend" for name in names]
    least = 100.0 * min(float(trends[column].min() or 0.0) for column in columns)  # type: ignore[arg-type]  # a column of numbers
    low = max(0.0, 10.0 * (least // 10.0) - 10.0)
    plane = _trend_plane(trends, "moving average (%)", order, look, y=(low, 100.0))
    drawn = {
        name: _per_cent(trends, column, column) for name, column in zip(names, columns, strict=True)
    }
    stroke_of = {name: slot_stroke(SERIES[name], look) for name in names}
    ends = [End(name, drawn[name]["y"].to_list(), stroke_of[name], named=True) for name in names]
    lines = [
        line(
            drawn[name].select("n", "y"),
            plane,
            stroke_of[name],
            channel=opacity(faint=[other(name)]),
        )
        for name in names
    ]
    texts = [_texts(frame, name) for name, frame in drawn.items()]
    parts = [*lines, *end_labels(ends, plane)]
    parts += spec.hover(pl.concat(texts), names, plane, first="lemma number")
    return layer_chart_with_theme(parts, look, Live(names, stroke_of, zoom=plane.x))


def _texts(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    texts = [None if y is None else f"{y:.2f}" for y in frame["y"]]
    return frame.select("n", line=pl.lit(name), text=pl.Series(texts, dtype=pl.String))


@chart()
def scatter_chart(places: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
    """Draw recall on x and precision on y: a circle for all lemmas at the same place.

    Parameters
    ----------
    places : DataFrame
        precision, recall, and lemmas: how many there are.
    look : Look
        Style and size.
    """
    plane = Plane(
        (-4.0, 104.0), (-4.0, 104.0), look, "precision (%)", x_title="recall (%)", x_format="d"
    )
    rows = places.select(
        n=(100 * pl.col("recall")).round(3), y=(100 * pl.col("precision")).round(3), size="lemmas"
    ).sort("size", "n", "y", descending=[True, False, False])
    values = [1, *[each for each in (10, 100, 1000) if each <= (rows["size"].max() or 0)]]  # type: ignore[operator]  # a column of numbers
    orient = "top" if look.narrow else "right"
    legend = {"title": "lemmas", "values": values, "symbolFillColor": GREY, "orient": orient}
    scale = {"type": "sqrt", "domain": [0, max(40, *rows["size"])], "range": [0, 900]}
    tips = [
        number_tooltip("n", "recall (%)", ".2f"), number_tooltip("y", "precision (%)", ".2f"),
        number_tooltip("size", "lemmas", ",d"),
    ]  # fmt: skip
    channels = {
        "x": plane.x_axis(), "y": plane.y_axis("y"), "tooltip": tips,
        "size": amount("size", scale=scale, legend=legend),
    }  # fmt: skip
    colour = INK if look.style == "print" else BRIGHT[0]
    how: dict[str, Any] = {"color": colour, "opacity": 0.55, "stroke": PAPER, "strokeWidth": 0.5}
    return layer_chart_with_theme([layer(rows, "circle", channels, **how)], look)


def _trend_plane(
    trends: pl.DataFrame, title: str, order: str, look: Look, y: tuple[float, float] = _PER_CENT
) -> Plane:
    last = float(trends["n"].max() or 1)  # type: ignore[arg-type]  # a column of numbers
    return Plane((0.0, last + 1), y, look, title, x_title=order, zooms=True)


def _per_cent(trends: pl.DataFrame, column: str, trend: str) -> pl.DataFrame:
    return trends.select(
        "n", "lemma", y=(100 * pl.col(column)).round(3), y_trend=(100 * pl.col(trend)).round(3)
    ).sort("n")


def _points(rows: pl.DataFrame, plane: Plane, own: Stroke, tips: Sequence[Channel]) -> Layer:
    """Return the points, half hidden behind each other where there are many."""
    many = rows.height > 150
    channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "tooltip": list(tips)}
    how: dict[str, Any] = {
        "size": 16 if many else 28,
        "filled": True,
        "opacity": 0.45 if many else 0.75,
    }
    return layer(
        rows.select("n", "y", "lemma"), "point", channels, clip=True, color=own.colour, **how
    )


# Scatter plot with a label beside each point


@chart()
def scatter(frame: pl.DataFrame, *, x_title: str, y_title: str, look: Look) -> Spec:
    """Return named points; the bars are one standard deviation over runs to either side.

    Parameters
    ----------
    frame : DataFrame
        name, x, y, x_sd, y_sd (null where there are no several runs).
    x_title, y_title : str
        Titles of the axes.
    look : Look
        Size and style.
    """
    ends = {
        axis: [frame[axis] - frame[f"{axis}_sd"].fill_null(0.0),
               frame[axis] + frame[f"{axis}_sd"].fill_null(0.0)]
        for axis in ("x", "y")
    }  # fmt: skip
    x, y = (_scatter_domain(pl.concat(ends[axis])) for axis in ("x", "y"))
    plane = Plane(x, y, look, y_title, x_title, DECIMAL, x_grid=True)
    names = frame["name"].to_list()
    stroke_of = strokes(names, look)
    colours = [INK if look.style == "print" else stroke.colour for stroke in stroke_of.values()]
    scale = {"domain": list(stroke_of), "range": colours}
    colour = kinds("name", scale=scale, legend=None)
    points = {
        "x": plane.x_axis("x"), "y": plane.y_axis("y"), "color": colour,
        "opacity": opacity(faint=[others("name")]),
        "tooltip": _scatter_tips(frame, x_title, y_title),
    }  # fmt: skip
    rows = frame.select("name", "x", "y", "x_sd", "y_sd")
    places = [(plane.x_pixel(x), plane.y_pixel(y)) for x, y in frame.select("x", "y").rows()]
    bars = [_error_bars(frame, axis, plane) for axis in ("x", "y")]
    positions = label_positions(names, places, look)
    text, left, _ = max(positions, key=lambda each: each[1] + text_width(each[0]))
    parts = [
        *bars,
        layer(rows, "point", points, filled=True, size=50),
        name_labels(positions, limit=_SHORT if look.narrow else _LONG),
        *([] if look.narrow else label_margin([text], left)),
    ]
    limits = any(layer["data"]["values"].count("\n") > 1 for layer in bars)
    live = Live(names, stroke_of, limits=("none", "pointwise") if limits else ())
    return layer_chart_with_theme(parts, plane.look, live)


def _scatter_tips(frame: pl.DataFrame, x_title: str, y_title: str) -> list[Channel]:
    """Return name, x and y, each with its deviation where there is one."""
    tips = [text_tooltip("name", "name")]
    for axis, title in (("x", x_title), ("y", y_title)):
        tips.append(number_tooltip(axis, title, ".4~f"))
        if frame[f"{axis}_sd"].drop_nulls().len():
            tips.append(number_tooltip(f"{axis}_sd", f"standard deviation of {title}", ".3~f"))
    return tips


def label_positions(
    names: Sequence[str], places: Sequence[tuple[float, float]], look: Look
) -> list[tuple[str, float, float]]:
    """Put each name where it hides neither a point nor a name before it: right, left, above, below.

    Parameters
    ----------
    names, places : sequence
        Names and their points; pixels.
    look : Look
        Its size limits the places.

    Returns
    -------
    list of (str, float, float)
        Name, and where its left end goes; pixels.

    Examples
    --------
    >>> label_positions(["a", "b"], [(10.0, 50.0), (19.0, 50.0)], Look(width=100, height=100))
    [('a', 6.85, 36.0), ('b', 27.0, 50.0)]
    """
    boxes = [(x - 5, y - 5, x + 5, y + 5) for x, y in places]
    positions = []
    for name, (x, y) in zip(names, places, strict=True):
        wide = min(_WIDTH * len(name), _SHORT if look.narrow else _LONG)
        tries = [
            (x + _OFF, y), (x - wide / 2, y - 14.0), (x - wide - _OFF, y), (x - wide / 2, y + 14.0),
            (x + _OFF, y - 9), (x + _OFF, y + 9), (x + _OFF, y - 22), (x + _OFF, y + 22),
        ]  # fmt: skip
        fits = [one for one in tries if _is_free(one, wide, boxes, look)]
        left, middle = (fits or tries)[0]
        if look.narrow:
            left = max(0.0, min(left, look.width - wide))
        boxes.append((left, middle - _HEIGHT / 2, left + wide, middle + _HEIGHT / 2))
        positions.append((name, round(left, 2), round(middle, 2)))
    return positions


def _scatter_domain(values: pl.Series) -> tuple[float, float]:
    """Return round ends for labels: 0.7, not 0.7000000000000001.

    Values that are all alike, as those of one system are, lie in the middle.
    """
    low, high = round_domain(values)
    if high - low < _ALIKE:
        low, high = round_domain([low - _ROOM, high + _ROOM])
    return round(low, 9), round(high, 9)


def _is_free(
    place: tuple[float, float], wide: float, boxes: Sequence[tuple[float, ...]], look: Look
) -> bool:
    left, middle = place
    top, bottom, right = middle - _HEIGHT / 2, middle + _HEIGHT / 2, left + wide
    beyond = 0 if look.narrow else 60
    inside = left >= 0 and right <= look.width + beyond and top >= 0 and bottom <= look.height
    return inside and not any(
        left < box[2] and right > box[0] and top < box[3] and bottom > box[1] for box in boxes
    )


def _error_bars(frame: pl.DataFrame, axis: str, plane: Plane) -> Layer:
    spread = pl.col(f"{axis}_sd")
    bars = frame.drop_nulls(spread.meta.root_names()).select(
        "name", "x", "y", low=pl.col(axis) - spread, high=pl.col(axis) + spread
    )
    if axis == "x":
        ends = {"x": plane.x_axis("low"), "x2": end_at("high"), "y": plane.y_axis("y")}
    else:
        ends = {"x": plane.x_axis("x"), "y": plane.y_axis("low"), "y2": end_at("high")}
    fade = opacity(hidden=[NONE], faint=[others("name")])
    return layer(bars, "rule", {**ends, "opacity": fade}, color=GREY, strokeWidth=1.2)


# Planning: interval width or power against sampling rate or labels


@chart()
def planning_chart(
    curves: pl.DataFrame,
    *,
    y_title: str,
    marked: pl.DataFrame | None = None,
    goals: Sequence[float] = (),
    y_max: float | None = None,
    x_title: str = RATE,
    x_format: str = ".2f",
    look: Look = SCREEN,
) -> Spec:
    """Draw a line per list size, precision or plan against the sampling rate, or the labels.

    Parameters
    ----------
    curves : DataFrame
        line, rate and y, all in per cent, or labels for the rate; the lines are drawn in the order
        of their first rows.
    y_title : str
        Title of the y axis.
    marked : DataFrame, optional
        line, rate and y of the points to mark, for example the rates requested.
    goals : sequence of float
        Levels that were asked for, as dotted lines; in per cent.
    y_max : float, optional
        End of the y axis; the data's if not given, but no more than `MOST` and the levels need.
    x_title : str
        Title of the x axis.
    x_format : str
        Number format of a place on it, in the syntax of D3.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    drawn = _planning_rows(curves)
    if drawn.is_empty():
        raise ValueError("no sampling rate to draw")
    names = drawn["line"].unique(maintain_order=True).to_list()
    plane = _planning_plane(drawn, goals, (x_title, y_title), y_max, look)
    stroke_of = dash_covered_lines(by_place(names, look), drawn, plane)
    dots = _planning_rows(curves.clear() if marked is None else marked)
    levels = [
        End(f"wanted: {value:g}", [value], BASELINE_LIMIT)
        for value in goals
        if plane.y[0] <= value <= plane.y[1]
    ]
    tips = [
        text_tooltip("line", "line"),
        number_tooltip("n", plane.x_title, x_format),
        number_tooltip("y", plane.y_title, ".2f"),
    ]
    parts = [
        *(level(value, plane, BASELINE_LIMIT) for value in goals),
        *spec.lines(drawn, plane, stroke_of),
        *(
            points(dots.filter(line=name), plane, stroke, channel=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *end_labels([*line_ends(drawn.sort("n"), stroke_of), *levels], plane),
        spec.tooltip_points(pl.concat([drawn, dots]), plane, tips, size=160),
    ]
    more = {each.text: each.stroke for each in levels}
    return layer_chart_with_theme(parts, look, Live(names, stroke_of, more, zoom=plane.x))


def _planning_rows(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that can be drawn; a thousandth of a per cent is less than a pixel."""
    return frame.drop_nulls().select(
        "line", n=pl.col("rate").round(3), y=pl.col("y").cast(pl.Float64).round(3)
    )


def _planning_plane(
    drawn: pl.DataFrame,
    goals: Sequence[float],
    titles: tuple[str, str],
    y_max: float | None,
    look: Look,
) -> Plane:
    last = drawn.group_by("line").agg(pl.col("y").sort_by("n").last())["y"]
    ends = [max([*last, *goals]), min(float(drawn["y"].max() or 0.0), MOST)]  # type: ignore[arg-type]  # a column of numbers
    y = round_domain([max(ends)], low=0.0, high=y_max)
    last_rate = float(drawn["n"].max() or 1.0)  # type: ignore[arg-type]  # a column of numbers
    x_title, y_title = titles
    return Plane((0.0, last_rate), y, look, y_title, x_title, DECIMAL, zooms=True)


# Reliability: the share of true positives against the mean prediction


@chart()
def reliability_chart(calibration: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
    """Draw a point with its limits for each bin of predictions, joined for each judge.

    Parameters
    ----------
    calibration : DataFrame
        judge, mean_prediction, share, lower, upper, n_judged: one category of
        `schemas.Calibration`.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is no bin.
    """
    if calibration.is_empty():
        raise ValueError("no judged prediction to draw")
    names = calibration["judge"].unique().sort().to_list()
    drawn = _calibration_rows(calibration)
    plane = Plane(_PER_CENT, _PER_CENT, look, "true positives (%)", "mean prediction (%)", DECIMAL)
    stroke_of = by_place(names, look)
    ends = pl.DataFrame({"n": [0, 1], "x": [*_PER_CENT], "y": [*_PER_CENT]})
    mine = {name: drawn.filter(line=name) for name in names}
    diagonal = End(_RIGHT, [*_PER_CENT], BASELINE)
    parts = [
        path(ends, plane, BASELINE),
        *(_whisker(mine[name], plane, name, stroke) for name, stroke in stroke_of.items()),
        *(
            path(mine[name], plane, stroke, channel=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *(_dots(mine[name], plane, name, stroke) for name, stroke in stroke_of.items()),
        *end_labels([*line_ends(drawn, stroke_of), diagonal], plane),
        _tooltip_points(drawn, plane),
    ]
    return layer_chart_with_theme(
        parts, look, Live(names, stroke_of, {_RIGHT: BASELINE}, limits=("none", "pointwise"))
    )


def _calibration_rows(calibration: pl.DataFrame) -> pl.DataFrame:
    """Return the bins in per cent, in the order of the lines."""
    fields = {"x": "mean_prediction", "y": "share", "lower": "lower", "upper": "upper"}
    per_cent = {new: (100 * pl.col(name)).round(3) for new, name in fields.items()}
    rows = calibration.select(
        pl.int_range(pl.len()).over("judge").alias("n"), "n_judged", line="judge", **per_cent
    )
    return rows.sort("line", "x")


def _whisker(rows: pl.DataFrame, plane: Plane, name: str, stroke: Stroke) -> Layer:
    channels = {
        "x": plane.x_axis("x"), "y": plane.y_axis("lower"), "y2": end_at("upper"),
        "opacity": opacity(hidden=[NONE], faint=[other(name)]),
    }  # fmt: skip
    frame = rows.select("x", "lower", "upper")
    return layer(frame, "rule", channels, color=stroke.colour, strokeWidth=1.2)


def _dots(rows: pl.DataFrame, plane: Plane, name: str, stroke: Stroke) -> Layer:
    channels = {
        "x": plane.x_axis("x"), "y": plane.y_axis("y"), "opacity": opacity(faint=[other(name)]),
    }  # fmt: skip
    frame = rows.select("x", "y")
    return layer(frame, "point", channels, size=40, filled=True, color=stroke.colour)


def _tooltip_points(drawn: pl.DataFrame, plane: Plane) -> Layer:
    """Return invisible points with tooltips."""
    tips = [
        text_tooltip("line", "judge"),
        number_tooltip("x", "mean prediction (%)", ".2f"),
        number_tooltip("y", "true positives (%)", ".2f"),
        number_tooltip("lower", "lower limit", ".2f"),
        number_tooltip("upper", "upper limit", ".2f"),
        number_tooltip("n_judged", "judged draws", ",d"),
    ]
    channels = {"x": plane.x_axis("x"), "y": plane.y_axis("y"), "tooltip": tips}
    return layer(drawn, "point", channels, name=f"{LIVE}points", size=90, filled=True, opacity=0)
