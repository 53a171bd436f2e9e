"""The precision graph: precision of the n-best lists of several measures against n."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import altair as alt
import polars as pl

from pipeline.report.charts import layers
from pipeline.report.charts.coincide import uncovered
from pipeline.report.charts.ends import End, end_labels
from pipeline.report.charts.marks import ROW, mark_rows
from pipeline.report.charts.options import PLAIN, SCREEN, WHOLE, Extras, Look, Window
from pipeline.report.charts.pieces import level
from pipeline.report.charts.plane import Plane, n_domain, round_domain
from pipeline.report.charts.prepare import at_thinned, per_cent, within
from pipeline.report.charts.theme import BASELINE, BASELINE_LIMIT, Stroke, dashed, strokes, themed


def precision_chart(
    precision: pl.DataFrame,
    baseline: pl.DataFrame,
    *,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
) -> alt.LayerChart:
    """Draw n on x and precision in per cent on y, a line per measure, for one category.

    Parameters
    ----------
    precision : DataFrame
        `schemas.Precision`, one category.
    baseline : DataFrame
        `schemas.Baseline`, the row of that category: a line with a dotted interval.
    extras : Extras
        Bands, cuts, true curves, significance marks.
    window : Window
        Measures, and the range of n and of y.
    look : Look
        Style and size, and whether the chart answers to the mouse.

    Returns
    -------
    LayerChart
        Nothing in it is computed but per cents and places.

    Raises
    ------
    ValueError
        If there is no estimate in the window.

    References
    ----------
    Evert & Krenn 2005, Using small random samples for the manual evaluation of
    statistical association measures, section 4, the precision graphs.
    """
    names = window.measures or tuple(sorted(set(precision["measure"])))
    held = within(precision.filter(pl.col("measure").is_in(list(names))), window)
    drawn = per_cent(at_thinned(held, points=look.points, always=extras.cuts))
    if drawn["y"].drop_nulls().is_empty():
        raise ValueError(f"no estimate of precision from n = {window.first_n} on")
    truth = None if extras.truth is None else _at_same(per_cent(extras.truth), drawn)
    plane = _plane((drawn, truth, baseline), extras, window, look)
    given = uncovered(strokes(names, look), drawn, plane)
    tops = mark_rows(extras, window, plane, given)
    parts = [
        *_bands(drawn, extras.bands, plane, given),
        *_baseline(baseline, plane),
        *layers.cut_lines(extras.cuts, plane, above=ROW * len(tops)),
        *([] if truth is None else layers.lines(truth, plane, dashed(given, look))),
        *layers.lines(drawn, plane, given),
        *end_labels([*_ends(drawn, given), *_baseline_end(baseline, plane)], plane),
        *(part for row in tops for part in row),
        *(_hover(drawn, names, plane) if look.live else []),
    ]
    return themed(parts, look)


def _at_same(truth: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    return truth.join(drawn.select("line", "n"), on=["line", "n"], how="semi").sort("line", "n")


def _plane(
    frames: tuple[pl.DataFrame, pl.DataFrame | None, pl.DataFrame],
    extras: Extras,
    window: Window,
    look: Look,
) -> Plane:
    drawn, truth, baseline = frames
    shaded = drawn.filter(pl.col("line").is_in(list(extras.bands)))
    values = [*drawn["y"], *shaded["lower"], *shaded["upper"]]
    values += [] if truth is None else [*truth["y"]]
    values += [100 * limit for limit in baseline.select("precision", "upper").row(0) if limit]
    low = 0.0 if window.y_min is None else window.y_min
    first, last = drawn.select(first=pl.col("n").min(), last=pl.col("n").max()).row(0)
    y = round_domain(values, low=low, high=window.y_max)
    return Plane(n_domain(first, last), y, look, "precision (%)")


def _bands(
    drawn: pl.DataFrame, bands: Sequence[str], plane: Plane, given: dict[str, Stroke]
) -> Iterator[alt.Chart]:
    for measure in bands:
        yield from layers.band(drawn.filter(line=measure), plane, given[measure])


def _baseline(baseline: pl.DataFrame, plane: Plane) -> Iterator[alt.Chart]:
    value, lower, upper = baseline.select("precision", "lower", "upper").row(0)
    if value is None:
        return
    yield level(100 * value, plane, BASELINE)
    if lower < upper:
        yield level(100 * lower, plane, BASELINE_LIMIT)
        yield level(100 * upper, plane, BASELINE_LIMIT)


def _ends(drawn: pl.DataFrame, given: dict[str, Stroke]) -> Iterator[End]:
    for measure, stroke in given.items():
        path = drawn.filter(line=measure)["y"].drop_nulls().to_list()
        yield End(measure, path, stroke)


def _baseline_end(baseline: pl.DataFrame, plane: Plane) -> Iterator[End]:
    value = baseline["precision"].item()
    if value is not None and plane.y[0] <= 100 * value <= plane.y[1]:
        yield End(f"baseline {100 * value:.2f} %", [100 * value], BASELINE)


def _hover(drawn: pl.DataFrame, names: Sequence[str], plane: Plane) -> list[alt.Chart]:
    said = [
        "no judged candidate" if y is None else f"{y:.2f} [{lower:.1f}, {upper:.1f}]"
        for y, lower, upper in drawn.select("y", "lower", "upper").iter_rows()
    ]
    return layers.hover(drawn.with_columns(said=pl.Series(said)), names, plane)
