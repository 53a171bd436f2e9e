"""What tells sections of one kind apart."""

from __future__ import annotations

from pipeline.findings.stage import StageView


def named(stage: StageView) -> str:
    """Return the stage's name, for reading.

    Examples
    --------
    >>> named(StageView("gf_quality", "evaluate.lexicon", {}, print))
    'gf quality'
    """
    return stage.name.replace("_", " ")
