"""Raised weights: the conditions of the optimum, and that nothing beats it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.allocation import (
    TOLERANCE,
    Estimands,
    Goals,
    estimands,
    question_sums,
    raised_weights,
    size_measure,
)
from tests.kernels.design.slow_design import coefficients, sets_of, squares

COUNT = 200
BITS = np.random.default_rng(7)
RANKS = {m: (BITS.permutation(COUNT) + 1).tolist() for m in "xy"}
PAIRS, SIZES = [("x", "y")], [10, 40, 100]


def goals(limit: float, *, floor: float = 0.0, p: FloatArray | None = None) -> Goals:
    """Return questions about two unlike lists at three sizes, and about all candidates."""
    given = np.full(COUNT, 0.3) if p is None else p
    asked = estimands(sets_of(RANKS, PAIRS, SIZES), p=given, judged=np.zeros(COUNT, dtype=bool))
    limits = np.ones(asked.count)
    limits[-1] = limit
    whole = question_sums(asked, np.ones(COUNT))
    return Goals(asked, np.ones(asked.count), limits, whole, floor)


def relative(wanted: Goals, weights: FloatArray) -> FloatArray:
    """Return each variance in units of the simple sample's, from the matrix of the slow twin."""
    p = np.full(COUNT, 0.3).tolist()
    rows = coefficients(RANKS, PAIRS, SIZES)
    matrix = squares(rows, p, [False] * COUNT, assisted=False)
    x = size_measure(wanted.asked, weights=weights, whole=wanted.whole, floor=wanted.floor)
    return np.asarray((matrix / x).sum(axis=1) * x.mean() / matrix.sum(axis=1))


@pytest.mark.parametrize("limit", [1.02, 1.05, 1.1, 1.2])
@pytest.mark.parametrize("floor", [0.0, 0.2])
def test_no_variance_is_above_its_limit_and_weights_are_raised_where_it_is_met(
    limit: float, floor: float
) -> None:
    wanted = goals(limit, floor=floor)
    used = raised_weights(wanted)
    excess = relative(wanted, used) / wanted.limits - 1
    assert excess.max() <= 1.01 * TOLERANCE
    assert (used >= wanted.weights).all()
    np.testing.assert_allclose(excess[used > 1.01], 0, atol=5 * TOLERANCE)
    assert (used > 1).any()


def test_weights_stay_where_nothing_does_worse() -> None:
    assert raised_weights(goals(50.0)).tolist() == [1.0] * 10


def test_a_limit_of_1_on_all_candidates_leaves_the_simple_sample() -> None:
    """By Cauchy and Schwarz: mean(x) mean(1/x) is 1 for a constant x alone."""
    wanted = goals(1.0)
    used = raised_weights(wanted)
    x = size_measure(wanted.asked, weights=used, whole=wanted.whole, floor=0.0)
    assert x.std() / x.mean() < 0.05


@given(st.integers(0, 2**32))
def test_no_other_sizes_have_a_smaller_sum_of_variances(seed: int) -> None:
    wanted = goals(50.0)
    p = np.full(COUNT, 0.3).tolist()
    matrix = squares(coefficients(RANKS, PAIRS, SIZES), p, [False] * COUNT, assisted=False)
    share = (matrix / matrix.sum(axis=1, keepdims=True)).sum(axis=0)
    x = size_measure(wanted.asked, weights=wanted.weights, whole=wanted.whole, floor=0.0)
    np.testing.assert_allclose(x, np.sqrt(share), rtol=1e-9)
    other = x * np.exp(0.3 * np.random.default_rng(seed).standard_normal(COUNT))
    best, found = ((share / each).sum() * each.sum() for each in (x, other))
    assert best <= found * (1 + 1e-12)


def test_what_is_not_asked_or_known_is_left_alone() -> None:
    wanted = goals(1.3)
    weights = wanted.weights.copy()
    weights[0] = 0.0
    assert raised_weights(Goals(wanted.asked, weights, wanted.limits, wanted.whole, 0.0))[0] == 0.0
    judged = np.array([rank <= 10 for rank in RANKS["x"]])
    asked: Estimands = estimands(sets_of(RANKS, PAIRS, SIZES), p=np.full(COUNT, 0.3), judged=judged)
    whole = question_sums(asked, np.ones(COUNT))
    assert whole[0] == 0.0
    assert raised_weights(Goals(asked, wanted.weights, wanted.limits, whole, 0.0))[0] == 1.0


def test_predictions_shape_the_sizes() -> None:
    """With x_i = sqrt(v_i) times what a constant p would give, where predictions are used."""
    p = np.random.default_rng(1).uniform(0.02, 0.98, COUNT)
    zeros = np.zeros(COUNT, dtype=bool)
    sets = sets_of(RANKS, [], [COUNT])
    asked = estimands(sets, p=p, judged=zeros, assisted=True)
    whole = question_sums(asked, np.ones(COUNT))
    x = size_measure(asked, weights=np.ones(asked.count), whole=whole, floor=0.0)
    ratio = x / np.sqrt(p * (1 - p))
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
