"""Names of samples in headings."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.report.views.collocations.graphs import of_sample
from tests.findings.stages import stage


@pytest.mark.parametrize(
    ("judged", "text"),
    [
        ([True, False, True], "all candidates judged"),
        ([True, None, True], "2 of 3 candidates judged"),
        ([None, None, None], "0 of 3 candidates judged"),
    ],
)
def test_without_a_sample_the_heading_counts_judged_candidates(
    judged: list[bool | None], text: str
) -> None:
    ids = ["a", "b", "c"]
    tables = {
        "ranks": pl.DataFrame({"measure": ["f"] * 3 + ["mi"] * 3, "id": ids * 2}),
        "gold": pl.DataFrame(
            {"category": "TP", "id": ids, "tp": pl.Series(judged, dtype=pl.Boolean)}
        ),
    }
    inputs = {"ranks": "ranks", "judgements": "gold"}
    assert of_sample(stage("evaluate.precision", tables, inputs=inputs)) == text
