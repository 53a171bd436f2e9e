"""What is said of estimates from a designed sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from pipeline.findings.base import StageView
from pipeline.findings.collocations.designed import equivalent_labels
from pipeline.findings.phrases import Band, over_range
from schemas import (
    BestMeasures,
    DesignedBaseline,
    DesignedDifferences,
    DesignedPrecision,
    DifferenceBands,
)
from tests.findings.stages import found, stage, table, texts

SHARES = {"t_score": 0.3, "mi": 0.18, "dice": 0.28}
COUNTS = {"n_sampled": 40, "k_sampled": 12, "certain": 0, "unjudged": 0, "tau": 0.0, "n_eff": 44.0}


def lists(n: int) -> pl.DataFrame:
    rows = [
        {"category": "TP", "measure": name, "n": n, "precision": p, "lower": p - 0.05,
         "upper": p + 0.05, "variance": 0.001, **COUNTS}
        for name, p in SHARES.items()
    ]  # fmt: skip
    return table(DesignedPrecision, rows)


def pair(one: str, other: str, gap: float, p: float, **more: Any) -> dict[str, Any]:
    return {
        "category": "TP", "measure_1": one, "measure_2": other, "n": 100, "size": 60,
        "difference": gap, "lower": gap - 0.04, "upper": gap + 0.04, "p_value": p / 3,
        "p_adjusted": p, "significant": p < 0.05, **more,
    }  # fmt: skip


TESTS = [pair("dice", "mi", 0.1, 0.02), pair("dice", "t_score", -0.02, 1.0),
         pair("mi", "t_score", -0.12, 0.003)]  # fmt: skip
BEST = [
    {"category": "TP", "n": 100, "measure": "t_score", "best": True, "best_measure": "t_score",
     "precision": 0.3},
    {"category": "TP", "n": 100, "measure": "dice", "best": False, "best_measure": "t_score",
     "precision": 0.28, "difference": -0.02, "p_adjusted": 1.0},
]  # fmt: skip
BASE = {"category": "TP", "precision": 0.111, "lower": 0.09, "upper": 0.14, "n_candidates": 1000,
        "confidence": 0.95, **COUNTS}  # fmt: skip


def designed(
    tests: Sequence[dict[str, Any]] = TESTS, best: Sequence[dict[str, Any]] = BEST
) -> StageView:
    band = [
        {"category": "TP", "measure_1": "t_score", "measure_2": "mi", "n": n, "difference": 0.1,
         "lower_band": 0.01 if n > 52 else -0.01, "upper_band": 0.2, "level": 0.99}
        for n in range(50, 60)
    ]  # fmt: skip
    tables = {
        "cuts": lists(100),
        "differences": table(DesignedDifferences, tests),
        "best": table(BestMeasures, best),
        "baseline": table(DesignedBaseline, [BASE]),
        "difference_bands": table(DifferenceBands, band),
        "designed.sample": pl.DataFrame({"id": [f"x{i}" for i in range(200)]}),
        "ranks.ranks": pl.DataFrame({"id": [f"x{i}" for i in range(1000)]}),
    }
    inputs = {"sample": "designed.sample", "ranks": "ranks.ranks"}
    return stage("evaluate.designed", tables, inputs=inputs)


def test_the_best_those_not_told_apart_and_those_that_are_worse() -> None:
    assert texts("designed_lists", designed()) == [
        "Best for 100 candidates: t-score, 30.0 % true positives [25.0, 35.0].",
        "Dice (28.0 %) cannot be told apart from it.",
        "MI is worse (−12.0 points, adjusted p = .003).",
    ]


def test_declared_pairs_where_not_all_are_compared() -> None:
    first, *said = texts("designed_lists", designed(TESTS[2:], ()))
    assert first.startswith("Highest estimate for 100 candidates: t-score")
    assert said == [
        (
            "MI is worse than t-score (−12.0 points, adjusted p = .003); "
            "limits of the difference [−16.0, −8.0]."
        )
    ]


def test_ranges_by_the_band() -> None:
    assert texts("designed_ranges", designed()) == [
        "t-score is better than MI at n = 53 to 59 (all n from 50 to 59 at once, at 95 %).",
    ]


def test_a_band_without_a_verdict_and_with_many() -> None:
    none = Band([1, 2], [-0.1, 0.0], [0.1, 0.2])
    assert "cannot be told apart at any n" in over_range("a", "b", none, confidence=0.9)
    sides = [0.1, -0.4] * 6
    many = Band(list(range(12)), sides, [side + 0.2 for side in sides])
    said = over_range("a", "b", many, confidence=0.9)
    assert said.startswith("a is better than b at n = 0, 2, 4 and in 3 shorter ranges, b is better")


def test_the_baseline_and_what_the_labels_are_worth() -> None:
    baseline, labels = found("designed_worth", designed())
    assert baseline.text == "Baseline 11.1 % [9.0, 14.0]."
    assert "200 labels of 1,000 candidates" in labels.text
    # .28 * .72 / (100 * .001 + .28 * .72), the median of the three
    assert labels.value == pytest.approx(1000 * 0.2016 / 0.3016)


def test_a_simple_sample_is_worth_itself() -> None:
    """(1 - f) p (1 - p) / (f n) is the variance that its lists have."""
    f, n = 0.2, 500
    shares = pl.Series([0.1, 0.3, 0.5])
    known = pl.DataFrame({"precision": shares, "n": n}).with_columns(
        variance=(1 - f) * shares * (1 - shares) / (f * n)
    )
    assert equivalent_labels(known, candidates=5000) == pytest.approx(1000)
    assert equivalent_labels(known.with_columns(variance=0.0), candidates=5000) is None
