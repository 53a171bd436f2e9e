from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from pipeline.kernels.survey.limits import difference_limits, difference_p_values, limits, worth
from pipeline.kernels.survey.ratio_estimator import Estimates, Known, draw_moments, hajek


def estimate(
    y: Sequence[int],
    pi: float | Sequence[float],
    size: float,
    known: tuple[float, float, float] = (0.0, 0.0, 0.0),
) -> Estimates:
    sums = draw_moments(y, pi).sum(axis=1) if len(y) else np.zeros(18)
    found = Known(*(np.array(each) for each in known))
    return hajek(sums[:, None, None], np.array([size]), known=found)


def pair_of(found: tuple[np.ndarray, np.ndarray]) -> tuple[float, float]:
    return float(found[0]), float(found[1])


def test_a_tiny_share_drawn_is_nearly_binomial() -> None:
    # n_eff = (m - 1)/(1 - pi), a trial fewer than drawn
    found = limits(estimate([1] * 6 + [0] * 15, 1e-9, 21e9), confidence=0.95)
    exact = binomtest(6, 21).proportion_ci(0.95, "exact")
    assert pair_of(found) == pytest.approx((exact.low, exact.high), abs=0.02)
    assert found[0] < exact.low


def test_known_parts_shift_and_scale_the_limits() -> None:
    alone = pair_of(limits(estimate([1, 0, 0, 1], 0.25, 16), confidence=0.9))
    found = pair_of(limits(estimate([1, 0, 0, 1], 0.25, 16, (3, 1, 0)), confidence=0.9))
    assert found == pytest.approx(tuple(3 / 20 + 0.8 * each for each in alone))


def test_without_draws_the_limits_are_the_worst_case() -> None:
    found = limits(estimate([], 0.5, 4, (2, 1, 0)), confidence=0.95)
    assert pair_of(found) == pytest.approx((2 / 7, 6 / 7))
    alone = limits(estimate([], 0.5, 4), confidence=0.95)
    assert pair_of(alone) == (0.0, 1.0)


def test_all_known_has_no_width() -> None:
    assert pair_of(limits(estimate([1, 0], 0.5, 2, (1, 0, 0)), confidence=0.95)) == pytest.approx(
        (2 / 3, 2 / 3)
    )


def test_few_draws_for_most_of_a_set_do_not_count_as_many() -> None:
    # 50 draws of 100 members, 3 of 900, the 3 all false: their own upper limit is .71 of .9
    light, heavy = draw_moments([1] * 25 + [0] * 25, 0.5), draw_moments([0] * 3, 3 / 900)
    sums = np.stack([light.sum(axis=1), heavy.sum(axis=1)], axis=1)[:, :, None]
    found = hajek(sums, np.array([100.0, 900.0]), known=Known(*np.zeros(3)))
    assert float(found.estimate) == pytest.approx(0.05)
    assert float(worth(found)) == pytest.approx(float(found.most))  # the variance sees nothing
    upper = limits(found, confidence=0.95)[1]
    assert 0.5 < float(upper) < 0.8


@given(
    st.lists(st.integers(0, 1), min_size=2, max_size=30),
    st.lists(st.integers(0, 1), min_size=2, max_size=30),
    st.floats(0.05, 0.9),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
)
def test_the_p_value_is_where_the_interval_begins_to_hold_0(
    first: list[int], second: list[int], pi: float, known: tuple[int, int]
) -> None:
    one = estimate(first, np.linspace(pi, 0.95, len(first)).tolist(), 60, (*known, 0))
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


def test_p_values_where_all_is_known_or_nothing() -> None:
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
            each.reshape(18, 2, 2, 1, 1),
            np.full((2, 2, 1), 200.0),
            known=Known(*np.zeros((3, 2, 2))),
        )
        for each in sums
    ]
    found = difference_p_values(*both)
    assert found.shape == (2, 2)
    assert found[0, 1] == 1
    assert found[1, 1] < found[1, 0] < 0.2


def test_twenty_strata_do_not_pull_the_estimate() -> None:
    # 5 of 100 drawn from each, one of them true in ten strata: p = 1/10, V = .95 .16/4 / 40
    drawn = [draw_moments([1] * k + [0] * (5 - k), 0.05).sum(axis=1) for k in [1] * 10 + [0] * 10]
    sums = np.stack(drawn, axis=1)[:, :, None]
    found = hajek(sums, np.full(20, 100.0), known=Known(*np.zeros(3)))
    assert float(found.estimate) == pytest.approx(0.1)
    assert float(found.variance) == pytest.approx(0.95 * 0.04 / 40)
    lower, upper = pair_of(limits(found, confidence=0.95))
    assert 0.04 < lower < 0.06
    assert 0.16 < upper < 0.19
