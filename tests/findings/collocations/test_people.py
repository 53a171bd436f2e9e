"""What is said of annotators, of the chosen list and of sets without ranks."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.findings.base import StageView
from schemas import Agreement, Choice, Guarantees, SubsetComparison, SubsetPrecision
from tests.findings.stages import found, stage, table, texts

EVERY = {
    "category": "*",
    "method": "analytic",
    "items": 120,
    "standard_error": 0.01,
    "undefined": 0,
}


def agreeing(kappa: float | None, *, annotators: int = 2) -> StageView:
    people = {"annotator_1": "ann", "annotator_2": "bob"}
    everybody = {"annotator_1": "*", "annotator_2": "*"}
    rows: list[dict[str, Any]] = [
        {**everybody, "coefficient": "observed", "estimate": 0.9, "lower": 0.85, "upper": 0.95},
        {**everybody, "coefficient": "krippendorff_alpha", "estimate": kappa, "lower": None,
         "upper": None},
        {**people, "coefficient": "cohen_kappa", "estimate": kappa, "lower": 0.5, "upper": 0.8},
    ]  # fmt: skip
    if annotators == 3:
        rows.append({"annotator_1": "ann", "annotator_2": "cid", "coefficient": "cohen_kappa",
                     "estimate": kappa, "lower": 0.5, "upper": 0.8})  # fmt: skip
    frame = table(Agreement, rows, **EVERY)
    return stage("evaluate.agreement", {"agreement": frame}, name="agreement")


def test_two_annotators_have_cohens_kappa() -> None:
    (text,) = texts("agreement", agreeing(0.71))
    assert text == (
        "Annotators ann and bob agree on 90.0 % [85.0, 95.0] of 120 candidates that several judged "
        "(Cohen's kappa .71 [.50, .80])."
    )


def test_several_have_a_coefficient_of_all() -> None:
    (text,) = texts("agreement", agreeing(0.7, annotators=3))
    assert text.startswith("Annotators ann, bob and cid agree on")
    assert text.endswith("(Krippendorff's alpha .70).")


def test_low_agreement_is_a_caution_and_an_undefined_one_is_not() -> None:
    kinds = [each.kind for each in found("agreement", agreeing(0.6))]
    assert kinds == ["answer", "caution"]
    assert [each.kind for each in found("agreement", agreeing(None))] == ["answer"]


def test_the_chosen_list_has_the_limits_that_allow_for_the_choice() -> None:
    row = {"category": "TP", "measure": "t_score", "n": 500, "criterion": "size = 500",
           "considered": 35, "precision": 0.3, "lower": 0.25, "upper": 0.35,
           "lower_simultaneous": 0.2, "upper_simultaneous": 0.4, "confidence": 0.95,
           "interval": "clopper_pearson", "recall": 0.5, "n_sampled": 50, "k_sampled": 15}  # fmt: skip
    made = stage("evaluate.choice", {"choice": table(Choice, [row])})
    (text,) = texts("chosen_list", made)
    assert text == (
        "Chosen: the 500 best by t-score, 30.0 % [20.0, 40.0] true positives, recall 50.0 %; the "
        "limits allow for the choice among 35 lists."
    )
    (unknown,) = texts(
        "chosen_list", stage("evaluate.choice", {"choice": table(Choice, [row | {"recall": None}])})
    )
    assert "recall" not in unknown
    nothing = stage("evaluate.choice", {"choice": Choice.zero_rows().collect()})
    assert texts("chosen_list", nothing) == []


def test_a_guaranteed_list_says_what_is_sure() -> None:
    row = {"category": "TP", "measure": "t_score", "n": 500, "considered": 4, "precision": 0.44,
           "criterion": "min_precision = 0.3, guaranteed", "lower": 0.34, "upper": 0.55,
           "lower_simultaneous": 0.3, "upper_simultaneous": 0.6, "confidence": 0.95,
           "interval": "clopper_pearson", "recall": 0.5, "n_sampled": 90, "k_sampled": 40}  # fmt: skip
    same = {"category": "TP", "measure": "t_score", "level": 0.05, "testable": True, "tested": True}
    tests = table(Guarantees, [
        {"n": 500, "place": 1, "lower_one_sided": 0.3562, "passed": True},
        {"n": 1000, "place": 2, "lower_one_sided": 0.21, "passed": False},
    ], **same)  # fmt: skip
    tables = {"choice": table(Choice, [row]), "guarantee": tests}
    asked: dict[str, Any] = {"guarantee": True, "min_precision": 0.3}
    (sure,) = texts("chosen_list", stage("evaluate.choice", tables, **asked), "guaranteed")
    assert sure == (
        "Guaranteed: with 95 % confidence its precision is 30.0 % or more, by a one-sided lower "
        "limit of 35.6 %; 0 other lists passed."
    )


def subset(*tests: tuple[str, float | None, float | None]) -> StageView:
    same = {"category": "TP", "subset": "frequent", "n": 60}
    whole = {"n_sampled": 30, "k_sampled": 12, "precision": 0.4, "lower": 0.2, "upper": 0.6}
    rows = [
        {"measure": measure, "difference": gap, "p_value": p, "p_adjusted": p, "size": 10,
         "n_1": 5, "k_1": 2, "n_2": 5, "k_2": 1, "significant": False, "correction": "holm"}
        for measure, gap, p in tests
    ]  # fmt: skip
    tables = {
        "subsets": table(SubsetPrecision, [whole], **same),
        "comparison": table(SubsetComparison, rows, **same),
    }
    return stage("evaluate.subset", tables, name="filter", alpha=0.05)


def test_a_set_is_held_against_the_lists_of_its_size() -> None:
    made = subset(
        ("mi", 0.2, 0.001), ("dice", -0.1, 0.01), ("t_score", 0.05, 0.3), ("f", None, None)
    )
    assert texts("sets_beside_lists", made) == [
        "The set frequent: 60 candidates, 40.0 % [20.0, 60.0] true positives.",
        "Of lists of that size MI is worse (−20.0 points, adjusted p = .001).",
        "Of lists of that size Dice is better (+10.0 points, adjusted p = .010).",
        "1 list of that size cannot be told apart from it: t-score.",
    ]


@pytest.mark.parametrize("p", [0.05, 0.9, None])
def test_without_a_significant_test_no_list_is_judged(p: float | None) -> None:
    said = " ".join(texts("sets_beside_lists", subset(("mi", 0.2, p))))
    assert "worse" not in said
    assert "better" not in said
