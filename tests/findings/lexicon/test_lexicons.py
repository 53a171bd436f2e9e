"""What is said of several lexicons: a verdict only where the interval of the difference gives one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.findings.lexicon import apart
from tests.findings.lexicon.tables import GOLD, comparison_stage, lexicon_stage
from tests.findings.stages import found, texts

TWO = {"one": 0.9, "two": 0.8}


def test_a_difference_that_the_interval_settles() -> None:
    said = texts("compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, 0.04, 0.17)}))
    assert said == [
        "Highest L*: one, 90.0 %; two 80.0 % (40 lemmas).",
        ("Against one, two is worse (−10.0 points [−17.0, −4.0]); of 40 lemmas, L is higher in one for "
        "10, in two for 25, and equal for 5."),
    ]  # fmt: skip


def test_a_difference_that_it_does_not_settle() -> None:
    (_, said) = texts(
        "compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, -0.01, 0.17)})
    )
    assert said.startswith(
        "Against one, two cannot be told apart from it (−10.0 points [−17.0, +1.0]);"
    )


def test_the_order_of_the_pair_makes_no_difference() -> None:
    turned = comparison_stage(TWO, {("two", "one"): (-0.1, -0.17, -0.04)})
    (_, said) = texts("compared_lexicons", turned)
    assert said.startswith("Against one, two is worse (−10.0 points [−17.0, −4.0]);")
    assert "L is higher in one for 25, in two for 10" in said


def test_lemmas_that_were_chosen_give_no_verdict() -> None:
    (_, said) = texts(
        "compared_lexicons", comparison_stage(TWO, {("one", "two"): (0.1, None, None)})
    )
    assert "two differs by −10.0 points, and nothing says how sure that is" in said


def test_of_several_each_has_to_hold_together_with_the_others() -> None:
    three = {"one": 0.9, "two": 0.8, "three": 0.7}
    pairs = {
        ("one", "two"): (0.1, 0.001, 0.2),
        ("one", "three"): (0.2, 0.1, 0.3),
        ("two", "three"): (0.1, 0.05, 0.15),
    }
    made = comparison_stage(three, pairs)
    said = texts("compared_lexicons", made)
    assert "two cannot be told apart from it (−10.0 points [−21.4, +1.3])" in said[1]
    assert "three is worse (−20.0 points [−31.4, −8.6])" in said[2]
    assert len(said) == 3
    (caution,) = texts("comparison_cautions", made)
    assert "2 differences hold together with 95 %" in caution
    assert "1.14 times as far apart" in caution


@pytest.mark.parametrize(("pairs", "confidence"), [(2, 0.95), (10, 0.9), (45, 0.99)])
def test_more_pairs_take_wider_intervals(pairs: int, confidence: float) -> None:
    assert apart(1, confidence) == 1.0 < apart(pairs, confidence) < apart(pairs + 1, confidence)


def test_ties_and_none() -> None:
    tied = comparison_stage({"a": 0.5, "b": 0.5}, {("a", "b"): (0.0, -0.1, 0.1)})
    said = texts("compared_lexicons", tied)
    assert said[0] == "Highest L*: a and b (tied), 50.0 % (40 lemmas)."
    assert "cannot be told apart" in said[1]
    assert found("compared_lexicons", comparison_stage({"a": None, "b": None}, {})) == []


def test_lexicons_are_called_by_what_made_them() -> None:
    among = [
        lexicon_stage(GOLD, GOLD, name="one"), lexicon_stage(GOLD, GOLD, name="two"),
    ]  # fmt: skip
    gaps = {("one", "two"): (0.1, 0.04, 0.17)}
    both_of_one = texts("compared_lexicons", comparison_stage(TWO, gaps, among=among))
    assert both_of_one[0].startswith("Highest L*: one, 90.0 %; two")
    other = among[1]
    named = [
        among[0],
        type(other)(**{**vars(other), "config": {**other.config, "lexicon": "web.list"}}),
    ]
    assert texts("compared_lexicons", comparison_stage(TWO, gaps, among=named))[0].startswith(
        "Highest L*: lexicon, 90.0 %; web 80.0 %"
    )


LIMITS = st.one_of(st.none(), st.floats(-1, 1))


@given(st.floats(0, 1), st.floats(0, 1), LIMITS, LIMITS)
def test_no_verdict_without_its_interval(
    one: float, two: float, low: float | None, high: float | None
) -> None:
    made = comparison_stage({"one": one, "two": two}, {("one", "two"): (one - two, low, high)})
    for text in texts("compared_lexicons", made):
        verdict = re.search(r"\b(better|worse)\b", text)
        if verdict:
            assert low is not None
            assert high is not None
            assert low > 0 or high < 0
            assert one != two
