"""Findings on precision: average precision, corrections, highest estimates, looks, cautions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from pipeline.findings.base import StageView
from pipeline.report.view import Fold, Listing, Text
from pipeline.report.views.collocations.comparison import at_any_time
from pipeline.report.views.collocations.graphs import looks_blocks
from schemas import (
    AveragePrecision,
    Baseline,
    BestMeasures,
    CorrectedPrecision,
    CutComparison,
    Looks,
    Precision,
    WorstCase,
)
from tests.findings.stages import findings_of, stage, table, texts

SAME = {"category": "TP", "n_candidates": 5102, "n_sampled": 500, "k_sampled": 55,
        "unequal": False, "confidence": 0.95, "recall": 1.0, "base": "ranked",
        "positives": None}  # fmt: skip


def rows(**estimates: tuple[float | None, float, float]) -> list[dict[str, Any]]:
    return [
        {"measure": name, "average_precision": value, "lower": lower, "upper": upper}
        for name, (value, lower, upper) in estimates.items()
    ]


def average_texts(*entries: dict[str, Any], **same: Any) -> list[str]:
    frame = table(AveragePrecision, entries, **{**SAME, **same})
    return texts("average_precisions", stage("evaluate.average_precision", {
        "average_precision": frame,
    }))  # fmt: skip


def test_the_highest_value_has_its_limits_and_sample_size() -> None:
    first, then = average_texts(
        *rows(mi=(0.12, 0.1, 0.15), t_score=(0.253, 0.21, 0.3), x=(None, 0, 1))
    )
    assert first == (
        "Highest average precision: t-score, 25.3 % [21.0, 30.0], estimated from 500 judged of "
        "5,102 candidates."
    )
    assert then == ("Next: MI 12.0 % [10.0, 15.0]; differences between measures were not tested.")


def test_full_annotation_has_no_limits_and_needs_no_test() -> None:
    result = rows(mi=(0.12, 0.12, 0.12), t_score=(0.25, 0.25, 0.25), dice=(0.25, 0.25, 0.25))
    first, then = average_texts(*result, n_sampled=5102)
    assert first == (
        "Highest average precision: Dice and t-score (tied), 25.0 % (5,102 candidates, all judged)."
    )
    assert then == "Next: MI 12.0 %."


def test_the_finding_states_recall_over_a_list() -> None:
    own = {"n_sampled": 5102, "recall": 0.5, "base": "gold", "positives": 1200}
    (first,) = average_texts(*rows(mi=(0.12, 0.12, 0.12)), **own)
    assert first == (
        "Highest average precision up to a recall of 50 %: MI, 12.0 % (5,102 candidates, all "
        "judged; recall over the 1,200 positives of the list)."
    )


def test_undefined_values_give_no_finding() -> None:
    assert average_texts(*rows(mi=(None, 0.0, 1.0))) == []
    assert average_texts() == []


# Findings on precision corrected for errors of the annotators.

SAME_CORRECTED = {"category": "TP", "n": 100, "n_sampled": 40, "k_sampled": 12, "sensitivity": 0.9,
        "specificity": 0.95, "lower_corrected": 0.14, "upper_corrected": 0.48,
        "confidence": 0.95}  # fmt: skip


def test_the_list_with_most_positives_is_named_at_each_size() -> None:
    rows: list[dict[str, Any]] = [
        {"measure": "mi", "precision": 0.2, "corrected": 0.1765},
        {"measure": "t_score", "precision": 0.3, "corrected": 0.2941},
        {"measure": "x", "precision": None, "corrected": None},
        {"measure": "mi", "n": 500, "precision": 0.2, "corrected": 0.1765},
    ]
    view = stage(
        "evaluate.precision",
        {"corrected": table(CorrectedPrecision, [{**SAME_CORRECTED, **each} for each in rows])},
    )
    first, second = texts("corrected_precision", view)
    assert first == (
        "Corrected for annotator errors (sensitivity 90.0 %, specificity 95.0 %): 29.4 % true positives "
        "[14.0, 48.0] among the top 100 by t-score, compared with 30.0 % as judged."
    )
    assert "top 500 by MI" in second


def test_an_empty_table_of_corrections_gives_no_finding() -> None:
    view = stage("evaluate.precision", {"corrected": CorrectedPrecision.zero_rows().collect()})
    assert texts("corrected_precision", view) == []


# Findings on estimates of precision without tests, and cautions about them.

Lists = Mapping[tuple[str, int], tuple[int, int]]
KNOWN: dict[str, Any] = {
    "category": "TP", "precision": 0.2, "lower": 0.1, "upper": 0.3, "n_sampled": 100,
    "k_sampled": 20, "n_candidates": 1000, "n_drawn": 100, "n_unjudged": 0, "n_undecided": 0,
    "confidence": 0.95, "interval": "clopper_pearson", "sampled": True,
}  # fmt: skip


def precision_stage(
    lists: Lists,
    *,
    categories: Sequence[str] = ("TP",),
    ties: Mapping[tuple[str, int], tuple[int, int]] | None = None,
    **known: Any,
) -> StageView:
    """Return a stage of estimates: k of n judged draws of each list."""
    rows = [
        {"category": category, "measure": measure, "n": n, "n_sampled": drawn, "k_sampled": k,
         "precision": k / drawn if drawn else None, "lower": 0.0, "upper": 1.0,
         "tp_min": (ties or {}).get((measure, n), (k, k))[0],
         "tp_max": (ties or {}).get((measure, n), (k, k))[1]}
        for category in categories for (measure, n), (k, drawn) in lists.items()
    ]  # fmt: skip
    base = [KNOWN | {"category": category} | known for category in categories]
    tables = {"cuts": table(Precision, rows), "baseline": table(Baseline, base)}
    return stage("evaluate.precision", tables, name="sampled", inputs={"ranks": "ranks.ranks"})


def test_estimates_are_listed_from_the_highest() -> None:
    view = precision_stage(
        {("mi", 100): (3, 10), ("dice", 100): (5, 10), ("t_score", 100): (4, 10)}
    )
    assert texts("highest_estimates", view) == [
        "Highest estimate for 100 candidates: Dice, 50.0 % true positives [0.0, 100.0].",
        "Next: t-score 40.0 % and MI 30.0 %; differences between measures were not tested.",
        "The baseline is 20.0 % [10.0, 30.0].",
    ]


def test_the_absence_of_tests_is_stated_once() -> None:
    view = precision_stage({(name, n): (3, 10) for name in ("mi", "dice") for n in (100, 500)})
    assert sum("not tested" in text for text in texts("highest_estimates", view)) == 1


def test_a_list_without_judgements_is_skipped() -> None:
    view = precision_stage({("mi", 100): (0, 0), ("dice", 100): (5, 10)})
    assert [each.name for each in findings_of("highest_estimates", view)][:1] == ["dice"]
    assert texts("highest_estimates", precision_stage({("mi", 100): (0, 0)}), "highest") == []


def test_of_several_categories_each_is_named() -> None:
    view = precision_stage({("mi", 100): (3, 10)}, categories=["figur", "fvg"])
    sentences = texts("highest_estimates", view, "highest")
    assert [text.partition(":")[0] for text in sentences] == [
        "Highest estimate for 100 candidates (figur)",
        "Highest estimate for 100 candidates (fvg)",
    ]


@pytest.mark.parametrize("tested", [False, True])
def test_estimates_are_omitted_if_the_same_judgements_are_tested(tested: bool) -> None:
    row = {"category": "TP", "n": 100, "measure": "mi", "best": True, "best_measure": "mi",
           "precision": 0.3}  # fmt: skip
    best = table(BestMeasures, [row] if tested else [])
    tables = {"best": best, "cuts": table(CutComparison, [])}
    other = stage("evaluate.comparison", tables, name="tests", inputs={"ranks": "ranks.ranks"})
    view = replace(precision_stage({("mi", 100): (3, 10)}), stages={"tests": other})
    assert bool(texts("highest_estimates", view)) != tested


@pytest.mark.parametrize("tested", [False, True])
def test_absent_tests_are_stated_only_if_no_test_was_made(tested: bool) -> None:
    pair = {"category": "TP", "measure_1": "mi", "measure_2": "dice", "n": 100, "size": 50,
            "n_1": 9, "k_1": 3, "n_2": 9, "k_2": 2, "difference": 0.05, "p_value": 0.6,
            "significant": False, "p_adjusted": 0.6, "correction": "holm"}  # fmt: skip
    tables = {
        "best": table(BestMeasures, []), "cuts": table(CutComparison, [pair] if tested else []),
    }  # fmt: skip
    other = stage("evaluate.comparison", tables, name="tests", inputs={"ranks": "ranks.ranks"})
    view = precision_stage({("mi", 100): (3, 10), ("dice", 100): (2, 10)})
    (sentence,) = texts("highest_estimates", replace(view, stages={"tests": other}), "next")
    assert ("differences between measures were not tested" in sentence) != tested


def test_few_judged_draws_of_longer_lists_are_a_caution() -> None:
    view = precision_stage({("mi", 20): (5, 20), ("mi", 100): (3, 9), ("dice", 100): (3, 12),
                      ("mi", 500): (20, 50)})  # fmt: skip
    (text,) = texts("few_draws", view)
    assert text == (
        "Few judged candidates: lists of size 100 have fewer than 30; the list of 100 by MI has 9, and "
        "its interval is 100 points wide."
    )
    assert texts("few_draws", precision_stage({("mi", 20): (5, 20)})) == []


def test_ties_at_a_cut_are_reported_if_they_change_a_list() -> None:
    ties = {("f", 100): (12, 64), ("f", 500): (40, 42), ("mi", 100): (40, 40)}
    view = precision_stage(
        {("f", 100): (40, 58), ("f", 500): (41, 100), ("mi", 100): (40, 100)}, ties=ties
    )
    (text,) = texts("ties_at_the_cut", view)
    assert text == (
        "Ties at the cut: depending on the order of candidates with equal scores, the top 100 by f "
        "contain between 12 and 64 judged true positives; as ranked, 40 of 58 judged candidates; "
        "1 other size is also affected."
    )
    (one,) = findings_of("ties_at_the_cut", view)
    assert (one.lower, one.value, one.upper) == (12, 40, 64)


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ({"n_unjudged": 30}, "Of 130 draws, 30 are unjudged (excluded)"),
        ({"n_undecided": 1}, "Of 101 draws, 1 has conflicting judgements (excluded)"),
        (
            {"n_unjudged": 1, "n_undecided": 2},
            "Of 103 draws, 1 is unjudged and 2 have conflicting judgements (excluded)",
        ),
    ],
)
def test_unjudged_draws_are_reported_with_their_possible_effect(
    lost: dict[str, Any], message: str
) -> None:
    draws = 100 + sum(lost.values())
    view = precision_stage({("mi", 100): (3, 10)}, n_drawn=draws, **lost)
    (text,) = texts("unjudged_draws", view)
    assert text.startswith(message)
    (one,) = findings_of("unjudged_draws", view)
    assert one.lower == pytest.approx(20 / draws)
    assert one.upper == pytest.approx((20 + sum(lost.values())) / draws)
    assert texts("unjudged_draws", precision_stage({("mi", 100): (3, 10)})) == []


def test_empty_tables_give_no_findings() -> None:
    tables = {"cuts": Precision.zero_rows(), "baseline": Baseline.zero_rows()}
    nothing = replace(precision_stage({}), table=lambda name: tables[name])
    for finder in ("highest_estimates", "few_draws", "ties_at_the_cut", "unjudged_draws"):
        assert texts(finder, nothing) == []


# The look that results belong to, in the findings and in the report.


def rows_looks(question: str, now: int, levels: list[float | None]) -> list[dict[str, Any]]:
    return [
        {"category": "TP", "question": question, "look": look, "labels": 20 * look,
         "share": look / len(levels), "level": level, "z": 2.0 if level else None,
         "now": look == now}
        for look, level in enumerate(levels, start=1)
    ]  # fmt: skip


def looks_stage(
    *parts: list[dict[str, Any]], use: str = "evaluate.precision", **config: Any
) -> Any:
    tables = {"looks": table(Looks, [row for part in parts for row in part])}
    return stage(use, tables, **{"looks": (0.1, 0.2), **config})


def test_the_finding_states_the_look_and_its_level() -> None:
    view = looks_stage(rows_looks("all", 2, [0.003, 0.0187, 0.04]))
    assert texts("this_look", view) == [
        (
            "Look 2 of 3, at 40 of 60 planned labels: limits and tests hold simultaneously over "
            "all declared looks, each at a level of 1.9 %."
        )
    ]
    assert findings_of("this_look", view)[0].value == 2.0


def test_levels_of_several_questions_are_a_range() -> None:
    view = looks_stage(rows_looks("a at 9", 1, [0.01, 0.04]), rows_looks("b at 9", 1, [0.02, 0.04]))
    assert texts("this_look", view)[0].endswith("each at a level of 1 to 2 %.")


def test_an_exact_look_has_no_level() -> None:
    view = looks_stage(rows_looks("all", 2, [0.05, None]))
    assert texts("this_look", view) == [
        (
            "Look 2 of 2, at 40 of 40 planned labels: limits and tests hold simultaneously over all "
            "declared looks."
        )
    ]


def test_without_declared_looks_there_is_no_finding() -> None:
    view = looks_stage(looks=())
    assert texts("this_look", view) == []
    assert list(looks_blocks(view)) == []


def test_the_report_has_the_levels_in_a_fold() -> None:
    text, fold = looks_blocks(looks_stage(rows_looks("all", 1, [0.003, None])))
    assert isinstance(text, Text)
    assert text.text.startswith("Look 1 of 2, at 20 of 40 planned labels. Limits")
    assert isinstance(fold, Fold)
    (listing,) = fold.blocks
    assert isinstance(listing, Listing)
    assert isinstance(listing.texts, pl.DataFrame)
    assert listing.texts.rows() == [("1 (now)", "20", "0.3", "2.000"), ("2", "40", "", "")]


def test_anytime_validity_is_stated_in_words() -> None:
    (text,) = looks_blocks(looks_stage(looks=(), anytime=True))
    assert isinstance(text, Text)
    assert "at every size of the sample" in text.text
    message = at_any_time()
    assert "valid at every size of the sample" in message
    assert "Fisher" not in message


# Findings on unjudged draws.

SAME_WORST_CASES = {"category": "TP", "n_sampled": 40, "k_sampled": 12, "precision": 0.3, "lower": 0.17,
        "upper": 0.47, "lower_if_false": 0.13, "upper_if_false": 0.39, "lower_if_true": 0.29,
        "upper_if_true": 0.58}  # fmt: skip
ROWS = [
    {"measure": "mi", "n": 100, "n_drawn": 42, "n_unjudged": 2, "precision_if_false": 0.286,
     "precision_if_true": 0.333},
    {"measure": "t_score", "n": 500, "n_drawn": 50, "n_unjudged": 10, "precision_if_false": 0.24,
     "precision_if_true": 0.44},
]  # fmt: skip


def test_the_list_most_affected_by_unjudged_draws_is_named() -> None:
    view = stage("evaluate.precision", {"worst_case": table(WorstCase, ROWS, **SAME_WORST_CASES)})
    (finding,) = findings_of("worst_cases", view)
    assert finding.kind == "caution"
    assert (finding.lower, finding.upper) == (0.13, 0.58)
    assert finding.text == (
        "Unjudged draws in the lists: of 50 draws in the top 500 by t-score, 10 are unjudged; the "
        "precision, estimated at 30.0 %, would be 24.0 % if they were all false positives and 44.0 % "
        "if all were true positives, and the limits [13.0, 58.0] hold in any case; 1 other list at "
        "the cuts is affected less."
    )


def test_worst_cases_without_judgements_or_unjudged_draws() -> None:
    none = {**SAME_WORST_CASES, "precision": None, "n_sampled": 0, "k_sampled": 0}
    view = stage("evaluate.precision", {"worst_case": table(WorstCase, ROWS[:1], **none)})
    (sentence,) = texts("worst_cases", view)
    assert "estimated at" not in sentence
    assert "the precision would be 28.6 % if they were all false positives and 33.3 %" in sentence
    nothing = stage("evaluate.precision", {"worst_case": WorstCase.zero_rows().collect()})
    assert texts("worst_cases", nothing) == []
