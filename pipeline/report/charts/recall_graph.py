"""Recall of the n-best lists against n, and precision against recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts import layers
from pipeline.report.charts.parts.coincide import uncovered
from pipeline.report.charts.parts.curves import at_same, curves, line_ends, n_range, roomy, y_range
from pipeline.report.charts.parts.ends import End, end_labels
from pipeline.report.charts.parts.live import Live, opacity, other
from pipeline.report.charts.parts.options import PLAIN, SCREEN, WHOLE, Extras, Look, Window
from pipeline.report.charts.parts.pieces import path
from pipeline.report.charts.parts.plane import DECIMAL, Plane, round_domain
from pipeline.report.charts.parts.prepare import at_thinned, per_cent, within
from pipeline.report.charts.parts.spec import LIVE, Layer, Spec, layer, number, words
from pipeline.report.charts.parts.strokes import BASELINE, Stroke, strokes, thin
from pipeline.report.charts.parts.theme import themed
from pipeline.report.charts.precision_graph import baseline_end, baseline_lines


@chart()
def recall_chart(
    recall: pl.DataFrame,
    *,
    n_candidates: int | None = None,
    extras: Extras = PLAIN,
    window: Window = WHOLE,
    look: Look = SCREEN,
) -> Spec:
    """Draw n on x and recall in per cent on y, a line per measure, for one category.

    Parameters
    ----------
    recall : DataFrame
        measure, n, recall, lower, upper, one category.
    n_candidates : int or None
        Size of the data set: a grey line is what a random order would give, n / n_candidates.
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
    names = window.measures or tuple(sorted(set(recall["measure"])))
    held = within(recall.filter(pl.col("measure").is_in(list(names))), window)
    drawn = per_cent(at_thinned(held, points=look.points, always=extras.cuts), "recall")
    if drawn["y"].drop_nulls().is_empty():
        raise ValueError(f"no estimate of recall from n = {window.first_n} on")
    truth = None if extras.truth is None else at_same(per_cent(extras.truth, "recall"), drawn)
    y = y_range(drawn, [] if truth is None else [*truth["y"]], extras, window)
    plane = Plane(n_range(drawn), y, roomy(look, len(names) + 1), "recall (%)", zooms=True)
    chance = _chance(plane, n_candidates)
    ends = [End("random order", chance["y"].to_list(), BASELINE)] if chance.height else []
    under = layers.lines(chance, plane, {"random order": BASELINE}, named=False)
    return curves(
        drawn, plane, names=names, extras=extras, window=window, truth=truth, under=under, ends=ends
    )


def _chance(plane: Plane, n_candidates: int | None) -> pl.DataFrame:
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
    names = window.measures or tuple(sorted(set(precision["measure"])))
    held = within(precision.filter(pl.col("measure").is_in(list(names))), window)
    drawn = _both(at_thinned(held, points=look.points, always=extras.cuts))
    if drawn.select("x", "y").drop_nulls().is_empty():
        raise ValueError(f"no estimate of precision and recall from n = {window.first_n} on")
    truth = None if extras.truth is None else at_same(_both(extras.truth), drawn)
    frames = [drawn, *([] if truth is None else [truth])]
    plane = _plane(frames, baseline, window, roomy(look, len(names) + 1))
    stroke_of = uncovered(strokes(names, look), drawn, plane)
    parts = [
        *baseline_lines(baseline, plane),
        *([] if truth is None else _paths(truth, plane, thin(stroke_of, look))),
        *_paths(drawn, plane, stroke_of),
        *(_points(drawn.filter(pl.col("n").is_in(extras.cuts)), plane, stroke_of)),
        *end_labels([*line_ends(drawn, stroke_of), *baseline_end(baseline, plane)], plane),
        _met(drawn, plane),
    ]
    more = {each.text: each.stroke for each in baseline_end(baseline, plane)}
    return themed(parts, plane.look, Live(names, stroke_of, more))


def _both(frame: pl.DataFrame) -> pl.DataFrame:
    x, y = ((100 * pl.col(name)).round(3) for name in ("recall", "precision"))
    return frame.select("n", line="measure", x=x, y=y).sort("line", "n")


def _plane(
    frames: Sequence[pl.DataFrame], baseline: pl.DataFrame | None, window: Window, look: Look
) -> Plane:
    limits = [] if baseline is None else [100 * v for v in baseline["upper"].drop_nulls()]
    low = 0.0 if window.y_min is None else window.y_min
    y = round_domain([*limits, *(v for f in frames for v in f["y"])], low=low, high=window.y_max)
    x = round_domain([v for f in frames for v in f["x"]], low=0.0)
    return Plane(x, y, look, "precision (%)", "recall (%)", DECIMAL)


def _paths(frame: pl.DataFrame, plane: Plane, given: Mapping[str, Stroke]) -> list[Layer]:
    return [
        path(frame.filter(line=name), plane, stroke, seen=opacity(faint=[other(name)]))
        for name, stroke in given.items()
    ]


def _points(frame: pl.DataFrame, plane: Plane, given: Mapping[str, Stroke]) -> list[Layer]:
    inside = frame.filter(pl.col("y").is_between(*plane.y))
    x, y = plane.x_axis("x"), plane.y_axis("y")
    return [
        layer(
            inside.filter(line=name).select("x", "y"),
            "point",
            {"x": x, "y": y, "opacity": opacity(faint=[other(name)])},
            size=34, filled=True, color=stroke.colour,
        )
        for name, stroke in given.items()
    ]  # fmt: skip


def _met(drawn: pl.DataFrame, plane: Plane) -> Layer:
    """Return invisible points that tell what they are when the mouse meets them."""
    shown = [
        words("line", "measure"),
        number("n", "n", ",d"),
        number("x", "recall (%)", ".2f"),
        number("y", "precision (%)", ".2f"),
    ]
    channels = {"x": plane.x_axis("x"), "y": plane.y_axis("y"), "tooltip": shown}
    how = {"clip": True, "size": 70, "filled": True, "opacity": 0}
    return layer(drawn.drop_nulls(), "point", channels, name=f"{LIVE}points", **how)
