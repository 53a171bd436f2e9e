"""The ridge logistic model against a general optimizer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.ridge_logistic import Features, fit_ridge, judged_words, with_all_words


class Problem(NamedTuple):
    """Features with labels and weights of all rows."""

    features: Features
    y: FloatArray
    weights: FloatArray


def random_problem(seed: int, size: int = 30, numbers: int = 3) -> Problem:
    bits = np.random.default_rng(seed)
    features = Features(bits.normal(size=(size, numbers)), bits.integers(0, 12, size=(2, size)))
    odds = features.numbers.sum(axis=1) + (features.words[0] % 3 - 1.0)
    y = (odds + bits.logistic(size=size) > 0).astype(np.float64)
    return Problem(features, y, bits.uniform(0.5, 2.0, size=size))


def by_optimizer(problem: Problem, ridge: float, of_numbers: float) -> FloatArray:
    """Minimise the same function over a dense matrix, by a general method."""
    features, y, weights = problem
    indicators = [np.eye(int(codes.max()) + 1)[codes] for codes in features.words]
    columns = np.hstack([np.ones((features.candidates, 1)), features.numbers, *indicators])
    penalty = np.full(columns.shape[1], ridge)
    numbers = features.numbers.shape[1]
    penalty[1 : numbers + 1] *= of_numbers
    penalty[0] /= 100.0

    def loss(b: FloatArray) -> tuple[float, FloatArray]:
        eta = columns @ b
        value = weights @ (np.logaddexp(0.0, eta) - y * eta) + penalty @ b**2 / 2.0
        return float(value), columns.T @ (weights * (scipy.special.expit(eta) - y)) + penalty * b

    result = scipy.optimize.minimize(
        loss, np.zeros(columns.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}
    )
    return np.asarray(columns @ result.x)


@given(
    seed=st.integers(0, 10_000), ridge=st.sampled_from([0.1, 1.0, 30.0]),
    numbers=st.integers(1, 6), of_numbers=st.sampled_from([1.0, 5.0]),
)  # fmt: skip
def test_the_fit_agrees_with_a_general_optimizer(
    seed: int, ridge: float, numbers: int, of_numbers: float
) -> None:
    problem = random_problem(seed, numbers=numbers)
    model = fit_ridge(*problem, ridge=ridge, of_numbers=of_numbers)
    expected = by_optimizer(problem, ridge, of_numbers)
    assert model.log_odds(problem.features) == pytest.approx(expected, abs=1e-5)


def test_the_start_does_not_change_the_fit() -> None:
    problem = random_problem(1)
    first = fit_ridge(*problem, ridge=10.0)
    cold = fit_ridge(*problem, ridge=1.0).log_odds(problem.features)
    warm = fit_ridge(*problem, ridge=1.0, start=first).log_odds(problem.features)
    assert warm == pytest.approx(cold, abs=1e-8)


def test_separated_labels_have_a_finite_fit() -> None:
    x = np.linspace(-1.0, 1.0, 10)[:, None]
    model = fit_ridge(
        Features(x, np.empty((0, 10), np.int64)),
        (x[:, 0] > 0).astype(np.float64),
        np.ones(10),
        ridge=0.1,
    )
    assert 0.0 < model.numbers[0] < 100.0


def test_words_without_judgements_do_not_change_the_model() -> None:
    """Words that are not judged have no effect, whether they have a code of their own or not."""
    problem = random_problem(2, size=60)
    places = np.arange(0, 60, 5)
    own, values = judged_words(problem.features, places)
    y, weights = problem.y[places], problem.weights[places]
    small = fit_ridge(own.of(places), y, weights, ridge=1.0, sizes=own.sizes)
    whole = fit_ridge(
        problem.features.of(places), y, weights, ridge=1.0, sizes=problem.features.sizes
    )
    same = with_all_words(small, values, problem.features.sizes)
    assert same.log_odds(problem.features) == pytest.approx(
        whole.log_odds(problem.features), abs=1e-8
    )
