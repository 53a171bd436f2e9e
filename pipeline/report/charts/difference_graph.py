"""The difference of precision between two measures against n, with its significance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import Live, opacity, other
from pipeline.report.charts.parts.options import PLAIN, SCREEN, WHOLE, Extras, Look, Window
from pipeline.report.charts.parts.pieces import level, points
from pipeline.report.charts.parts.plane import Plane, n_domain, round_domain
from pipeline.report.charts.parts.prepare import at_thinned, by_line, pair_rows, spaced, within
from pipeline.report.charts.parts.spec import Layer, Spec
from pipeline.report.charts.parts.strokes import BASELINE, Stroke, by_place
from pipeline.report.charts.parts.theme import themed

NEAREST = 7.0
"""Smallest distance between two marks of a line; pixels."""

Pair = tuple[str, str]


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
    held = within(_pairs(comparison, pairs), window)
    if held["y"].drop_nulls().is_empty():
        raise ValueError(f"no difference to draw from n = {window.first_n} on")
    marked = _marked(held, look)
    drawn = at_thinned(held, points=look.points, always=[*extras.cuts, *marked["n"]])
    plane = _plane(drawn, window, look)
    names = [_name(pair) for pair in pairs]
    stroke_of = by_place(names, look)
    parts = [
        *_bands(drawn, plane, stroke_of),
        level(0.0, plane, BASELINE),
        *layers.cut_lines(extras.cuts, plane, above=0),
        *layers.lines(drawn, plane, stroke_of),
        *(
            points(marked.filter(line=name), plane, stroke, seen=opacity(faint=[other(name)]))
            for name, stroke in stroke_of.items()
        ),
        *end_labels(list(_ends(drawn, stroke_of)), plane),
        *_hover(drawn, list(stroke_of), plane),
    ]
    return themed(parts, look, Live(names, stroke_of, zoom=plane.x))


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


def _bands(drawn: pl.DataFrame, plane: Plane, given: Mapping[str, Stroke]) -> Iterator[Layer]:
    if "lower" in drawn.columns:
        rows_of = by_line(drawn, given)
        for name, stroke in given.items():
            yield from layers.band(rows_of[name], plane, stroke, name, always=True)


def _plane(drawn: pl.DataFrame, window: Window, look: Look) -> Plane:
    first, last = drawn.select(first=pl.col("n").min(), last=pl.col("n").max()).row(0)
    reach = [drawn[name] for name in ("lower", "upper") if name in drawn.columns]
    y = round_domain([0.0, *drawn["y"], *(value for limit in reach for value in limit)],
                     low=window.y_min, high=window.y_max)  # fmt: skip
    return Plane(n_domain(first, last), y, look, "difference (percentage points)", zooms=True)


def _marked(held: pl.DataFrame, look: Look) -> pl.DataFrame:
    marks = held.filter("significant")
    first, last = held.select(first=pl.col("n").min(), last=pl.col("n").max()).row(0)
    gap = NEAREST * (last - first) / look.width
    kept = [part.filter(pl.col("n").is_in(spaced(part["n"], gap=gap))) for part in _each(marks)]
    return pl.concat([marks.clear(), *kept])


def _each(frame: pl.DataFrame) -> list[pl.DataFrame]:
    return frame.partition_by("line", maintain_order=True)


def _ends(drawn: pl.DataFrame, given: Mapping[str, Stroke]) -> Iterator[End]:
    for name, stroke in given.items():
        path = drawn.filter(line=name)["y"].drop_nulls().to_list()
        yield End(name, path, stroke, named=True)


def _hover(drawn: pl.DataFrame, names: Sequence[str], plane: Plane) -> list[Layer]:
    said = [
        "no judged candidate" if y is None else f"{y:+.2f}{' *' if star else ''}"
        for y, star in drawn.select("y", "significant").iter_rows()
    ]
    return layers.hover(drawn.with_columns(said=pl.Series(said)), names, plane)
