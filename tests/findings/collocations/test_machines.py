"""What is said of machines, and what is not where it is not sure."""

from __future__ import annotations

from typing import Any

from pipeline.findings.base import StageView
from schemas import Judges, MachineConfusion, PairSavings, Savings
from tests.findings.stages import found, stage, table, texts

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
SAVED: dict[str, Any] = {
    "category": "TP", "judge": "gpt", "measure": "t_score", "n": 500, "n_judged": 60, "rho2": 0.31,
    "rho2_lower": 0.1, "rho2_upper": 0.5, "tau": 0.8, "labels_saved": 0.31,
}  # fmt: skip


def machine(
    *saved: dict[str, Any], near: dict[str, Any] = NEAR, cells: dict[str, Any] = CELLS
) -> StageView:
    tables = {
        "judges": table(Judges, [near]), "confusion": table(MachineConfusion, [cells]),
        "savings": table(Savings, [SAVED | each for each in saved]),
        "pair_savings": PairSavings.zero_rows().collect(),
    }  # fmt: skip
    return stage("evaluate.machine", tables)


def test_what_a_judge_is_worth() -> None:
    near, worth = texts("machines", machine({}))
    assert near == (
        "Judge gpt labels 90.0 % [80.0, 95.0] of the true positives and 95.0 % [90.0, 98.0] of the "
        "others as people do (120 judged draws; Cohen's kappa .70 [.60, .80])."
    )
    assert worth == "Judge gpt is worth 31 % of the labels for t-score at 500."


def test_lists_where_it_is_not_sure_are_not_named() -> None:
    doubtful = {"measure": "mi", "rho2_lower": 0.0, "labels_saved": 0.2}
    costs = {"measure": "dice", "labels_saved": -0.01}
    unknown = {"measure": "z", "labels_saved": None, "rho2_lower": None}
    (worth,) = texts("machines", machine({}, doubtful, costs, unknown), "labels saved")
    assert worth == "Judge gpt is worth 31 % of the labels for t-score at 500."
    (nothing,) = texts("machines", machine(doubtful, costs, unknown), "labels saved")
    assert nothing == "For none of 3 lists it is shown that judge gpt saves labels."


def test_many_lists_are_counted() -> None:
    sizes = [{"n": n} for n in (100, 200, 500, 1000, 2000, 3000)]
    (worth,) = texts("machines", machine(*sizes), "labels saved")
    assert worth.endswith("31 % of the labels for t-score at 1,000 and 2 more.")


def test_what_is_not_known_is_not_said() -> None:
    bare = NEAR | {name: None for name in NEAR if name.startswith("kappa")}
    (text,) = texts("machines", machine(near=bare, cells=CELLS | {"specificity": None}))
    assert text == (
        "Judge gpt labels 90.0 % [80.0, 95.0] of the true positives as people do "
        "(120 judged draws)."
    )
    assert texts("machines", machine(near=NEAR | {"n_judged": 0})) == []


def test_numbers_and_figure() -> None:
    near, worth = found("machines", machine({}))
    assert (near.value, near.lower, near.upper, near.n) == (0.7, 0.6, 0.8, 120)
    assert (worth.value, worth.figure) == (0.31, "reliability")


def test_the_category_is_named_where_there_are_several() -> None:
    tables = {
        "judges": table(Judges, [NEAR, NEAR | {"category": "idiom"}]),
        "confusion": table(MachineConfusion, [CELLS, CELLS | {"category": "idiom"}]),
        "savings": Savings.zero_rows().collect(),
    }
    made = stage("evaluate.machine", tables)
    assert [text.partition(" labels")[0] for text in texts("machines", made)] == [
        "Judge gpt (TP)", "Judge gpt (idiom)",
    ]  # fmt: skip
    assert [each.figure for each in found("machines", made)] == [
        "reliability-TP", "reliability-idiom",
    ]  # fmt: skip
