"""Layers that the charts are put together from: lines, bands, cuts, hover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from pipeline.report.charts.parts.colours import FAINT, INK
from pipeline.report.charts.parts.labels import rows
from pipeline.report.charts.parts.live import (
    BAND,
    NONE,
    SIMULTANEOUS,
    WIDE_BAND,
    opacity,
    other,
    outside,
    quoted,
)
from pipeline.report.charts.parts.pieces import drawn_as, line
from pipeline.report.charts.parts.plane import Plane
from pipeline.report.charts.parts.prepare import by_line
from pipeline.report.charts.parts.spec import (
    LIVE,
    SILENT,
    Layer,
    at,
    end,
    kinds,
    layer,
    number,
    words,
)
from pipeline.report.charts.parts.strokes import Stroke
from pipeline.report.charts.parts.theme import DIGIT

NEAR = "near"
CUT = Stroke(FAINT, width=1.0)
HOVER = f"{LIVE}hover"
"""The layer that tells the values at an n."""


def lines(
    frame: pl.DataFrame, plane: Plane, strokes: Mapping[str, Stroke], *, named: bool = True
) -> list[Layer]:
    """Return a line through (n, y) for each `line` of the frame that has a stroke.

    If they are `named`, a line is faint while another one is highlighted.
    """
    # Wide lines and whole ones first: a thin or dashed one on top of them is still seen.
    drawn = sorted(strokes.items(), key=lambda item: (-item[1].width, len(item[1].dash) > 2))
    rows_of = by_line(frame, strokes)
    return [
        line(
            rows_of[name],
            plane,
            stroke,
            seen=opacity(faint=[other(name)]) if named else None,
        )
        for name, stroke in drawn
    ]


def band(
    frame: pl.DataFrame, plane: Plane, stroke: Stroke, name: str, *, always: bool
) -> Iterator[Layer]:
    """Yield the shaded area between `lower` and `upper`, with a thin edge.

    A simultaneous band, where the frame has one, lies around it, paler. One that is not `always`
    seen appears with its line, when that is highlighted.
    """
    colour = INK if plane.look.style == "print" else stroke.colour
    mine = f"highlight !== {quoted(name)}"
    away = [other(name)] if always else [mine]
    prefix = "" if always else LIVE
    if frame["lower"].drop_nulls().is_empty():
        return
    pairs = [("lower", "upper", BAND, NONE)]
    if "lower_band" in frame.columns:
        pairs.insert(0, ("lower_band", "upper_band", WIDE_BAND, f"!({SIMULTANEOUS})"))
    for lower, upper, shade, off in pairs:
        channels = {
            "x": plane.x_axis(), "y": plane.y_axis(lower), "y2": end(upper),
            "opacity": opacity(hidden=[off, *away], value=shade),
        }  # fmt: skip
        yield layer(frame, "area", channels, name=prefix + "band" if prefix else "", clip=True,
                    color=colour)  # fmt: skip
    if always:
        edge = replace(stroke, width=0.6)
        seen = opacity(hidden=[NONE], faint=away)
        yield from (line(frame, plane, edge, y=limit, seen=seen) for limit in ("lower", "upper"))


def cut_lines(cuts: Sequence[int], plane: Plane, *, above: float) -> list[Layer]:
    """Return vertical lines at `cuts` with their labels, `above` pixels over the area.

    Labels that would overlap go to further rows; there are three. Lines and labels move with the
    axis, and vanish where they would leave it.
    """
    inside = [n for n in sorted(set(cuts)) if plane.x[0] <= n <= plane.x[1]]
    texts = [f"{n:,}" for n in inside]
    places = rows([plane.x_pixel(n) for n in inside], [len(text) * DIGIT + 4 for text in texts])
    seen = opacity(hidden=[outside("n")])
    n, text = pl.Series("n", inside, pl.Int64), pl.Series("text", texts, pl.String)
    rules = {"x": plane.x_axis(), "y": at(-above - 2), "y2": at(plane.look.height)}
    found = [layer(n.to_frame(), "rule", {**rules, "opacity": seen}, **drawn_as(CUT))]
    for row in sorted({place for place in places if place is not None}):
        held = [place == row for place in places]
        channels = {
            "x": plane.x_axis(), "y": at(-above - 11 - 13 * row), "text": kinds("text"),
            "opacity": seen,
        }  # fmt: skip
        how = {"baseline": "middle", "align": "center", "color": INK}
        frame = pl.DataFrame([n, text]).filter(held)
        found.append(layer(frame, "text", channels, name=f"{SILENT}cuts_{row}", **how))
    return found


def hover(
    frame: pl.DataFrame, names: Sequence[str], plane: Plane, *, first: str = "n", form: str = ",d"
) -> list[Layer]:
    """Return a grey line that follows the mouse from n to n and tells the values there.

    Parameters
    ----------
    frame : DataFrame
        n, line, and `said`, the text that the tooltip gives.
    names : sequence of str
        The lines, in the tooltip's order.
    plane : Plane
        The plotting area.
    first, form : str
        What the tooltip calls n, and how it writes it, as D3 has it.
    """
    # A name of a measure may hold dots and brackets, which Vega reads as paths.
    keys = {name: f"m{index}" for index, name in enumerate(names)}
    long = frame.select("n", "said", key=pl.col("line").replace_strict(keys))
    wide = long.pivot("key", index="n", values="said", aggregate_function="first").sort("n")
    shown = [number("n", first, form)]
    shown += [words(key, name) for name, key in keys.items() if key in wide.columns]
    # Vega's own search for the nearest point loses the text of tooltips: instead the mouse
    # meets invisible lines, wide enough to leave no gap between them.
    gap = float(wide["n"].diff().max() or 1) / plane.n_per_pixel  # type: ignore[arg-type]  # a column of numbers
    whole = f"{plane.x[1] - plane.x[0]:.6g}"
    wider = f"n_zoom === null ? 1 : {whole} / (n_zoom[1] - n_zoom[0])"
    width = {"expr": f"{max(2.0, round(gap + 1, 1))} * ({wider})"}
    select = {"type": "point", "fields": ["n"], "on": "pointerover", "clear": "pointerout"}
    near = {"name": NEAR, "select": select}
    shade = {"condition": {"param": NEAR, "empty": False, "value": 0.7}, "value": 0}
    x = plane.x_axis()
    seen = layer(wide.select("n"), "rule", {"x": x, "opacity": shade}, name=f"{LIVE}line",
                 clip=True, color=INK, strokeWidth=1)  # fmt: skip
    met = layer(wide, "rule", {"x": x, "tooltip": shown}, name=HOVER,
                clip=True, opacity=0, strokeWidth=width)  # fmt: skip
    return [seen, {**met, "params": [near]}]


def met(
    frame: pl.DataFrame, plane: Plane, tips: Sequence[dict[str, object]], *, size: float = 90
) -> Layer:
    """Return points at (n, y) that are not seen, with the values that the mouse asks for."""
    channels = {"x": plane.x_axis(), "y": plane.y_axis("y"), "tooltip": list(tips)}
    how = {"clip": True, "size": size, "filled": True, "opacity": 0}
    return layer(frame, "point", channels, name=f"{LIVE}points", **how)
