"""Precisions on both sides of a difference, and looks as they are given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sizing.design import looks_at, sides_apart
from tests.kernels.design.slow_design import sets_of

SETS = sets_of({"x": [1, 2, 3, 4, 5, 6], "y": [6, 5, 1, 2, 3, 4]}, [("x", "y")], [2, 4])


@given(
    precision=st.lists(st.floats(0, 1), min_size=9, max_size=9),
    difference=st.floats(0.01, 0.9),
)
def test_the_sides_make_the_difference(precision: list[float], difference: float) -> None:
    """|D| is 2 of 2 and 2 of 4."""
    apart, found = sides_apart(SETS, np.array(precision), 2, difference)
    np.testing.assert_array_equal(apart[:4], precision[:4])
    for place, (share, one, two) in enumerate([(1.0, 4, 6), (0.5, 5, 7)]):
        middle = (precision[one] + precision[two]) / 2
        fits = middle - difference / share / 2 >= 0 and middle + difference / share / 2 <= 1
        if fits:
            assert share * (apart[one] - apart[two]) == pytest.approx(difference)
            assert (apart[one] + apart[two]) / 2 == pytest.approx(middle)
        near = min(abs(middle - difference / share / 2), abs(middle + difference / share / 2 - 1))
        if near > 1e-9:
            assert found[place] == (difference if fits else 0.0)


def test_differences_of_a_pilot_are_its_own() -> None:
    precision = np.array([0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.4, 0.9, 0.5])
    same, found = sides_apart(SETS, precision, 2, None)
    assert same is precision
    np.testing.assert_allclose(found, [0.2, 0.1])


def test_no_pairs() -> None:
    alone = sets_of({"x": [1, 2, 3]}, [], [2])
    assert sides_apart(alone, np.full(2, 0.5), 0, 0.1)[1].tolist() == []


def test_looks() -> None:
    assert looks_at([0.5, 1], "pocock").shares == (0.5, 1.0)  # type: ignore[union-attr]  # two
    assert looks_at([1.0], "pocock") is None
