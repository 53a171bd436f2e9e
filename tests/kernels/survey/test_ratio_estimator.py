"""Strata whose draws have different weights: classes, their limits, and coverage."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.kernels.survey import ratio_estimator
from pipeline.kernels.survey.limits import (
    binomial_limits,
    difference_limits,
    difference_p_values,
    effective_draws,
    korn_graubard,
    limits,
    t_limits,
)
from pipeline.kernels.survey.ratio_estimator import (
    CertainCounts,
    Estimates,
    Moments,
    draw_moments,
    hajek,
    prediction_weights,
    weight_classes,
)
from pipeline.kernels.survey.study import (
    blocks,
    cross_fit,
    difference_sums,
    list_sums,
    normal_scores,
    set_sums,
)
from pipeline.kernels.survey.weighted_means import (
    beta_limits,
    draw_weights,
    influence,
    mean_difference,
    mean_limits,
    ratio_mean,
    rosen_variance,
    weighted_mean,
)
from tests.kernels.survey.slow import (
    Member,
    chances,
    estimate_set,
    sequential_poisson,
    slow_estimate,
    slow_tau,
)

NOTHING = CertainCounts(*np.zeros(3))
SAMPLES = 3000
LEAST = 0.94 - 3 * (0.94 * 0.06 / SAMPLES) ** 0.5


def estimate_from_strata(size: npt.ArrayLike, n: npt.ArrayLike, k: npt.ArrayLike) -> Estimates:
    """Estimate sets from their counts in strata, shape (..., strata), none drawn completely."""
    members, drawn, hits = (np.asarray(each, dtype=np.float64) for each in (size, n, k))
    pi = (drawn / members).ravel()
    hit, miss = (draw_moments(y, pi).reshape(-1, *members.shape) for y in (1.0, 0.0))
    sums = hit * hits + miss * (drawn - hits)
    return hajek(
        sums[..., None], members, certain=CertainCounts(*np.zeros((3, *members.shape[:-1])))
    )


def coverage(size: list[int], draws: list[int], precision: list[float]) -> float:
    """Return the share of stratified samples whose limits contain the true value."""
    sizes, drawn = np.array(size), np.array(draws)
    true = np.round(sizes * np.array(precision)).astype(int)
    hits = np.random.default_rng(0).hypergeometric(
        true, sizes - true, drawn, size=(SAMPLES, len(sizes))
    )
    members, judged = (np.broadcast_to(each, hits.shape) for each in (sizes, drawn))
    lower, upper = limits(estimate_from_strata(members, judged, hits), confidence=0.95)
    truth = true.sum() / sizes.sum()
    return float(((lower <= truth + 1e-9) & (truth - 1e-9 <= upper)).mean())


HEAVY = [
    ([550, 450], [first, second], [0.4, low])
    for first in (400, 500, 545) for second in (5, 10, 18, 30) for low in (0.02, 0.1, 0.2)
]  # fmt: skip
ALIKE = [([100] * h, [m] * h, [p] * h) for h in (5, 20) for m in (3, 5, 10) for p in (0.02, 0.1)]


@pytest.mark.parametrize(("size", "draws", "precision"), HEAVY + ALIKE)
def test_limits_of_classes_cover_the_truth(
    size: list[int], draws: list[int], precision: list[float]
) -> None:
    assert coverage(size, draws, precision) >= LEAST


def test_limits_of_one_class_use_one_variance() -> None:
    alike = estimate_from_strata([100, 100], [10, 20], [1, 6])
    assert alike.parts == ()
    apart = estimate_from_strata([100, 100], [5, 20], [1, 6])
    assert len(apart.parts) == 2
    assert [float(part.share) for part in apart.parts] == [0.5, 0.5]


def test_classes_of_many_sets_are_independent() -> None:
    """A set of one class keeps its limits beside one of two."""
    sizes, draws = np.array([[100, 100], [100, 100]]), np.array([[10, 20], [5, 50]])
    hits = np.array([[1, 6], [1, 9]])
    both = limits(estimate_from_strata(sizes, draws, hits), confidence=0.95)
    for row in range(2):
        alone = limits(estimate_from_strata(sizes[row], draws[row], hits[row]), confidence=0.95)
        assert [float(each[row]) for each in both] == pytest.approx([float(x) for x in alone])


def test_strata_without_draws_or_members_have_no_class() -> None:
    sums = draw_moments([1, 0], [0.1, 0.5])[:, :, None]
    sums = np.concatenate([sums, np.zeros((len(sums), 2, 1))], axis=1)
    assert weight_classes(sums, np.array([100.0, 50.0, 30.0, 0.0])).tolist() == [0, 1, -1, -1]


def random_estimates(bits: np.random.Generator) -> Estimates:
    strata = [bits.random(int(bits.integers(3, 40))) < bits.random() for _ in range(3)]
    chances = bits.choice([0.02, 0.1, 0.5], 3)
    sums = np.stack(
        [draw_moments(y, pi).sum(axis=1) for y, pi in zip(strata, chances, strict=True)], axis=-1
    )
    mass = np.array([len(y) / pi for y, pi in zip(strata, chances, strict=True)])
    return hajek(sums[..., None], mass, certain=NOTHING)


@given(st.integers(0, 10_000))
def test_p_values_are_the_levels_at_which_limits_include_0(seed: int) -> None:
    bits = np.random.default_rng(seed)
    one, other = random_estimates(bits), random_estimates(bits)
    p = float(difference_p_values(one, other))
    assert p == pytest.approx(float(difference_p_values(other, one)), rel=1e-6)
    for factor, inside in ((0.98, True), (1.02, False)):
        if 1e-9 < p * factor < 0.9:
            lower, upper = difference_limits(one, other, confidence=1 - p * factor)
            assert bool(lower <= 0 <= upper) is inside


@given(st.integers(0, 10_000), st.floats(0.5, 0.99))
def test_limits_contain_the_estimate_and_grow_with_confidence(seed: int, confidence: float) -> None:
    result = random_estimates(np.random.default_rng(seed))
    narrow, wide = (limits(result, confidence=level) for level in (confidence, 0.995))
    assert 0 <= wide[0] <= narrow[0] + 1e-12
    assert narrow[0] <= result.estimate + 1e-12
    assert result.estimate - 1e-12 <= narrow[1] <= wide[1] + 1e-12 <= 1 + 2e-12


# Coverage of intervals and error rates of tests over many samples.

SAMPLES_COVERAGE = 1000
LEAST_COVERAGE = 0.94 - 3.5 * np.sqrt(0.94 * 0.06 / SAMPLES_COVERAGE)
"""Below it an observed coverage is significantly less than 94 %, over all cells together."""
SIZE = 1500
SCORE = np.random.default_rng(20).normal(size=SIZE)
RANK = np.argsort(np.argsort(-SCORE)) + 1
TRUE = (np.random.default_rng(21).random(SIZE) < 1 / (1 + np.exp(2 - SCORE))).astype(float)


def share_covered(estimates: Estimates, truth: float) -> float:
    lower, upper = limits(estimates, confidence=0.95)
    return float(((lower <= truth + 1e-12) & (truth - 1e-12 <= upper)).mean())


def is_unbiased(estimates: Estimates, truth: float) -> bool:
    defined = estimates.estimate[~np.isnan(estimates.estimate)]
    return bool(abs(defined.mean() - truth) < 4 * defined.std() / np.sqrt(len(defined)) + 0.01)


@pytest.mark.parametrize("design", ["simple", "unequal"])
@pytest.mark.parametrize("size", [100, pytest.param(400, marks=pytest.mark.long)])
def test_limits_of_generated_lists_cover_the_truth(design: str, size: int) -> None:
    x = np.ones(SIZE) if design == "simple" else np.exp(-RANK / 300) + 0.05
    pi = chances(x, size)
    samples = sequential_poisson(pi, SAMPLES_COVERAGE, seed=size)
    for n in (50, 200, 600, SIZE):
        members, truth = n >= RANK, TRUE[n >= RANK].mean()
        estimates = estimate_set(members, TRUE, pi, samples)
        covered = share_covered(estimates, truth)
        assert covered >= LEAST_COVERAGE, n
        assert is_unbiased(estimates, truth)
        if estimates.draws.mean() >= 30:
            assert covered <= 0.985, n
            defined = estimates.estimate[~np.isnan(estimates.variance)]
            ratio = np.nanmean(estimates.variance) / defined.var()
            assert 0.8 < ratio < 1.25, n


def strata_of(rates: Sequence[float], sizes: Sequence[int]) -> tuple[FloatArray, IntArray]:
    y = [
        [1.0] * round(r * n) + [0.0] * (n - round(r * n)) for r, n in zip(rates, sizes, strict=True)
    ]
    return np.concatenate(y), np.repeat(np.arange(len(sizes)), sizes)


def sampled_strata(
    rates: Sequence[float], sizes: Sequence[int], draws: Sequence[int], seed: int
) -> tuple[Estimates, float]:
    y, stratum = strata_of(rates, sizes)
    pi = (np.array(draws) / np.array(sizes))[stratum]
    samples = sequential_poisson(pi, SAMPLES_COVERAGE, seed, stratum)
    return estimate_set(np.ones(len(y), dtype=bool), y, pi, samples, stratum=stratum), float(
        y.mean()
    )


@pytest.mark.parametrize(
    "strata", [2, 5, *(pytest.param(n, marks=pytest.mark.long) for n in (10, 20))]
)
@pytest.mark.parametrize("draws", [1, 3, 10, pytest.param(50, marks=pytest.mark.long)])
def test_limits_of_strata_cover_the_truth(strata: int, draws: int) -> None:
    for rates in ([0.1] * strata, np.linspace(0.6, 0.02, strata).tolist()):
        sizes = np.linspace(100, 400, strata).astype(int).tolist()
        estimates, truth = sampled_strata(rates, sizes, [draws] * strata, seed=strata)
        assert share_covered(estimates, truth) >= LEAST_COVERAGE
        assert is_unbiased(estimates, truth)


def test_few_draws_of_a_large_stratum_need_class_limits() -> None:
    estimates, truth = sampled_strata([0.5, 0.1], [100, 900], [50, 3], seed=1)
    parts = (estimates.p, estimates.p_variance, estimates.draws)
    plain = korn_graubard(*parts, most=estimates.most, alike=estimates.alike, confidence=0.95)
    covered = float(((plain[0] <= truth) & (truth <= plain[1])).mean())
    assert covered < 0.4  # the pooled interval ignores what three draws may have missed
    assert share_covered(estimates, truth) >= LEAST_COVERAGE


@pytest.mark.long
@pytest.mark.parametrize("right", [0.5, 0.8, 0.97])
def test_limits_with_any_judge_cover_the_truth(right: float) -> None:
    random = np.random.default_rng(30)
    guess = np.where(random.random(SIZE) < right, TRUE, 1 - TRUE)
    pi = chances(np.exp(-RANK / 300) + 0.05, 300)
    samples = sequential_poisson(pi, SAMPLES_COVERAGE, seed=31)
    for n in (200, 600, SIZE):
        members, truth = n >= RANK, TRUE[n >= RANK].mean()
        widths = []
        for prediction in (None, guess):
            estimates = estimate_set(members, TRUE, pi, samples, prediction=prediction)
            assert share_covered(estimates, truth) >= LEAST_COVERAGE, n
            assert is_unbiased(estimates, truth)
            lower, upper = limits(estimates, confidence=0.95)
            widths.append((upper - lower).mean())
        assert widths[1] < {0.5: 1.02, 0.8: 0.98, 0.97: 0.85}[right] * widths[0]


@pytest.mark.parametrize("design", ["simple", "unequal"])
def test_the_test_of_equal_sets_keeps_its_level(design: str) -> None:
    # 200 and 200 members, 60 true ones in each, their places at random
    random = np.random.default_rng(40)
    first = np.arange(400) < 200
    y = np.concatenate([random.permutation([1.0] * 60 + [0.0] * 140) for _ in range(2)])
    pi = chances(np.ones(400) if design == "simple" else random.uniform(0.2, 2, 400), 120)
    samples = sequential_poisson(pi, 2000, seed=41)
    sides = [estimate_set(members, y, pi, samples) for members in (first, ~first)]
    wrong = (difference_p_values(sides[0], sides[1]) < 0.05).mean()
    assert 0.01 < wrong < 0.055 + 2.5 * np.sqrt(0.055 * 0.945 / 2000)
    # in complete samples any difference is significant, unlike in Fisher's test
    y[0] = 1 - y[0]
    full = [
        estimate_set(members, y, np.ones(400), np.arange(400)[None], folds=1)
        for members in (first, ~first)
    ]
    assert difference_p_values(full[0], full[1]).tolist() == [0.0]


@pytest.mark.long
def test_limits_in_krenns_data_cover_the_truth(public_data: Callable[[str], Path]) -> None:
    """A designed sample with predictions by a logistic model of scores, fitted in each sample."""
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    y = table["b.TP"].cast(pl.Float64).to_numpy()
    places = table.select(pl.col("f", "^am[.].*$").rank("ordinal", descending=True).cast(pl.Int64))
    ranks = {name: places[name].to_numpy() for name in places.columns}
    features = normal_scores(np.stack(list(ranks.values()))).T
    best = np.min(list(ranks.values()), axis=0)
    pi = chances(np.exp(-best / 1000) + 0.1, 400)
    samples = sequential_poisson(pi, 300, seed=50)
    fold, widths, covered = np.arange(samples.shape[1]) % 10, [], []
    for sample in samples:
        guess = cross_fit(features, sample, y[sample], fold)
        for n in (500, 1000):
            members = ranks["am.t.score"] <= n
            for prediction in (None, guess):
                estimates = estimate_set(members, y, pi, sample[None], prediction=prediction)
                lower, upper = limits(estimates, confidence=0.95)
                widths.append(float(upper[0] - lower[0]))
                covered.append(float(lower[0]) <= y[members].mean() <= float(upper[0]))
    width, share = (np.array(each).reshape(300, 2, 2).mean(axis=0) for each in (widths, covered))
    assert share.min() >= 0.94 - 3.5 * np.sqrt(0.94 * 0.06 / 300)
    assert (width[:, 1] < 0.95 * width[:, 0]).all()
    only = ranks["am.t.score"] <= 1000, ranks["am.log.likelihood"] <= 1000
    parts = (only[0] & ~only[1], only[1] & ~only[0])
    truth = y[parts[0]].mean() - y[parts[1]].mean()
    sides = [estimate_set(members, y, pi, samples) for members in parts]
    low, high = difference_limits(sides[0], sides[1], confidence=0.95)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.9


def test_limits_of_nearly_complete_sets_cover_the_truth() -> None:
    # 8 and 6 members among 400, nearly all of them drawn; 6 and 1 are true
    y, members = np.zeros(400), np.arange(400)
    y[[0, 1, 2, 3, 4, 5, 8]] = 1
    pi = chances(np.where(members < 14, 0.93, 0.0) + np.where(members >= 14, 0.1, 0.0), 52)
    samples = sequential_poisson(pi, 2000, seed=60)
    sides = [
        estimate_set(inside, y, pi, samples)
        for inside in (members < 8, (members >= 8) & (members < 14))
    ]
    assert share_covered(sides[0], 6 / 8) >= LEAST_COVERAGE
    assert share_covered(sides[1], 1 / 6) >= LEAST_COVERAGE
    low, high = difference_limits(sides[0], sides[1], confidence=0.95)
    assert ((low <= 6 / 8 - 1 / 6) & (high >= 6 / 8 - 1 / 6)).mean() >= LEAST_COVERAGE


CHANCES = [Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(99, 100), Fraction(1, 10**5)]


@st.composite
def member(draw: st.DrawFn, *, folds: int = 1) -> Member:
    # a slope keeps 16 digits but for those of the square of the largest by the smallest weight
    pi = draw(st.sampled_from(CHANCES if folds == 1 else [*CHANCES[:4], Fraction(1, 200)]))
    y = draw(st.sampled_from([0, 1] if pi == 1 else [0, 1, None, None]))
    guess = Fraction(draw(st.integers(0, 8)), 8) if folds > 1 else Fraction(0)
    return Member(y, pi, draw(st.integers(0, 2)), draw(st.integers(0, folds - 1)), guess)


def sums_of(
    members: Sequence[Member], folds: int
) -> tuple[np.ndarray, np.ndarray, CertainCounts, np.ndarray]:
    sums, mass, guessed = np.zeros((17, 3, folds)), np.zeros(3), np.zeros(3)
    certain = np.zeros(3)
    for each in members:
        if each.pi == 1:
            certain[2 if each.y is None else 1 - each.y] += 1
            continue
        mass[each.stratum] += 1
        if each.y is None:
            guessed[each.stratum] += float(each.guess)
        else:
            column = draw_moments(each.y, float(each.pi), prediction=float(each.guess))
            sums[:, each.stratum, each.fold] += column[:, 0]
    return sums, mass, CertainCounts(*certain), guessed


def estimate(members: Sequence[Member], folds: int = 1, enough: int = 1) -> Estimates:
    sums, mass, certain, guessed = sums_of(members, folds)
    return hajek(sums, mass, certain=certain, guessed=guessed if folds > 1 else None, enough=enough)


def same(
    estimates: Estimates, slow: tuple[Fraction | None, Fraction | None], rel: float = 1e-12
) -> None:
    estimate, variance = (float("nan") if each is None else float(each) for each in slow)
    assert float(estimates.estimate) == pytest.approx(
        estimate, rel=rel, abs=rel / 1000, nan_ok=True
    )
    assert float(estimates.variance) == pytest.approx(
        variance, rel=max(rel, 1e-7 if rel > 1e-9 else 1e-9), abs=rel / 1000, nan_ok=True
    )


@given(st.lists(member(), min_size=1, max_size=14))
def test_estimates_agree_with_exact_fractions(members: list[Member]) -> None:
    same(estimate(members), slow_estimate(members))


@given(st.lists(member(folds=3), min_size=1, max_size=14))
def test_estimates_with_predictions_agree_with_exact_fractions(members: list[Member]) -> None:
    open_ = [each for each in members if each.pi < 1]
    sizes = {h: [each for each in open_ if each.stratum == h] for h in range(3)}
    remaining = {
        h: part for h, part in sizes.items() if any(each.y is None for each in part)
    }  # the others are certain
    drawn = [each for part in remaining.values() for each in part if each.y is not None]
    count = {h: len(part) for h, part in remaining.items()}
    tau = [slow_tau(drawn, count, fold, folds=3) for fold in range(3)]
    with patch.object(ratio_estimator, "EACH", 0):  # few members have five hits and five misses
        estimates = estimate(members, folds=3)
    slow = slow_estimate(members, tau)
    same(estimates, slow, rel=1e-8)
    if slow != slow_estimate(members, [Fraction(0)] * 3):  # else predictions may have had no weight
        assert float(estimates.tau) == pytest.approx(float(sum(tau) / 3), rel=1e-8, abs=1e-10)


def simple(y: Sequence[int], pi: float, size: float) -> Estimates:
    columns = draw_moments(y, pi).sum(axis=1)[:, None, None]
    return hajek(columns, np.array([size]), certain=CertainCounts(*np.zeros(3)))


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60), st.floats(0.01, 0.99))
def test_constant_chances_give_the_textbook_variance(y: list[int], pi: float) -> None:
    p, m = sum(y) / len(y), len(y)
    result = simple(y, pi, m / pi)
    assert float(result.estimate) == pytest.approx(p, rel=1e-13)
    expected = (1 - pi) * p * (1 - p) / (m - 1)
    assert float(result.variance) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert float(result.most) == pytest.approx(m / (1 - pi))
    assert float(result.alike) == pytest.approx(m / (1 - pi))


@given(st.integers(1, 40), st.floats(1e-6, 0.99))
def test_equal_draws_give_exactly_0_or_1(m: int, pi: float) -> None:
    chances = np.linspace(pi, (1 + pi) / 2, m)
    for y in (0.0, 1.0):
        columns = draw_moments(np.full(m, y), chances).sum(axis=1)[:, None, None]
        result = hajek(columns, np.array([10.0 * m]), certain=CertainCounts(*np.zeros(3)))
        assert float(result.p) == y


def test_known_parts_shift_and_scale_the_estimate() -> None:
    alone = simple([1, 0, 0, 1, 0], 0.25, 20.0)
    columns = draw_moments([1, 0, 0, 1, 0], 0.25).sum(axis=1)[:, None, None]
    result = hajek(columns, np.array([20.0]), certain=CertainCounts(*np.array([3.0, 2.0, 0.0])))
    assert float(result.estimate) == pytest.approx((3 + 20 * 0.4) / 25)
    assert float(result.variance) == pytest.approx(0.8**2 * float(alone.variance))
    assert (float(result.floor), float(result.ceiling)) == pytest.approx((5 / 25, 1 - 5 / 25))


def test_empty_single_and_complete_samples_have_these_estimates() -> None:
    none = hajek(
        np.zeros((17, 1, 1)), np.array([4.0]), certain=CertainCounts(*np.array([2.0, 1.0, 0.0]))
    )
    assert np.isnan(none.estimate)
    assert np.isnan(none.variance)
    assert (float(none.floor), float(none.ceiling)) == pytest.approx((2 / 7, 6 / 7))
    one = simple([1], 0.5, 2.0)
    assert float(one.estimate) == 1.0
    assert np.isnan(one.variance)
    everything = simple([1, 0], 0.9, 2.0)  # both uncertain, both drawn
    assert (float(everything.estimate), float(everything.variance)) == (0.5, 0.0)
    assert float(everything.share) == 0.0
    empty = hajek(np.zeros((17, 1, 1)), np.zeros(1), certain=CertainCounts(*np.zeros(3)))
    assert np.isnan(empty.estimate)
    assert (float(empty.floor), float(empty.ceiling)) == (0.0, 1.0)


def test_certain_members_without_a_judgement_leave_no_estimate() -> None:
    columns = draw_moments([1, 0], 0.5).sum(axis=1)[:, None, None]
    result = hajek(columns, np.array([4.0]), certain=CertainCounts(*np.array([1.0, 0.0, 1.0])))
    assert np.isnan(result.estimate)
    assert (float(result.floor), float(result.ceiling)) == pytest.approx((2 / 6, 5 / 6))


def estimate_with_predictions(
    y: np.ndarray, g: np.ndarray, others: np.ndarray, folds: int = 5
) -> Estimates:
    columns, fold = draw_moments(y, 0.1, prediction=g), np.arange(len(y)) % folds
    sums = np.stack([columns[:, fold == each].sum(axis=1) for each in range(folds)], axis=-1)
    mass, guessed = np.array([float(len(y) + len(others))]), np.array([others.sum()])
    return hajek(sums[:, None], mass, certain=CertainCounts(*np.zeros(3)), guessed=guessed)


def test_correct_predictions_leave_no_variance() -> None:
    y = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], 10)
    result = estimate_with_predictions(y, y, np.array([1.0] * 300 + [0.0] * 150))
    assert float(result.tau) == pytest.approx(1.0)
    assert float(result.estimate) == pytest.approx((20 + 300) / 500)
    assert float(result.variance) == pytest.approx(0.0, abs=1e-15)


def test_few_judgements_and_equal_predictions_have_no_weight() -> None:
    y = np.tile([1.0, 0.0], 14)
    assert float(estimate_with_predictions(y, y, np.ones(100)).tau) == 0.0  # 28 draws
    more = np.tile([1.0, 0.0], 30)
    equal = estimate_with_predictions(more, np.full(60, 0.3), np.full(100, 0.3))
    assert float(equal.tau) == 0.0
    assert float(equal.estimate) == pytest.approx(0.5)


def test_predictions_need_five_hits_and_five_misses() -> None:
    guess = np.array([0.9] * 45 + [0.1] * 15)
    for misses, used in ((4, False), (5, True)):
        y = np.array([1.0] * (60 - misses) + [0.0] * misses)
        moments = draw_moments(y, 0.3, prediction=guess).sum(axis=1)[:, None, None]
        assert (prediction_weights(moments, np.array([1.0])).item() > 0) == used


def test_full_annotation_is_exact_with_any_predictions() -> None:
    random = np.random.default_rng(1)
    y, g = (random.random(200) < 0.3).astype(float), random.random(200)
    result = estimate_with_predictions(y, g, np.zeros(0))
    assert float(result.estimate) == pytest.approx(y.mean(), rel=1e-14)
    # and by the ratio alone, if one more is unknown
    almost = estimate_with_predictions(y, g, np.array([0.5]))
    assert float(almost.estimate) == pytest.approx(y.mean(), abs=0.01)


def test_the_weight_of_a_fold_ignores_its_own_judgements() -> None:
    random = np.random.default_rng(2)
    y, g = (random.random(60) < 0.5).astype(float), random.random(60)
    fold = np.arange(60) % 3

    def weights(judged: np.ndarray) -> np.ndarray:
        columns = draw_moments(judged, 0.2, prediction=0.5 * g + 0.3 * y)
        sums = np.stack([columns[:, fold == each].sum(axis=1) for each in range(3)], axis=-1)
        return prediction_weights(sums[:, None], np.ones(1))

    changed = np.where(fold == 1, 1 - y, y)
    before, after = weights(y), weights(changed)
    assert before[1] == pytest.approx(after[1])
    assert before[0] != pytest.approx(after[0])


@given(st.integers(1, 300), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_whole_numbers_have_clopper_pearson_limits(
    n: int, data: st.DataObject, level: float
) -> None:
    k = data.draw(st.integers(0, n))
    lower, upper = binomial_limits(k / n, n, (1 - level) / 2)
    expected = clopper_pearson(k, n, confidence=level)
    assert (float(lower), float(upper)) == pytest.approx(
        tuple(map(float, expected)), rel=1e-9, abs=1e-12
    )


@given(st.floats(0.0, 1.0), st.floats(0.5, 500.0), st.floats(0.0, 1.0))
def test_binomial_limits_mirror_and_widen_with_the_unit(p: float, n: float, unit: float) -> None:
    lower, upper = binomial_limits(p, n, 0.025, unit=unit)
    other = binomial_limits(1 - p, n, 0.025, unit=unit)
    assert float(lower) == pytest.approx(1 - float(other[1]), abs=1e-9)
    plain = binomial_limits(p, n, 0.025)
    assert lower <= plain[0] + 1e-9
    assert plain[1] <= upper + 1e-9
    assert lower - 1e-9 <= p <= upper + 1e-9


def test_tails_below_all_numbers_give_limits_of_0_and_1() -> None:
    lower, upper = binomial_limits([0.4, 0.6], 6.2, 1e-200, unit=0.129)
    assert (lower.tolist(), upper.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_effective_draws_have_these_values() -> None:
    # p (1 - p) / V; the cap; p = 0; one draw; no draw
    p, variance = [0.2, 0.2, 0.0, 0.5, np.nan], [0.02, 0.001, 0.0, np.nan, np.nan]
    effective = effective_draws(p, variance, [10, 10, 10, 1, 0], most=12, alike=9)
    assert effective.tolist() == pytest.approx([8.0, 12.0, 9.0, 9.0, 0.0])
    assert effective_draws(0.0, 0.0, 10, most=7, alike=9) == 7.0


def test_korn_graubard_limits_without_a_variance_have_these_values() -> None:
    lower, upper = korn_graubard(0.0, 0.0, 20, most=40, alike=25, confidence=0.95)
    assert float(lower) == 0.0
    assert float(upper) == pytest.approx(1 - 0.025 ** (1 / 25))
    nothing = korn_graubard(np.nan, np.nan, 0, most=0, alike=0, confidence=0.95)
    assert [float(limit) for limit in nothing] == [0.0, 1.0]


def test_mover_has_the_published_limits() -> None:
    # Newcombe's method 10 of 56/70 against 48/80: [.0524, .3339] from Wilson's limits
    lower, upper = mover((56 / 70, 0.6917, 0.8769), (48 / 80, 0.4904, 0.7005))
    assert (float(lower), float(upper)) == pytest.approx((0.0524, 0.3339), abs=2e-4)


def test_mover_without_an_estimate_takes_the_widest() -> None:
    lower, upper = mover((np.nan, 0.1, 0.9), (0.3, 0.2, 0.4))
    assert (float(lower), float(upper)) == pytest.approx((-0.3, 0.7))


def test_t_limits_are_clipped() -> None:
    lower, upper = t_limits(
        [0.5, 0.9, 1.0, 0.5], [0.01, 0.04, 0.0, np.nan], [5, 5, 0, 1], confidence=0.9
    )
    half = t.ppf(0.95, 4) * 0.1
    assert lower.tolist() == pytest.approx([0.5 - half, 0.9 - 2 * half, 1.0, 0.0])
    assert upper.tolist() == pytest.approx([0.5 + half, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_outside_0_and_1_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        t_limits(0.5, 0.01, 5, confidence=confidence)
    with pytest.raises(ValueError, match="confidence"):
        korn_graubard(0.5, 0.01, 5, most=5, alike=5, confidence=confidence)


def test_weighted_means_agree_with_those_by_hand() -> None:
    # one lemma of 40 forms for certain, two of 60: the ratio of 2 w1 + w2, w = size / pi
    result = weighted_mean([1.0, 0.8, 0.2], [1.0, 0.5, 0.25], size=[40, 5, 10], total=100)
    p = (10 * 0.8 + 40 * 0.2) / 50
    assert float(result.estimate) == pytest.approx(0.4 + 0.6 * p)
    w, c = np.array([10.0, 40.0]), np.array([0.5, 0.75])
    z = w * (np.array([0.8, 0.2]) - p) / 50
    centre = (c * z).sum() / c.sum()
    assert float(result.p_variance) == pytest.approx(2 * (c * (z - centre) ** 2).sum())


def test_draws_by_size_have_equal_weights() -> None:
    size = np.array([2.0, 8.0, 5.0, 1.0])
    y = np.array([0.1, 0.9, 0.4, 1.0])
    result = weighted_mean(y, size / 100, size=size, total=300)
    assert float(result.estimate) == pytest.approx(y.mean())


def test_complete_and_empty_samples_have_exact_and_trivial_limits() -> None:
    result = weighted_mean([0.5, 1.0], 1.0, size=[1, 3], total=4)
    assert [float(each) for each in mean_limits(result, confidence=0.95)] == [0.875, 0.875]
    nothing = weighted_mean([], [], size=[], total=4)
    assert np.isnan(nothing.estimate)
    assert [float(each) for each in mean_limits(nothing, confidence=0.95)] == [0.0, 1.0]


def test_draws_larger_than_the_population_are_refused() -> None:
    with pytest.raises(ValueError, match="the draws have total size 7, but the population only 5"):
        weighted_mean([1.0, 0.0], 0.5, size=[3, 4], total=5)
    with pytest.raises(ValueError, match=r"chances must be in \(0, 1\]"):
        weighted_mean(1.0, 1.5, size=1, total=5)


def test_limits_of_lemmas_drawn_by_size_cover_the_mean() -> None:
    random = np.random.default_rng(11)
    size = np.rint(random.lognormal(2.5, 1.0, 600)) + 1
    y = np.clip(random.beta(6, 2, 600) + 0.05 * np.log(size) / 5, 0, 1)
    truth, pi = (size * y).sum() / size.sum(), chances(size, 60)
    covered, errors = [], []
    for sample in sequential_poisson(pi, 800, seed=12):
        mean = weighted_mean(y[sample], pi[sample], size=size[sample], total=size.sum())
        lower, upper = mean_limits(mean, confidence=0.95)
        covered.append(lower <= truth <= upper)
        errors.append(float(mean.estimate) - truth)
    assert 0.93 <= np.mean(covered) <= 0.975
    assert abs(np.mean(errors)) < 3 * np.std(errors) / np.sqrt(len(errors)) + 0.002


ROWS = st.lists(
    st.tuples(st.floats(0, 1), st.sampled_from([0.05, 0.3, 0.9, 1.0]), st.integers(1, 30)),
    min_size=2, max_size=12,
)  # fmt: skip


def columns(rows: list[tuple[float, float, int]]) -> tuple[FloatArray, FloatArray, FloatArray]:
    y, pi, size = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    return y, pi, size


@given(ROWS, st.integers(1, 500))
def test_influence_gives_the_weighted_mean_and_its_variance(
    rows: list[tuple[float, float, int]], more: int
) -> None:
    """Two ways to one estimate and its variance: sums of moments, and influence of draws."""
    y, pi, size = columns(rows)
    assume((pi < 1).sum() >= 2)
    total = size.sum() + more
    result = weighted_mean(y, pi, size=size, total=total)
    twin = influence(y, pi, size, total=total)
    assert twin.estimate == pytest.approx(float(result.estimate))
    assert twin.z[pi < 1].sum() == pytest.approx(0, abs=1e-12)
    assert rosen_variance(twin.z, pi) == pytest.approx(float(result.variance), abs=1e-12)


@given(ROWS)
def test_ratio_means_agree_with_a_slow_twin(rows: list[tuple[float, float, int]]) -> None:
    y, pi, size = columns(rows)
    above = sum(a * v / p for v, p, a in rows)
    below = sum(a / p for v, p, a in rows)
    result = ratio_mean(y, pi, size=size)
    assert float(result.estimate) == pytest.approx(above / below)
    open_ = [(a * (v - above / below) / p / below, 1 - p) for v, p, a in rows if p < 1]
    m = len(open_)
    if m > 1:
        centre = sum(c * z for z, c in open_) / sum(c for _, c in open_)
        variance = m / (m - 1) * sum(c * (z - centre) ** 2 for z, c in open_)
        assert float(result.variance) == pytest.approx(variance, abs=1e-12)
    elif m == 0:
        assert float(result.variance) == 0


@given(ROWS, st.one_of(st.none(), st.integers(1, 500)))
def test_weights_add_up_to_1(rows: list[tuple[float, float, int]], more: int | None) -> None:
    _, pi, size = columns(rows)
    assume(more is None or (pi < 1).any())
    total = None if more is None else size.sum() + more
    weights = draw_weights(pi, size, total=total)
    assert (weights * size).sum() == pytest.approx(1)
    assert (weights > 0).all()


def test_certain_draws_have_their_own_share_as_weight() -> None:
    weights = draw_weights(np.array([1.0, 0.5]), np.array([30.0, 5.0]), total=100)
    assert weights.tolist() == pytest.approx([0.01, 0.7 / 5])


def test_draws_without_size_have_no_weight() -> None:
    weights = draw_weights(np.array([0.5, 0.5]), np.array([0.0, 5.0]), total=None)
    assert (weights * [0, 5]).tolist() == [0, 1]
    assert np.isnan(draw_weights(np.array([0.5]), np.array([0.0]), total=None)).all()
    with pytest.raises(ValueError, match=r"chances must be in \(0, 1\]"):
        draw_weights(np.array([1.5]), np.array([1.0]), total=None)
    with pytest.raises(ValueError, match="sizes must be >= 0: 1 invalid value"):
        draw_weights(np.array([0.5]), np.array([-1.0]), total=None)


def test_single_draws_have_no_variance_unless_certain() -> None:
    assert np.isnan(rosen_variance(np.array([0.1]), np.array([0.5])))
    assert rosen_variance(np.array([0.1]), np.array([1.0])) == 0
    assert rosen_variance(np.array([]), np.array([])) == 0


def test_a_mean_has_no_difference_from_itself() -> None:
    pi, size = np.array([0.5, 0.25, 1.0]), np.array([5.0, 10.0, 40.0])
    one = influence(np.array([0.8, 0.3, 0.5]), pi, size, total=100)
    result = mean_difference(one, one, pi, weighs=size > 0)
    assert result == (0.0, 0.0, 2)


def test_the_difference_from_zero_is_the_mean() -> None:
    pi, size = np.array([0.5, 0.25, 1.0]), np.array([5.0, 10.0, 40.0])
    y = np.array([0.8, 0.3, 0.5])
    one, none = (influence(each, pi, size, total=100) for each in (y, np.zeros(3)))
    result = mean_difference(one, none, pi, weighs=size > 0)
    mean = weighted_mean(y, pi, size=size, total=100)
    assert result.estimate == pytest.approx(float(mean.estimate))
    assert result.variance == pytest.approx(float(mean.variance))


@given(ROWS, st.integers(0, 500))
def test_beta_limits_contain_the_estimate_and_respect_known_parts(
    rows: list[tuple[float, float, int]], more: int
) -> None:
    y, pi, size = columns(rows)
    result = weighted_mean(y, pi, size=size, total=size.sum() + more)
    lower, upper = (float(each) for each in beta_limits(result, confidence=0.95))
    assert np.fmin(result.floor, result.estimate) <= lower + 1e-12
    assert upper <= np.fmax(result.ceiling, result.estimate) + 1e-12
    if not np.isnan(result.estimate):
        assert lower - 1e-12 <= result.estimate <= upper + 1e-12


def test_beta_limits_agree_with_those_by_hand() -> None:
    """p = .7 of 3 draws, n' = p q / V (1.96 / 4.3027)^2."""
    scipy = pytest.importorskip("scipy")
    result = weighted_mean([0.9, 0.5, 0.7], 0.1, size=1, total=30)
    n = 0.21 / float(result.variance) * (1.959963984540054 / 4.302652729749464) ** 2
    lower = scipy.stats.beta.ppf(0.025, n * 0.7, n * 0.3 + 1)
    assert float(beta_limits(result, confidence=0.95)[0]) == pytest.approx(lower)


def test_beta_limits_of_equal_values_are_near_clopper_pearson() -> None:
    """The spread is unknown: limits as those of Clopper and Pearson, for 20 draws of ones."""
    result = weighted_mean(np.ones(20), 0.01, size=1, total=2000)
    lower, upper = (float(each) for each in beta_limits(result, confidence=0.95))
    assert lower == pytest.approx(0.025 ** (0.99 / 20), abs=1e-3)
    assert upper == 1
    one = weighted_mean([0.5], 0.1, size=1, total=10)
    assert [float(each) for each in beta_limits(one, confidence=0.95)] == pytest.approx(
        [0.05, 0.95]
    )


def test_beta_limits_of_many_draws_equal_t_limits() -> None:
    random = np.random.default_rng(5)
    result = weighted_mean(random.beta(40, 40, 300), 0.01, size=1, total=30_000)
    beta, t = (limits(result, confidence=0.95) for limits in (beta_limits, mean_limits))
    assert np.ravel(beta) == pytest.approx(np.ravel(t), abs=0.002)


def test_ratio_limits_cover_the_mean_if_sizes_are_guessed() -> None:
    """Drawn by a guess of the size, which is off by up to a half."""
    random = np.random.default_rng(17)
    size = np.rint(random.lognormal(2.5, 1.0, 500)) + 1
    y = random.beta(5, 2, 500)
    guess = np.maximum(1.0, np.rint(size * random.uniform(0.5, 1.5, 500)))
    truth, pi = (size * y).sum() / size.sum(), chances(guess, 60)
    covered = []
    for sample in sequential_poisson(pi, 600, seed=18):
        mean = ratio_mean(y[sample], pi[sample], size=size[sample])
        lower, upper = beta_limits(mean, confidence=0.95)
        covered.append(lower <= truth <= upper)
    assert 0.925 <= np.mean(covered) <= 0.985


CELLS, LISTS = 3, 4


@st.composite
def units(draw: st.DrawFn) -> dict[str, Any]:
    """Units under three measures; their terms differ by up to twelve orders of magnitude."""
    size = draw(st.integers(1, 12))
    amount = st.sampled_from([0.0, 1.0, 3.0, 1e-6, 1e6, 0.1])
    values = draw(st.lists(st.lists(amount, min_size=size, max_size=size), min_size=1, max_size=2))
    first = [draw(st.lists(st.integers(0, LISTS), min_size=size, max_size=size)) for _ in range(3)]
    cell = draw(st.lists(st.integers(0, CELLS - 1), min_size=size, max_size=size))
    return {"first": np.array(first), "columns": np.array(values), "cell": np.array(cell)}


def exact(case: dict[str, Any], column: int, inside: np.ndarray[Any, Any], cell: int) -> float:
    values = case["columns"][column]
    places = np.flatnonzero(inside & (case["cell"] == cell))
    return float(sum((Fraction(values[place]) for place in places), Fraction(0)))


@given(units())
def test_lists_and_sets_agree_with_exact_sums(case: dict[str, Any]) -> None:
    result = list_sums(case["first"], case["columns"], case["cell"], lists=LISTS, cells=CELLS)
    for (k, measure, n, cell), value in np.ndenumerate(result):
        inside = case["first"][measure] <= n
        assert value == pytest.approx(exact(case, k, inside, cell), rel=1e-13)
    members = case["first"] <= 1
    sums = set_sums(members, case["columns"], case["cell"], CELLS)
    assert sums == pytest.approx(result[:, :, 1], rel=1e-13)


@given(units())
def test_differences_agree_with_exact_sums(case: dict[str, Any]) -> None:
    pairs = [(0, 1), (0, 2), (2, 1), (1, 1)]
    sums = difference_sums(**case, pairs=pairs, cuts=range(1, LISTS), cells=CELLS)
    for (k, n, pair, side, cell), value in np.ndenumerate(sums):
        one, other = (pairs[pair][side], pairs[pair][1 - side])
        inside = (case["first"][one] <= n + 1) & (case["first"][other] > n + 1)
        assert value == pytest.approx(exact(case, k, inside, cell), rel=1e-13, abs=0.0)


def test_a_small_difference_beside_large_weights_is_exact() -> None:
    # as 1e16 + 1 - 1e16 it would be 0
    first = np.array([[0, 0], [0, 1]])
    columns, cell = np.array([[1e16, 1.0]]), np.zeros(2, dtype=np.int64)
    sums = difference_sums(first, columns, cell, pairs=[(0, 1)], cuts=range(1), cells=1)
    assert sums.ravel().tolist() == [1.0, 0.0]


def test_sums_without_units_or_pairs_are_empty() -> None:
    nothing = np.zeros((2, 0), dtype=np.int64), np.zeros((1, 0)), np.zeros(0, dtype=np.int64)
    assert not list_sums(*nothing, lists=2, cells=1).any()
    assert not difference_sums(*nothing, pairs=[(0, 1)], cuts=range(2), cells=1).any()
    assert difference_sums(*nothing, pairs=[], cuts=range(2), cells=1).shape == (1, 2, 0, 2, 1)


def test_blocks_contain_every_cut_once() -> None:
    assert [n for block in blocks(7, numbers=10**6) for n in block] == list(range(7))
    assert list(blocks(0, numbers=1)) == []


def test_moments_agree_with_those_by_hand() -> None:
    # pi = 1/4: w = 4 times the size, c = 3/4
    moments = Moments(*draw_moments([0.5], [0.25], size=2.0, prediction=0.1)[:, 0])
    assert moments.draws == 1
    assert (moments.hits, moments.misses) == (1.0, 1.0)
    assert (moments.w, moments.wy, moments.c, moments.cw, moments.cww) == (
        8.0,
        4.0,
        0.75,
        6.0,
        48.0,
    )
    assert (moments.cwwy, moments.cwwyy) == (24.0, 12.0)
    assert moments.cwwyg == pytest.approx(2.4)
    assert moments.cwwgg == pytest.approx(0.48)
    assert moments.wg == pytest.approx(0.8)
    assert moments.guessed == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pi": [0.5, 1.0]}, "chances must be in (0, 1): 1 invalid value, for example 1 (row 1)"),
        ({"y": [2, -1]}, "2 invalid values, for example 2 (row 0), -1 (row 1)"),
        (
            {"prediction": [0.5, float("nan")]},
            "predictions must be in [0, 1]: 1 invalid value, for example nan (row 1)",
        ),
        ({"size": 0.0}, "sizes must be above 0: 2 invalid values"),
    ],
)
def test_values_out_of_range_are_refused(wrong: dict[str, Any], message: str) -> None:
    options: dict[str, Any] = {"y": [1, 0], "pi": [0.5, 0.5]} | wrong
    with pytest.raises(ValueError, match=re.escape(message)):
        draw_moments(**options)
