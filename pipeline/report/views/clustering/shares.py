"""The view of shares: types and tokens of each class, and how far the frequent types reach."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report import charts
from pipeline.report.blocks import Column, figure, listing
from pipeline.report.page.cells import share
from pipeline.report.view import Block, Figure, Styled, Text, view

_ALL, _SAID = "*", "all"
"""All items together, as the tables call them, and as the figures do."""
_MOST_ROWS = 20
SHARES = (
    *map(Column, ("gold", "types", "tokens")),
    Column("share_types", "types (%)", share),
    Column("share_tokens", "tokens (%)", share),
)


class SharesView(Styled):
    """What the shares show."""

    classes: int = 6
    """How many of the largest classes have a line in the graph of frequent types."""


@view("evaluate.shares", options=SharesView, title="Classes and their shares", place=40)
def show_shares(stage: StageView, options: SharesView) -> Sequence[Block]:
    """Show the shares of classes, a picture of them, and the graph of frequent types."""
    shares = stage.table("shares").collect()
    classes = shares.filter(pl.col("gold") != _ALL).sort("tokens", "gold", descending=[True, False])
    if classes.is_empty():
        return [Text("There are no tokens.")]
    caption = "Types and tokens of each class; a type of several classes counts in each."
    every = pl.concat([classes, shares.filter(gold=_ALL)])
    table = listing("shares", caption, every, SHARES)
    return [table, _classes(classes, options), _growth(stage, classes, options)]


def _classes(classes: pl.DataFrame, options: SharesView) -> Figure:
    kinds = ("share of types", "share of tokens")
    frame = classes.head(_MOST_ROWS).select(
        pl.col("gold").alias("name"), pl.col("share_types").alias(kinds[0]),
        pl.col("share_tokens").alias(kinds[1]),
    )  # fmt: skip
    draw = partial(charts.dot_plot, frame, frame["name"].to_list(), title="share", kinds=kinds)
    caption = "Share of each class in all types and in all tokens, by number of tokens."
    return figure("classes", caption, draw, options.look)


def _growth(stage: StageView, classes: pl.DataFrame, options: SharesView) -> Figure:
    names = [_ALL, *classes["gold"].head(options.classes)]
    frame = stage.table("frequent").filter(pl.col("gold").is_in(names)).sort("gold", "k").collect()
    called = pl.col("gold").replace(_ALL, _SAID)
    draw = partial(
        charts.growth,
        frame.select("k", pl.col("share_tokens").alias("share"), name=called),
        [_SAID if name == _ALL else name for name in names],
        x_title="k most frequent types", y_title="share of tokens",
    )  # fmt: skip
    caption = (
        "Share of the tokens that the k most frequent types hold: of all tokens, and within the "
        "largest classes. Where few types hold most tokens, token-level scores tell of few words."
    )
    return figure("frequent", caption, draw, replace(options.look, width=480))
