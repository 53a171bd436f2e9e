"""Labels saved: perfect, random and useless judges; the truth on average; parts."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.kernels.machine.savings import saved
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.limits import Weights, weights_of


def everybody(draws: int) -> BoolArray:
    return np.ones((1, 1, draws), dtype=np.bool_)


def labels(y: FloatArray, g: FloatArray, weights: Weights | None = None) -> float:
    fold = np.arange(len(y)) % 10
    given = weights or weights_of(None, draws=len(y))
    return float(saved(y, g, everybody(len(y)), given, fold=fold).labels[0])


def test_a_perfect_judge_saves_everything() -> None:
    y = (np.random.default_rng(1).random(80) < 0.2).astype(float)
    assert labels(y, y) == pytest.approx(1.0)
    chances = weights_of(np.random.default_rng(2).uniform(0.05, 0.9, 80), draws=80)
    assert labels(y, y, chances) == pytest.approx(1.0)


def test_judges_that_say_the_same_of_all_or_the_opposite_save_nothing() -> None:
    y = np.array([0.0, 1.0] * 30)
    assert labels(y, np.full(60, 0.5)) == 0.0
    assert labels(y, 1 - y) == 0.0


def test_random_judges_save_nothing_on_average() -> None:
    """Chance would save 1 / m = 1.7 % if the best weight were found in its own sample."""
    rng = np.random.default_rng(4)
    found = [labels((rng.random(60) < 0.3).astype(float), rng.random(60)) for _ in range(600)]
    assert -0.03 < np.mean(found) < 0.0


@pytest.mark.parametrize("noise", [0.3, 0.8])
def test_the_mean_is_what_predictions_explain(noise: float) -> None:
    rng = np.random.default_rng(5)

    def drawn(size: int) -> tuple[FloatArray, FloatArray]:
        y = (rng.random(size) < 0.3).astype(float)
        return y, np.clip(y + noise * rng.normal(size=size), 0, 1)

    whole = np.corrcoef(*drawn(200_000))[0, 1] ** 2
    found = [labels(*drawn(120)) for _ in range(400)]
    assert np.mean(found) == pytest.approx(whole, abs=0.03)


def test_certain_draws_do_not_count() -> None:
    y = np.array([0.0, 1.0] * 40)
    g = np.where(np.arange(80) < 40, y, 1 - y)
    certain = weights_of(np.where(np.arange(80) < 40, 0.5, 1.0), draws=80)
    assert labels(y, g, certain) == pytest.approx(1.0)


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_where_nothing_varies_nothing_can_be_saved(y: float) -> None:
    assert np.isnan(labels(np.full(60, y), np.linspace(0, 1, 60)))


def test_few_draws_are_too_few() -> None:
    y = np.array([0.0, 1.0] * 15)
    assert labels(y, y) == pytest.approx(1.0)
    assert np.isnan(labels(y[:29], y[:29]))


def test_a_difference_needs_enough_on_both_sides() -> None:
    y = np.array([0.0, 1.0] * 40)
    members = np.zeros((1, 2, 80), dtype=np.bool_)
    members[0, 0, :40] = members[0, 1, 40:] = True
    fold, weights = np.arange(80) % 10, weights_of(None, draws=80)
    assert saved(y, y, members, weights, fold=fold).labels[0] == pytest.approx(1.0)
    half = np.where(np.arange(80) < 40, y, 0.5)
    assert saved(y, half, members, weights, fold=fold).labels[0] == pytest.approx(0.5, abs=0.02)
    known = saved(y, half, members, weights, fold=fold, share=np.array([[1.0, 0.0]]))
    assert known.labels[0] == pytest.approx(1.0)
    members[0, 1, 60:] = False
    assert np.isnan(saved(y, y, members, weights, fold=fold).labels[0])


def test_nothing_drawn() -> None:
    none = np.zeros(0)
    found = saved(none, none, everybody(0), weights_of(None, draws=0), fold=np.zeros(0, np.int64))
    assert np.isnan(found.labels[0])
