"""Which measure is best at each n, and which are not significantly worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from pipeline.report.charts.base import chart
from pipeline.report.charts.parts.colours import AMONG, BEST, GREY, LIGHT, ON_DARK, ON_PALE
from pipeline.report.charts.parts.labels import rows
from pipeline.report.charts.parts.live import Live, opacity, others
from pipeline.report.charts.parts.options import SCREEN, Look
from pipeline.report.charts.parts.pieces import labels, names, segments
from pipeline.report.charts.parts.spec import (
    SILENT,
    Channel,
    Layer,
    Spec,
    end,
    layer,
    number,
    pixel,
    words,
)
from pipeline.report.charts.parts.strokes import Stroke
from pipeline.report.charts.parts.theme import DIGIT, TEXT, themed

ROW = 20.0
NAME_ABOVE = 16.0
"""What a row is higher on a phone, where the name stands above the cells; pixels."""
WIDEST = 72.0
"""The most that a column takes; pixels."""
NUMBER = 34.0
"""The least width of a column whose cells hold numbers."""
DARK, PALE = "#555555", "#d5d5d5"


@chart()
def strip_chart(best: pl.DataFrame, *, look: Look = SCREEN) -> Spec:
    """Draw a row per measure and a column per n: dark where best, pale where not worse.

    Measures that are nowhere among them have no row. The columns are as wide as each other,
    whatever lies between their n. Where there is room, a cell holds the precision in per cent, and
    "?" where it is not known.

    Parameters
    ----------
    best : DataFrame
        `schemas.BestMeasures`, one category.
    look : Look
        Style and largest width; the height follows from the rows.

    Raises
    ------
    ValueError
        If there is no row.
    """
    if best.is_empty():
        raise ValueError("no best measure to draw")
    cuts = sorted(set(best["n"]))
    width = min(WIDEST, look.width / len(cuts))
    order = _order(best)
    above = NAME_ABOVE if look.narrow else 0.0
    row = ROW + above
    placed = _placed(best, order, cuts, width, above=above)
    size = replace(look, width=round(width * len(cuts)), height=round(row * len(order)))
    across = [(0.0, row * (i + 1), float(size.width), row * (i + 1)) for i in range(len(order))]
    left = [(name, -8.0, ROW * (i + 0.5)) for i, name in enumerate(order)]
    inside = [(name, 0.0, row * i + above / 2 + 1) for i, name in enumerate(order)]
    parts = [
        segments(across, Stroke(LIGHT, width=1.0)),
        *(_cells(placed, is_best, look) for is_best in (False, True)),
        *(_numbers(placed, width) if width >= NUMBER else []),
        names(inside) if look.narrow else names(left, align="right"),
        *_heads(cuts, width),
    ]
    return themed(parts, size, Live(order))


def _order(best: pl.DataFrame) -> list[str]:
    """Return the measures: those that are best most often first, then those never worse."""
    counted = best.group_by("measure").agg(pl.col("best").sum(), among=pl.len())
    order = counted.sort("best", "among", "measure", descending=[True, True, False])
    return order["measure"].to_list()


def _placed(
    best: pl.DataFrame, order: Sequence[str], cuts: Sequence[int], width: float, *, above: float
) -> pl.DataFrame:
    gap = 2.0 if width > 8 else 0.0
    row = pl.col("measure").replace_strict({name: i for i, name in enumerate(order)})
    column = pl.col("n").replace_strict({n: i for i, n in enumerate(cuts)})
    x, y = (column * width).round(2), row * (ROW + above) + above
    return best.select(
        "measure", "n", "best", "p_adjusted",
        precision=(100 * pl.col("precision")).round(2),
        difference=(100 * pl.col("difference")).round(2),
        x=x, x2=(x + width - gap).round(2), y=y + 2, y2=y + ROW - 2,
    ).sort("y", "x")  # fmt: skip


def _cells(placed: pl.DataFrame, is_best: bool, look: Look) -> Layer:
    strong, weak = (DARK, PALE) if look.style == "print" else (BEST, AMONG)
    channels = {
        "x": pixel("x"), "x2": end("x2"), "y": pixel("y"), "y2": end("y2"), "tooltip": _tips(),
        "opacity": opacity(faint=[others("measure")]),
    }  # fmt: skip
    mine = placed.filter(best=is_best).drop("best")
    return layer(mine, "rect", channels, color=strong if is_best else weak)


def _tips() -> list[Channel]:
    return [
        words("measure", "measure"),
        number("n", "n", ",d"),
        number("precision", "precision (%)", ".2f"),
        number("difference", "from the best (points)", "+.2f"),
        number("p_adjusted", "adjusted p", ".2~g"),
    ]


def _numbers(placed: pl.DataFrame, width: float) -> list[Layer]:
    def texts(*, is_best: bool) -> list[tuple[str, float, float]]:
        held = placed.filter(best=is_best).select("precision", "x", "y").rows()
        said = [("?" if p is None else f"{p:.1f}", x, y) for p, x, y in held]
        return [(text, x + width / 2 - 1, y + ROW / 2 - 2) for text, x, y in said]

    how: dict[str, Any] = {"fontSize": TEXT - 1, "name": f"{SILENT}numbers"}
    return [
        labels(texts(is_best=False), align="center", color=ON_PALE, **how),
        labels(texts(is_best=True), align="center", color=ON_DARK, **how),
    ]


def _heads(cuts: Sequence[int], width: float) -> list[Layer]:
    """Write the n over the columns: all of them, or as many as there is room for."""
    texts = [(f"{n:,}", (i + 0.5) * width - 1) for i, n in enumerate(cuts)]
    free = rows([x for _, x in texts], [len(text) * DIGIT + 6 for text, _ in texts], most=1)
    held = [(text, x, -10.0) for (text, x), row in zip(texts, free, strict=True) if row is not None]
    ticks = [(x, -3.0, x, 0.0) for _, x, _ in held] if len(held) < len(cuts) else []
    title = ("n", -20.0, -10.0)
    return [labels(held, align="center"), labels([title], align="right"),
            segments(ticks, Stroke(GREY, width=1.0))]  # fmt: skip
