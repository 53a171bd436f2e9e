"""The fewest labels, against linear search and closed formulas; looks against published bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from pipeline.kernels.numeric import BoolArray
from pipeline.kernels.survey.planning import (
    Looks,
    Spread,
    Spreads,
    Target,
    last_levels,
    least_labels,
    planned_labels,
)

FOUR = Looks((0.25, 0.5, 0.75, 1.0))
Z = float(norm.ppf(0.975))


@given(first=st.lists(st.integers(1, 40), min_size=1, max_size=6), most=st.integers(1, 35))
def test_linear_search(first: list[int], most: int) -> None:
    asked = []

    def enough(size: int) -> BoolArray:
        asked.append(size)
        return size >= np.array(first)

    assert least_labels(enough, most=most).tolist() == [min(each, most + 1) for each in first]
    assert len(asked) <= 1 + len(first) * math.ceil(math.log2(most + 1))


def simple(v: float, candidates: int, n: int, further: float = 0.0) -> Spreads:
    """Return the spread of one list's precision in a simple sample, by size."""

    def at(size: int) -> Spread:
        return Spread(np.array([v * (candidates - size) / size / n]), np.array([further / size]))

    return at


@pytest.mark.parametrize("w", [0.02, 0.05, 0.2])
def test_half_width_of_a_simple_sample(w: float) -> None:
    """V (1 - f) / f <= (w / z)^2: f >= V / (V + (w / z)^2), V = v / n."""
    labels, levels = planned_labels(
        simple(0.21, 5000, 500), Target(np.array([w]), alpha=0.05), most=5000
    )
    whole = 0.21 / 500
    assert labels.tolist() == [math.ceil(5000 * whole / (whole + (w / Z) ** 2))]
    assert levels.tolist() == [0.05]


def test_power_of_a_difference() -> None:
    """V <= (d / (z + z_power))^2."""
    target = Target(np.array([0.05]), alpha=0.05, power=0.8)
    labels, _ = planned_labels(simple(0.4, 5000, 500), target, most=5000)
    whole, goal = 0.4 / 500, (0.05 / (Z + norm.ppf(0.8))) ** 2
    assert labels.tolist() == [math.ceil(5000 * whole / (whole + goal))]
    reached = target.reached(simple(0.4, 5000, 500)(int(labels[0])), np.array([0.05]))
    assert 0.8 <= reached[0] < 0.801


def test_what_cannot_be_reached() -> None:
    at = simple(0.25, 100, 50)
    for reach in (0.0, float("nan")):
        target = Target(np.array([reach]), alpha=0.05, power=0.8)
        assert planned_labels(at, target, most=100)[0].tolist() == [101]
        assert planned_labels(at, target, most=100, looks=FOUR)[0].tolist() == [101]
    exact = Target(np.array([1e-9]), alpha=0.05)
    assert planned_labels(at, exact, most=100)[0].tolist() == [100]


def test_a_further_draw_widens_and_weakens() -> None:
    wide = Target(np.array([0.1]), alpha=0.05)
    spread = Spread(np.array([0.0004]), np.array([0.01]))
    assert wide.reached(spread, np.array([0.05]))[0] == pytest.approx(0.02 * Z + 0.01)
    power = Target(np.array([0.1]), alpha=0.05, power=0.8)
    assert power.reached(spread, np.array([0.05]))[0] == pytest.approx(norm.cdf(0.09 / 0.02 - Z))


def test_four_looks_of_a_large_population_are_those_of_the_books() -> None:
    """O'Brien and Fleming's function at four equal looks ends at z = 2.014, Pocock's at 2.350."""
    at = simple(0.25, 10**9, 10**8)
    for spending, z in (("obrien_fleming", 2.014), ("pocock", 2.350)):
        looks = Looks(FOUR.shares, spending)
        level = last_levels(at, np.array([400]), alpha=0.05, looks=looks, most=10**9)
        assert norm.isf(level[0] / 2) == pytest.approx(z, abs=0.002)


def test_looks_cost_labels_and_meet_the_target() -> None:
    at, target = simple(0.25, 5000, 500, further=0.5), Target(np.array([0.05]), alpha=0.05)
    once, _ = planned_labels(at, target, most=5000)
    for spending in ("obrien_fleming", "pocock"):
        looks = Looks(FOUR.shares, spending)
        labels, levels = planned_labels(at, target, most=5000, looks=looks)
        assert labels[0] > once[0]
        assert target.met(at(int(labels[0])), levels).all()
        own = last_levels(at, labels, alpha=0.05, looks=looks, most=5000)
        np.testing.assert_allclose(levels, own, rtol=1e-3)


def test_a_last_look_that_knows_all_is_outside_the_plan() -> None:
    at = simple(0.25, 100, 50)
    assert last_levels(at, np.array([100]), alpha=0.05, looks=FOUR, most=100).tolist() == [0.05]
