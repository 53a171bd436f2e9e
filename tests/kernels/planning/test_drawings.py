"""Who is drawn under each plan: the strata are those of the lists, their rates the best there are."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import strata_by_rank
from pipeline.kernels.survey.allocation import Sets, estimands, question_sums
from pipeline.kernels.survey.design import sizes_of_questions
from pipeline.kernels.survey.planning import PLANS, size_measures, strata_of
from tests.kernels.design.slow_design import sets_of

COUNT = 60
RANKS = {"x": list(range(1, COUNT + 1)), "y": [*range(21, COUNT + 1), *range(1, 21)]}
AT = [5, 20, 40]
SETS = sets_of(RANKS, [("x", "y")], AT)
QUESTIONS = 10
ONES = np.ones(QUESTIONS)


def test_all_plans_are_there() -> None:
    found = size_measures(SETS, ONES, floor=0.05, baseline_width=1.25)
    assert tuple(found) == PLANS
    assert set(found["simple"]) == {1.0}
    assert found["assisted"] is found["designed"]
    for x in found.values():
        assert x.shape == (COUNT,)
        assert (x > 0).all()


def test_strata_are_those_of_the_stage() -> None:
    rows = [(m, f"c{i:03}", rank) for m, ranks in RANKS.items() for i, rank in enumerate(ranks)]
    ranks = pl.DataFrame(rows, schema=["measure", "id", "rank"], orient="row")
    named = strata_by_rank(ranks, measures=["x", "y"], boundaries=AT).sort("id")["stratum"]
    place = {name: at for at, name in enumerate(named.unique().sort())}
    present = np.unique(strata_of(SETS))
    assert [present[place[name]] for name in named] == strata_of(SETS).tolist()


@given(
    weights=st.lists(st.floats(0.1, 10.0), min_size=QUESTIONS, max_size=QUESTIONS),
    change=st.lists(st.floats(0.5, 2.0), min_size=4, max_size=4),
)
def test_no_other_rates_of_strata_serve_the_questions_better(
    weights: list[float], change: list[float]
) -> None:
    declared = np.array(weights)
    asked = estimands(SETS, p=np.full(COUNT, 0.5), judged=np.zeros(COUNT, dtype=bool))
    _, used, whole = sizes_of_questions(asked, declared, floor=0.0, baseline_width=1.25)

    def loss(x: np.ndarray) -> float:
        rate = x * 10 / x.sum()  # no certainties: the same total of labels
        return float((used * question_sums(asked, 1 / rate) / whole).sum())

    x = size_measures(SETS, declared, floor=0.0, baseline_width=1.25)["stratified"]
    assert loss(x) <= loss(x * np.array(change)[strata_of(SETS)]) * (1 + 1e-9)


def test_one_list_of_all_is_a_simple_sample() -> None:
    alone: Sets = sets_of({"x": list(range(1, 9))}, [], [8])
    found = size_measures(alone, np.ones(2), floor=0.0, baseline_width=1.25)
    for x in found.values():
        np.testing.assert_allclose(x, x[0])


def test_a_baseline_that_is_served_better_is_refused() -> None:
    with pytest.raises(ValueError, match=r"0\.9 is less than 1"):
        size_measures(SETS, ONES, floor=0.05, baseline_width=0.9)
