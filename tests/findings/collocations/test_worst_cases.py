"""What is said of draws that nobody judged."""

from __future__ import annotations

from schemas import WorstCase
from tests.findings.stages import found, stage, table, texts

SAME = {"category": "TP", "n_sampled": 40, "k_sampled": 12, "precision": 0.3, "lower": 0.17,
        "upper": 0.47, "lower_if_false": 0.13, "upper_if_false": 0.39, "lower_if_true": 0.29,
        "upper_if_true": 0.58}  # fmt: skip
ROWS = [
    {"measure": "mi", "n": 100, "n_drawn": 42, "n_unjudged": 2, "precision_if_false": 0.286,
     "precision_if_true": 0.333},
    {"measure": "t_score", "n": 500, "n_drawn": 50, "n_unjudged": 10, "precision_if_false": 0.24,
     "precision_if_true": 0.44},
]  # fmt: skip


def test_the_list_that_is_most_open_is_named() -> None:
    made = stage("evaluate.precision", {"worst_case": table(WorstCase, ROWS, **SAME)})
    (said,) = found("worst_cases", made)
    assert said.kind == "caution"
    assert (said.lower, said.upper) == (0.13, 0.58)
    assert said.text == (
        "Unjudged draws in the lists: of the 500 best by t-score, 10 of 50 draws count for nothing; "
        "the precision, estimated at 30.0 %, would be 24.0 % or 44.0 % were they all false or all "
        "true, and [13.0, 58.0] holds whatever they are; 1 other list at the cuts has less open."
    )


def test_nothing_judged_and_nothing_open() -> None:
    none = {**SAME, "precision": None, "n_sampled": 0, "k_sampled": 0}
    made = stage("evaluate.precision", {"worst_case": table(WorstCase, ROWS[:1], **none)})
    (said,) = texts("worst_cases", made)
    assert "estimated at" not in said
    assert "the precision would be 28.6 % or 33.3 %" in said
    nothing = stage("evaluate.precision", {"worst_case": WorstCase.zero_rows().collect()})
    assert texts("worst_cases", nothing) == []
