"""A view of one's own."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.report.view import Block, Listing, StageView, Text, ViewOptions, view


class RareView(ViewOptions):
    """What is shown of rare candidates."""

    rows: int = 3
    """How many of them."""


@view("filter.rare", options=RareView)
def show_rare(stage: StageView, options: RareView) -> Sequence[Block]:
    """Say how rare they are and list a few."""
    frame = stage.table("candidates").sort("f", "id").head(options.rows).collect()
    return [Text("These are rare indeed."), Listing("rare", "Rare candidates.", frame)]
