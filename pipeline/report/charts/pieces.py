"""Single marks: a line, a triangle, a label, a rule; each over its own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import altair as alt
import polars as pl

from pipeline.report.charts.plane import Plane
from pipeline.report.charts.theme import INK, Stroke


def over(frame: pl.DataFrame) -> alt.Chart:
    """Return an empty chart over a frame of numbers and text.

    The data go in as CSV, which takes a third of the room of a list of objects; there is no
    limit on the rows. An empty cell is a null.
    """
    numbers = {name: "number" for name, dtype in frame.schema.items() if dtype.is_numeric()}
    form = alt.CsvDataFormat(type="csv", parse=numbers)
    return alt.Chart(alt.InlineData(values=frame.write_csv(), format=form))


def _placed() -> alt.Chart:
    """Return an empty chart for one mark whose place is given in pixels."""
    # Fixed places in the mark rather than in channels: those Altair checks one by one, slowly.
    return alt.Chart(alt.InlineData(values=[{}]), encoding=alt.FacetedEncoding())


def line(frame: pl.DataFrame, plane: Plane, stroke: Stroke, *, y: str = "y") -> alt.Chart:
    """Return a line through (n, y); a null y breaks it."""
    mark = over(frame.select("n", y)).mark_line(
        clip=True, strokeJoin="round", color=stroke.colour,
        strokeDash=list(stroke.dash), strokeWidth=stroke.width,
    )  # fmt: skip
    made: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis(y))
    return made


def level(value: float, plane: Plane, stroke: Stroke) -> alt.Chart:
    """Return a horizontal line at `value`."""
    mark = over(pl.DataFrame({"y": [value]})).mark_rule(
        color=stroke.colour, strokeDash=list(stroke.dash), strokeWidth=stroke.width, clip=True
    )
    made: alt.Chart = mark.encode(y=plane.y_axis("y"))
    return made


def points(frame: pl.DataFrame, plane: Plane, stroke: Stroke) -> alt.Chart:
    """Return a point at each (n, y)."""
    mark = over(frame.select("n", "y")).mark_point(
        clip=True, size=22, filled=True, color=stroke.colour, opacity=1
    )
    made: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis("y"))
    return made


def label(text: str, *, x: float, y: float, align: Literal["left", "center"] = "left") -> alt.Chart:
    """Return a piece of text at a place given in pixels."""
    place = {"x": round(x, 2), "y": round(y, 2)}
    return _placed().mark_text(
        text=text, align=align, baseline="middle", color=INK, limit=260, **place
    )


def segment(stroke: Stroke, *, x: float, x2: float, y: float, y2: float) -> alt.Chart:
    """Return a straight line between two places given in pixels."""
    ends = {"x": round(x, 2), "x2": round(x2, 2), "y": round(y, 2), "y2": round(y2, 2)}
    return _placed().mark_rule(
        color=stroke.colour, strokeDash=list(stroke.dash), strokeWidth=stroke.width, **ends
    )


def triangles(pixels: Sequence[float], stroke: Stroke, *, y: float, up: bool) -> alt.Chart:
    """Return a row of triangles at places given in pixels."""
    shape: Literal["triangle-up", "triangle-down"] = "triangle-up" if up else "triangle-down"
    frame = pl.DataFrame({"x": [round(pixel, 2) for pixel in pixels]}, schema={"x": pl.Float64})
    mark = over(frame).mark_point(
        shape=shape, size=28, filled=True, color=stroke.colour, opacity=1, y=round(y, 2)
    )
    made: alt.Chart = mark.encode(x=alt.X("x", type="quantitative", scale=None, axis=None))
    return made
