"""What a comparison of declared pairs says where no measure leads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.findings.base import StageView
from schemas import BestMeasures, CutComparison, MeasureDifferences
from tests.findings.collocations.test_measures import ONE, TESTS, compared
from tests.findings.stages import found, stage, table, texts

Test = tuple[float | None, float | None]


def of_pairs(tests: Mapping[tuple[str, str], Test], *sizes: int, **options: Any) -> StageView:
    rows = [
        {"category": "TP", "measure_1": one, "measure_2": two, "n": n, "size": 50, "n_1": 20,
         "k_1": 10, "n_2": 20, "k_2": 5, "difference": gap, "p_value": p, "significant": False,
         "p_adjusted": p, "correction": "holm"}
        for n in sizes for (one, two), (gap, p) in tests.items()
    ]  # fmt: skip
    tables: dict[str, pl.DataFrame] = {
        "best": table(BestMeasures, []), "cuts": table(CutComparison, rows),
        "differences": table(MeasureDifferences, []),
    }  # fmt: skip
    return stage("evaluate.comparison", tables, name="some", inputs={}, **options)


def test_each_declared_pair_at_each_size() -> None:
    tests = {
        ("log_likelihood", "t_score"): (0.002, 0.9),
        ("t_score", "mi"): (0.124, 0.003),
        ("mi", "dice"): (-0.02, 0.01),
    }
    said = texts("declared_pairs", of_pairs(tests, 100, 500, margin=0.03))
    assert said[:3] == [
        "For 100 candidates: t-score is better than MI (+12.4 points, adjusted p = .003).",
        "MI and Dice differ by less than the margin of 3.0 points (−2.0 points, adjusted p = .010).",
        "Log-likelihood and t-score cannot be told apart (+0.2 points, adjusted p = .900).",
    ]
    assert said[3].startswith("For 500 candidates: t-score is better")
    assert len(said) == 6


def test_without_a_judged_difference_nothing_is_said() -> None:
    assert found("declared_pairs", of_pairs({("mi", "dice"): (None, None)}, 100)) == []


def test_where_a_measure_leads_its_finding_says_it() -> None:
    assert found("declared_pairs", compared(ONE, TESTS)) == []
