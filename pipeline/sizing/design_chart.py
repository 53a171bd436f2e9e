"""The chart of plans for declared questions: how surely the hardest is answered, by labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from pipeline.kernels.planning.drawings import PLANS
from pipeline.sizing.design_words import TITLES
from pipeline.sizing.designs import TOGETHER, Planner, curves

if TYPE_CHECKING:
    from pipeline.report.charts.parts.options import Look

_GRID = 32


def design_spec(given: Planner, table: pl.DataFrame, *, look: Look | None = None) -> dict[str, Any]:
    """Return a line for each plan as a Vega-Lite specification.

    Parameters
    ----------
    given : Planner
        The plans.
    table : DataFrame
        Their table: what all questions need together, in one look, is marked.
    look : Look, optional
        Style and size, see `pipeline.report.charts`.
    """
    from pipeline.report.charts.parts.options import SCREEN  # noqa: PLC0415  takes long
    from pipeline.report.charts.planning_graph import planning_chart  # noqa: PLC0415  takes long

    together = table.filter(question=TOGETHER, looks=1).drop_nulls("labels")
    power = given.target.power is not None
    marked = together.select("plan", "labels", y=pl.col("wanted"))
    return planning_chart(
        _lines(curves(given, _sizes(given, together))), marked=_lines(marked),
        wanted=[100 * given.wanted], x_title="labels", x_format=",.0f", y_title=_y_title(given),
        y_max=100.0 if power else None, look=look or SCREEN,
    )  # fmt: skip


def _y_title(given: Planner) -> str:
    many = "the hardest question" if given.meant.sum() > 1 else "the question"
    if given.target.power is not None:
        return f"power for {many} (%)"
    return f"expected half-width of {many} (percentage points)"


def _sizes(given: Planner, together: pl.DataFrame) -> list[int]:
    """Return sizes up to a little more than any plan needs, closer where lines are steep."""
    most = together["labels"].max()
    last = (
        min(given.candidates, round(1.1 * int(most))) if isinstance(most, int) else 0
    )  # null: never
    last = last or given.candidates
    return sorted({max(1, round(last * ((i + 1) / _GRID) ** 1.5)) for i in range(_GRID)})


def _lines(table: pl.DataFrame) -> pl.DataFrame:
    place = {name: at for at, name in enumerate(PLANS)}
    return table.sort(pl.col("plan").replace_strict(place), "labels").select(
        line=pl.col("plan").replace_strict(TITLES),
        rate=pl.col("labels").cast(pl.Float64),
        y=100.0 * pl.col("y"),
    )
