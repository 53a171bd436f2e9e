"""Domains hold what is drawn and have round ends."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.charts.spec import Plane, n_domain, round_domain, spaced, thin_values
from pipeline.report.charts.style import Look


@given(st.lists(st.floats(-100, 100) | st.none(), min_size=1))
def test_the_domain_holds_all_values(values: list[float | None]) -> None:
    low, high = round_domain(values)
    assert low < high
    assert all(low - 1e-9 <= value <= high + 1e-9 for value in values if value is not None)


def test_given_ends_are_kept() -> None:
    assert round_domain([3.0, 44.8], low=0.0) == (0.0, 50.0)
    assert round_domain([3.0, 44.8], low=20.0, high=33.0) == (20.0, 33.0)


def test_nothing_to_hold() -> None:
    low, high = round_domain([None], low=0.0)
    assert (low, high) == (0.0, 1.0)


def test_a_far_window_does_not_start_at_zero() -> None:
    assert n_domain(100, 5102) == (0.0, 5102.0)
    assert n_domain(2000, 3000) == (2000.0, 3000.0)
    assert n_domain(1, 1) == (1.0, 2.0)


def test_pixels() -> None:
    plane = Plane((0.0, 1000.0), (0.0, 50.0), Look(width=500, height=340), "y")
    assert plane.x_pixel(200.0) == 100.0
    assert plane.y_pixel(50.0) == 0.0
    assert plane.y_pixel(0.0) == 340.0
    assert plane.n_per_pixel == pytest.approx(2.0)


# --- Thinning keeps the ends, the cuts, and every isolated mark.

sizes = st.integers(1, 100_000)


@given(sizes, sizes, st.lists(sizes, max_size=5))
def test_ends_and_cuts_are_kept(one: int, two: int, cuts: list[int]) -> None:
    first, last = sorted((one, two))
    found = thin_values(range(first, last + 1), points=400, always=cuts)
    assert found == sorted(set(found))
    assert (found[0], found[-1]) == (first, last)
    assert {n for n in cuts if first <= n <= last} <= set(found)
    assert len(found) <= 2 * 400 + len(cuts) + 2


def test_every_k_th() -> None:
    assert thin_values(range(100, 1001), points=9, always=[]) == list(range(100, 1001, 100))


def test_short_lists_are_not_thinned() -> None:
    assert thin_values([9, 3, 5, 4, 4], points=400) == [3, 4, 5, 9]


def test_steps_of_n_are_thinned_by_what_there_is() -> None:
    there = range(10, 5001, 10)
    found = thin_values(there, points=100, always=[70, 71])
    assert set(found) <= set(there)
    assert 70 in found
    assert 95 <= len(found) <= 105


@given(st.lists(st.integers(1, 1000)), st.floats(1, 100))
def test_marks_keep_apart_and_stand_for_all(values: list[int], gap: float) -> None:
    kept = spaced(values, gap=gap)
    assert all(b - a >= gap for a, b in itertools.pairwise(kept))
    assert set(kept) <= set(values)
    assert all(any(0 <= value - mark < gap for mark in kept) for value in values)
