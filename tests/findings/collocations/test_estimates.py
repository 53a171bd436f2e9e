"""What estimates of precision say where no test was made, and what to know before believing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from pipeline.findings.base import StageView
from schemas import Baseline, BestMeasures, CutComparison, Precision
from tests.findings.stages import found, stage, table, texts

Lists = Mapping[tuple[str, int], tuple[int, int]]
KNOWN: dict[str, Any] = {
    "category": "TP", "precision": 0.2, "lower": 0.1, "upper": 0.3, "n_sampled": 100,
    "k_sampled": 20, "n_candidates": 1000, "n_drawn": 100, "n_unjudged": 0, "n_undecided": 0,
    "confidence": 0.95, "interval": "clopper_pearson", "sampled": True,
}  # fmt: skip


def estimated(
    lists: Lists,
    *,
    categories: Sequence[str] = ("TP",),
    ties: Mapping[tuple[str, int], tuple[int, int]] | None = None,
    **known: Any,
) -> StageView:
    """Return a stage that estimates: k of n judged draws of each list."""
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


def test_the_highest_leads_and_the_others_follow_by_their_estimates() -> None:
    made = estimated({("mi", 100): (3, 10), ("dice", 100): (5, 10), ("t_score", 100): (4, 10)})
    assert texts("highest_estimates", made) == [
        "Highest estimate for 100 candidates: Dice, 50.0 % [0.0, 100.0] true positives.",
        "Then t-score 40.0 % and MI 30.0 %; no test between measures was made.",
        "Baseline 20.0 % [10.0, 30.0].",
    ]


def test_that_there_was_no_test_is_said_once() -> None:
    made = estimated({(name, n): (3, 10) for name in ("mi", "dice") for n in (100, 500)})
    assert sum("no test" in text for text in texts("highest_estimates", made)) == 1


def test_a_list_of_which_nothing_is_judged_is_passed_over() -> None:
    made = estimated({("mi", 100): (0, 0), ("dice", 100): (5, 10)})
    assert [each.name for each in found("highest_estimates", made)][:1] == ["dice"]
    assert texts("highest_estimates", estimated({("mi", 100): (0, 0)}), "highest") == []


def test_categories_are_named_where_there_are_several() -> None:
    made = estimated({("mi", 100): (3, 10)}, categories=["figur", "fvg"])
    said = texts("highest_estimates", made, "highest")
    assert [text.partition(":")[0] for text in said] == [
        "Highest estimate for 100 candidates (figur)",
        "Highest estimate for 100 candidates (fvg)",
    ]


@pytest.mark.parametrize("tested", [False, True])
def test_tests_of_the_same_judgements_say_more_so_estimates_are_silent(tested: bool) -> None:
    row = {"category": "TP", "n": 100, "measure": "mi", "best": True, "best_measure": "mi",
           "precision": 0.3}  # fmt: skip
    best = table(BestMeasures, [row] if tested else [])
    tables = {"best": best, "cuts": table(CutComparison, [])}
    other = stage("evaluate.comparison", tables, name="tests", inputs={"ranks": "ranks.ranks"})
    made = replace(estimated({("mi", 100): (3, 10)}), among={"tests": other})
    assert bool(texts("highest_estimates", made)) != tested


@pytest.mark.parametrize("tested", [False, True])
def test_no_test_was_made_only_where_none_was(tested: bool) -> None:
    pair = {"category": "TP", "measure_1": "mi", "measure_2": "dice", "n": 100, "size": 50,
            "n_1": 9, "k_1": 3, "n_2": 9, "k_2": 2, "difference": 0.05, "p_value": 0.6,
            "significant": False, "p_adjusted": 0.6, "correction": "holm"}  # fmt: skip
    tables = {
        "best": table(BestMeasures, []), "cuts": table(CutComparison, [pair] if tested else []),
    }  # fmt: skip
    other = stage("evaluate.comparison", tables, name="tests", inputs={"ranks": "ranks.ranks"})
    made = estimated({("mi", 100): (3, 10), ("dice", 100): (2, 10)})
    (said,) = texts("highest_estimates", replace(made, among={"tests": other}), "next")
    assert ("no test between measures was made" in said) != tested


def test_few_judged_candidates_are_counted_in_lists_that_are_longer() -> None:
    made = estimated({("mi", 20): (5, 20), ("mi", 100): (3, 9), ("dice", 100): (3, 12),
                      ("mi", 500): (20, 50)})  # fmt: skip
    (text,) = texts("few_draws", made)
    assert text == (
        "Few judged candidates: lists of 100 rest on fewer than 30, that of 100 by MI on 9, with "
        "limits 100 points apart."
    )
    assert texts("few_draws", estimated({("mi", 20): (5, 20)})) == []


def test_ties_are_told_where_they_move_a_list() -> None:
    ties = {("f", 100): (30, 50), ("f", 500): (40, 42), ("mi", 100): (40, 40)}
    made = estimated(
        {("f", 100): (40, 100), ("f", 500): (41, 100), ("mi", 100): (40, 100)}, ties=ties
    )
    (text,) = texts("ties_at_the_cut", made)
    assert text == (
        "Ties at the cut: by the order of candidates with equal scores alone, the 100 best by f "
        "may have between 30.0 % and 50.0 % true positives, and 1 other size."
    )
    (one,) = found("ties_at_the_cut", made)
    assert (one.lower, one.value, one.upper) == (0.3, 0.4, 0.5)


@pytest.mark.parametrize(
    ("lost", "said"),
    [
        ({"n_unjudged": 30}, "30 are not judged of 130 draws and left out"),
        ({"n_undecided": 1}, "1 is judged in different ways of 101 draws and left out"),
        (
            {"n_unjudged": 1, "n_undecided": 2},
            "1 is not judged and 2 are judged in different ways of 103 draws and left out",
        ),
    ],
)
def test_draws_that_count_for_nothing_and_what_they_might_change(
    lost: dict[str, Any], said: str
) -> None:
    drawn = 100 + sum(lost.values())
    made = estimated({("mi", 100): (3, 10)}, n_drawn=drawn, **lost)
    (text,) = texts("unjudged_draws", made)
    assert text.startswith(said)
    (one,) = found("unjudged_draws", made)
    assert one.lower == pytest.approx(20 / drawn)
    assert one.upper == pytest.approx((20 + sum(lost.values())) / drawn)
    assert texts("unjudged_draws", estimated({("mi", 100): (3, 10)})) == []


def test_nothing_is_said_of_nothing() -> None:
    tables = {"cuts": Precision.zero_rows(), "baseline": Baseline.zero_rows()}
    nothing = replace(estimated({}), table=lambda name: tables[name])
    for finder in ("highest_estimates", "few_draws", "ties_at_the_cut", "unjudged_draws"):
        assert texts(finder, nothing) == []
