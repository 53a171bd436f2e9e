"""Designed samples of a population: what the three tables say, together."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.sampling import without_replacement
from pipeline.kernels.survey.allocation import estimands
from pipeline.kernels.survey.design import Design, declared_questions, designed
from schemas import DesignedSample, Inclusion, Questions
from tests.kernels.design.slow_design import sets_of
from tests.kernels.nbest.rank_frames import krenn
from tests.stages.run_stage import run_stage
from tests.valid import valid

COUNT = 300
RANKS = {"x": list(range(1, COUNT + 1)), "y": [*range(51, COUNT + 1), *range(1, 51)]}
PAIRS, AT = [("x", "y")], [20, 50]
NOBODY = np.zeros(COUNT, dtype=bool)


def design(judged: np.ndarray = NOBODY, **options: Any) -> Design:
    """Design and draw 60 of 300, and check the tables."""
    weights = options.pop("weights", {})
    asked = estimands(sets_of(RANKS, PAIRS, AT), p=np.full(COUNT, 0.5), judged=judged)
    listed = declared_questions(
        measures=["x", "y"], pairs=PAIRS, at=AT, candidates=COUNT, weights=weights
    )
    usual: dict[str, Any] = {
        "sizes": [60],
        "floor": 0.05,
        "baseline_width": 1.25,
        "confidence": 0.95,
        "seed": "s",
    }
    made = designed(asked, listed, **(usual | options))
    for table, schema in zip(
        (made.sample, made.inclusion, made.questions),
        (DesignedSample, Inclusion, Questions),
        strict=True,
    ):
        valid(table, schema)
    return made


def test_sample_and_chances_agree() -> None:
    made = design()
    assert made.sample.height == 60
    assert made.inclusion["pi"].sum() == pytest.approx(60)
    joined = made.sample.join(made.inclusion, on="id")
    assert joined["pi"].equals(joined["pi_right"], check_names=False)
    keys = made.sample.filter(~pl.col("certain"))["order_key"]
    assert keys.is_sorted()


def test_the_questions_take_the_draws_and_the_rest_keeps_its_floor() -> None:
    made = design(weights={"baseline": 0.0}, floor=0.1)
    pi = made.inclusion["pi"].to_numpy()
    asked = np.array(RANKS["x"]) <= 50
    asked |= np.array(RANKS["y"]) <= 50
    assert pi[~asked] == pytest.approx(0.1 * 60 / COUNT)
    assert made.questions["worse"].any() is False
    assert (made.questions["half_width"] >= made.questions["unfloored_half_width"]).all()
    assert "baseline" not in made.questions["question"]
    assert design(weights={"baseline": 0.0}, floor=0.0).inclusion["pi"].min() == 0.0


def test_the_baseline_is_named_as_worse_and_no_wider_than_allowed() -> None:
    made = design(sizes=[6], baseline_width=1.1)
    worse = made.questions.filter("worse")
    assert worse["question"].to_list() == ["baseline"]
    wider = worse["half_width"] / worse["simple_half_width"]
    assert wider.item() == pytest.approx(1.1, abs=0.005)


def test_a_baseline_as_narrow_as_in_a_simple_sample_makes_it_one() -> None:
    only = {"difference": 0.0, "precision": 0.0}
    made = design(weights=only, baseline_width=1.0)
    simple = without_replacement(made.inclusion, size=60, seed="s")
    assert made.sample["id"].to_list() == simple["id"].to_list()
    assert made.sample["pi"].to_list() == pytest.approx([0.2] * 60)
    with pytest.raises(ValueError, match=r"0\.9 is less than 1"):
        design(baseline_width=0.9)


def test_more_labels_keep_those_there_are() -> None:
    small, large = design(), design(sizes=[60, 90])
    assert large.sample["id"].head(60).to_list() == small.sample["id"].to_list()
    assert large.inclusion["size_measure"].equals(small.inclusion["size_measure"])
    assert (large.questions["half_width"] < small.questions["half_width"]).all()


def test_what_is_judged_is_certain_and_draws_nothing() -> None:
    judged = np.array(RANKS["x"]) <= 50
    made = design(judged)
    known = made.sample.filter(pl.col("position") <= 50)
    assert known["certain"].all()
    assert made.sample.height == 110
    answered = made.questions.filter(pl.col("question").str.starts_with("x at"))
    assert answered["half_width"].to_list() == [0.0, 0.0]
    assert answered["simple_half_width"].to_list() == [0.0, 0.0]
    assert answered["expected_draws"].to_list() == [0.0, 0.0]
    everyone = design(np.ones(COUNT, dtype=bool))
    assert everyone.sample.height == COUNT
    assert everyone.questions["half_width"].sum() == 0.0


def test_more_labels_than_candidates() -> None:
    made = design(sizes=[900])
    assert made.inclusion["certain"].all()
    assert made.questions["half_width"].sum() == 0.0
    assert made.questions["worse"].any() is False


def test_no_list_at_all_leaves_the_baseline() -> None:
    asked = estimands(sets_of(RANKS, [], []), p=np.full(COUNT, 0.5), judged=NOBODY)
    listed = declared_questions(measures=[], pairs=[], at=[], candidates=COUNT, weights={})
    made = designed(
        asked, listed, sizes=[30], floor=0.05, baseline_width=1.0, confidence=0.95, seed="s"
    )
    assert made.inclusion["pi"].to_list() == pytest.approx([0.1] * COUNT)


def test_krenn_needs_a_third_of_the_variance_and_no_question_does_worse() -> None:
    """Four measures at four cuts, 500 labels: the shortest lists gain most."""
    ranks, _ = krenn()
    made = run_stage("sample.design", {"size": 500, "seed": "s", "baseline": False}, ranks=ranks)
    questions = made["questions"].with_columns(
        gain=(pl.col("simple_half_width") / pl.col("half_width")) ** 2
    )
    assert questions["worse"].any() is False
    assert questions["gain"].median() > 2.0
    assert questions.filter(n=100)["gain"].median() > 4.0


@given(st.data())
def test_whatever_is_asked_the_tables_are_valid_and_the_chances_add_up(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    ranks = {m: data.draw(st.permutations(range(1, count + 1))) for m in "xy"}
    at = sorted(data.draw(st.sets(st.integers(1, count), max_size=3)))
    p = np.array(data.draw(st.lists(st.floats(0, 1), min_size=count, max_size=count)))
    judged = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    sizes = sorted(data.draw(st.sets(st.integers(1, 15), min_size=1, max_size=2)))
    asked = estimands(
        sets_of(ranks, PAIRS, at), p=p, judged=judged, assisted=data.draw(st.booleans())
    )
    listed = declared_questions(
        measures=["x", "y"], pairs=PAIRS, at=at, candidates=count,
        weights={"baseline": data.draw(st.sampled_from([0.5, 1.0]))},
    )  # fmt: skip
    made = designed(
        asked, listed, sizes=sizes, floor=data.draw(st.sampled_from([0.0, 0.3])),
        baseline_width=data.draw(st.sampled_from([1.0, 1.25, 3.0])), confidence=0.95, seed="s",
    )  # fmt: skip
    unjudged = int((~judged).sum())
    assert made.inclusion["pi"].sum() == pytest.approx(judged.sum() + min(sizes[-1], unjudged))
    assert made.sample.height >= judged.sum() + min(sizes[-1], unjudged)
    valid(made.sample, DesignedSample)
    valid(made.inclusion, Inclusion)
    valid(made.questions, Questions)
    assert made.questions["half_width"].is_finite().all()
    about_some = made.questions.filter(pl.col("n") < count)
    assert (about_some["expected_draws"] <= count).all()
