"""Curves against n: graphs of precision, recall and differences, with labels, marks and dots."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import polars as pl
import polars.selectors as cs

from pipeline.report.charts import spec
from pipeline.report.charts.spec import (
    DECIMAL,
    MOST,
    NONE,
    SILENT,
    TEXT,
    ZOOMED,
    Channel,
    Layer,
    Limits,
    Live,
    Plane,
    Spec,
    at,
    better_at,
    by_line,
    chart,
    end_at,
    keep_apart,
    label_margin,
    labels,
    layer,
    layer_chart_with_theme,
    level,
    n_domain,
    names,
    number_tooltip,
    opacity,
    other,
    others,
    outside,
    pair_rows,
    path,
    per_cent,
    pixel,
    points,
    round_domain,
    segments,
    stroke_properties,
    text_tooltip,
    thin_by_n,
    within,
)
from pipeline.report.charts.style import (
    BASELINE,
    BASELINE_LIMIT,
    COVERING_DASHES,
    GREY,
    INK,
    PAPER,
    PLAIN,
    SCREEN,
    WHOLE,
    Extras,
    Look,
    Stroke,
    Window,
    by_place,
    spread_labels,
    strokes,
    thin,
)

N_BEST = "n (list size)"
GAP = 15.0
"""Smallest distance between two labels; pixels."""
TURN, SAMPLE, LABEL_WIDTH = 16.0, 46.0, 52.0
"""Where the connector, the piece of line and the text begin or end, right of the area."""
CONNECTOR = Stroke(GREY, width=0.7)
LABEL = 16
"""Height that a label at the end of a line takes; pixels."""
NEAREST_DIFFERENCE = 7.0
"""Smallest distance between two marks of a line; pixels."""
NEAR = 1.2
"""The largest distance of lines that count as covering each other; pixels."""
MOSTLY = 0.8
"""The part of its points at which a line that counts as covered is."""
LINE = 13.0
"""Height of a line of text; pixels."""
WIDE = 0.6 * TEXT
"""About the width of a letter; pixels."""
ROW = 15.0
"""Height of a row of triangles; pixels."""
NEAREST = 6.0
"""Smallest distance between two triangles; pixels."""

Pair = tuple[str, str]

# Direct labels at the right end of the lines


@dataclass(frozen=True)
class End:
    """The label of one line.

    Parameters
    ----------
    text : str
        The text.
    path : sequence of float
        The y values of the line, left to right; lines that end together are ordered by
        them, the higher first.
    stroke : Stroke
        Colour and dashes of the line.
    named : bool
        Whether the text is a measure or system, which can be highlighted.
    """

    text: str
    path: Sequence[float]
    stroke: Stroke
    named: bool = False


def end_labels(ends: Sequence[End], plane: Plane) -> list[Layer]:
    """Return the labels of all lines, spread to avoid overlaps; none on a phone.

    The connections from lines to labels are hidden while the axis is zoomed.
    """
    if plane.look.narrow:
        return []
    groups = _group_ends([end for end in ends if end.path], plane)
    members = [end for group in groups for end in group]
    means = [sum(_at(end, plane) for end in group) / len(group) for group in groups for _ in group]
    places = spread_labels(means, gap=GAP, low=4.0, high=plane.look.height - 4.0)
    pairs = list(zip(members, places, strict=True))
    edge = float(plane.look.width)
    samples = [
        segments(
            [(edge + TURN, place, edge + SAMPLE, place)],
            end.stroke,
            channel=opacity(faint=[other(end.text)]) if end.named else None,
        )
        for end, place in pairs
    ]
    mine = [(end.text, edge + LABEL_WIDTH, place) for end, place in pairs if end.named]
    rest = [(end.text, edge + LABEL_WIDTH, place) for end, place in pairs if not end.named]
    return [
        _connectors(pairs, plane),
        *samples,
        *([names(mine, limit=MOST)] if mine else []),
        *([labels(rest, limit=MOST)] if rest else []),
        *label_margin([end.text for end in members], edge + LABEL_WIDTH),
    ]


def _connectors(pairs: Sequence[tuple[End, float]], plane: Plane) -> Layer:
    edge = float(plane.look.width)
    rows = [
        (end.text if end.named else "", edge + 2, _at(end, plane), edge + TURN, place)
        for end, place in pairs
    ]
    numbers = dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64)
    frame = pl.DataFrame(rows, schema={"name": pl.String, **numbers}, orient="row")
    fade = opacity(hidden=[ZOOMED], faint=[others("name")])
    channels = {
        "x": pixel("x"), "y": pixel("y"), "opacity": fade,
        "x2": end_at("x2"), "y2": end_at("y2"),
    }  # fmt: skip
    return layer(
        frame.with_columns(cs.float().round(2)), "rule", channels, **stroke_properties(CONNECTOR)
    )


def _group_ends(ends: Sequence[End], plane: Plane) -> list[list[End]]:
    """Group lines that end on the same few pixels, from the top; order each by its paths."""
    groups: list[list[End]] = []
    for end in sorted(ends, key=lambda end: _at(end, plane)):
        near = groups and _at(end, plane) - _at(groups[-1][-1], plane) < 3
        groups = [*groups[:-1], [*groups[-1], end]] if near else [*groups, [end]]
    return [sorted(group, key=lambda end: -sum(end.path) / len(end.path)) for group in groups]


def _at(end: End, plane: Plane) -> float:
    return min(max(plane.y_pixel(end.path[-1]), 0.0), float(plane.look.height))


# Differences of precision against n, with their significance


@chart()
def difference_chart(
    comparison: pl.DataFrame,
    pairs: Sequence[Pair],
    *,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
) -> Spec:
    """Draw p(first) - p(second) in percentage points for each pair, for one category.

    A point on a line says that the pair differs significantly at that n, pointwise. With limits
    that hold at all n at once, these are shaded.

    Parameters
    ----------
    comparison : DataFrame
        `schemas.Comparison` at every n, one category; or `schemas.DifferenceBands`, and in a
        column significant whether 0 is outside.
    pairs : sequence of two str
        The pairs, in the direction in which the difference is to be read.
    extras : Extras
        Only `cuts` is used.
    window : Window
        The range of n and of y.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If no pair has a difference in the window.
    """
    rows = within(_pairs(comparison, pairs), window)
    if rows["y"].drop_nulls().is_empty():
        raise ValueError(f"no difference to draw from n = {window.first_n}")
    marked = _mark_points(rows, look)
    drawn = thin_by_n(rows, points=look.points, always=[*extras.cuts, *marked["n"]])
    plane = _difference_plane(drawn, window, look)
    names = [_name(pair) for pair in pairs]
    stroke_of = by_place(names, look)
    parts = [
        *(_bands(drawn, names, plane, stroke_of) if "lower" in drawn.columns else ()),
        level(0.0, plane, BASELINE),
        *spec.cut_lines(extras.cuts, plane, above=0),
        *spec.lines(drawn, plane, stroke_of),
        *(
            points(marked.filter(line=name), plane, stroke, channel=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *end_labels(list(line_ends(drawn, stroke_of)), plane),
        *_hover(drawn, list(stroke_of), plane),
    ]
    return layer_chart_with_theme(parts, look, Live(names, stroke_of, zoom=plane.x))


def _name(pair: Pair) -> str:
    return f"{pair[0]} − {pair[1]}"


def _pairs(comparison: pl.DataFrame, pairs: Sequence[Pair]) -> pl.DataFrame:
    limits = ("lower", "upper") if "lower_band" in comparison.columns else ()
    shares = {"y": "difference", **{name: name for name in limits}}
    points = [(100 * pl.col(name)).round(3).alias(axis) for axis, name in shares.items()]
    return pl.concat(
        pair_rows(comparison, *pair).select("n", *points, "significant", line=pl.lit(_name(pair)))
        for pair in pairs
    )


def _difference_plane(drawn: pl.DataFrame, window: Window, look: Look) -> Plane:
    reach = [drawn[name] for name in ("lower", "upper") if name in drawn.columns]
    y = round_domain([0.0, *drawn["y"], *(value for limit in reach for value in limit)],
                     low=window.y_min, high=window.y_max)  # fmt: skip
    return Plane(n_range(drawn), y, look, "difference in precision (points)", zooms=True)


def _mark_points(rows: pl.DataFrame, look: Look) -> pl.DataFrame:
    marks = rows.filter("significant")
    first, last = rows.select(first=pl.col("n").min(), last=pl.col("n").max()).row(0)
    gap = NEAREST_DIFFERENCE * (last - first) / look.width
    parts = [
        part.filter(pl.col("n").is_in(keep_apart(part["n"], gap=gap)))
        for part in marks.partition_by("line", maintain_order=True)
    ]
    return pl.concat([marks.clear(), *parts])


def _hover(drawn: pl.DataFrame, names: Sequence[str], plane: Plane) -> list[Layer]:
    texts = [
        "no judged candidate" if y is None else f"{y:+.2f}{' *' if star else ''}"
        for y, star in drawn.select("y", "significant").iter_rows()
    ]
    return spec.hover(drawn.with_columns(text=pl.Series(texts)), names, plane)


# Lines that cover each other


def dash_covered_lines(
    stroke_of: Mapping[str, Stroke], drawn: pl.DataFrame, plane: Plane
) -> dict[str, Stroke]:
    """Dash each line that lies on an earlier one of the same kind, so that both are seen.

    Parameters
    ----------
    stroke_of : mapping of str to Stroke
        Line to its colour and dashes; a later one is drawn over an earlier one.
    drawn : DataFrame
        line, n, y.
    plane : Plane
        Says how far a difference of y is in pixels.
    """
    near = NEAR * (plane.y[1] - plane.y[0]) / plane.look.height
    paths = by_line(drawn.select("line", "n", "y").drop_nulls(), stroke_of)
    strokes: dict[str, Stroke] = {}
    for name, stroke in stroke_of.items():
        below = (
            other for other, its in strokes.items()
            if (its.dash, its.width) == (stroke.dash, stroke.width)
        )  # fmt: skip
        hides = any(_cover(paths[name], paths[other], near) for other in below)
        strokes[name] = (
            _distinct(stroke, [*stroke_of.values(), *strokes.values()]) if hides else stroke
        )
    return strokes


def _distinct(stroke: Stroke, others: Collection[Stroke]) -> Stroke:
    """Return the stroke with a dash that distinguishes it from all others."""
    dashed = (replace(stroke, dash=dash) for dash in COVERING_DASHES)
    return next((each for each in dashed if each not in others), stroke)


def _cover(upper: pl.DataFrame, lower: pl.DataFrame, near: float) -> bool:
    both = upper.join(lower, on="n", suffix="_lower")
    close = both.filter((pl.col("y") - pl.col("y_lower")).abs() <= near).height
    return both.height > 0 and close >= MOSTLY * both.height


# Unranked sets in a graph of curves: a dot with its interval


class _Box(NamedTuple):
    """A piece of the area that is taken."""

    left: float
    top: float
    right: float
    bottom: float


def subset_dots(subsets: pl.DataFrame, drawn: pl.DataFrame, plane: Plane) -> list[Layer]:
    """Return a dot with its interval and its name for each subset, at its size.

    Parameters
    ----------
    subsets : DataFrame
        subset, n, precision, lower, upper; sets without a precision are omitted.
    drawn : DataFrame
        n and y of the curves: names stand where they hide the least of them.
    plane : Plane
        The plotting area; sets outside its range of n are omitted.
    """
    inside = pl.col("n").is_between(*plane.x) & pl.col("precision").is_not_null()
    shares = [(100 * pl.col(name)).round(3).alias(name) for name in ("precision", "lower", "upper")]
    rows = subsets.filter(inside).select("subset", "n", *shares).sort("n", "subset")
    per_cents = (
        number_tooltip(name, f"{name} (%)", ".2f") for name in ("precision", "lower", "upper")
    )
    tips = [text_tooltip("subset", "set"), number_tooltip("n", "size", ",d"), *per_cents]
    whisker = {
        "x": plane.x_axis(), "y": plane.y_axis("lower"), "y2": end_at("upper"), "tooltip": tips,
        "opacity": opacity(hidden=[NONE]),
    }  # fmt: skip
    dot = {"x": plane.x_axis(), "y": plane.y_axis("precision"), "tooltip": tips}
    shape: dict[str, Any] = {"shape": "diamond", "size": 70, "filled": True, "opacity": 1}
    return [
        layer(rows, "rule", whisker, clip=True, color=INK, strokeWidth=1.2),
        layer(rows, "point", dot, clip=True, color=INK, **shape),
        *_subset_names(rows, drawn, plane),
    ]


def _subset_names(rows: pl.DataFrame, drawn: pl.DataFrame, plane: Plane) -> list[Layer]:
    """Put each name near its interval, where it meets no other and hides little of the curves."""
    ends = [
        (name, plane.x_pixel(n), plane.y_pixel(upper), plane.y_pixel(lower))
        for name, n, upper, lower in rows.select("subset", "n", "upper", "lower").iter_rows()
    ]
    curves = [
        (plane.x_pixel(n), plane.y_pixel(y))
        for n, y in drawn.select("n", "y").drop_nulls().iter_rows()
    ]
    boxes = [_Box(x - 3, top - 2, x + 3, bottom + 2) for _, x, top, bottom in ends]
    positions: list[tuple[str, float, float]] = []
    for name, x, top, bottom in ends:
        tries = _candidate_boxes(WIDE * len(name), x, top, bottom, plane)
        free = [box for box in tries if not any(_overlap(box, other) for other in boxes)]
        # Among equals the first, which is the nearest.
        box = min(free or tries, key=lambda box: sum(_inside(point, box) for point in curves))
        boxes.append(box)
        positions.append((name, (box.left + box.right) / 2, (box.top + box.bottom) / 2))
    channel = opacity(hidden=[ZOOMED])
    around = {"stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
    halo = labels(positions, align="center", channel=channel, name=f"{SILENT}halo", **around)
    return [halo, labels(positions, align="center", channel=channel, name=f"{SILENT}sets")]


def _candidate_boxes(width: float, x: float, top: float, bottom: float, plane: Plane) -> list[_Box]:
    """Return where a name may stand, best first: over its interval, beside its ends, further."""
    top, bottom = max(top, 0.0), min(bottom, float(plane.look.height))
    beside = [
        (middle, y)
        for y in (top + LINE / 2, bottom - LINE / 2)
        for middle in (x + width / 2 + 8, x - width / 2 - 8)
    ]
    up = [(x, top - 10 - LINE * row) for row in range(4)]
    down = [(x, bottom + 10 + LINE * row) for row in range(4)]
    low, high = width / 2, plane.look.width - width / 2
    places = [
        (min(max(at, low), high), y) for at, y in (up[0], *beside, down[0], *up[1:], *down[1:])
    ]
    half = (width / 2, LINE / 2)
    boxes = [_Box(at - half[0], y - half[1], at + half[0], y + half[1]) for at, y in places]
    inside = [box for box in boxes if box.top >= 0 and box.bottom <= plane.look.height]
    return inside or boxes


def _overlap(one: _Box, other: _Box) -> bool:
    beside = one.right <= other.left or other.right <= one.left
    return not beside and one.top < other.bottom and other.top < one.bottom


def _inside(point: tuple[float, float], box: _Box) -> bool:
    return box.left <= point[0] <= box.right and box.top <= point[1] <= box.bottom


# Rows of triangles over a graph: where a pair differs significantly


def mark_rows(
    extras: Extras, window: Window, plane: Plane, stroke_of: Mapping[str, Stroke]
) -> list[list[Layer]]:
    """Return a row per measure of the pair: triangles where it is significantly better.

    No two triangles overlap: one stands for all significant n from it to the next, less
    than its own width away, and none of those n is without one.
    """
    if extras.marks is None or extras.comparison is None:
        return []
    pair = pair_rows(within(extras.comparison, window), *extras.marks)
    sides = zip(extras.marks, better_at(pair), strict=True)
    known = {} if plane.look.style == "print" else stroke_of
    return [
        _row(measure, ns, plane, known.get(measure, Stroke(INK)), up=index == 0)
        for index, (measure, ns) in enumerate(sides)
    ]


def _row(measure: str, ns: list[int], plane: Plane, stroke: Stroke, *, up: bool) -> list[Layer]:
    y, edge = -ROW * (0.7 if up else 1.7), plane.look.width
    inside = (n for n in ns if plane.x[0] <= n <= plane.x[1])
    rows = pl.DataFrame(
        {"n": keep_apart(inside, gap=NEAREST * plane.n_per_pixel)}, schema={"n": pl.Int64}
    )
    title = f"{measure} is significantly better at n"
    fade = opacity(hidden=[outside("n")], faint=[other(measure)])
    marks: dict[str, Channel] = {"x": plane.x_axis(), "y": at(y)}
    tips = [number_tooltip("n", title, ",d")]
    row = _triangles(rows, {**marks, "opacity": fade, "tooltip": tips}, stroke, up=up)
    if plane.look.narrow:
        return [row]
    sample = pl.DataFrame({"x": [edge + (TURN + SAMPLE) / 2]})
    still = _triangles(sample, {"x": pixel("x"), "y": at(y)}, stroke, up=up)
    text = f"{measure} better"
    margin = label_margin([text], edge + LABEL_WIDTH)
    return [row, still, labels([(text, edge + LABEL_WIDTH, y)]), *margin]


def _triangles(frame: pl.DataFrame, channels: dict[str, Any], stroke: Stroke, *, up: bool) -> Layer:
    shape = "triangle-up" if up else "triangle-down"
    how: dict[str, Any] = {"shape": shape, "size": 28, "filled": True, "color": stroke.colour}
    return layer(frame, "point", channels, **how, opacity=1)


# Parts that the graphs of curves share


def fit_height(look: Look, lines: int) -> Look:
    """Return a look that is high enough for the labels of this many lines.

    Examples
    --------
    >>> fit_height(Look(), 7).height, fit_height(Look(), 40).height
    (340, 640)
    """
    return look if look.narrow else replace(look, height=max(look.height, LABEL * lines))


def n_range(drawn: pl.DataFrame) -> tuple[float, float]:
    """Return the domain of n for the rows that are drawn."""
    first, last = drawn.select(first=pl.col("n").min(), last=pl.col("n").max()).row(0)
    return n_domain(first, last)


def y_range(
    drawn: pl.DataFrame, further: Iterable[float | None], extras: Extras, window: Window
) -> tuple[float, float]:
    """Return a round domain from 0 that holds lines, bands and further values in per cent."""
    shaded = drawn.filter(pl.col("line").is_in(list(extras.bands)))
    values = [*drawn["y"], *shaded["lower"], *shaded["upper"], *further]
    if extras.subsets is not None:
        values += [100 * limit for limit in extras.subsets["upper"].drop_nulls()]
    low = 0.0 if window.y_min is None else window.y_min
    return round_domain(values, low=low, high=window.y_max)


def truth_at_n(truth: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Return the true values at the n that are drawn."""
    return truth.join(drawn.select("line", "n"), on=["line", "n"], how="semi").sort("line", "n")


def curves(
    drawn: pl.DataFrame,
    plane: Plane,
    *,
    names: Sequence[str],
    extras: Extras,
    window: Window,
    truth: pl.DataFrame | None = None,
    under: Sequence[Layer] = (),
    ends: Sequence[End] = (),
) -> Spec:
    """Return a graph of curves against n, its layers from the back to the front.

    Parameters
    ----------
    drawn : DataFrame
        line, n, y, lower, upper in per cent; also lower_band, upper_band, the simultaneous ones.
    plane : Plane
        The plotting area.
    names : sequence of str
        The lines, in order.
    extras : Extras
        Bands, cuts, subsets, significance marks.
    window : Window
        Limits the significance marks.
    truth : DataFrame or None
        line, n, y of the curves that are drawn thin.
    under : sequence of Layer
        Layers between bands and lines, for example the baseline.
    ends : sequence of End
        Labels beside those of the lines.
    """
    look = plane.look
    stroke_of = dash_covered_lines(strokes(names, look), drawn, plane)
    tops = mark_rows(extras, window, plane, stroke_of)
    limits = limits_of(drawn)
    texts = [_interval_text(*row) for row in drawn.select("y", "lower", "upper").iter_rows()]
    parts = [
        *(_bands(drawn, extras.bands, plane, stroke_of) if limits else []),
        *under,
        *spec.cut_lines(extras.cuts, plane, above=ROW * len(tops)),
        *([] if truth is None else spec.lines(truth, plane, thin(stroke_of, look))),
        *spec.lines(drawn, plane, stroke_of),
        *end_labels([*line_ends(drawn, stroke_of), *ends], plane),
        *spec.hover(drawn.with_columns(text=pl.Series(texts, dtype=pl.String)), names, plane),
        *(part for row in tops for part in row),
        *([] if extras.subsets is None else subset_dots(extras.subsets, drawn, plane)),
    ]
    more = {each.text: each.stroke for each in ends}
    return layer_chart_with_theme(parts, look, Live(names, stroke_of, more, limits, plane.x))


def limits_of(drawn: pl.DataFrame) -> tuple[Limits, ...]:
    """Return the intervals that the rows have: pointwise ones, simultaneous ones, or none."""
    if drawn["lower"].drop_nulls().is_empty():
        return ()
    if "lower_band" in drawn.columns and drawn["lower_band"].drop_nulls().len():
        return ("none", "pointwise", "simultaneous")
    return ("none", "pointwise")


def _bands(
    drawn: pl.DataFrame, bands: Sequence[str], plane: Plane, stroke_of: Mapping[str, Stroke]
) -> Iterator[Layer]:
    """Yield the bands requested, and those that are only visible for a highlighted line."""
    rows_of = by_line(drawn, stroke_of)
    for name, stroke in stroke_of.items():
        yield from spec.band(rows_of[name], plane, stroke, name, always=name in bands)


def line_ends(drawn: pl.DataFrame, stroke_of: Mapping[str, Stroke]) -> Iterator[End]:
    """Yield the label of each line; none for a line without a value."""
    rows_of = by_line(drawn.select("line", "y"), stroke_of)
    for name, stroke in stroke_of.items():
        path = rows_of[name]["y"].drop_nulls().to_list()
        yield End(name, path, stroke, named=True)


def _interval_text(y: float | None, lower: float | None, upper: float | None) -> str:
    if y is None:
        return "no judged candidate"
    return f"{y:.2f}" if lower is None or upper is None else f"{y:.2f} [{lower:.1f}, {upper:.1f}]"


def _select_rows(
    frame: pl.DataFrame, window: Window, extras: Extras, look: Look
) -> tuple[Sequence[str], pl.DataFrame]:
    """Return the measures, and their rows at the values of n that are drawn."""
    names = window.measures or tuple(sorted(set(frame["measure"])))
    rows = within(frame.filter(pl.col("measure").is_in(list(names))), window)
    return names, thin_by_n(rows, points=look.points, always=extras.cuts)


# Precision of the n-best lists against n


@chart()
def precision_chart(
    precision: pl.DataFrame,
    baseline: pl.DataFrame | None = None,
    *,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
    x_title: str = N_BEST,
) -> Spec:
    """Draw n on x and precision in per cent on y, a line per measure, for one category.

    Parameters
    ----------
    precision : DataFrame
        `schemas.Precision`, one category; or any table with measure, n, precision, lower,
        upper, for example the local precision.
    baseline : DataFrame or None
        `schemas.Baseline`, the row of that category: a line with a dotted interval.
    extras : Extras
        Bands, cuts, true curves, subsets, significance marks.
    window : Window
        Measures, and the range of n and of y.
    look : Look
        Style and size. It gets higher where the labels of many lines need it.
    x_title : str
        The title of the x axis.

    Returns
    -------
    dict
        The specification. Nothing in it is computed but per cents and places.

    Raises
    ------
    ValueError
        If there is no estimate in the window.

    References
    ----------
    Evert & Krenn 2005, Using small random samples for the manual evaluation of
    statistical association measures, section 4, the precision graphs.
    """
    names, rows = _select_rows(precision, window, extras, look)
    drawn = per_cent(rows)
    if drawn["y"].drop_nulls().is_empty():
        raise ValueError(f"no estimate of precision from n = {window.first_n}")
    truth = None if extras.truth is None else truth_at_n(per_cent(extras.truth), drawn)
    true_y = [] if truth is None else [*truth["y"]]
    y = y_range(drawn, [*true_y, *_baseline_limits(baseline)], extras, window)
    size = fit_height(look, len(names) + 1)
    plane = Plane(n_range(drawn), y, size, "precision (%)", x_title, zooms=True)
    return curves(
        drawn, plane, names=names, extras=extras, window=window, truth=truth,
        under=list(baseline_lines(baseline, plane)), ends=list(baseline_end(baseline, plane)),
    )  # fmt: skip


def _baseline_limits(baseline: pl.DataFrame | None) -> list[float]:
    if baseline is None:
        return []
    return [100 * limit for limit in baseline.select("precision", "upper").row(0) if limit]


def baseline_lines(baseline: pl.DataFrame | None, plane: Plane) -> Iterator[Layer]:
    """Yield the line of the baseline, and its limits dotted where they have a width."""
    if baseline is None or baseline["precision"].item() is None:
        return
    value, lower, upper = baseline.select("precision", "lower", "upper").row(0)
    yield level(100 * value, plane, BASELINE)
    if lower < upper:
        for limit in (lower, upper):
            yield level(100 * limit, plane, BASELINE_LIMIT, channel=opacity(hidden=[NONE]))


def baseline_end(baseline: pl.DataFrame | None, plane: Plane) -> Iterator[End]:
    """Yield the label of the baseline, if it is in sight."""
    value = None if baseline is None else baseline["precision"].item()
    if value is not None and plane.y[0] <= 100 * value <= plane.y[1]:
        yield End(f"baseline {100 * value:.2f} %", [100 * value], BASELINE)


# Recall against n, and precision against recall


@chart()
def recall_chart(
    recall: pl.DataFrame,
    *,
    n_candidates: float | None = None,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
) -> Spec:
    """Draw n on x and recall in per cent on y, a line per measure, for one category.

    Parameters
    ----------
    recall : DataFrame
        measure, n, recall, lower, upper, one category.
    n_candidates : float or None
        Size of the data set: a grey line is what a random order would give, n / n_candidates. With
        true positives outside the data set: the size divided by the highest recall.
    extras : Extras
        Bands, cuts, true curves (measure, n, recall), significance marks.
    window : Window
        Measures, and the range of n and of y.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is no estimate in the window.
    """
    names, rows = _select_rows(recall, window, extras, look)
    drawn = per_cent(rows, "recall")
    if drawn["y"].drop_nulls().is_empty():
        raise ValueError(f"no estimate of recall from n = {window.first_n}")
    truth = None if extras.truth is None else truth_at_n(per_cent(extras.truth, "recall"), drawn)
    y = y_range(drawn, [] if truth is None else [*truth["y"]], extras, window)
    plane = Plane(n_range(drawn), y, fit_height(look, len(names) + 1), "recall (%)", zooms=True)
    chance = _random_order(plane, n_candidates)
    ends = [End("random order", chance["y"].to_list(), BASELINE)] if chance.height else []
    under = spec.lines(chance, plane, {"random order": BASELINE}, is_named=False)
    return curves(
        drawn, plane, names=names, extras=extras, window=window, truth=truth, under=under, ends=ends
    )


def _random_order(plane: Plane, n_candidates: float | None) -> pl.DataFrame:
    ends = [] if n_candidates is None else [*plane.x]
    rows = [("random order", n, 100 * n / (n_candidates or 1)) for n in ends]
    return pl.DataFrame(
        rows, schema={"line": pl.String, "n": pl.Float64, "y": pl.Float64}, orient="row"
    )


@chart()
def precision_recall_chart(
    precision: pl.DataFrame,
    baseline: pl.DataFrame | None = None,
    *,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
) -> Spec:
    """Draw recall on x and precision on y, both in per cent; n grows along each line.

    Parameters
    ----------
    precision : DataFrame
        measure, n, precision, recall, one category.
    baseline : DataFrame or None
        `schemas.Baseline`, the row of that category: a line with a dotted interval.
    extras : Extras
        `cuts`: points on the lines at these n. `truth`: thin lines. The rest is not used.
    window : Window
        Measures, and the range of n and of y.
    look : Look
        Style and size.

    Raises
    ------
    ValueError
        If there is no estimate in the window.
    """
    names, rows = _select_rows(precision, window, extras, look)
    drawn = _recall_and_precision(rows)
    if drawn.select("x", "y").drop_nulls().is_empty():
        raise ValueError(f"no estimate of precision and recall from n = {window.first_n}")
    truth = None if extras.truth is None else truth_at_n(_recall_and_precision(extras.truth), drawn)
    frames = [drawn, *([] if truth is None else [truth])]
    plane = _recall_plane(frames, baseline, window, fit_height(look, len(names) + 1))
    stroke_of = dash_covered_lines(strokes(names, look), drawn, plane)
    ends = list(baseline_end(baseline, plane))
    tips = [
        text_tooltip("line", "measure"),
        number_tooltip("n", "n", ",d"),
        number_tooltip("x", "recall (%)", ".2f"),
        number_tooltip("y", "precision (%)", ".2f"),
    ]
    parts = [
        *baseline_lines(baseline, plane),
        *([] if truth is None else _recall_paths(truth, plane, thin(stroke_of, look))),
        *_recall_paths(drawn, plane, stroke_of),
        *_cut_points(drawn.filter(pl.col("n").is_in(extras.cuts)), plane, stroke_of),
        *end_labels([*line_ends(drawn, stroke_of), *ends], plane),
        spec.tooltip_points(drawn.drop_nulls(), plane, tips, size=70, x="x"),
    ]
    more = {each.text: each.stroke for each in ends}
    return layer_chart_with_theme(parts, plane.look, Live(names, stroke_of, more))


def _recall_and_precision(frame: pl.DataFrame) -> pl.DataFrame:
    x, y = ((100 * pl.col(name)).round(3) for name in ("recall", "precision"))
    return frame.select("n", line="measure", x=x, y=y).sort("line", "n")


def _recall_plane(
    frames: Sequence[pl.DataFrame], baseline: pl.DataFrame | None, window: Window, look: Look
) -> Plane:
    limits = [] if baseline is None else [100 * v for v in baseline["upper"].drop_nulls()]
    low = 0.0 if window.y_min is None else window.y_min
    y = round_domain([*limits, *(v for f in frames for v in f["y"])], low=low, high=window.y_max)
    x = round_domain([v for f in frames for v in f["x"]], low=0.0)
    return Plane(x, y, look, "precision (%)", "recall (%)", DECIMAL)


def _recall_paths(
    frame: pl.DataFrame, plane: Plane, stroke_of: Mapping[str, Stroke]
) -> list[Layer]:
    return [
        path(frame.filter(line=name), plane, stroke, channel=opacity(faint=[other(name)]))
        for name, stroke in stroke_of.items()
    ]


def _cut_points(frame: pl.DataFrame, plane: Plane, stroke_of: Mapping[str, Stroke]) -> list[Layer]:
    inside = frame.filter(pl.col("y").is_between(*plane.y))
    x, y = plane.x_axis("x"), plane.y_axis("y")
    return [
        layer(
            inside.filter(line=name).select("x", "y"),
            "point",
            {"x": x, "y": y, "opacity": opacity(faint=[other(name)])},
            size=34, filled=True, color=stroke.colour,
        )
        for name, stroke in stroke_of.items()
    ]  # fmt: skip
