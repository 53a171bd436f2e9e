"""The view of shares: types and tokens of each class, and how far the frequent types reach."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report import charts
from pipeline.report.charts import Look, Style
from pipeline.report.view import Block, Figure, Listing, StageView, Text, ViewOptions, view

_ALL, _SAID = "*", "all"
"""All items together, as the tables call them, and as the figures do."""
_MOST_ROWS = 20


class SharesView(ViewOptions):
    """What the shares show."""

    classes: int = 6
    """How many of the largest classes have a line in the graph of frequent types."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.shares", options=SharesView)
def show_shares(stage: StageView, options: SharesView) -> Sequence[Block]:
    """Show the shares of classes, a picture of them, and the graph of frequent types."""
    shares = stage.table("shares").collect()
    classes = shares.filter(pl.col("gold") != _ALL).sort("tokens", "gold", descending=[True, False])
    if classes.is_empty():
        return [Text("There are no tokens.")]
    caption = "Types and tokens of each class; a type of several classes counts in each."
    percent = ("share_types", "share_tokens")
    listing = Listing("shares", caption, pl.concat([classes, shares.filter(gold=_ALL)]), percent)
    return [listing, _classes(classes, options), _growth(stage, classes, options)]


def _classes(classes: pl.DataFrame, options: SharesView) -> Figure:
    kinds = ("share of types", "share of tokens")
    frame = classes.head(_MOST_ROWS).select(
        pl.col("gold").alias("name"), pl.col("share_types").alias(kinds[0]),
        pl.col("share_tokens").alias(kinds[1]),
    )  # fmt: skip
    chart = charts.dot_plot(
        frame, frame["name"].to_list(), title="share", kinds=kinds, look=Look(style=options.style)
    )
    caption = "Share of each class in all types and in all tokens, by number of tokens."
    return Figure("classes", caption, chart)


def _growth(stage: StageView, classes: pl.DataFrame, options: SharesView) -> Figure:
    names = [_ALL, *classes["gold"].head(options.classes)]
    frame = stage.table("frequent").filter(pl.col("gold").is_in(names)).sort("gold", "k").collect()
    called = pl.col("gold").replace(_ALL, _SAID)
    chart = charts.growth(
        frame.select("k", pl.col("share_tokens").alias("share"), name=called),
        [_SAID if name == _ALL else name for name in names],
        x_title="k most frequent types", y_title="share of tokens",
        look=Look(style=options.style, width=480),
    )  # fmt: skip
    caption = (
        "Share of the tokens that the k most frequent types hold: of all tokens, and within the "
        "largest classes. Where few types hold most tokens, token-level scores tell of few words."
    )
    return Figure("frequent", caption, chart)
