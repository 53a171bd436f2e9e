"""The views of what was read: gold entries, clusters, taggings, and what does not count."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING
from pipeline.report.view import Block, Listing, Text, ViewOptions, view
from pipeline.report.views.naming import named


@view("extract.gold", title="Gold classes", place=60)
@view("extract.gold_table", title="Gold classes", place=60)
def show_gold(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how much was read, and what was left out."""
    sizes = stage.table("sizes").collect()
    return [Listing("sizes", "What was read, and what was left out.", _in_order(sizes))]


@view("extract.clusters", title="Induced clusters", of=named, place=62)
@view("extract.tagging", title="Induced clusters", of=named, place=62)
@view("join.tagging", title="Gold tagging", place=60)
def show_clusters(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the same for each run."""
    sizes = stage.table("sizes").collect()
    if sizes.is_empty():
        return [Text("Nothing was read.")]
    caption = "What was read of each run, and what was left out."
    ordered = _in_order(sizes)
    runs = [
        Column("count", run, at=("run", run), absent=NOTHING)
        for run in dict.fromkeys(ordered["run"])
    ]
    columns = [Column("what"), *runs]
    return [listing("sizes", caption, sizes, columns, by=["what"], shown=ordered)]


def _in_order(sizes: pl.DataFrame) -> pl.DataFrame:
    """Put what was read first: all tokens, then what does not count, then what is left."""
    what = pl.col("what")
    place = (
        pl.when(what.is_in(["tokens", "items in the table"])).then(0)
        .when(what == "tokens that count").then(2)
        .when(what.str.starts_with("tokens") | what.str.starts_with("items of")).then(1)
        .otherwise(3)
    )  # fmt: skip
    return sizes.sort(place, "what", *(["run"] if "run" in sizes.columns else []))
