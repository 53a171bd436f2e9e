"""The combination of measures: independence of own labels, and signals that it finds."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from pipeline.kernels.nbest.combination import (
    INDEPENDENT,
    Labels,
    average_precision_of,
    choose_single,
    cross_fit,
    fit_all,
    percentiles,
    terms,
)
from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.ridge_logistic import Features, fit_ridge
from pipeline.kernels.survey.study import folds_of, normal_scores

NO_WORDS = np.empty((0, 1), dtype=np.int64)


def random_features(seed: int, size: int = 60, numbers: int = 3, words: int = 2) -> Features:
    bits = np.random.default_rng(seed)
    codes = bits.integers(0, 12, size=(words, size))
    return Features(bits.normal(size=(size, numbers)), codes)


def random_labels(features: Features, seed: int, judged: int = 30) -> Labels:
    bits = np.random.default_rng([seed, 1])
    places = np.sort(bits.choice(features.candidates, judged, replace=False))
    odds = features.numbers[places].sum(axis=1) + (features.words[0, places] % 3 - 1.0)
    y = (odds + bits.logistic(size=judged) > 0).astype(np.float64)
    y[:2] = 0.0, 1.0
    return Labels(places, y, bits.uniform(0.5, 2.0, size=judged))


def test_the_penalty_of_many_measures_is_that_of_four() -> None:
    features = random_features(6, numbers=3 * INDEPENDENT)
    labels = random_labels(features, 6)
    model = fit_all(features, labels, ridge=2.0)
    weights = labels.weights / labels.weights.mean()
    same = fit_ridge(
        features.of(labels.places), labels.y, weights, ridge=2.0, of_numbers=3.0,
        sizes=features.sizes,
    )  # fmt: skip
    assert model.log_odds(features) == pytest.approx(same.log_odds(features), abs=1e-8)


def test_words_without_a_label_have_no_effect() -> None:
    features = random_features(2)
    labels = random_labels(features, 2, judged=6)
    model = fit_all(features, labels, ridge=1.0)
    for row, effects in enumerate(model.words):
        unseen = np.setdiff1d(np.arange(len(effects)), features.words[row, labels.places])
        assert not effects[unseen].any()
        assert effects[features.words[row, labels.places]].all()


@given(seed=st.integers(0, 10_000), changed=st.integers(2, 29))
def test_no_candidate_is_scored_by_its_own_label(seed: int, changed: int) -> None:
    """With a fixed penalty a label changes no score of its own fold."""
    features = random_features(seed)
    labels = random_labels(features, seed)
    fold = folds_of(pl.Series([f"x{i}" for i in range(60)]), folds=4, seed="s")
    y = labels.y.copy()
    y[changed] = 1.0 - y[changed]
    try:
        before = cross_fit(features, labels, fold, ridge=1.0).scores
        after = cross_fit(
            features, Labels(labels.places, y, labels.weights), fold, ridge=1.0
        ).scores
    except ValueError:
        return  # a training set of one kind
    same = fold == fold[labels.places[changed]]
    assert (before[same] == after[same]).all()
    assert (before[~same] != after[~same]).any()


def test_order_and_scale_of_weights_do_not_change_scores() -> None:
    features = random_features(3)
    labels = random_labels(features, 3)
    fold = np.arange(60) % 5
    fit = cross_fit(features, labels, fold)
    other = cross_fit(features, Labels(labels.places, labels.y, 7.0 * labels.weights), fold)
    assert (fit.scores == other.scores).all()
    assert fit.ridges == other.ridges
    turn = np.random.default_rng(5).permutation(60)
    places = np.argsort(turn)[labels.places]
    back = np.argsort(places)
    moved = cross_fit(
        features.of(turn), Labels(places[back], labels.y[back], labels.weights[back]), fold[turn]
    )
    assert moved.scores == pytest.approx(fit.scores[turn], abs=1e-12)


def test_the_gain_compares_predictions_with_the_mean() -> None:
    features = random_features(3)
    labels = random_labels(features, 3)
    labels = Labels(labels.places, labels.y, np.linspace(1.0, 3.0, len(labels.y)))
    fold = np.arange(60) % 5
    fit = cross_fit(features, labels, fold, ridge=2.0)
    total = 0.0
    for place, y, weight in zip(labels.places, labels.y, labels.weights, strict=True):
        other = fold[labels.places] != fold[place]
        mean = np.average(labels.y[other], weights=labels.weights[other])
        p = 1.0 / (1.0 + math.exp(-float(fit.models[fold[place]].log_odds(features)[place])))
        total += weight * (math.log(p if y else 1 - p) - math.log(mean if y else 1 - mean))
    assert fit.gain == pytest.approx(total / labels.weights.sum(), rel=1e-9)


def test_permuted_labels_have_a_lower_gain() -> None:
    features = random_features(5)
    labels = random_labels(features, 5)
    gains = [
        cross_fit(features, Labels(labels.places, y, labels.weights), np.arange(60) % 5).gain
        for y in (np.random.default_rng(seed).permutation(labels.y) for seed in range(20))
    ]
    assert np.median(gains) < 0
    assert cross_fit(features, labels, np.arange(60) % 5).gain > np.quantile(gains, 0.8)


def test_equal_candidates_have_equal_scores() -> None:
    features = random_features(4)
    features.numbers[1::2] = features.numbers[::2]
    features.words[:, 1::2] = features.words[:, ::2]
    labels = random_labels(features, 4)
    fold = np.repeat(np.arange(30) % 3, 2)
    scores = cross_fit(features, labels, fold).scores
    assert (scores[1::2] == scores[::2]).all()


def test_draws_of_a_single_word_are_fitted() -> None:
    features = Features(np.arange(8.0)[:, None], np.array([[0, 0, 0, 0, 1, 1, 2, 2]]))
    labels = Labels(np.arange(4), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    fit = cross_fit(features, labels, np.array([0, 0, 1, 1, 0, 1, 0, 1]))
    assert np.isfinite(fit.scores).all()


@pytest.mark.parametrize(
    ("y", "match"),
    [([0.0, 0.0, 0.0, 0.0], "only false"), ([1.0, 1.0, 1.0, 1.0], "only true")],
)
def test_labels_of_one_kind_are_refused(y: list[float], match: str) -> None:
    features = Features(np.arange(4.0)[:, None], NO_WORDS.reshape(0, 1).repeat(4, axis=1))
    with pytest.raises(ValueError, match=match):
        cross_fit(features, Labels(np.arange(4), np.array(y), np.ones(4)), np.arange(4) % 2)


def test_a_single_fold_is_refused() -> None:
    features = random_features(1)
    with pytest.raises(ValueError, match="no judgements"):
        cross_fit(features, random_labels(features, 1), np.zeros(60, dtype=np.int64))


def test_cross_fitting_finds_a_signal_and_no_noise() -> None:
    """Cross-fitted average precision is high for an informative measure alone."""
    bits = np.random.default_rng(7)
    tp = np.arange(400) % 4 == 0
    good = tp + bits.normal(scale=0.3, size=400)
    ranks = np.stack([(-good).argsort().argsort() + 1, bits.permutation(400) + 1])
    labels = Labels(np.arange(400), tp.astype(np.float64), np.ones(400))
    fold, pi = np.arange(400) % 10, np.ones(400)
    no_words = np.empty((0, 400), np.int64)
    fit = cross_fit(Features(normal_scores(ranks).T, no_words), labels, fold)
    assert average_precision_of(fit.scores, labels, pi) > 0.9
    single, choice = choose_single(ranks, labels, fold)
    assert set(choice) == {0}
    assert average_precision_of(single, labels, pi) > 0.9
    noise = cross_fit(Features(normal_scores(ranks[1:]).T, no_words), labels, fold)
    assert average_precision_of(noise.scores, labels, pi) == pytest.approx(0.25, abs=0.08)


def test_words_unique_to_each_candidate_are_not_predictive() -> None:
    """Resubstitution would rank such labels perfectly."""
    bits = np.random.default_rng(8)
    tp = bits.random(300) < 0.3
    features = Features(bits.normal(size=(300, 1)), np.arange(300)[None])
    labels = Labels(np.arange(300), tp.astype(np.float64), np.ones(300))
    scores = cross_fit(features, labels, np.arange(300) % 10).scores
    assert average_precision_of(scores, labels, np.ones(300)) == pytest.approx(tp.mean(), abs=0.1)
    final = fit_all(features, labels, ridge=0.1).log_odds(features)
    assert average_precision_of(final, labels, np.ones(300)) == 1.0


def test_terms_name_the_judged_words() -> None:
    features = Features(np.arange(6.0)[:, None] - 2.5, np.array([[0, 1, 0, 1, 2, 2]]))
    labels = Labels(np.array([0, 1, 2, 3]), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    fit = cross_fit(features, labels, np.array([0, 0, 1, 1, 0, 1]), ridge=1.0)
    final = fit_all(features, labels, ridge=1.0)
    rows = terms(
        [("measure", "mi")], [("{l1}", pl.Series(["a", "b", "c"]))], features.of(labels.places),
        final=final, models=fit.models,
    )  # fmt: skip
    assert [(row.kind, row.column, row.value, row.judged) for row in rows] == [
        ("intercept", "", "", 4), ("measure", "mi", "", 4), ("word", "{l1}", "a", 2),
        ("word", "{l1}", "b", 2),
    ]  # fmt: skip
    assert rows[2].coefficient < 0 < rows[3].coefficient
    assert all(row.lowest <= row.highest for row in rows)


@given(arrays.arrays(np.float64, st.integers(1, 20), elements=st.integers(0, 5).map(float)))
def test_percentiles_count_lower_scores_and_ties(scores: FloatArray) -> None:
    expected = [((scores < s).sum() + ((scores == s).sum() + 1) / 2) / len(scores) for s in scores]
    assert percentiles(scores) == pytest.approx(expected)
