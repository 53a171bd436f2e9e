"""Single marks: a line, a triangle, a label, a rule; each over its own data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import polars as pl
import polars.selectors as cs

from pipeline.report.charts.parts.colours import INK
from pipeline.report.charts.parts.live import opacity, others
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.spec import Channel, Layer, amount, kinds, layer, pixel
from pipeline.report.charts.parts.strokes import Stroke

Align: TypeAlias = Literal["left", "center", "right"]


def drawn_as(stroke: Stroke) -> dict[str, Any]:
    """Return the properties of a mark that is drawn with a stroke."""
    return {
        "color": stroke.colour,
        "strokeDash": list(stroke.dash),
        "strokeWidth": stroke.width,
    }


def line(
    frame: pl.DataFrame,
    plane: Plane,
    stroke: Stroke,
    *,
    y: str = "y",
    name: str = "",
    seen: Channel | None = None,
) -> Layer:
    """Return a line through (n, y); a null y breaks it.

    All columns of the frame go in: layers over the same frame share its data.
    """
    how = {"clip": True, "strokeJoin": "round", **drawn_as(stroke)}
    channels = {"x": plane.x_axis(), "y": plane.y_axis(y), "opacity": seen}
    return layer(frame, "line", channels, name=name, **how)


def level(value: float, plane: Plane, stroke: Stroke, *, seen: Channel | None = None) -> Layer:
    """Return a horizontal line at `value`."""
    channels = {"y": plane.y_axis("y"), "opacity": seen}
    return layer(pl.DataFrame({"y": [value]}), "rule", channels, clip=True, **drawn_as(stroke))


def points(
    frame: pl.DataFrame, plane: Plane, stroke: Stroke, *, seen: Channel | None = None
) -> Layer:
    """Return a point at each (n, y)."""
    channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "opacity": seen}
    how: dict[str, Any] = {"clip": True, "size": 22, "filled": True, "color": stroke.colour}
    return layer(frame.select("n", "y"), "point", channels, **how, opacity=1)


def path(
    frame: pl.DataFrame,
    plane: Plane,
    stroke: Stroke,
    *,
    name: str = "",
    seen: Channel | None = None,
) -> Layer:
    """Return a line through (x, y) in the order of n; a null breaks it."""
    channels = {
        "x": plane.x_axis("x"), "y": plane.y_axis("y"), "order": amount("n"), "opacity": seen,
    }  # fmt: skip
    how = {"clip": True, "strokeJoin": "round", **drawn_as(stroke)}
    return layer(frame.select("n", "x", "y"), "line", channels, name=name, **how)


def labels(
    texts: Sequence[tuple[str, float, float]],
    *,
    align: Align = "left",
    seen: Channel | None = None,
    name: str = "",
    **how: Any,
) -> Layer:
    """Return pieces of text, each at x and y given in pixels."""
    frame = _pixels(texts, {"text": pl.String, "x": pl.Float64, "y": pl.Float64})
    channels = {"x": pixel("x"), "y": pixel("y"), "text": kinds("text"), "opacity": seen}
    drawn = {"baseline": "middle", "color": INK, "limit": 260, "align": align, **how}
    return layer(frame, "text", channels, name=name, **drawn)


def names(texts: Sequence[tuple[str, float, float]], *, align: Align = "left", **how: Any) -> Layer:
    """Return labels that are names: when another is highlighted, they are faint."""
    return labels(texts, align=align, seen=opacity(faint=[others("text")]), **how)


def segments(
    lines: Sequence[tuple[float, float, float, float]],
    stroke: Stroke,
    *,
    name: str = "",
    seen: Channel | None = None,
) -> Layer:
    """Return straight lines from (x, y) to (x2, y2) given in pixels: tuples x, y, x2, y2."""
    frame = _pixels(lines, dict.fromkeys(("x", "y", "x2", "y2"), pl.Float64))
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    channels = {"x": pixel("x"), "y": pixel("y"), **ends, "opacity": seen}
    return layer(frame, "rule", channels, name=name, **drawn_as(stroke))


def _pixels(rows: Sequence[tuple[Any, ...]], schema: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(cs.float().round(2))
