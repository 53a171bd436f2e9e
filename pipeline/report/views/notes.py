"""What people noted on their sheets, for whoever reads the report."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.findings.stage import StageView
from pipeline.report.blocks import Column, listing
from pipeline.report.view import Listing


def noted(stage: StageView, *shown: str) -> Iterator[Listing]:
    """Yield a listing of all notes of a stage's sheets, if there are any.

    Parameters
    ----------
    stage : StageView
        A stage with the table ``notes``.
    *shown : str
        The columns beside annotator and note: what the row is about, what was answered.
    """
    notes = stage.table("notes").collect().sort("file", "line")
    if notes.height:
        columns = [Column(name) for name in (*shown, "annotator", "note")]
        caption = "What people noted, on rows with an answer and without, in every copy of a sheet."
        yield listing("notes", caption, notes, columns)
