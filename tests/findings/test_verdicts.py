"""What an interval says of a difference: a side only where 0 is outside of it."""

from __future__ import annotations

import math

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.findings.phrases import Interval, differs, held_within, highest

LIMITS = st.one_of(st.none(), st.floats(-1, 1), st.just(math.nan))
INTERVALS = st.builds(Interval, st.just("it"), st.floats(-1, 1), LIMITS, LIMITS)


@given(INTERVALS)
@example(Interval("it", -0.1, -0.2, 0.0))
@example(Interval("it", 0.0, 0.0, 0.0))
@example(Interval("it", -0.1, -0.05, -0.2))
@example(Interval("it", math.nan, -0.2, -0.1))
def test_a_side_is_given_only_outside_of_the_interval(each: Interval) -> None:
    said = held_within(each)
    word = next((word for word in ("worse", "better") if word in said), None)
    assert (word is not None) == each.settled
    if word is None:
        with pytest.raises(ValueError, match="does not say on which side"):
            differs(each)
        return
    assert each.lower is not None
    assert each.upper is not None
    assert word == ("worse" if each.difference < 0 else "better")
    assert each.lower <= each.upper
    assert each.upper < 0 if word == "worse" else each.lower > 0


@given(INTERVALS.filter(lambda each: None not in (each.lower, each.upper)))
def test_the_two_sides_are_mirror_images(each: Interval) -> None:
    assert each.lower is not None
    assert each.upper is not None
    turned = Interval("it", -each.difference, -each.upper, -each.lower)
    assert turned.settled == each.settled


@pytest.mark.parametrize(
    ("interval", "said"),
    [
        (Interval("b", -0.065, -0.065, -0.065), "b is worse (−6.5 points exactly)"),
        (Interval("b", 0.0, 0.0, 0.0), "b cannot be told apart from it (0.0 points exactly)"),
        (Interval("b", 0.02, 0.01, 0.03), "b is better (+2.0 points [+1.0, +3.0])"),
        (Interval("b", 0.02, None, 0.03), "b differs by +2.0 points, and nothing says how sure that is"),
    ],
)  # fmt: skip
def test_what_is_said(interval: Interval, said: str) -> None:
    assert held_within(interval) == said


def test_the_highest_of_many_is_counted() -> None:
    assert highest("by types", list("abcdef"), "50.0 %") == (
        "highest by types: a, b, c, d and 2 more (tied), 50.0 %"
    )
