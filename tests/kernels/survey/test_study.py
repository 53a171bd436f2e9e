from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.study import cross_fit, folds_of, normal_scores

Y = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 0], dtype=float)
GUESS = np.array([0.9, 0.2, 0.7, 0.6, 0.4, 0.1, 0.8, 0.3, 0.4, 0.2])
OTHERS = np.array(
    [
        0.1,
        0.2,
        0.8,
        0.9,
        0.5,
        0.3,
        0.2,
        0.6,
        0.7,
        0.1,
        0.4,
        0.9,
        0.2,
        0.3,
        0.5,
        0.8,
        0.1,
        0.2,
        0.6,
        0.4,
    ]
)


def prediction_powered(tau: float, confidence: float) -> tuple[float, float, float]:
    """The form for independent draws from an infinite population (PPI++, section 2)."""
    residual = Y - tau * GUESS
    mean = tau * OTHERS.mean() + residual.mean()
    variance = tau**2 * OTHERS.var() / len(OTHERS) + residual.var() / len(Y)
    half = scipy.special.ndtri((1 + confidence) / 2) * np.sqrt(variance)
    return mean, mean - half, mean + half


@pytest.mark.parametrize(
    ("tau", "expected"),
    [(0.0, (0.5, 0.23992581, 0.76007419)), (1.0, (0.48, 0.28952339, 0.67047661))],
)
def test_values_agree_with_the_package_ppi_python(
    tau: float, expected: tuple[float, float, float]
) -> None:
    # output of the package ppi-python 0.2.3
    assert prediction_powered(tau, 0.9) == pytest.approx(expected, abs=6e-9)


def test_normal_scores_are_quantiles_of_ranks() -> None:
    ranks = np.array([[3, 1, 2, 4], [1, 2, 3, 4]])
    result = normal_scores(ranks)
    assert result.shape == (2, 4)
    assert result[1].tolist() == sorted(result[1], reverse=True)
    assert result[0, [1, 2, 0, 3]] == pytest.approx(result[1])
    assert result.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert result[1, 0] == pytest.approx(scipy.stats.norm.ppf(1 - 0.625 / 4.25))


def test_folds_depend_on_the_id_alone() -> None:
    ids = pl.Series([f"x{number}" for number in range(2000)])
    fold = folds_of(ids, folds=10, seed="s")
    assert np.bincount(fold, minlength=10).min() > 140
    assert folds_of(ids[500:], folds=10, seed="s").tolist() == fold[500:].tolist()
    assert folds_of(ids, folds=10, seed="t").tolist() != fold.tolist()


def population(size: int = 300) -> tuple[FloatArray, FloatArray]:
    random = np.random.default_rng(4)
    x = random.normal(size=(size, 3))
    return x, (random.random(size) < scipy.special.expit(x @ [1.0, -0.5, 0.0] - 1)).astype(float)


def slow_model(x: FloatArray, y: FloatArray, ridge: float) -> FloatArray:
    """Minimise the penalised loss by another method."""
    penalty = np.r_[ridge / 100, [ridge] * (x.shape[1] - 1)]

    def loss(b: FloatArray) -> float:
        eta = x @ b
        return float((np.logaddexp(0, eta) - y * eta).sum() + (penalty * b**2).sum() / 2)

    return np.asarray(
        scipy.optimize.minimize(loss, np.zeros(x.shape[1]), method="BFGS", options={"gtol": 1e-7}).x
    )


@pytest.mark.parametrize("effects", [False, True])
def test_cross_fitting_agrees_with_single_models(*, effects: bool) -> None:
    x, y = population()
    places, fold = np.arange(0, 300, 3), np.arange(100) % 4
    words = np.stack([np.arange(300) % 7, np.arange(300) // 40]) if effects else None
    result = cross_fit(x, places, y[places], fold, folds=4, ridge=2.0, effects=words)
    scaled = np.column_stack([np.ones(300), (x - x.mean(axis=0)) / x.std(axis=0)])
    if words is not None:
        ones = [each == np.unique(each)[:, None] for each in words]
        scaled = np.column_stack([scaled, *(each.T.astype(float) for each in ones)])
    models = [
        slow_model(scaled[places[fold != each]], y[places[fold != each]], 2.0) for each in range(4)
    ]
    guesses = scipy.special.expit(scaled @ np.array(models).T)
    expected = guesses.mean(axis=1)
    expected[places] = guesses[places, fold]
    assert result == pytest.approx(expected, abs=1e-5)


def test_a_judgement_does_not_change_its_own_prediction() -> None:
    x, y = population()
    places, fold = np.arange(60), np.arange(60) % 5
    before = cross_fit(x, places, y[:60], fold, folds=5)
    changed = np.where(fold == 2, 1 - y[:60], y[:60])
    after = cross_fit(x, places, changed, fold, folds=5)
    assert after[places[fold == 2]] == pytest.approx(before[places[fold == 2]], abs=1e-12)
    assert after[places[fold == 3]] != pytest.approx(before[places[fold == 3]], abs=1e-3)


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_equal_judgements_and_constant_features_are_fitted(value: float) -> None:
    x = np.column_stack([np.linspace(-9, 9, 50), np.ones(50)])
    result = cross_fit(x, np.arange(20), np.full(20, value), np.arange(20) % 10)
    assert np.all((result > 0) & (result < 1))
    assert np.abs(result - value).max() < 0.1


def test_a_word_without_a_judged_candidate_has_no_effect() -> None:
    x, y = population()
    places, fold = np.arange(100), np.arange(100) % 5
    word = np.where(np.arange(300) < 100, np.arange(300) % 3, 3)
    result = cross_fit(x, places, y[places], fold, folds=5, effects=word[None])
    other = cross_fit(x, places, y[places], fold, folds=5, effects=np.minimum(word, 3)[None] * 10)
    assert result == pytest.approx(other, abs=1e-12)
    lone = np.where(np.arange(300) == 299, 9, word)
    assert cross_fit(x, places, y[places], fold, folds=5, effects=lone[None]) == pytest.approx(
        result
    )


def test_separable_judgements_have_a_finite_fit() -> None:
    x = np.linspace(-1, 1, 40)[:, None]
    result = cross_fit(x, np.arange(40), (x[:, 0] > 0).astype(float), np.arange(40) % 5)
    assert np.all(np.diff(result) > -0.3)
    assert result[0] < 0.1
    assert result[-1] > 0.9


def test_predictions_without_judgements_are_refused() -> None:
    none = np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="predictions require a judgement"):
        cross_fit(np.ones((3, 1)), none, [], none)
    with pytest.raises(ValueError, match="in 1 folds"):
        cross_fit(np.ones((3, 1)), none + 1, [], none, folds=1)
