"""Single marks: a line, a triangle, a label, a rule; each over its own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import altair as alt
import polars as pl
import polars.selectors as cs

from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.theme import INK, Stroke

Align: TypeAlias = Literal["left", "center", "right"]


def over(frame: pl.DataFrame) -> alt.Chart:
    """Return an empty chart over a frame of numbers and text.

    The data go in as CSV, which takes a third of the room of a list of objects; there is no
    limit on the rows. An empty cell is a null.
    """
    numbers = {name: "number" for name, dtype in frame.schema.items() if dtype.is_numeric()}
    form = alt.CsvDataFormat(type="csv", parse=numbers)
    return alt.Chart(alt.InlineData(values=frame.write_csv(), format=form))


def line(frame: pl.DataFrame, plane: Plane, stroke: Stroke, *, y: str = "y") -> alt.Chart:
    """Return a line through (n, y); a null y breaks it."""
    mark = over(frame.select("n", y)).mark_line(
        clip=True, strokeJoin="round", color=stroke.colour,
        strokeDash=list(stroke.dash), strokeWidth=stroke.width,
    )  # fmt: skip
    layer: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis(y))
    return layer


def level(value: float, plane: Plane, stroke: Stroke) -> alt.Chart:
    """Return a horizontal line at `value`."""
    mark = over(pl.DataFrame({"y": [value]})).mark_rule(
        color=stroke.colour, strokeDash=list(stroke.dash), strokeWidth=stroke.width, clip=True
    )
    layer: alt.Chart = mark.encode(y=plane.y_axis("y"))
    return layer


def points(frame: pl.DataFrame, plane: Plane, stroke: Stroke) -> alt.Chart:
    """Return a point at each (n, y)."""
    mark = over(frame.select("n", "y")).mark_point(
        clip=True, size=22, filled=True, color=stroke.colour, opacity=1
    )
    layer: alt.Chart = mark.encode(x=plane.x_axis(), y=plane.y_axis("y"))
    return layer


def path(frame: pl.DataFrame, plane: Plane, stroke: Stroke) -> alt.Chart:
    """Return a line through (x, y) in the order of n; a null breaks it."""
    mark = over(frame.select("n", "x", "y")).mark_line(
        clip=True, strokeJoin="round", color=stroke.colour,
        strokeDash=list(stroke.dash), strokeWidth=stroke.width,
    )  # fmt: skip
    order = alt.Order("n", type="quantitative")
    layer: alt.Chart = mark.encode(x=plane.x_axis("x"), y=plane.y_axis("y"), order=order)
    return layer


def labels(
    texts: Sequence[tuple[str, float, float]], *, align: Align = "left", **how: Any
) -> alt.Chart:
    """Return pieces of text, each at x and y given in pixels."""
    frame = _pixels(texts, {"text": pl.String, "x": pl.Float64, "y": pl.Float64})
    drawn = {"baseline": "middle", "color": INK, "limit": 260, **how}
    mark = over(frame).mark_text(align=align, **drawn)
    text = alt.Text("text", type="nominal")
    layer: alt.Chart = mark.encode(x=pixel_x("x"), y=pixel_y("y"), text=text)
    return layer


def segments(lines: Sequence[tuple[float, float, float, float]], stroke: Stroke) -> alt.Chart:
    """Return straight lines from (x, y) to (x2, y2) given in pixels: tuples x, y, x2, y2."""
    mark = over(_pixels(lines, dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64))).mark_rule(
        color=stroke.colour, strokeDash=list(stroke.dash), strokeWidth=stroke.width
    )
    layer: alt.Chart = mark.encode(x=pixel_x("x"), y=pixel_y("y"), x2=alt.X2("x2"), y2=alt.Y2("y2"))
    return layer


def triangles(xs: Sequence[float], stroke: Stroke, *, y: float, up: bool) -> alt.Chart:
    """Return a row of triangles at places given in pixels."""
    shape: Literal["triangle-up", "triangle-down"] = "triangle-up" if up else "triangle-down"
    frame = _pixels([(x, y) for x in xs], {"x": pl.Float64, "y": pl.Float64})
    mark = over(frame).mark_point(shape=shape, size=28, filled=True, color=stroke.colour, opacity=1)
    layer: alt.Chart = mark.encode(x=pixel_x("x"), y=pixel_y("y"))
    return layer


def _pixels(rows: Sequence[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(cs.float().round(2))


def pixel_x(field: str) -> alt.X:
    """Return a channel that takes pixels from the data as they are."""
    return alt.X(field, type="quantitative", scale=None, axis=None)


def pixel_y(field: str) -> alt.Y:
    """Return a channel that takes pixels from the data as they are."""
    return alt.Y(field, type="quantitative", scale=None, axis=None)


def words(field: str, title: str) -> alt.Tooltip:
    """Return a line with the text of a field."""
    return alt.Tooltip(field, type="nominal", title=title)


def number(field: str, title: str, form: str) -> alt.Tooltip:
    """Return a line with the number of a field, in the form that D3 calls so."""
    return alt.Tooltip(field, type="quantitative", title=title, format=form)
