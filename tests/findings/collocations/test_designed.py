"""Findings on designed samples, machine judges and agreement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from pipeline.findings.base import StageView
from pipeline.findings.collocations.designed import equivalent_labels
from pipeline.findings.phrases import Band, over_range
from schemas import (
    Agreement,
    BestMeasures,
    Choice,
    ClusteredDesignedDifferences,
    DesignedBaseline,
    DesignedDifferences,
    DesignedPrecision,
    DifferenceBands,
    Guarantees,
    Judges,
    MachineConfusion,
    PairSavings,
    Savings,
    SubsetComparison,
    SubsetPrecision,
)
from tests.findings.stages import findings_of, stage, table, texts

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
        "p_adjusted": p, "significant": p < 0.05, "lower_family": gap - 0.06,
        "upper_family": gap + 0.06, **more,
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


def designed_stage(
    tests: Sequence[dict[str, Any]] = TESTS,
    best: Sequence[dict[str, Any]] = BEST,
    cuts: pl.DataFrame | None = None,
) -> StageView:
    band = [
        {"category": "TP", "measure_1": "t_score", "measure_2": "mi", "n": n, "difference": 0.1,
         "lower_band": 0.01 if n > 52 else -0.01, "upper_band": 0.2, "level": 0.99}
        for n in range(50, 60)
    ]  # fmt: skip
    tables = {
        "cuts": lists(100) if cuts is None else cuts,
        "differences": table(DesignedDifferences, tests),
        "best": table(BestMeasures, best),
        "baseline": table(DesignedBaseline, [BASE]),
        "difference_bands": table(DifferenceBands, band),
        "designed.sample": pl.DataFrame({"id": [f"x{i}" for i in range(200)]}),
        "ranks.ranks": pl.DataFrame({"id": [f"x{i}" for i in range(1000)]}),
    }
    inputs = {"sample": "designed.sample", "ranks": "ranks.ranks"}
    return stage("evaluate.designed", tables, inputs=inputs)


def test_findings_name_best_inseparable_and_worse_lists() -> None:
    assert texts("designed_lists", designed_stage()) == [
        "Best for 100 candidates: t-score, 30.0 % true positives [25.0, 35.0].",
        "Dice (28.0 %) is not significantly worse than t-score.",
        "MI is worse than t-score by 12.0 points [6.0, 18.0], adjusted p = .003.",
    ]


def test_declared_pairs_alone_give_no_best_list() -> None:
    first, *sentences = texts("designed_lists", designed_stage(TESTS[2:], ()))
    assert first.startswith("Highest estimate for 100 candidates: t-score")
    assert sentences == [
        "MI is worse than t-score (−12.0 points [−18.0, −6.0], adjusted p = .003)."
    ]


def test_the_band_gives_ranges_of_difference() -> None:
    assert texts("designed_ranges", designed_stage()) == [
        "The simultaneous 95 % band of t-score minus MI (n from 50 to 59) is above 0 at n = 53 to 59.",
    ]


def test_a_band_may_have_no_range_or_many() -> None:
    none = Band([1, 2], [-0.1, 0.0], [0.1, 0.2])
    assert "includes 0 at every n" in over_range("a", "b", none, confidence=0.9)
    sides = [0.1, -0.4] * 6
    many = Band(list(range(12)), sides, [side + 0.2 for side in sides])
    text = over_range("a", "b", many, confidence=0.9)
    assert "is above 0 at n = 0, 2, 4 and 3 shorter ranges and is below 0 at n = 1, 3" in text


def test_findings_state_the_baseline_and_the_worth_of_labels() -> None:
    baseline, labels = findings_of("designed_worth", designed_stage())
    assert baseline.text == "The baseline is 11.1 % [9.0, 14.0]."
    assert "With 200 labels for 1,000 candidates, half" in labels.text
    # .28 * .72 / (100 * .001 + .28 * .72), the median of the three
    assert labels.value == pytest.approx(1000 * 0.2016 / 0.3016)


def test_differences_beyond_the_candidates_are_counted() -> None:
    more = {"cluster": "l1, l2", "clusters": 40}
    rows = [row | more | {"verdict": "open"} for row in TESTS[:2]]
    rows.append(TESTS[2] | more | {"verdict": "worse"})
    here = [row | {"verdict": "open" if row["p_adjusted"] >= 0.05 else "better"} for row in TESTS]
    tables = {
        "clustered": table(ClusteredDesignedDifferences, rows),
        "differences": table(DesignedDifferences, here),
    }
    (sentence,) = texts("designed_clusters", stage("evaluate.designed", tables))
    assert sentence == (
        "For candidates to come, with other l1 and l2, 1 of 3 differences at the declared sizes is "
        "significant, for the present candidates 2."
    )
    none = {name: frame.clear() for name, frame in tables.items()}
    assert not texts("designed_clusters", stage("evaluate.designed", none))


def test_too_few_draws_replace_the_worth_of_labels() -> None:
    lacking = lists(500).with_columns(
        precision=pl.when(measure="dice").then("precision"),
        labels_needed=pl.col("measure").replace_strict(
            {"t_score": 900, "mi": 1400}, default=None, return_dtype=pl.Int64
        ),
    )
    tests = [pair("dice", "mi", 0.1, 0.02), pair("mi", "t_score", -0.1, 0.02, labels_needed=1400)]
    cuts = pl.concat([lists(100), lacking])
    _, labels = texts("designed_worth", designed_stage(tests, cuts=cuts))
    assert labels == (
        "No estimate for 2 lists, e.g. MI at 500 and no test of 1 difference, e.g. between MI and "
        "t-score at 100: the design expects fewer than four draws in a large part of the candidates "
        "concerned; about 900 to 1,400 labels of this design would suffice, or fewer with these "
        "list sizes among its questions."
    )


def test_a_simple_sample_equals_its_own_number_of_labels() -> None:
    """(1 - f) p (1 - p) / (f n) is the variance of its lists."""
    f, n = 0.2, 500
    shares = pl.Series([0.1, 0.3, 0.5])
    known = pl.DataFrame({"precision": shares, "n": n}).with_columns(
        variance=(1 - f) * shares * (1 - shares) / (f * n)
    )
    assert equivalent_labels(known, candidates=5000) == pytest.approx(1000)
    assert equivalent_labels(known.with_columns(variance=0.0), candidates=5000) is None


# Findings on machine judges; none where savings are uncertain.

NEAR: dict[str, Any] = {
    "category": "TP", "judge": "gpt", "n_predicted": 900, "n_judged": 120, "n_unpredicted": 0,
    "calibration_error": 0.1, "brier": 0.1, "kappa": 0.7, "kappa_lower": 0.6, "kappa_upper": 0.8,
    "ac1": 0.9, "ac1_lower": 0.8, "ac1_upper": 0.95, "rho2": 0.5, "rho2_lower": 0.4,
    "rho2_upper": 0.6,
}  # fmt: skip
CELLS: dict[str, Any] = {
    "category": "TP", "judge": "gpt", "threshold": 0.5, "n_judged": 120,
    "sensitivity": 0.9, "sensitivity_lower": 0.8, "sensitivity_upper": 0.95,
    "specificity": 0.95, "specificity_lower": 0.9, "specificity_upper": 0.98,
}  # fmt: skip
SAVINGS: dict[str, Any] = {
    "category": "TP", "judge": "gpt", "measure": "t_score", "n": 500, "n_judged": 60, "rho2": 0.31,
    "rho2_lower": 0.1, "rho2_upper": 0.5, "tau": 0.8, "labels_saved": 0.31,
}  # fmt: skip


def machine(
    *saved: dict[str, Any], near: dict[str, Any] = NEAR, cells: dict[str, Any] = CELLS
) -> StageView:
    tables = {
        "judges": table(Judges, [near]), "confusion": table(MachineConfusion, [cells]),
        "savings": table(Savings, [SAVINGS | each for each in saved]),
        "pair_savings": PairSavings.zero_rows().collect(),
    }  # fmt: skip
    return stage("evaluate.machine", tables)


def test_findings_state_agreement_and_labels_saved_of_a_judge() -> None:
    near, worth = texts("machines", machine({}))
    assert near == (
        'The judge "gpt" agrees with the annotators on 90.0 % [80.0, 95.0] of the true positives and '
        "95.0 % [90.0, 98.0] of the other candidates (120 judged draws; Cohen's kappa .70 [.60, .80])."
    )
    assert worth == 'The judge "gpt" saves 31 % of the labels for t-score at n = 500.'


def test_lists_without_certain_savings_are_not_named() -> None:
    doubtful = {"measure": "mi", "rho2_lower": 0.0, "labels_saved": 0.2}
    costs = {"measure": "dice", "labels_saved": -0.01}
    unknown = {"measure": "z", "labels_saved": None, "rho2_lower": None}
    (worth,) = texts("machines", machine({}, doubtful, costs, unknown), "labels saved")
    assert worth == 'The judge "gpt" saves 31 % of the labels for t-score at n = 500.'
    (nothing,) = texts("machines", machine(doubtful, costs, unknown), "labels saved")
    assert nothing == 'The judge "gpt" is not shown to save labels for any of 3 lists.'


def test_of_many_lists_the_others_are_counted() -> None:
    sizes = [{"n": n} for n in (100, 200, 500, 1000, 2000, 3000)]
    (worth,) = texts("machines", machine(*sizes), "labels saved")
    assert worth.endswith("31 % for t-score at n = 1,000 and 2 more.")


def test_unknown_values_are_omitted() -> None:
    bare = NEAR | {name: None for name in NEAR if name.startswith("kappa")}
    (text,) = texts("machines", machine(near=bare, cells=CELLS | {"specificity": None}))
    assert text == (
        'The judge "gpt" agrees with the annotators on 90.0 % [80.0, 95.0] of the true positives '
        "(120 judged draws)."
    )
    assert texts("machines", machine(near=NEAR | {"n_judged": 0})) == []


def test_findings_on_judges_have_numbers_and_a_figure() -> None:
    near, worth = findings_of("machines", machine({}))
    assert (near.value, near.lower, near.upper, near.n) == (0.7, 0.6, 0.8, 120)
    assert (worth.value, worth.figure) == (0.31, "reliability")


def test_of_several_categories_each_is_named() -> None:
    tables = {
        "judges": table(Judges, [NEAR, NEAR | {"category": "idiom"}]),
        "confusion": table(MachineConfusion, [CELLS, CELLS | {"category": "idiom"}]),
        "savings": Savings.zero_rows().collect(),
    }
    view = stage("evaluate.machine", tables)
    assert [text.partition(" agrees")[0] for text in texts("machines", view)] == [
        'The judge "gpt" (TP)', 'The judge "gpt" (idiom)',
    ]  # fmt: skip
    assert [each.figure for each in findings_of("machines", view)] == [
        "reliability-TP", "reliability-idiom",
    ]  # fmt: skip


# Findings on annotators, on the chosen list and on sets without ranks.

EVERY = {
    "category": "*",
    "method": "analytic",
    "items": 120,
    "standard_error": 0.01,
    "undefined": 0,
}


def agreement_stage(kappa: float | None, *, annotators: int = 2) -> StageView:
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
    (text,) = texts("agreement", agreement_stage(0.71))
    assert text == (
        "Annotators ann and bob agree on 90.0 % [85.0, 95.0] of 120 candidates judged by more than one of them "
        "(Cohen's kappa .71 [.50, .80])."
    )


def test_several_annotators_have_krippendorffs_alpha() -> None:
    (text,) = texts("agreement", agreement_stage(0.7, annotators=3))
    assert text.startswith("Annotators ann, bob and cid agree on")
    assert text.endswith("(Krippendorff's alpha .70).")


def test_low_agreement_is_a_caution_and_undefined_is_not() -> None:
    kinds = [each.kind for each in findings_of("agreement", agreement_stage(0.6))]
    assert kinds == ["answer", "caution"]
    assert [each.kind for each in findings_of("agreement", agreement_stage(None))] == ["answer"]


def test_limits_of_the_chosen_list_allow_for_the_choice() -> None:
    row = {"category": "TP", "measure": "t_score", "n": 500, "criterion": "size = 500",
           "considered": 35, "precision": 0.3, "lower": 0.25, "upper": 0.35,
           "lower_simultaneous": 0.2, "upper_simultaneous": 0.4, "confidence": 0.95,
           "interval": "clopper_pearson", "recall": 0.5, "n_sampled": 50, "k_sampled": 15}  # fmt: skip
    view = stage("evaluate.choice", {"choice": table(Choice, [row])})
    (text,) = texts("chosen_list", view)
    assert text == (
        "Chosen: the top 500 by t-score, 30.0 % true positives [20.0, 40.0], recall 50.0 %; the "
        "limits account for the choice among 35 lists."
    )
    (unknown,) = texts(
        "chosen_list", stage("evaluate.choice", {"choice": table(Choice, [row | {"recall": None}])})
    )
    assert "recall" not in unknown
    pool = stage("score.pool", {}, name="pool", depth=500)
    pooled = stage(
        "evaluate.choice", {"choice": table(Choice, [row])}, inputs={"ranks": "pool.ranks"},
        among=[pool],
    )  # fmt: skip
    assert "recall within the pool 50.0 %" in texts("chosen_list", pooled)[0]
    nothing = stage("evaluate.choice", {"choice": Choice.zero_rows().collect()})
    assert texts("chosen_list", nothing) == []


def test_a_guaranteed_list_states_its_lower_limit() -> None:
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
    options: dict[str, Any] = {"guarantee": True, "min_precision": 0.3}
    (sure,) = texts("chosen_list", stage("evaluate.choice", tables, **options), "guaranteed")
    assert sure == (
        "Guaranteed: with 95 % confidence, its precision is at least 30.0 % (one-sided lower limit "
        "35.6 %); 0 other lists also passed the test."
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


def test_a_set_is_compared_with_the_lists_of_its_size() -> None:
    view = subset(
        ("mi", 0.2, 0.001), ("dice", -0.1, 0.01), ("t_score", 0.05, 0.3), ("f", None, None)
    )
    assert texts("sets_beside_lists", view) == [
        "The set frequent: 60 candidates, 40.0 % true positives [20.0, 60.0].",
        "At the same list size, MI is worse than the set (−20.0 points, adjusted p = .001).",
        "At the same list size, Dice is better than the set (+10.0 points, adjusted p = .010).",
        "1 list of the same size does not differ significantly from the set: t-score.",
    ]


@pytest.mark.parametrize("p", [0.05, 0.9, None])
def test_without_a_significant_test_no_list_is_judged(p: float | None) -> None:
    text = " ".join(texts("sets_beside_lists", subset(("mi", 0.2, p))))
    assert "worse" not in text
    assert "better" not in text
