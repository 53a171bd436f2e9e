"""Intervals from predictions of what was not drawn, beside those of the bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import betabinom

from pipeline.kernels.nbest.stratified import (
    predicted_estimates,
    stratified_difference,
    stratified_interval,
)

OPTIONS: dict[str, Any] = {"confidence": 0.95, "seed": "s", "method": "predictive"}


@pytest.mark.parametrize(("size", "n", "k"), [(60, 20, 7), (60, 4, 0), (9, 1, 1)])
def test_one_stratum_is_a_beta_binomial(size: int, n: int, k: int) -> None:
    row = np.array([[size], [n], [k]])
    values = predicted_estimates(row, replicates=20_000, seed="s", purpose="p")
    others = betabinom(size - n, k + 0.5, n - k + 0.5)
    assert values.mean() == pytest.approx((k + others.mean()) / size, abs=0.01)
    assert values.std() == pytest.approx(others.std() / size, rel=0.05)
    assert set(np.round(values * size - k, 6)) <= set(range(size - n + 1))


def test_strata_are_weighted() -> None:
    # all of 10 known and true, 20 of 30 drawn and 10 true: 20 to 30 of 40
    row = np.array([[10, 30, 0], [10, 20, 0], [10, 10, 0]])
    values = predicted_estimates(row, replicates=5_000, seed="s", purpose="p")
    assert 0.5 <= values.min() < values.max() <= 0.75
    assert values.mean() == pytest.approx(25 / 40, abs=0.005)


def test_draws_that_are_all_alike_leave_a_doubt() -> None:
    row = ([[100]], [[5]], [[0]])
    lower, upper = stratified_interval(*row, replicates=2000, **OPTIONS)
    assert lower[0] == 0.0
    assert 0.2 < upper[0] < 0.5
    side = np.array([[100], [5], [0]])
    other = np.array([[100], [5], [1]])
    found = stratified_difference(other, side, share=0.5, replicates=2000, **OPTIONS)
    assert found[1] < 0 < found[0] < found[2]


def test_one_draw_is_enough_and_none_is_not() -> None:
    lower, upper = stratified_interval([[9], [9]], [[1], [0]], [[1], [0]], replicates=99, **OPTIONS)
    assert lower[0] < 0.5
    assert upper[0] == 1.0
    assert np.isnan([lower[1], upper[1]]).all()


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1, max_size=3))
def test_the_estimate_lies_within(parts: list[tuple[int, int, int]]) -> None:
    size = [a + b + c for a, b, c in parts]
    n, k = [b + c for _, b, c in parts], [c for _, _, c in parts]
    lower, upper = stratified_interval([size], [n], [k], replicates=50, **OPTIONS)
    if any(s and not d for s, d in zip(size, n, strict=True)) or not sum(size):
        assert np.isnan(lower[0])
        return
    p = sum(s * x / d for s, d, x in zip(size, n, k, strict=True) if s) / sum(size)
    assert lower[0] - 1e-12 <= p <= upper[0] + 1e-12
    if size == n:
        assert upper[0] - lower[0] < 1e-12


def test_coverage_in_a_thin_stratum() -> None:
    """4 to 8 draws of 100 members of each difference set: the bootstrap is far too short."""
    bits = np.random.default_rng(1)
    sets = [np.array([80, 20]), np.array([80, 20])]
    true = [np.array([8, 10]), np.array([12, 6])]
    truth = 0.5 * (18 - 18) / 100
    held = {"bootstrap": 0, "predictive": 0}
    for seed in range(200):
        rows = [
            np.array([size, draws, bits.hypergeometric(t, size - t, draws)])
            for size, t in zip(sets, true, strict=True)
            for draws in [np.array([5, 10])]
        ]
        for method in held:
            _, lower, upper = stratified_difference(
                rows[0], rows[1], share=0.5, confidence=0.95, replicates=200, seed=str(seed),
                method=method,
            )  # fmt: skip
            held[method] += lower <= truth <= upper
    assert held["bootstrap"] < 180  # of 200
    assert held["predictive"] >= 186


def test_unknown_method() -> None:
    with pytest.raises(
        ValueError, match="no method 'jackknife'; there are korn_graubard, bootstrap, predictive"
    ):
        stratified_interval([[9]], [[3]], [[1]], **OPTIONS | {"method": "jackknife"}, replicates=9)
