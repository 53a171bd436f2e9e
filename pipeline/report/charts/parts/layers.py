"""Layers that the charts are put together from: lines, bands, cuts, hover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import altair as alt
import polars as pl

from pipeline.report.charts.parts.labels import rows
from pipeline.report.charts.parts.pieces import labels, line, over, segments
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.theme import DIGIT, FAINT, INK, Stroke

NEAR = "near"
CUT = Stroke(FAINT, width=1.0)


def lines(frame: pl.DataFrame, plane: Plane, strokes: Mapping[str, Stroke]) -> list[alt.Chart]:
    """Return a line through (n, y) for each `line` of the frame that has a stroke."""
    # Wide lines first: a thin one on top of a wide one is still seen.
    drawn = sorted(strokes.items(), key=lambda item: -item[1].width)
    return [line(frame.filter(line=name), plane, stroke) for name, stroke in drawn]


def band(frame: pl.DataFrame, plane: Plane, stroke: Stroke) -> list[alt.Chart]:
    """Return the shaded area between `lower` and `upper`, with a thin edge."""
    colour = INK if plane.look.style == "print" else stroke.colour
    area = over(frame.select("n", "lower", "upper")).mark_area(
        clip=True, color=colour, opacity=0.13
    )
    shaded = area.encode(x=plane.x_axis(), y=plane.y_axis("lower"), y2=alt.Y2("upper"))
    edge = replace(stroke, width=0.6)
    return [shaded, *(line(frame, plane, edge, y=limit) for limit in ("lower", "upper"))]


def cut_lines(cuts: Sequence[int], plane: Plane, *, above: float) -> list[alt.Chart]:
    """Return vertical lines at `cuts` with their labels, `above` pixels over the area.

    Labels that would overlap go to further rows; there are three.
    """
    shown = {f"{n:,}": plane.x_pixel(n) for n in sorted(set(cuts)) if plane.x[0] <= n <= plane.x[1]}
    places = rows(list(shown.values()), [len(text) * DIGIT + 4 for text in shown])
    foot, top = float(plane.look.height), -above - 2
    texts = [
        (text, x, -above - 11 - 13 * row)
        for (text, x), row in zip(shown.items(), places, strict=True)
        if row is not None
    ]
    rules = [(x, top, x, foot) for x in shown.values()]
    return [segments(rules, CUT), labels(texts, align="center")]


def hover(frame: pl.DataFrame, names: Sequence[str], plane: Plane) -> list[alt.Chart]:
    """Return a grey line that follows the mouse from n to n and tells the values there.

    Parameters
    ----------
    frame : DataFrame
        n, line, and `said`, the text that the tooltip gives.
    names : sequence of str
        The lines, in the tooltip's order.
    plane : Plane
        The plotting area.
    """
    # A name of a measure may hold dots and brackets, which Vega reads as paths.
    keys = {name: f"m{index}" for index, name in enumerate(names)}
    long = frame.select("n", "said", key=pl.col("line").replace_strict(keys))
    wide = long.pivot("key", index="n", values="said", aggregate_function="first").sort("n")
    shown = [alt.Tooltip("n", type="quantitative", format=",d", title="n")]
    for name, key in keys.items():
        if key in wide.columns:
            shown.append(alt.Tooltip(key, type="nominal", title=_plain(name)))
    seen = over(wide.select("n")).mark_rule(color=INK, strokeWidth=1)
    # Vega's own search for the nearest point loses the text of tooltips: instead the mouse
    # meets invisible lines, wide enough to leave no gap between them.
    gap = float(wide["n"].diff().max() or 1) / plane.n_per_pixel  # type: ignore[arg-type]  # a column of numbers
    met = over(wide).mark_rule(opacity=0, strokeWidth=max(2.0, round(gap + 1, 1)))
    near = alt.selection_point(
        name=NEAR, fields=["n"], on="pointerover", clear="pointerout", empty=False
    )
    shade = alt.condition(near, alt.value(0.7), alt.value(0.0))
    return [
        seen.encode(x=plane.x_axis(), opacity=shade),
        met.encode(x=plane.x_axis(), tooltip=shown).add_params(near).properties(name="hover"),
    ]


def _plain(name: str) -> str:
    """Return a name without what would end the string that Vega-Lite puts it into."""
    return "".join(c if c.isprintable() and c not in '\\"' else " " for c in name)
