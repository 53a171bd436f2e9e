"""A view of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.findings.base import StageView
from pipeline.report.charts import CHARTS
from pipeline.report.view import Block, Figure, Listing, Text, ViewOptions, view


class RareView(ViewOptions):
    """Options of the view of rare candidates."""

    rows: int = 3
    """How many of them."""


@view("filter.rare", options=RareView)
def show_rare(stage: StageView, options: RareView) -> Sequence[Block]:
    """State how rare they are, list a few and draw them."""
    frame = stage.table("candidates").sort("f", "id").head(options.rows).collect()
    figure = Figure("rare-dots", "Rare candidates.", CHARTS.get("rare_dots")(frame))
    return [Text("These are rare indeed."), Listing("rare", "Rare candidates.", frame), figure]
