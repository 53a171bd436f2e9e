"""Thinning keeps the ends, the cuts, and every isolated mark."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.charts.spec import spaced, thinned

sizes = st.integers(1, 100_000)


@given(sizes, sizes, st.lists(sizes, max_size=5))
def test_ends_and_cuts_are_kept(one: int, two: int, cuts: list[int]) -> None:
    first, last = sorted((one, two))
    found = thinned(range(first, last + 1), points=400, always=cuts)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (first, last)
    assert {n for n in cuts if first <= n <= last} <= set(found)
    assert len(found) <= 2 * 400 + len(cuts) + 2


def test_every_k_th() -> None:
    assert thinned(range(100, 1001), points=9, always=[]) == list(range(100, 1001, 100))


def test_short_lists_are_not_thinned() -> None:
    assert thinned([9, 3, 5, 4, 4], points=400) == [3, 4, 5, 9]


def test_steps_of_n_are_thinned_by_what_there_is() -> None:
    there = range(10, 5001, 10)
    found = thinned(there, points=100, always=[70, 71])
    assert set(found) <= set(there)
    assert 70 in found
    assert 95 <= len(found) <= 105


@given(st.lists(st.integers(1, 1000)), st.floats(1, 100))
def test_marks_keep_apart_and_stand_for_all(values: list[int], gap: float) -> None:
    kept = spaced(values, gap=gap)
    assert all(b - a >= gap for a, b in itertools.pairwise(kept))
    assert set(kept) <= set(values)
    assert all(any(0 <= value - mark < gap for mark in kept) for value in values)
