"""What differences say: of these candidates alone, and of measures that are equivalent."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.findings.base import StageView
from pipeline.findings.phrases import Difference, equivalent, worse_here
from schemas import BestMeasures, CutComparison, MeasureDifferences
from tests.findings.collocations.test_measures import RANKED
from tests.findings.stages import found, stage, table, texts

PAIR = {"category": "TP", "measure_1": "log_likelihood", "measure_2": "mi", "n": 500, "size": 50}
HERE = {
    "population": "finite", "n_1": 20, "n_2": 20, "difference": 0.044, "lower": 0.007, "upper": 0.08,
    "p_adjusted": 0.01, "p_equivalent_adjusted": 0.2, "equivalent": False,
}  # fmt: skip
BEYOND = HERE | {"population": "super", "lower": -0.001, "upper": 0.09, "p_adjusted": 0.08}


def compared(*rows: dict[str, Any], p: float = 0.08, **options: Any) -> StageView:
    best = {"category": "TP", "n": 500, "best_measure": "log_likelihood"}
    tables = {
        "best": table(BestMeasures, [
            best | {"measure": "log_likelihood", "best": True}, best | {"measure": "mi", "best": False},
        ]),
        "cuts": table(CutComparison, [PAIR | {"difference": 0.044, "p_adjusted": p}]),
        "differences": table(MeasureDifferences, [PAIR | row for row in rows]),
        "ranks.ranks": RANKED,
    }  # fmt: skip
    return stage("evaluate.comparison", tables, inputs={"ranks": "ranks.ranks"}, **options)


def test_what_the_finite_population_shows_and_the_other_does_not() -> None:
    (said,) = found("among_these_candidates", compared(HERE, BEYOND))
    assert said.text == (
        "Among these 1,000 candidates alone MI is worse by 4.4 points [0.7, 8.0], adjusted p = .010."
    )
    assert (said.name, said.other, said.value) == ("mi", "log_likelihood", -0.044)
    assert (said.lower, said.upper) == (-0.08, -0.007)


@pytest.mark.parametrize(
    ("changed", "p", "options"),
    [
        ({}, 0.01, {}),  # the test for a wider population shows it, too
        ({"p_adjusted": 0.06}, 0.08, {}),
        ({"p_adjusted": None}, 0.08, {}),
        ({"n_1": 50, "n_2": 50}, 0.08, {}),  # judged as a whole: there is nothing to test
        ({"difference": -0.044}, 0.08, {}),  # the other way round
        ({}, 0.08, {"margin": 0.05}),
        ({"population": "super"}, 0.08, {}),
    ],
)
def test_nothing_is_said_without_that(
    changed: dict[str, Any], p: float, options: dict[str, Any]
) -> None:
    assert found("among_these_candidates", compared(HERE | changed, p=p, **options)) == []


SMALL = {
    "difference": 0.002, "lower": -0.019, "upper": 0.023, "p_equivalent_adjusted": 0.01,
    "equivalent": True,
}  # fmt: skip


def test_equivalent_within_the_bound() -> None:
    made = compared(HERE | SMALL, BEYOND | SMALL, equivalence=0.03)
    (said,) = texts("equivalent_measures", made)
    assert said == (
        "For 500 candidates log-likelihood and MI are equivalent within 3 points "
        "(+0.2 points [−1.9, +2.3], adjusted p = .010)."
    )


def test_equivalent_among_these_where_no_more_was_asked() -> None:
    (said,) = texts("equivalent_measures", compared(HERE | SMALL, equivalence=0.03))
    assert said.endswith("adjusted p = .010), among these candidates alone.")


def test_what_is_true_of_these_candidates_alone_is_not_said_of_others() -> None:
    made = compared(HERE | SMALL, BEYOND, equivalence=0.03)
    assert texts("equivalent_measures", made) == [
        "For 500 candidates the tests show no two measures to differ by less than 3 points."
    ]


def test_without_a_bound_nothing_is_equivalent() -> None:
    assert found("equivalent_measures", compared(HERE | SMALL, BEYOND | SMALL)) == []


def test_verdicts_look_at_the_test() -> None:
    for test in (Difference("", 0.01, 0.05), Difference("", 0.05, 0.01)):
        with pytest.raises(ValueError, match="are equivalent"):
            equivalent(("a", "b"), test, alpha=0.05, bound=0.03)
    with pytest.raises(ValueError, match="is worse"):
        worse_here([Difference("a", -0.1, 0.06)], alpha=0.05, candidates=9)
