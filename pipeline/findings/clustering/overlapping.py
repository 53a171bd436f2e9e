"""What measures for overlapping clusters say, where no stage compares the systems."""

from __future__ import annotations

from collections.abc import Iterator

from pipeline.findings.clustering.evidence import is_compared, means
from pipeline.findings.clustering.leading import leaders
from pipeline.findings.clustering.measures import LOWER
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView


@finder(stages=("evaluate.overlapping",), place=20)
def overlapping(stage: StageView) -> Iterator[Finding]:
    """Say which system comes first by BCubed F."""
    if not is_compared(stage):
        yield from leaders(means(stage.table("scores").collect(), LOWER), "overlaps")
