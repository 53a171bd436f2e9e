"""Curves against n: what the graphs of precision, recall and local precision share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.coincide import uncovered
from pipeline.report.charts.parts.dots import subset_dots
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import Limits, Live
from pipeline.report.charts.parts.marks import ROW, mark_rows
from pipeline.report.charts.parts.options import Extras, Look, Window
from pipeline.report.charts.parts.plane import Plane, n_domain, round_domain
from pipeline.report.charts.parts.prepare import by_line
from pipeline.report.charts.parts.spec import Layer, Spec
from pipeline.report.charts.parts.strokes import Stroke, strokes, thin
from pipeline.report.charts.parts.theme import themed

LABEL = 16
"""Height that a label at the end of a line takes; pixels."""


def roomy(look: Look, lines: int) -> Look:
    """Return a look that is high enough for the labels of so many lines.

    Examples
    --------
    >>> roomy(Look(), 7).height, roomy(Look(), 40).height
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


def at_same(truth: pl.DataFrame | None, drawn: pl.DataFrame) -> pl.DataFrame | None:
    """Return the true values at the n that are drawn."""
    if truth is None:
        return None
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
        What lies between bands and lines, such as the baseline.
    ends : sequence of End
        Labels beside those of the lines.
    """
    look = plane.look
    stroke_of = uncovered(strokes(names, look), drawn, plane)
    tops = mark_rows(extras, window, plane, stroke_of)
    limits = limits_of(drawn)
    parts = [
        *(_bands(drawn, extras.bands, plane, stroke_of) if limits else []),
        *under,
        *layers.cut_lines(extras.cuts, plane, above=ROW * len(tops)),
        *([] if truth is None else layers.lines(truth, plane, thin(stroke_of, look))),
        *layers.lines(drawn, plane, stroke_of),
        *end_labels([*line_ends(drawn, stroke_of), *ends], plane),
        *layers.hover(_told(drawn), names, plane),
        *(part for row in tops for part in row),
        *([] if extras.subsets is None else subset_dots(extras.subsets, drawn, plane)),
    ]
    more = {each.text: each.stroke for each in ends}
    return themed(parts, look, Live(names, stroke_of, more, limits, plane.x))


def limits_of(drawn: pl.DataFrame) -> tuple[Limits, ...]:
    """Return the intervals that the rows have: pointwise ones, simultaneous ones, or none."""
    if drawn["lower"].drop_nulls().is_empty():
        return ()
    if "lower_band" in drawn.columns and drawn["lower_band"].drop_nulls().len():
        return ("none", "pointwise", "simultaneous")
    return ("none", "pointwise")


def _bands(
    drawn: pl.DataFrame, bands: Sequence[str], plane: Plane, given: Mapping[str, Stroke]
) -> Iterator[Layer]:
    """Yield the bands that are asked for, and those that are seen of a highlighted line alone."""
    rows_of = by_line(drawn, given)
    for measure, stroke in given.items():
        mine = rows_of[measure]
        yield from layers.band(mine, plane, stroke, measure, always=measure in bands)


def line_ends(drawn: pl.DataFrame, given: Mapping[str, Stroke]) -> Iterator[End]:
    """Yield the label of each line; none for a line without a value."""
    rows_of = by_line(drawn.select("line", "y"), given)
    for name, stroke in given.items():
        path = rows_of[name]["y"].drop_nulls().to_list()
        yield End(name, path, stroke, named=True)


def _told(drawn: pl.DataFrame) -> pl.DataFrame:
    return drawn.with_columns(
        said=pl.Series([_said(*row) for row in _values(drawn)], dtype=pl.String)
    )


def _values(drawn: pl.DataFrame) -> Iterable[tuple[float | None, ...]]:
    return drawn.select("y", "lower", "upper").iter_rows()


def _said(y: float | None, lower: float | None, upper: float | None) -> str:
    if y is None:
        return "no judged candidate"
    return f"{y:.2f}" if lower is None or upper is None else f"{y:.2f} [{lower:.1f}, {upper:.1f}]"
