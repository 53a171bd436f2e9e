"""Error rates of judgements, and the lists that they correct."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.nbest.precision import corrected_lists, error_rates, known_rates
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from schemas import Corrected
from schemas.validate import validate

HOW = {"method": "clopper_pearson", "confidence": 0.95}
IDS = [f"c{place}" for place in range(6)]


def judgements(*tp: bool | None, category: str = "TP") -> pl.DataFrame:
    rows = {"category": category, "id": IDS[: len(tp)], "tp": list(tp)}
    return pl.DataFrame(rows, schema_overrides={"tp": pl.Boolean})


def lists(*counts: tuple[int, int], category: str = "TP") -> pl.DataFrame:
    rows = [
        {"category": category, "measure": "mi", "n": 10 * place, "n_sampled": m, "k_sampled": k,
         "precision": k / m if m else None}
        for place, (k, m) in enumerate(counts, 1)
    ]  # fmt: skip
    return pl.DataFrame(rows)


def corrected(frame: pl.DataFrame, rates: pl.DataFrame) -> pl.DataFrame:
    found = corrected_lists(frame, rates, **HOW)  # type: ignore[arg-type]  # options of several types
    validate([found], Corrected, name="corrected")
    return found


def rates_of(judged: pl.DataFrame, truth: pl.DataFrame) -> pl.DataFrame:
    return error_rates(judged, truth, **HOW)  # type: ignore[arg-type]  # options of several types


def test_rates_by_hand() -> None:
    """What either leaves open does not count: 2 of 3 true ones found, 1 of 2 others left out."""
    judged = judgements(True, True, False, True, False, None)
    truth = judgements(True, True, True, False, False, True)
    row = rates_of(judged, truth).row(0, named=True)
    assert (row["n_true"], row["n_false"]) == (3, 2)
    assert (row["sensitivity"], row["specificity"]) == (2 / 3, 0.5)
    limits = clopper_pearson(2, 3)
    assert (row["sensitivity_lower"], row["sensitivity_upper"]) == tuple(map(float, limits))


def test_lists_with_known_rates() -> None:
    frame = lists((3, 10), (0, 0))
    rates = known_rates(frame["category"], {"sensitivity": 0.8, "specificity": 0.9})
    found = corrected(frame, rates)
    assert found["corrected"].to_list() == pytest.approx([2 / 7, None])
    q = np.array(clopper_pearson(3, 10))
    expected = np.clip((q - 0.1) / 0.7, 0, 1).tolist()
    assert found.select("lower_corrected", "upper_corrected").row(0) == pytest.approx(expected)
    assert found.select("lower_corrected", "upper_corrected").row(1) == (0.0, 1.0)


def test_a_category_without_truth_stays_uncorrected() -> None:
    truth = judgements(True, False)
    rates = rates_of(truth, truth)
    frame = pl.concat([lists((3, 10)), lists((3, 10), category="other")])
    found = corrected(frame, rates)
    assert found.select("category", "sensitivity", "corrected", "n_true").rows() == [
        ("TP", 1.0, pytest.approx(0.3), 1), ("other", None, None, None),
    ]  # fmt: skip


def test_no_true_candidate_says_nothing_of_the_sensitivity() -> None:
    truth = judgements(False, False)
    found = corrected(lists((3, 10)), rates_of(truth, truth)).row(0, named=True)
    assert (found["n_true"], found["sensitivity"], found["corrected"]) == (0, None, None)
    assert rates_of(truth.clear(), truth).is_empty()
