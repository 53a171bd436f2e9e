"""Shares in domains of unknown size: by hand, twins, laws, known parts, coverage."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, hypergeom

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.kernels.survey.limits import (
    difference_limits,
    difference_p_values,
    domain_shares,
    domain_weights,
    effective_sample_size,
    limits,
    linear_variance,
)
from pipeline.kernels.survey.ratio_estimator import CertainCounts, Estimates, draw_moments, hajek


def everybody(draws: int) -> BoolArray:
    return np.ones((1, draws), dtype=np.bool_)


def test_domain_shares_agree_with_those_by_hand() -> None:
    """W = 1 + 2 + 4 = 7, hits 1 + 4."""
    result = domain_shares([1, 0, 1], everybody(3), domain_weights([1.0, 0.5, 0.25], draws=3))
    assert result.share.tolist() == pytest.approx([5 / 7])


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_equal_weights_have_clopper_and_pearsons_limits(counts: tuple[int, int]) -> None:
    k, n = counts
    result = domain_shares([1] * k + [0] * (n - k), everybody(n), domain_weights(None, draws=n))
    lower, upper = clopper_pearson(k, n, confidence=0.95)
    assert float(result.lower[0]) == pytest.approx(float(lower), abs=1e-9)
    assert float(result.upper[0]) == pytest.approx(float(upper), abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.05, 0.2, 0.5])), min_size=2))
def test_shares_without_certain_draws_are_hajeks_estimates(draws: list[tuple[bool, float]]) -> None:
    y, pi = np.array([hit for hit, _ in draws], dtype=float), np.array([p for _, p in draws])
    twin_estimate = hajek(
        draw_moments(y, pi).sum(axis=1)[:, None, None], np.array([1e9]),
        certain=CertainCounts(*np.zeros(3)),
    )  # fmt: skip
    shares = domain_shares(y, everybody(len(y)), domain_weights(pi, draws=len(y)))
    assert float(shares.share[0]) == pytest.approx(float(twin_estimate.p))
    lower, upper = limits(twin_estimate, confidence=0.95)
    assert [float(shares.lower[0]), float(shares.upper[0])] == pytest.approx(
        [float(lower), float(upper)], abs=1e-8
    )


def test_the_variance_of_equal_chances_is_that_of_a_mean() -> None:
    z = np.random.default_rng(3).random(20)
    centred = (z - z.mean()) / 20
    expected = 0.7 * z.var(ddof=1) / 20
    assert float(linear_variance(centred, np.full(20, 0.7))) == pytest.approx(expected)


def test_domains_without_draws_have_no_share() -> None:
    result = domain_shares([1, 0], np.zeros((1, 2), dtype=np.bool_), domain_weights(None, draws=2))
    assert np.isnan(result.share[0])
    assert (float(result.lower[0]), float(result.upper[0])) == (0.0, 1.0)


def test_only_complete_domains_have_limits_without_width() -> None:
    certain = domain_shares([1, 1, 0], everybody(3), domain_weights([1.0] * 3, draws=3))
    assert certain.lower.tolist() == certain.upper.tolist() == pytest.approx([2 / 3])
    members = np.array([[True, True, True, False]])
    part = domain_shares([1, 1, 0, 0], members, domain_weights([1.0, 1.0, 1.0, 0.1], draws=4))
    lower, upper = clopper_pearson(2, 3, confidence=0.95)
    assert 0.0 < part.lower[0] < float(lower)
    assert float(upper) < part.upper[0] < 1.0


def test_one_uncertain_draw_among_certain_ones_gives_wide_limits() -> None:
    pi = [1.0] * 5 + [0.1]
    result = domain_shares([1, 1, 0, 0, 0, 1], everybody(6), domain_weights(pi, draws=6))
    assert float(result.upper[0] - result.lower[0]) > 0.5


def test_chances_out_of_range_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"2 inclusion probabilities are not in \(0, 1\], for example 0, 1.5"
    ):
        domain_weights([0.0, 1.5, 0.5], draws=3)


def test_limits_keep_their_level_under_unequal_chances() -> None:
    """800 samples of fixed size; the share is right on average, the limits hold it."""
    rng = np.random.default_rng(11)
    size = 1000
    y, x = rng.random(size) < 0.2, rng.random(size)
    hit = np.where(y, x < 0.8, x < 0.1)
    pi = np.clip(0.02 + 0.25 * rng.random(size) * np.where(y, 1.5, 0.7), 0, 1)
    samples = [_sample_share(rng, pi, y, hit) for _ in range(800)]
    share, covered = (
        np.mean([s for s, _, _ in samples]),
        [a <= hit[y].mean() <= b for _, a, b in samples],
    )
    assert share == pytest.approx(hit[y].mean(), abs=0.012)
    assert np.mean(covered) > 0.93


def _sample_share(
    rng: np.random.Generator, pi: FloatArray, y: BoolArray, hit: BoolArray
) -> tuple[float, float, float]:
    sample = np.argsort(rng.random(len(pi)) / pi)[: round(pi.sum())]
    shares = domain_shares(
        hit[sample], y[sample][None], domain_weights(pi[sample], draws=len(sample))
    )
    return float(shares.share[0]), float(shares.lower[0]), float(shares.upper[0])


def estimate(
    y: Sequence[int],
    pi: float | Sequence[float],
    size: float,
    certain: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Estimates:
    sums = draw_moments(y, pi).sum(axis=1) if len(y) else np.zeros(17)
    counts = CertainCounts(*(np.array(each) for each in certain))
    return hajek(sums[:, None, None], np.array([size]), certain=counts)


def pair_of(limits_: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    return float(limits_[0]), float(limits_[1])


def test_a_tiny_share_drawn_is_nearly_binomial() -> None:
    # n_eff = (m - 1)/(1 - pi), a trial fewer than drawn
    result = limits(estimate([1] * 6 + [0] * 15, 1e-9, 21e9), confidence=0.95)
    exact = binomtest(6, 21).proportion_ci(0.95, "exact")
    assert pair_of(result) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert result[0] < exact.low


def test_known_parts_shift_and_scale_the_limits() -> None:
    alone = pair_of(limits(estimate([1, 0, 0, 1], 0.25, 16), confidence=0.9))
    result = pair_of(limits(estimate([1, 0, 0, 1], 0.25, 16, (3, 1, 0)), confidence=0.9))
    assert result == pytest.approx(tuple(3 / 20 + 0.8 * each for each in alone))


def test_without_draws_the_limits_are_the_worst_case() -> None:
    result = limits(estimate([], 0.5, 4, (2, 1, 0)), confidence=0.95)
    assert pair_of(result) == pytest.approx((2 / 7, 6 / 7))
    alone = limits(estimate([], 0.5, 4), confidence=0.95)
    assert pair_of(alone) == (0.0, 1.0)


def test_limits_of_known_sets_have_no_width() -> None:
    assert pair_of(limits(estimate([1, 0], 0.5, 2, (1, 0, 0)), confidence=0.95)) == pytest.approx(
        (2 / 3, 2 / 3)
    )


def test_few_draws_of_a_large_stratum_give_wide_limits() -> None:
    # 50 draws of 100 members, 3 of 900, the 3 all false: their own upper limit is .71 of .9
    light, heavy = draw_moments([1] * 25 + [0] * 25, 0.5), draw_moments([0] * 3, 3 / 900)
    sums = np.stack([light.sum(axis=1), heavy.sum(axis=1)], axis=1)[:, :, None]
    estimates = hajek(sums, np.array([100.0, 900.0]), certain=CertainCounts(*np.zeros(3)))
    assert float(estimates.estimate) == pytest.approx(0.05)
    assert float(effective_sample_size(estimates)) == pytest.approx(
        float(estimates.most)
    )  # the variance ignores the doubt about the 900
    upper = limits(estimates, confidence=0.95)[1]
    assert 0.5 < float(upper) < 0.8


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=30),
    st.lists(st.integers(0, 1), min_size=2, max_size=30),
    st.floats(0.05, 0.9),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_p_values_are_the_levels_at_which_intervals_include_0(
    first: list[int], second: list[int], pi: float, certain: tuple[int, int]
) -> None:
    one = estimate(first, np.linspace(pi, 0.95, len(first)).tolist(), 60, (*certain, 0))
    other = estimate(second, pi, 80)
    p = float(difference_p_values(one, other))
    d = float(one.estimate - other.estimate)
    assert p == pytest.approx(float(difference_p_values(other, one)), rel=1e-6)
    if d == 0:
        assert p == 1
    elif 1e-12 < p < 1 - 1e-6:
        touching = difference_limits(one, other, confidence=1 - p)[0 if d > 0 else 1]
        assert float(touching) == pytest.approx(0.0, abs=1e-4 * abs(d))
        lower, upper = pair_of(difference_limits(one, other, confidence=1 - p * 0.9))
        assert lower < 0 < upper


def test_known_sets_have_p_values_of_0_or_1_and_unknown_ones_none() -> None:
    sure = [estimate([], 0.5, 0, known) for known in ((3, 1, 0), (1, 3, 0), (6, 2, 0))]
    assert float(difference_p_values(sure[0], sure[1])) == 0.0
    assert float(difference_p_values(sure[0], sure[2])) == 1.0
    assert np.isnan(difference_p_values(sure[0], estimate([], 0.5, 4)))
    assert difference_p_values(sure[0], estimate([1], 0.5, 4)) == pytest.approx(1.0, abs=0.5)


def test_p_values_keep_their_shape_and_order() -> None:
    y = [([1] * k + [0] * (20 - k), [1] * 8 + [0] * 12) for k in (2, 8, 14, 19)]
    sums = [
        np.stack([draw_moments(each[side], 0.1).sum(axis=1) for each in y], axis=1)
        for side in (0, 1)
    ]
    both = [
        hajek(
            each.reshape(17, 2, 2, 1, 1),
            np.full((2, 2, 1), 200.0),
            certain=CertainCounts(*np.zeros((3, 2, 2))),
        )
        for each in sums
    ]
    p_values = difference_p_values(*both)
    assert p_values.shape == (2, 2)
    assert p_values[0, 1] == 1
    assert p_values[1, 1] < p_values[1, 0] < 0.2


def test_twenty_strata_do_not_bias_the_estimate() -> None:
    # 5 of 100 drawn from each, one of them true in ten strata: p = 1/10, V = .95 .16/4 / 40
    moments = [draw_moments([1] * k + [0] * (5 - k), 0.05).sum(axis=1) for k in [1] * 10 + [0] * 10]
    sums = np.stack(moments, axis=1)[:, :, None]
    estimates = hajek(sums, np.full(20, 100.0), certain=CertainCounts(*np.zeros(3)))
    assert float(estimates.estimate) == pytest.approx(0.1)
    assert float(estimates.variance) == pytest.approx(0.95 * 0.04 / 40)
    lower, upper = pair_of(limits(estimates, confidence=0.95))
    assert 0.04 < lower < 0.06
    assert 0.16 < upper < 0.19


@pytest.mark.parametrize(
    ("true", "false_positives", "false_negatives", "labels"),
    [(100, 20, 0, 100), (100, 0, 20, 100), (300, 20, 0, 100), (100, 20, 0, 250), (100, 60, 40, 50)],
)
def test_predictions_with_few_errors_keep_the_level(
    true: int, false_positives: int, false_negatives: int, labels: int
) -> None:
    """2,000 samples from 1,000 candidates; most have few errors of the judge, or none."""
    rng, samples, size = np.random.default_rng(8), 2000, 1000
    y, g = np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 0.0, 1.0, 0.0])
    both = true - false_negatives
    kinds = [both, false_negatives, false_positives, size - true - false_positives]
    counts = rng.multivariate_hypergeometric(kinds, labels, samples)
    columns = draw_moments(y, labels / size, prediction=g)
    folds = np.stack([rng.multinomial(counts[:, kind], [0.1] * 10) for kind in range(4)])
    sums = np.einsum("fk,ksn->fsn", columns, folds)[:, :, None]
    rest = (both + false_positives - counts @ g)[:, None]
    certain = CertainCounts(*np.zeros((3, samples)))
    estimates = hajek(sums, np.full((samples, 1), float(size)), certain=certain, guessed=rest)
    lower, upper = limits(estimates, confidence=0.95)
    covered = (lower <= true / size) & (true / size <= upper)
    assert covered.mean() >= 0.94
    plain = limits(
        hajek(sums, np.full((samples, 1), float(size)), certain=certain), confidence=0.95
    )
    assert (upper - lower).mean() < (plain[1] - plain[0]).mean()


def test_limits_of_differences_are_newcombes_with_t_quantiles() -> None:
    """Wilson's limits by hand, t of 19 degrees of freedom, at (m - 1)/(1 - pi) draws."""
    sets = [estimate([1] * k + [0] * (20 - k), 1e-9, 2e10) for k in (14, 6)]
    z2 = 2.093024054408263**2
    arms = []
    for p in (0.7, 0.3):
        centre = (p + z2 / 38) / (1 + z2 / 19)
        half = np.sqrt(z2 * (p * (1 - p) / 19 + z2 / (4 * 19**2))) / (1 + z2 / 19)
        arms.append((p - centre + half, centre + half - p))
    expected = 0.4 - np.hypot(arms[0][0], arms[1][1]), 0.4 + np.hypot(arms[0][1], arms[1][0])
    assert pair_of(difference_limits(*sets, confidence=0.95)) == pytest.approx(expected)


@pytest.mark.parametrize("hits", [0, 4, 16, 20])
def test_sides_with_few_hits_or_misses_have_limits_of_a_proportion(hits: int) -> None:
    few = estimate([1] * hits + [0] * (20 - hits), 1e-9, 2e10)
    none = estimate([], 0.5, 0, (0, 4, 0))  # known to be 0
    result = difference_limits(few, none, confidence=0.95)
    assert pair_of(result) == pytest.approx(pair_of(limits(few, confidence=0.95)))


@pytest.mark.parametrize("pi", [0.02, 0.3])
def test_tests_and_limits_of_differences_keep_their_level(pi: float) -> None:
    """All samples of 5 to 60 draws; no cell is far from its level, with rare hits or many."""
    sets = {}
    for m in (5, 12, 30, 60):
        k = np.arange(m + 1.0)
        hit, miss = draw_moments([1, 0], pi).T
        sums = (hit[:, None] * k + miss[:, None] * (m - k))[:, :, None, None]
        certain = CertainCounts(*np.zeros((3, m + 1)))
        sets[m] = hajek(sums, np.full((m + 1, 1), m / pi), certain=certain)
    for one, other in ((5, 5), (5, 60), (12, 30), (30, 30), (60, 60)):
        both = sets[one].at(np.s_[:, None]), sets[other].at(np.s_[None, :])
        ends = np.stack(difference_limits(*both, confidence=0.95), axis=-1)
        for p, q in ((0.03, 0.03), (0.2, 0.2), (0.5, 0.5), (0.03, 0.9), (0.2, 0.5)):
            counts = [(m, round(m / pi), round(share * m / pi)) for m, share in
                      ((one, p), (other, q))]  # fmt: skip
            chance = [hypergeom.pmf(np.arange(m + 1), size, true, m) for m, size, true in counts]
            d = counts[0][2] / counts[0][1] - counts[1][2] / counts[1][1]
            covered = (ends[..., 0] <= d + 1e-9) & (d - 1e-9 <= ends[..., 1])
            assert chance[0] @ covered @ chance[1] > 0.93, (one, other, p, q)
            if abs(d) < 1e-9:
                wrong = (ends[..., 0] > 1e-12) | (ends[..., 1] < -1e-12)
                assert chance[0] @ wrong @ chance[1] < 0.055, (one, other, p)


@pytest.mark.parametrize("pi", [0.7, 0.9, 0.95, 0.98])
@pytest.mark.parametrize("size", [1, 2, 8, 18, 34])
def test_nearly_complete_sides_keep_the_level(pi: float, size: int) -> None:
    hit, miss = (draw_moments([y], [pi])[:, 0] for y in (1, 0))
    for true in range(size + 1):
        outcomes = np.array([(k, f) for k in range(true + 1) for f in range(size - true + 1)])
        sums = (hit[:, None] * outcomes[:, 0] + miss[:, None] * outcomes[:, 1])[:, :, None, None]
        certain = CertainCounts(*(np.full(len(outcomes), each) for each in (1.0, 1.0, 0.0)))
        nothing = CertainCounts(*np.zeros((3, len(outcomes))))
        one = hajek(sums, np.full((len(outcomes), 1), float(size)), certain=nothing)
        other = hajek(np.zeros_like(sums), np.zeros((len(outcomes), 1)), certain=certain)
        lower, upper = difference_limits(one, other, confidence=0.95)
        truth = true / size - 0.5
        covered = (lower <= truth + 1e-9) & (truth - 1e-9 <= upper)
        chance = binom.pmf(outcomes[:, 0], true, pi) * binom.pmf(outcomes[:, 1], size - true, pi)
        assert chance[covered].sum() >= 0.95
