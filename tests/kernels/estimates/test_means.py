from __future__ import annotations

import numpy as np
import pytest

from pipeline.kernels.survey.ratio_estimator import mean_limits, weighted_mean
from tests.kernels.estimates.simulated import chances, sequential_poisson


def test_by_hand() -> None:
    # one lemma of 40 forms for certain, two of 60: the ratio of 2 w1 + w2, w = size / pi
    found = weighted_mean([1.0, 0.8, 0.2], [1.0, 0.5, 0.25], size=[40, 5, 10], total=100)
    p = (10 * 0.8 + 40 * 0.2) / 50
    assert float(found.estimate) == pytest.approx(0.4 + 0.6 * p)
    w, c = np.array([10.0, 40.0]), np.array([0.5, 0.75])
    z = w * (np.array([0.8, 0.2]) - p) / 50
    centre = (c * z).sum() / c.sum()
    assert float(found.p_variance) == pytest.approx(2 * (c * (z - centre) ** 2).sum())


def test_drawn_by_size_all_draws_weigh_alike() -> None:
    size = np.array([2.0, 8.0, 5.0, 1.0])
    y = np.array([0.1, 0.9, 0.4, 1.0])
    found = weighted_mean(y, size / 100, size=size, total=300)
    assert float(found.estimate) == pytest.approx(y.mean())


def test_all_certain_is_exact_and_nothing_is_unknown() -> None:
    found = weighted_mean([0.5, 1.0], 1.0, size=[1, 3], total=4)
    assert [float(each) for each in mean_limits(found, confidence=0.95)] == [0.875, 0.875]
    nothing = weighted_mean([], [], size=[], total=4)
    assert np.isnan(nothing.estimate)
    assert [float(each) for each in mean_limits(nothing, confidence=0.95)] == [0.0, 1.0]


def test_draws_larger_than_the_whole_are_refused() -> None:
    with pytest.raises(ValueError, match="the draws have a size of 7, the whole population of 5"):
        weighted_mean([1.0, 0.0], 0.5, size=[3, 4], total=5)
    with pytest.raises(ValueError, match=r"1 chances are not in \(0, 1\]"):
        weighted_mean(1.0, 1.5, size=1, total=5)


def test_the_interval_holds_the_mean_of_lemmas_drawn_by_size() -> None:
    random = np.random.default_rng(11)
    size = np.rint(random.lognormal(2.5, 1.0, 600)) + 1
    y = np.clip(random.beta(6, 2, 600) + 0.05 * np.log(size) / 5, 0, 1)
    truth, pi = (size * y).sum() / size.sum(), chances(size, 60)
    held, errors = [], []
    for drawn in sequential_poisson(pi, 800, seed=12):
        found = weighted_mean(y[drawn], pi[drawn], size=size[drawn], total=size.sum())
        lower, upper = mean_limits(found, confidence=0.95)
        held.append(lower <= truth <= upper)
        errors.append(float(found.estimate) - truth)
    assert 0.93 <= np.mean(held) <= 0.975
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors)) + 0.002
