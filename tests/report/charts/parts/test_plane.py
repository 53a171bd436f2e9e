"""Domains hold what is drawn and have round ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.charts.spec import Plane, n_domain, round_domain
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
