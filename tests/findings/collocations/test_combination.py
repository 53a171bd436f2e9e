"""Findings on combinations: verdicts only where a test supports them, and delivered lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pipeline.findings.base import StageView
from schemas import (
    ClusteredDifferences,
    CombinationFit,
    CutBaselineComparison,
    CutComparison,
    ListParts,
    MeasureDifferences,
    Precision,
)
from tests.findings.stages import findings_of, stage, table, texts

FINDER = "combination_beside_measures"


def combination_stage(gain: float | None) -> StageView:
    rows = [{"measure": "", "word": "", "ranking": "combination", "n_judged": 510, "gain": gain}]
    fit = {"fit": table(CombinationFit, rows, category="TP")}
    return stage("score.combination", fit, name="combined", category=None)


COMBINED = combination_stage(0.1)
Counts = Mapping[str, tuple[int, int]]
"""True positives and judged draws of the list of each measure."""
LISTS: Counts = {"combination": (66, 100), "log_likelihood": (42, 100), "mi": (9, 100)}


def comparison_stage(
    lists: Counts = LISTS,
    test: tuple[float, float, float, float] | None = (0.24, 0.0002, 0.15, 0.33),
    *,
    n: int = 100,
    among: StageView = COMBINED,
    **options: Any,
) -> StageView:
    """Return a comparison at one size; `test`: combination minus log-likelihood, p, limits."""
    against = [{"measure": name, "n": n, "k_1": k, "n_1": m} for name, (k, m) in lists.items()]
    pairs = []
    if test:
        gap, p, lower, upper = test
        ends = {"lower_family": lower, "upper_family": upper}
        pair = {"measure_1": "combination", "measure_2": "log_likelihood", "n": n}
        pairs = [pair | {"population": "super", "difference": gap, "p_adjusted": p, **ends}]
    tables = {
        "baseline_cuts": table(CutBaselineComparison, against, category="TP"),
        "differences": table(MeasureDifferences, pairs, category="TP"),
        "clustered": table(ClusteredDifferences, []), "cuts": table(CutComparison, []),
    }  # fmt: skip
    return stage(
        "evaluate.comparison", tables, inputs={"ranks": "combined.ranks"}, among=[among],
        **options,
    )  # fmt: skip


def test_the_combination_is_better_than_the_best_measure() -> None:
    (won,) = findings_of(FINDER, comparison_stage())
    assert won.text == (
        "The combination finds 66 true positives among the first 100, the best single measure "
        "(log-likelihood) 42: +24.0 points [+15.0, +33.0], adjusted p < .001."
    )
    assert (won.value, won.lower, won.upper, won.n) == (0.24, 0.15, 0.33, 100)


@pytest.mark.parametrize(
    ("test", "options", "message"),
    [
        ((0.24, 0.2, -0.1, 0.4), {}, "+24.0 points [−10.0, +40.0], not significant (adjusted p = .200)"),
        ((-0.03, 0.01, -0.05, -0.01), {}, "−3.0 points [−5.0, −1.0], adjusted p = .010"),
        ((-0.03, 0.5, -0.05, 0.01), {}, "−3.0 points [−5.0, +1.0], not significant (adjusted p = .500)"),
        ((0.03, 0.01, 0.01, 0.05), {"margin": 0.1},
         "+3.0 points [+1.0, +5.0], less than the margin of 10.0 points"),
        ((float("nan"), 0.01, -1.0, 1.0), {}, "undefined points [−100.0, +100.0], not significant (adjusted p = .010)"),
        (None, {}, "the difference was not tested"),
    ],
)  # fmt: skip
def test_verdicts_follow_the_test(test: Any, options: dict[str, Any], message: str) -> None:
    (text,) = texts(FINDER, comparison_stage(test=test, **options))
    assert text.endswith(f"42: {message}.")


@pytest.mark.parametrize("gain", [0.0, -0.0012])
def test_a_combination_that_learned_nothing_has_a_caution(gain: float) -> None:
    (caution,) = findings_of(FINDER, comparison_stage(among=combination_stage(gain)))
    assert caution.kind == "caution"
    assert caution.text.startswith("The combination has learned nothing from 510 labels: ")
    assert f"({gain:+.4f} nats per label)" in caution.text


def test_estimates_from_a_sample_are_called_approximate() -> None:
    (text,) = texts(FINDER, comparison_stage({"combination": (6, 9), "log_likelihood": (4, 9)}))
    assert text.startswith("The combination finds about 67 true positives among the first 100, ")


@pytest.mark.parametrize("lists", [{"mi": (9, 100)}, {"combination": (9, 100)}, {}])
def test_without_a_combination_and_a_measure_there_is_no_finding(lists: Counts) -> None:
    assert texts(FINDER, comparison_stage(lists)) == []
    assert texts(FINDER, comparison_stage({"combination": (0, 0), **lists})) == []


def precise(*others: StageView) -> StageView:
    rows = [
        {"measure": name, "n": 100, "k_sampled": k, "n_sampled": n}
        for name, (k, n) in LISTS.items()
    ]
    return stage(
        "evaluate.precision", {"cuts": table(Precision, rows, category="TP")}, name="sampled",
        inputs={"ranks": "combined.ranks"}, among=[COMBINED, *others],
    )  # fmt: skip


def test_without_a_comparison_the_difference_is_untested() -> None:
    (finding,) = findings_of(FINDER, precise())
    assert finding.text.endswith("(log-likelihood) 42: the difference was not tested.")
    assert finding.lower is None
    assert texts(FINDER, precise(comparison_stage())) == []  # the comparison reports it


def test_rankings_without_a_combination_have_no_finding() -> None:
    view = stage("evaluate.precision", {}, inputs={"ranks": "ranks.ranks"})
    assert texts(FINDER, view) == []


# Delivered lists

EXACT = {"precision": 1.0, "lower": 1.0, "upper": 1.0, "lower_simultaneous": 1.0,
         "upper_simultaneous": 1.0}  # fmt: skip
HALF = {"precision": 0.5, "lower": 0.4, "upper": 0.6, "lower_simultaneous": 0.3,
        "upper_simultaneous": 0.7}  # fmt: skip
OPEN = {"precision": None, "lower": 0.0, "upper": 1.0, "lower_simultaneous": 0.0,
        "upper_simultaneous": 1.0}  # fmt: skip


def delivery_stage(**parts: tuple[int, Mapping[str, float | None]]) -> StageView:
    rows = [{"part": part, "n": n, "considered": 8, **of} for part, (n, of) in parts.items()]
    return stage("sheet.list", {"parts": table(ListParts, rows, category="TP")})


ABOUT = "50.0 % true positives [30.0, 70.0]"
ENDS = "candidates with 50.0 % [30.0, 70.0]; the limits account for the choice among 8 lists."


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        (
            {"list": (500, HALF), "judged": (45, EXACT), "unjudged": (455, HALF)},
            f"500 candidates, {ABOUT}: 45 judged true positives, then 455 unjudged {ENDS}",
        ),
        ({"list": (5, HALF), "unjudged": (5, HALF)}, f"5 candidates, {ABOUT}: 5 unjudged {ENDS}"),
        (
            {"list": (5, OPEN), "judged": (1, EXACT), "unjudged": (4, OPEN)},
            "5 candidates, 1 judged true positive and 4 unjudged candidates of unknown precision.",
        ),
        (
            {"list": (5, EXACT), "judged": (5, EXACT)},
            "5 candidates, 5 judged true positives.",
        ),
    ],
)
def test_the_finding_of_a_delivered_list_has_its_parts(parts: Any, message: str) -> None:
    assert texts("delivered_list", delivery_stage(**parts)) == [f"Delivered list: {message}"]


def test_a_stage_without_a_delivered_list_has_no_finding() -> None:
    assert texts("delivered_list", delivery_stage()) == []
