"""Squared correlations within sets: NumPy's where weights are equal, parts, limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.machine.judges import explained
from pipeline.kernels.numeric import BoolArray
from pipeline.kernels.survey.limits import weights_of


def everybody(draws: int) -> BoolArray:
    return np.ones((1, 1, draws), dtype=np.bool_)


@given(st.integers(0, 10_000))
def test_equal_weights_have_pearsons_correlation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(40) < 0.4).astype(float)
    y[:2] = 0, 1
    g = rng.random(40) / 2 + y * rng.random() / 2
    r = np.corrcoef(y, g)[0, 1]
    found = explained(y, g, everybody(40), weights_of(None, draws=40))
    assert found.rho2[0] == pytest.approx(max(r, 0) ** 2)
    assert found.lower[0] <= found.rho2[0] <= found.upper[0]


def test_whole_weights_are_repetitions() -> None:
    rng = np.random.default_rng(1)
    y, g = (rng.random(40) < 0.5).astype(float), rng.random(40)
    times = rng.integers(1, 4, 40)
    weighted = explained(y, g + y, everybody(40), weights_of(1 / times, draws=40))
    again = everybody(int(times.sum()))
    repeated = explained(
        np.repeat(y, times), np.repeat(g + y, times), again,
        weights_of(None, draws=again.size),
    )  # fmt: skip
    assert weighted.rho2[0] == pytest.approx(repeated.rho2[0])


def test_parts_are_centred_by_themselves() -> None:
    """What distinguishes the two parts explains nothing within them."""
    rng = np.random.default_rng(2)
    y = np.repeat([0.0, 1.0], 200)
    y = np.where(rng.random(400) < 0.2, 1 - y, y)
    g = np.repeat([0.2, 0.8], 200) + rng.random(400) / 100
    one = explained(y, g, everybody(400), weights_of(None, draws=400))
    halves = np.repeat(np.eye(2, dtype=np.bool_), 200, axis=1)[None]
    two = explained(y, g, halves, weights_of(None, draws=400))
    assert one.rho2[0] > 0.3
    assert two.rho2[0] < 0.02


def test_a_negative_correlation_is_none() -> None:
    y = np.array([0.0, 1.0] * 30)
    found = explained(y, 1 - y, everybody(60), weights_of(None, draws=60))
    assert [float(each[0]) for each in found] == [0.0, 0.0, 0.0]


def test_a_perfect_judge() -> None:
    y = np.array([0.0, 1.0] * 30)
    found = explained(y, y, everybody(60), weights_of(None, draws=60))
    assert [float(each[0]) for each in found] == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(("y", "g"), [(0.0, None), (1.0, None), (None, 0.5)])
def test_all_alike_is_not_known(y: float | None, g: float | None) -> None:
    varied = np.array([0.0, 1.0] * 30)
    one, other = (varied if each is None else np.full(60, each) for each in (y, g))
    found = explained(one, other, everybody(60), weights_of(None, draws=60))
    assert np.isnan([each[0] for each in found]).all()


def test_few_draws_are_too_few() -> None:
    y = np.array([0.0, 1.0] * 30)
    weights, members = weights_of(None, draws=60), everybody(60)
    members[..., 29:] = False
    assert np.isnan(explained(y, y, members, weights).rho2[0])
    members[..., 29] = True
    assert explained(y, y, members, weights).rho2[0] == pytest.approx(1.0)


def test_a_random_judge_is_seldom_told_from_nothing() -> None:
    """At 95 % confidence its lower limit is above 0 in 2.5 % of samples: here in 1,500."""
    rng = np.random.default_rng(8)
    y = (rng.random((1500, 60)) < 0.3).astype(float)
    g = rng.random((1500, 60))
    found = [
        explained(a, b, everybody(60), weights_of(None, draws=60)).lower[0] > 0
        for a, b in zip(y, g, strict=True)
    ]
    assert 0.005 < np.mean(found) < 0.04
