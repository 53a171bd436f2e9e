"""The view of labels that came back on sheets: how many, of whom, and what people noted."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.findings.stage import StageView
from pipeline.report.view import Block, Text, ViewOptions, view
from pipeline.report.views.notes import noted


@view("join.sheets", title="Annotations", place=60)
def show_joined(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show how many labels everybody gave, and the notes."""
    counts = stage.table("annotations").group_by("annotator").len().sort("annotator").collect()
    people = ", ".join(f"{name} {given:,}" for name, given in counts.iter_rows())
    labels = f"Labels by annotator: {people}." if people else "There are no labels yet."
    return [Text(labels), *noted(stage, "l1", "l2", "label")]
