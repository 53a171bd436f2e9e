"""What is said of precision corrected for errors of the annotators."""

from __future__ import annotations

from typing import Any

from schemas import Corrected
from tests.findings.stages import stage, table, texts

SAME = {"category": "TP", "n": 100, "n_sampled": 40, "k_sampled": 12, "sensitivity": 0.9,
        "specificity": 0.95, "lower_corrected": 0.14, "upper_corrected": 0.48,
        "confidence": 0.95}  # fmt: skip


def test_the_list_with_the_most_is_named_at_each_size() -> None:
    rows: list[dict[str, Any]] = [
        {"measure": "mi", "precision": 0.2, "corrected": 0.1765},
        {"measure": "t_score", "precision": 0.3, "corrected": 0.2941},
        {"measure": "x", "precision": None, "corrected": None},
        {"measure": "mi", "n": 500, "precision": 0.2, "corrected": 0.1765},
    ]
    made = stage(
        "evaluate.precision", {"corrected": table(Corrected, [{**SAME, **each} for each in rows])}
    )
    first, second = texts("corrected_precision", made)
    assert first == (
        "Corrected for errors of the annotators (sensitivity 90.0 %, specificity 95.0 %): 29.4 % "
        "[14.0, 48.0] true positives for 100 candidates by t-score, 30.0 % as judged."
    )
    assert "500 candidates by MI" in second


def test_nothing_corrected() -> None:
    made = stage("evaluate.precision", {"corrected": Corrected.zero_rows().collect()})
    assert texts("corrected_precision", made) == []
