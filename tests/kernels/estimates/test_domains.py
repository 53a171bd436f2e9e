"""Shares in domains of unknown size: by hand, twins, laws, what is known, coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.survey.limits import domain_shares, limits, linear_variance, weights_of
from pipeline.kernels.survey.ratio_estimator import Known, draw_moments, hajek


def everybody(draws: int) -> BoolArray:
    return np.ones((1, draws), dtype=np.bool_)


def test_by_hand() -> None:
    """W = 1 + 2 + 4 = 7, hits 1 + 4."""
    found = domain_shares([1, 0, 1], everybody(3), weights_of([1.0, 0.5, 0.25], draws=3))
    assert found.share.tolist() == pytest.approx([5 / 7])


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_equal_weights_have_clopper_and_pearsons_limits(counts: tuple[int, int]) -> None:
    k, n = counts
    found = domain_shares([1] * k + [0] * (n - k), everybody(n), weights_of(None, draws=n))
    lower, upper = clopper_pearson(k, n, confidence=0.95)
    assert float(found.lower[0]) == pytest.approx(float(lower), abs=1e-9)
    assert float(found.upper[0]) == pytest.approx(float(upper), abs=1e-9)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.05, 0.2, 0.5])), min_size=2))
def test_without_certain_draws_it_is_hajeks_estimate(draws: list[tuple[bool, float]]) -> None:
    y, pi = np.array([hit for hit, _ in draws], dtype=float), np.array([p for _, p in draws])
    made = hajek(
        draw_moments(y, pi).sum(axis=1)[:, None, None], np.array([1e9]),
        known=Known(*np.zeros(3)),
    )  # fmt: skip
    found = domain_shares(y, everybody(len(y)), weights_of(pi, draws=len(y)))
    assert float(found.share[0]) == pytest.approx(float(made.p))
    lower, upper = limits(made, confidence=0.95)
    assert [float(found.lower[0]), float(found.upper[0])] == pytest.approx(
        [float(lower), float(upper)], abs=1e-8
    )


def test_variance_of_equal_chances_is_that_of_a_mean() -> None:
    z = np.random.default_rng(3).random(20)
    centred = (z - z.mean()) / 20
    expected = 0.7 * z.var(ddof=1) / 20
    assert float(linear_variance(centred, np.full(20, 0.7))) == pytest.approx(expected)


def test_nothing_drawn() -> None:
    found = domain_shares([1, 0], np.zeros((1, 2), dtype=np.bool_), weights_of(None, draws=2))
    assert np.isnan(found.share[0])
    assert (float(found.lower[0]), float(found.upper[0])) == (0.0, 1.0)


def test_all_known_has_no_width_and_a_part_whose_draws_were_certain_has() -> None:
    certain = domain_shares([1, 1, 0], everybody(3), weights_of([1.0] * 3, draws=3))
    assert certain.lower.tolist() == certain.upper.tolist() == pytest.approx([2 / 3])
    members = np.array([[True, True, True, False]])
    part = domain_shares([1, 1, 0, 0], members, weights_of([1.0, 1.0, 1.0, 0.1], draws=4))
    lower, upper = clopper_pearson(2, 3, confidence=0.95)
    assert 0.0 < part.lower[0] < float(lower)
    assert float(upper) < part.upper[0] < 1.0


def test_one_uncertain_draw_among_certain_ones_leaves_doubt() -> None:
    pi = [1.0] * 5 + [0.1]
    found = domain_shares([1, 1, 0, 0, 0, 1], everybody(6), weights_of(pi, draws=6))
    assert float(found.upper[0] - found.lower[0]) > 0.5


def test_chances_out_of_range() -> None:
    with pytest.raises(ValueError, match=r"2 chances are not in \(0, 1\], such as 0, 1.5"):
        weights_of([0.0, 1.5, 0.5], draws=3)


def test_limits_hold_under_unequal_chances() -> None:
    """800 samples of fixed size; the share is right on average, the limits hold it."""
    rng = np.random.default_rng(11)
    size = 1000
    y, x = rng.random(size) < 0.2, rng.random(size)
    hit = np.where(y, x < 0.8, x < 0.1)
    pi = np.clip(0.02 + 0.25 * rng.random(size) * np.where(y, 1.5, 0.7), 0, 1)
    found = [_sampled(rng, pi, y, hit) for _ in range(800)]
    share, held = np.mean([s for s, _, _ in found]), [a <= hit[y].mean() <= b for _, a, b in found]
    assert share == pytest.approx(hit[y].mean(), abs=0.012)
    assert np.mean(held) > 0.93


def _sampled(
    rng: np.random.Generator, pi: FloatArray, y: BoolArray, hit: BoolArray
) -> tuple[float, float, float]:
    drawn = np.argsort(rng.random(len(pi)) / pi)[: round(pi.sum())]
    made = domain_shares(hit[drawn], y[drawn][None], weights_of(pi[drawn], draws=len(drawn)))
    return float(made.share[0]), float(made.lower[0]), float(made.upper[0])
