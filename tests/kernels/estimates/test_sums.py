from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.survey.ratio_estimator import (
    Moments,
    blocks,
    difference_sums,
    draw_moments,
    list_sums,
    set_sums,
)

CELLS, LISTS = 3, 4


@st.composite
def units(draw: st.DrawFn) -> dict[str, Any]:
    """Units under three measures; what they add differs by up to twelve orders of magnitude."""
    size = draw(st.integers(1, 12))
    amount = st.sampled_from([0.0, 1.0, 3.0, 1e-6, 1e6, 0.1])
    values = draw(st.lists(st.lists(amount, min_size=size, max_size=size), min_size=1, max_size=2))
    first = [draw(st.lists(st.integers(0, LISTS), min_size=size, max_size=size)) for _ in range(3)]
    cell = draw(st.lists(st.integers(0, CELLS - 1), min_size=size, max_size=size))
    return {"first": np.array(first), "columns": np.array(values), "cell": np.array(cell)}


def exact(made: dict[str, Any], column: int, inside: np.ndarray[Any, Any], cell: int) -> float:
    values = made["columns"][column]
    chosen = np.flatnonzero(inside & (made["cell"] == cell))
    return float(sum((Fraction(values[place]) for place in chosen), Fraction(0)))


@given(units())
def test_lists_and_sets_agree_with_exact_sums(made: dict[str, Any]) -> None:
    found = list_sums(made["first"], made["columns"], made["cell"], lists=LISTS, cells=CELLS)
    for (k, measure, n, cell), value in np.ndenumerate(found):
        inside = made["first"][measure] <= n
        assert value == pytest.approx(exact(made, k, inside, cell), rel=1e-13)
    members = made["first"] <= 1
    sums = set_sums(members, made["columns"], made["cell"], CELLS)
    assert sums == pytest.approx(found[:, :, 1], rel=1e-13)


@given(units())
def test_differences_lose_no_digits(made: dict[str, Any]) -> None:
    pairs = [(0, 1), (0, 2), (2, 1), (1, 1)]
    found = difference_sums(**made, pairs=pairs, cuts=range(1, LISTS), cells=CELLS)
    for (k, cut, pair, side, cell), value in np.ndenumerate(found):
        one, other = (pairs[pair][side], pairs[pair][1 - side])
        inside = (made["first"][one] <= cut + 1) & (made["first"][other] > cut + 1)
        assert value == pytest.approx(exact(made, k, inside, cell), rel=1e-13, abs=0.0)


def test_a_small_difference_beside_large_weights() -> None:
    # as 1e16 + 1 - 1e16 it would be 0
    first = np.array([[0, 0], [0, 1]])
    columns, cell = np.array([[1e16, 1.0]]), np.zeros(2, dtype=np.int64)
    sums = difference_sums(first, columns, cell, pairs=[(0, 1)], cuts=range(1), cells=1)
    assert sums.ravel().tolist() == [1.0, 0.0]


def test_no_units_and_no_pairs() -> None:
    nothing = np.zeros((2, 0), dtype=np.int64), np.zeros((1, 0)), np.zeros(0, dtype=np.int64)
    assert not list_sums(*nothing, lists=2, cells=1).any()
    assert not difference_sums(*nothing, pairs=[(0, 1)], cuts=range(2), cells=1).any()
    assert difference_sums(*nothing, pairs=[], cuts=range(2), cells=1).shape == (1, 2, 0, 2, 1)


def test_blocks_hold_every_cut_once() -> None:
    assert [cut for block in blocks(7, numbers=10**6) for cut in block] == list(range(7))
    assert list(blocks(0, numbers=1)) == []


def test_moments_by_hand() -> None:
    # pi = 1/4: w = 4 times the size, c = 3/4
    made = Moments(*draw_moments([0.5], [0.25], size=2.0, prediction=0.1)[:, 0])
    assert made.draws == 1
    assert (made.hits, made.misses) == (1.0, 1.0)
    assert (made.w, made.wy, made.c, made.cw, made.cww) == (8.0, 4.0, 0.75, 6.0, 48.0)
    assert (made.cwwy, made.cwwyy) == (24.0, 12.0)
    assert made.cwwyg == pytest.approx(2.4)
    assert made.cwwgg == pytest.approx(0.48)
    assert made.wg == pytest.approx(0.8)
    assert made.guessed == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pi": [0.5, 1.0]}, "1 chances are not inside (0, 1): 1 (row 1)"),
        ({"y": [2, -1]}, "2 judgements are not in [0, 1]: 2 (row 0), -1 (row 1)"),
        ({"prediction": [0.5, float("nan")]}, "1 predictions are not in [0, 1]: nan (row 1)"),
        ({"size": 0.0}, "2 sizes are not above 0"),
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, Any], said: str) -> None:
    options: dict[str, Any] = {"y": [1, 0], "pi": [0.5, 0.5]} | wrong
    with pytest.raises(ValueError, match=re.escape(said)):
        draw_moments(**options)
