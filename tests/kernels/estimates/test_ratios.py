from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.ratio_estimator import (
    beta_limits,
    draw_weights,
    influence,
    mean_difference,
    mean_limits,
    ratio_mean,
    rosen_variance,
    weighted_mean,
)
from tests.kernels.estimates.simulated import chances, sequential_poisson

ROWS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0.05, 0.3, 0.9, 1.0]), st.integers(1, 30)),
    min_size=2, max_size=12,
)  # fmt: skip


def columns(rows: list[tuple[float, float, int]]) -> tuple[FloatArray, FloatArray, FloatArray]:
    y, pi, size = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return y, pi, size


@given(ROWS, st.integers(1, 500))
def test_with_a_known_total_it_is_the_weighted_mean(
    rows: list[tuple[float, float, int]], more: int
) -> None:
    """Two ways to one estimate and its variance: sums of moments, and what each draw adds."""
    y, pi, size = columns(rows)
    assume((pi < 1).sum() >= 2)
    total = size.sum() + more
    found = weighted_mean(y, pi, size=size, total=total)
    twin = influence(y, pi, size, total=total)
    assert twin.estimate == pytest.approx(float(found.estimate))
    assert twin.z[pi < 1].sum() == pytest.approx(0, abs=1e-12)
    assert rosen_variance(twin.z, pi) == pytest.approx(float(found.variance), abs=1e-12)


@given(ROWS)
def test_a_ratio_by_a_slow_twin(rows: list[tuple[float, float, int]]) -> None:
    y, pi, size = columns(rows)
    above = sum(a * v / p for v, p, a in rows)
    below = sum(a / p for v, p, a in rows)
    found = ratio_mean(y, pi, size=size)
    assert float(found.estimate) == pytest.approx(above / below)
    open_ = [(a * (v - above / below) / p / below, 1 - p) for v, p, a in rows if p < 1]
    m = len(open_)
    if m > 1:
        centre = sum(c * z for z, c in open_) / sum(c for _, c in open_)
        variance = m / (m - 1) * sum(c * (z - centre) ** 2 for z, c in open_)
        assert float(found.variance) == pytest.approx(variance, abs=1e-12)
    elif m == 0:
        assert float(found.variance) == 0


@given(ROWS, st.one_of(st.none(), st.integers(1, 500)))
def test_weights_add_up_to_1(rows: list[tuple[float, float, int]], more: int | None) -> None:
    _, pi, size = columns(rows)
    assume(more is None or (pi < 1).any())
    total = None if more is None else size.sum() + more
    weights = draw_weights(pi, size, total=total)
    assert (weights * size).sum() == pytest.approx(1)
    assert (weights > 0).all()


def test_certain_draws_count_what_they_are() -> None:
    weights = draw_weights(np.array([1.0, 0.5]), np.array([30.0, 5.0]), total=100)
    assert weights.tolist() == pytest.approx([0.01, 0.7 / 5])


def test_draws_without_size_weigh_nothing() -> None:
    weights = draw_weights(np.array([0.5, 0.5]), np.array([0.0, 5.0]), total=None)
    assert (weights * [0, 5]).tolist() == [0, 1]
    assert np.isnan(draw_weights(np.array([0.5]), np.array([0.0]), total=None)).all()
    with pytest.raises(ValueError, match=r"1 chances are not in \(0, 1\]"):
        draw_weights(np.array([1.5]), np.array([1.0]), total=None)
    with pytest.raises(ValueError, match="1 sizes are not from 0 on"):
        draw_weights(np.array([0.5]), np.array([-1.0]), total=None)


def test_variance_of_one_draw_and_of_none() -> None:
    assert np.isnan(rosen_variance(np.array([0.1]), np.array([0.5])))
    assert rosen_variance(np.array([0.1]), np.array([1.0])) == 0
    assert rosen_variance(np.array([]), np.array([])) == 0


def test_a_mean_that_is_compared_with_itself() -> None:
    pi, size = np.array([0.5, 0.25, 1.0]), np.array([5.0, 10.0, 40.0])
    one = influence(np.array([0.8, 0.3, 0.5]), pi, size, total=100)
    found = mean_difference(one, one, pi, weighs=size > 0)
    assert found == (0.0, 0.0, 2)


def test_the_difference_from_nothing_is_the_mean() -> None:
    pi, size = np.array([0.5, 0.25, 1.0]), np.array([5.0, 10.0, 40.0])
    y = np.array([0.8, 0.3, 0.5])
    one, none = (influence(each, pi, size, total=100) for each in (y, np.zeros(3)))
    found = mean_difference(one, none, pi, weighs=size > 0)
    mean = weighted_mean(y, pi, size=size, total=100)
    assert found.estimate == pytest.approx(float(mean.estimate))
    assert found.variance == pytest.approx(float(mean.variance))


@given(ROWS, st.integers(0, 500))
def test_beta_limits_hold_the_estimate_and_stay_within_what_is_open(
    rows: list[tuple[float, float, int]], more: int
) -> None:
    y, pi, size = columns(rows)
    found = weighted_mean(y, pi, size=size, total=size.sum() + more)
    lower, upper = (float(each) for each in beta_limits(found, confidence=0.95))
    assert np.fmin(found.floor, found.estimate) <= lower + 1e-12
    assert upper <= np.fmax(found.ceiling, found.estimate) + 1e-12
    if not np.isnan(found.estimate):
        assert lower - 1e-12 <= found.estimate <= upper + 1e-12


def test_beta_limits_by_hand() -> None:
    """p = .7 of 3 draws, n' = p q / V (1.96 / 4.3027)^2."""
    scipy = pytest.importorskip("scipy")
    found = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    n = 0.21 / float(found.variance) * (1.959963984540054 / 4.302652729749464) ** 2
    lower = scipy.stats.beta.ppf(0.025, n * 0.7, n * 0.3 + 1)
    assert float(beta_limits(found, confidence=0.95)[0]) == pytest.approx(lower)


def test_beta_limits_of_values_that_are_all_alike() -> None:
    """Nothing is known of the spread: as Clopper and Pearson, for 20 draws of ones."""
    found = weighted_mean(np.ones(20), 0.01, size=1, total=2000)
    lower, upper = (float(each) for each in beta_limits(found, confidence=0.95))
    assert lower == pytest.approx(0.025 ** (0.99 / 20), abs=1e-3)
    assert upper == 1
    one = weighted_mean([0.5], 0.1, size=1, total=10)
    assert [float(each) for each in beta_limits(one, confidence=0.95)] == pytest.approx(
        [0.05, 0.95]
    )


def test_beta_is_t_without_its_symmetry() -> None:
    random = np.random.default_rng(5)
    found = weighted_mean(random.beta(40, 40, 300), 0.01, size=1, total=30_000)
    beta, t = (limits(found, confidence=0.95) for limits in (beta_limits, mean_limits))
    assert np.ravel(beta) == pytest.approx(np.ravel(t), abs=0.002)


def test_the_ratio_holds_what_it_estimates_where_sizes_come_after_the_draw() -> None:
    """Drawn by a guess of the size, which is off by up to a half."""
    random = np.random.default_rng(17)
    size = np.rint(random.lognormal(2.5, 1.0, 500)) + 1
    y = random.beta(5, 2, 500)
    guess = np.maximum(1.0, np.rint(size * random.uniform(0.5, 1.5, 500)))
    truth, pi = (size * y).sum() / size.sum(), chances(guess, 60)
    held = []
    for drawn in sequential_poisson(pi, 600, seed=18):
        found = ratio_mean(y[drawn], pi[drawn], size=size[drawn])
        lower, upper = beta_limits(found, confidence=0.95)
        held.append(lower <= truth <= upper)
    assert 0.925 <= np.mean(held) <= 0.985
