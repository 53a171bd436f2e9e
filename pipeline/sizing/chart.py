"""The chart of a plan: width or power against sampling rate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import altair as alt

    from pipeline.report.charts.parts.options import Look

GRID = 24
"""How many sampling rates a line is drawn through."""


def plan_chart(
    curves: pl.DataFrame, *, asked: pl.DataFrame | None = None, look: Look | None = None
) -> alt.TopLevelMixin:
    """Draw the table of a plan: a line per list size and precision, against the sampling rate.

    Parameters
    ----------
    curves : DataFrame
        From `plan_width`, `plan_comparison` or `plan_pilot`, for as many rates as the lines
        shall go through; `rate_grid` gives some.
    asked : DataFrame, optional
        A second table of the same kind, for the rates or goals that were asked for: its rows
        are marked, its wanted widths or powers drawn as dotted lines.
    look : Look, optional
        Style and size, see `pipeline.report.charts`.

    Returns
    -------
    LayerChart
        Displays in a notebook; ``.save("plan.svg")`` writes it.

    Raises
    ------
    ValueError
        If there is nothing to draw.

    Examples
    --------
    >>> from pipeline.sizing.widths import plan_width
    >>> curves = plan_width(candidates=5102, n=[500, 1000], precisions=[0.3], rates=rate_grid(0.2))
    >>> type(plan_chart(curves)).__name__
    'LayerChart'
    """
    from pipeline.api.charts import as_altair  # noqa: PLC0415  takes long

    return as_altair(plan_spec(curves, asked=asked, look=look))


def plan_spec(
    curves: pl.DataFrame, *, asked: pl.DataFrame | None = None, look: Look | None = None
) -> dict[str, Any]:
    """Return the same as a Vega-Lite specification.

    Raises
    ------
    ValueError
        If there is nothing to draw.
    """
    from pipeline.report.charts.parts.options import SCREEN  # noqa: PLC0415  takes long
    from pipeline.report.charts.planning_graph import planning_chart  # noqa: PLC0415  takes long

    held = _lines(curves)
    marked = None if asked is None else _lines(asked, names_of=curves)
    goals = [] if asked is None else asked["wanted"].drop_nulls().unique().sort().to_list()
    power = "power_1" in curves.columns
    title = "power (%)" if power else "expected width of the interval (percentage points)"
    return planning_chart(
        held, y_title=title, marked=marked, wanted=[100 * goal for goal in goals],
        y_max=100.0 if power else None, look=look or SCREEN,
    )  # fmt: skip


def rate_grid(last: float, *, first: float = 0.0, points: int = GRID) -> list[float]:
    """Return sampling rates after `first`, up to and with `last`; closer where lines are steep.

    Examples
    --------
    >>> rate_grid(0.2, points=4)
    [0.025, 0.070711, 0.129904, 0.2]
    """
    return [round(first + (last - first) * (i / points) ** 1.5, 6) for i in range(1, points + 1)]


def _lines(table: pl.DataFrame, *, names_of: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return line, rate and y in per cent."""
    line = _name(table if names_of is None else names_of)
    y = "width"
    if "power_1" in table.columns:
        # the power is the chance of the right mark: that of the measure that is better
        table = table.with_columns(
            power=pl.when(pl.col("difference") >= 0).then("power_1").otherwise("power_2")
        )
        y = "power"
    return table.select(line.alias("line"), rate=100 * pl.col("rate"), y=100 * pl.col(y))


def _name(table: pl.DataFrame) -> pl.Expr:
    """Return what tells the lines apart: n, or the precision, or both."""
    grouped = pl.col("n").map_elements(lambda n: f"{n:,}", return_dtype=pl.String)
    n = pl.format("n = {}", grouped)
    if "precision" not in table.columns or table["precision"].n_unique() == 1:
        return n
    precision = pl.format("p = {} %", (100 * pl.col("precision")).round(2))
    return precision if table["n"].n_unique() == 1 else pl.format("{}, {}", n, precision)
