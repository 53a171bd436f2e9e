"""What is said of average precision."""

from __future__ import annotations

from typing import Any

from schemas import AveragePrecision
from tests.findings.stages import stage, table, texts

SAME = {"category": "TP", "n_candidates": 5102, "n_sampled": 500, "k_sampled": 55,
        "unequal": False, "confidence": 0.95}  # fmt: skip


def rows(**found: tuple[float | None, float, float]) -> list[dict[str, Any]]:
    return [
        {"measure": name, "average_precision": value, "lower": lower, "upper": upper}
        for name, (value, lower, upper) in found.items()
    ]


def said(*given: dict[str, Any], **same: Any) -> list[str]:
    frame = table(AveragePrecision, given, **{**SAME, **same})
    return texts("average_precisions", stage("evaluate.average_precision", {
        "average_precision": frame,
    }))  # fmt: skip


def test_the_highest_comes_with_its_limits_and_what_it_rests_on() -> None:
    first, then = said(*rows(mi=(0.12, 0.1, 0.15), t_score=(0.253, 0.21, 0.3), x=(None, 0, 1)))
    assert first == (
        "Highest average precision: t-score, 25.3 % [21.0, 30.0], inferred from 500 judged of "
        "5,102 candidates."
    )
    assert then == "Then MI 12.0 % [10.0, 15.0]; no test between measures was made."


def test_full_annotation_has_no_limits_and_needs_no_test() -> None:
    found = rows(mi=(0.12, 0.12, 0.12), t_score=(0.25, 0.25, 0.25), dice=(0.25, 0.25, 0.25))
    first, then = said(*found, n_sampled=5102)
    assert first == (
        "Highest average precision: Dice and t-score (tied), 25.0 % of 5,102 candidates, all judged."
    )
    assert then == "Then MI 12.0 %."


def test_nothing_to_say() -> None:
    assert said(*rows(mi=(None, 0.0, 1.0))) == []
    assert said() == []
