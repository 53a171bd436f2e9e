"""What a comparison of measures says: known tables, and no verdict whatever the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.base import StageView, as_table, gathered
from schemas import (
    BestMeasures,
    CutBaselineComparison,
    CutComparison,
    Findings,
    MeasureDifferences,
)
from tests.findings.stages import found, stage, table, texts
from tests.valid import valid

CANDIDATES = 1000
RANKED = pl.DataFrame({"id": [f"c{rank}" for rank in range(CANDIDATES)]})


def compared(
    best: Mapping[int, Mapping[str, float | None]],
    tests: Mapping[tuple[str, str], tuple[float | None, float | None]] | None = None,
    lists: Mapping[str, tuple[int, int, int, int, float | None]] | None = None,
    *,
    limits: Mapping[tuple[str, str], tuple[float, float]] | None = None,
    category: str = "TP",
    **options: Any,
) -> StageView:
    """Return the stage of a comparison.

    `best` has for each size the measures that are best or not told apart from it, with their
    precision; `tests` the difference and adjusted p of pairs, at every size; `lists` k_1, n_1,
    k_2, n_2 and adjusted p of each list against the baseline; `limits` those of pairs.
    """
    rows = [
        {"category": category, "n": n, "measure": measure, "best": place == 0,
         "best_measure": next(iter(mine)), "precision": precision, "difference": None,
         "p_adjusted": None if place == 0 else 0.5}
        for n, mine in best.items() for place, (measure, precision) in enumerate(mine.items())
    ]  # fmt: skip
    cuts = [
        {"category": category, "measure_1": one, "measure_2": two, "n": n, "size": 50, "n_1": 20,
         "k_1": 10, "n_2": 20, "k_2": 5, "difference": gap, "p_value": p, "significant": False,
         "p_adjusted": p, "correction": "holm"}
        for n in best for (one, two), (gap, p) in (tests or {}).items()
    ]  # fmt: skip
    against = [
        {"category": category, "measure": measure, "n": n, "k_1": k_1, "n_1": n_1, "k_2": k_2,
         "n_2": n_2, "difference": (k_1 / n_1 - k_2 / n_2) if n_1 and n_2 else None, "p_value": p,
         "significant": False, "p_adjusted": p, "correction": "holm"}
        for n in best for measure, (k_1, n_1, k_2, n_2, p) in (lists or {}).items()
    ]  # fmt: skip
    ends = [
        {"category": category, "measure_1": one, "measure_2": two, "n": n, "population": "super",
         "lower": lower, "upper": upper}
        for n in best for (one, two), (lower, upper) in (limits or {}).items()
    ]  # fmt: skip
    tables = {
        "differences": table(MeasureDifferences, ends), "best": table(BestMeasures, rows), "cuts": table(CutComparison, cuts),
        "baseline_cuts": table(CutBaselineComparison, against),
        "ranks.ranks": RANKED,
    }  # fmt: skip
    inputs = {"ranks": "ranks.ranks", "judgements": "judgements.judgements"}
    return stage("evaluate.comparison", tables, name="full", inputs=inputs, **options)


ONE = {500: {"log_likelihood": 0.304, "t_score": 0.302}}
TESTS = {("log_likelihood", "mi"): (0.124, 0.003), ("log_likelihood", "t_score"): (0.002, 0.9)}
LISTS = {"log_likelihood": (152, 500, 48, 500, 0.0001)}


def test_the_best_what_is_not_told_apart_and_what_is_worse() -> None:
    assert texts("best_measures", compared(ONE, TESTS, LISTS)) == [
        "Best for 500 candidates: log-likelihood, 30.4 % true positives [26.4, 34.6].",
        "t-score (30.2 %) cannot be told apart from it.",
        "MI is worse (−12.4 points, adjusted p = .003).",
        "Baseline 20.0 %; the list lies 20.8 points above it (adjusted p < .001).",
    ]


def test_what_is_worse_is_worse_by_how_much() -> None:
    limits = {("log_likelihood", "mi"): (0.081, 0.166)}
    (worse,) = (
        each
        for each in found("best_measures", compared(ONE, TESTS, limits=limits))
        if each.about == "worse"
    )
    assert worse.text == "MI is worse by 12.4 points [8.1, 16.6], adjusted p = .003."
    assert (worse.value, worse.lower, worse.upper) == (-0.124, -0.166, -0.081)


def test_the_direction_of_a_pair_makes_no_difference() -> None:
    turned = {("mi", "log_likelihood"): (-0.124, 0.003)}
    assert texts("best_measures", compared(ONE, turned), "worse") == [
        "MI is worse (−12.4 points, adjusted p = .003)."
    ]


@pytest.mark.parametrize(
    ("difference", "p"),
    [(0.124, 0.05), (0.124, None), (None, 0.001), (-0.124, 0.001), (0.0, 0.001)],
)
def test_nothing_is_worse_without_its_test(difference: float | None, p: float | None) -> None:
    made = compared(ONE, {("log_likelihood", "mi"): (difference, p)}, alpha=0.05)
    assert texts("best_measures", made, "worse") == []


def test_what_counts_among_the_best_is_not_called_worse() -> None:
    close = {("log_likelihood", "t_score"): (0.01, 0.001)}
    assert texts("best_measures", compared(ONE, close, margin=0.05), "worse") == []


def test_one_measure_has_nothing_beside_it() -> None:
    said = texts("best_measures", compared({100: {"mi": 0.5}}, None, {"mi": (5, 10, 1, 10, None)}))
    assert said == [
        "Best for 100 candidates: MI, 50.0 % true positives [18.7, 81.3].",
        "Baseline 30.0 %.",
    ]


def test_no_row_and_no_precision_say_nothing() -> None:
    assert found("best_measures", compared({})) == []
    assert found("best_measures", compared({100: {"mi": None}})) == []


def test_several_sizes_have_the_measures_that_hold_throughout() -> None:
    (said,) = texts(
        "best_measures", compared({100: {"mi": 0.5, "dice": 0.4}, 200: {"dice": 0.4}}), "throughout"
    )
    assert said.startswith(
        "Dice: the best measure, or not told apart from it, at all 2 sizes from 100"
    )
    (said,) = texts("best_measures", compared({100: {"mi": 0.5}, 200: {"dice": 0.4}}), "throughout")
    assert said.startswith("No measure is the best, or not told apart from it, at all 2 sizes")


def test_the_judgements_that_it_would_take() -> None:
    sampled = dict.fromkeys(("log_likelihood", "t_score"), (5, 20, 5, 40, 0.2))
    (needed,) = (
        each
        for each in found("best_measures", compared(ONE, TESTS, sampled))
        if each.about == "needed"
    )
    assert needed.value is None or 0 < needed.value < CANDIDATES
    assert "80 %" in needed.text or "all 1,000 candidates" in needed.text


NAMES = st.sampled_from(["mi", "dice", "t_score", "</script>", "שלום"])
P = st.one_of(st.none(), st.floats(0, 1))
GAPS = st.one_of(st.none(), st.floats(-1, 1))
BEST = st.dictionaries(
    st.sampled_from([10, 20]), st.dictionaries(NAMES, st.one_of(st.none(), st.floats(0, 1)), min_size=1, max_size=3)
)  # fmt: skip
PAIRS = st.tuples(NAMES, NAMES).filter(lambda pair: pair[0] < pair[1])
TESTED = st.dictionaries(PAIRS, st.tuples(GAPS, P), max_size=4)
COUNTS = st.builds(
    # All candidates are judged, so that no power is simulated again and again.
    lambda k, n, others, p: (min(k, n), n, others, CANDIDATES, p),
    st.integers(0, 5), st.integers(0, 5), st.integers(0, CANDIDATES), P,
)  # fmt: skip


@given(BEST, TESTED, st.dictionaries(NAMES, COUNTS, max_size=3), st.sampled_from([0.01, 0.05, 0.5]))
def test_whatever_the_tables_no_verdict_without_its_test(
    best: dict[int, dict[str, float | None]],
    tested: dict[tuple[str, str], tuple[float | None, float | None]],
    lists: dict[str, tuple[int, int, int, int, float | None]],
    alpha: float,
) -> None:
    sized = {
        n: dict(sorted(mine.items(), key=lambda row: -(row[1] or -1.0))) for n, mine in best.items()
    }
    made = compared(sized, tested, lists, alpha=alpha)
    table_of = valid(as_table(gathered({"full": made})), Findings)
    least = min((p for gap, p in tested.values() if p is not None and gap), default=1.0)
    for row in table_of.iter_rows(named=True):
        verdict = re.search(r"\b(worse|better|above|below)\b", row["text"])
        if verdict:
            assert row["p_adjusted"] is not None
            assert row["p_adjusted"] < alpha
            assert row["about"] != "worse" or least < alpha
        assert "nan" not in row["text"]
