"""What the sections are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pipeline.findings.stage import StageView
from pipeline.report.view import VIEWS


def headings(stages: Sequence[StageView]) -> list[str]:
    """Return a heading for each stage, for people; equal ones get the stages' names beside them.

    Parameters
    ----------
    stages : sequence of StageView
        Of kinds that have a view.
    """
    titles = [VIEWS.get(stage.use).title_of(stage) for stage in stages]
    often = Counter(titles)
    return [
        f"{title} ({stage.name})" if often[title] > 1 and title != stage.name else title
        for title, stage in zip(titles, stages, strict=True)
    ]
