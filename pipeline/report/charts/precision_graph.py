"""The precision graph: precision of the n-best lists of several measures against n."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.curves import at_same, curves, n_range, roomy, y_range
from pipeline.report.charts.parts.ends import End
from pipeline.report.charts.parts.live import NONE, opacity
from pipeline.report.charts.parts.options import PLAIN, SCREEN, WHOLE, Extras, Look, Window
from pipeline.report.charts.parts.pieces import level
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.prepare import at_thinned, per_cent, within
from pipeline.report.charts.parts.spec import Layer, Spec
from pipeline.report.charts.parts.strokes import BASELINE, BASELINE_LIMIT

N_BEST = "n (size of the n-best list)"


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
        upper, such as the local precision.
    baseline : DataFrame or None
        `schemas.Baseline`, the row of that category: a line with a dotted interval.
    extras : Extras
        Bands, cuts, true curves, subsets, significance marks.
    window : Window
        Measures, and the range of n and of y.
    look : Look
        Style and size. It gets higher where the labels of many lines need it.
    x_title : str
        What n is.

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
    names = window.measures or tuple(sorted(set(precision["measure"])))
    held = within(precision.filter(pl.col("measure").is_in(list(names))), window)
    drawn = per_cent(at_thinned(held, points=look.points, always=extras.cuts))
    if drawn["y"].drop_nulls().is_empty():
        raise ValueError(f"no estimate of precision from n = {window.first_n} on")
    truth = None if extras.truth is None else at_same(per_cent(extras.truth), drawn)
    true_y = [] if truth is None else [*truth["y"]]
    y = y_range(drawn, [*true_y, *_levels(baseline)], extras, window)
    size = roomy(look, len(names) + 1)
    plane = Plane(n_range(drawn), y, size, "precision (%)", x_title, zooms=True)
    return curves(
        drawn, plane, names=names, extras=extras, window=window, truth=truth,
        under=list(baseline_lines(baseline, plane)), ends=list(baseline_end(baseline, plane)),
    )  # fmt: skip


def _levels(baseline: pl.DataFrame | None) -> list[float]:
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
            yield level(100 * limit, plane, BASELINE_LIMIT, seen=opacity(hidden=[NONE]))


def baseline_end(baseline: pl.DataFrame | None, plane: Plane) -> Iterator[End]:
    """Yield the label of the baseline, if it is in sight."""
    value = None if baseline is None else baseline["precision"].item()
    if value is not None and plane.y[0] <= 100 * value <= plane.y[1]:
        yield End(f"baseline {100 * value:.2f} %", [100 * value], BASELINE)
