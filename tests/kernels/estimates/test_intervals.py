from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.statistics.differences import mover
from pipeline.kernels.survey.ratio_estimator import (
    binomial_limits,
    effective_draws,
    korn_graubard,
    t_limits,
)


@given(st.integers(1, 300), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_whole_numbers_give_clopper_and_pearson(n: int, data: st.DataObject, level: float) -> None:
    k = data.draw(st.integers(0, n))
    lower, upper = binomial_limits(k / n, n, (1 - level) / 2)
    expected = clopper_pearson(k, n, confidence=level)
    assert (float(lower), float(upper)) == pytest.approx(
        tuple(map(float, expected)), rel=1e-9, abs=1e-12
    )


@given(st.floats(0.0, 1.0), st.floats(0.5, 500.0), st.floats(0.0, 1.0))
def test_limits_mirror_and_a_heavier_unit_widens_them(p: float, n: float, unit: float) -> None:
    lower, upper = binomial_limits(p, n, 0.025, unit=unit)
    other = binomial_limits(1 - p, n, 0.025, unit=unit)
    assert float(lower) == pytest.approx(1 - float(other[1]), abs=1e-9)
    plain = binomial_limits(p, n, 0.025)
    assert lower <= plain[0] + 1e-9
    assert plain[1] <= upper + 1e-9
    assert lower - 1e-9 <= p <= upper + 1e-9


def test_draws_that_an_estimate_is_worth() -> None:
    # p (1 - p) / V; the cap; p = 0; one draw; no draw
    p, variance = [0.2, 0.2, 0.0, 0.5, np.nan], [0.02, 0.001, 0.0, np.nan, np.nan]
    found = effective_draws(p, variance, [10, 10, 10, 1, 0], most=12, alike=9)
    assert found.tolist() == pytest.approx([8.0, 12.0, 9.0, 9.0, 0.0])
    assert effective_draws(0.0, 0.0, 10, most=7, alike=9) == 7.0


def test_korn_and_graubard_without_a_variance() -> None:
    lower, upper = korn_graubard(0.0, 0.0, 20, most=40, alike=25, confidence=0.95)
    assert float(lower) == 0.0
    assert float(upper) == pytest.approx(1 - 0.025 ** (1 / 25))
    nothing = korn_graubard(np.nan, np.nan, 0, most=0, alike=0, confidence=0.95)
    assert [float(limit) for limit in nothing] == [0.0, 1.0]


def test_mover_by_hand() -> None:
    # Newcombe's method 10 of 56/70 against 48/80: [.0524, .3339] from Wilson's limits
    lower, upper = mover((56 / 70, 0.6917, 0.8769), (48 / 80, 0.4904, 0.7005))
    assert (float(lower), float(upper)) == pytest.approx((0.0524, 0.3339), abs=2e-4)


def test_mover_without_an_estimate_takes_the_widest() -> None:
    lower, upper = mover((np.nan, 0.1, 0.9), (0.3, 0.2, 0.4))
    assert (float(lower), float(upper)) == pytest.approx((-0.3, 0.7))


def test_limits_by_t() -> None:
    lower, upper = t_limits(
        [0.5, 0.9, 1.0, 0.5], [0.01, 0.04, 0.0, np.nan], [5, 5, 0, 1], confidence=0.9
    )
    half = t.ppf(0.95, 4) * 0.1
    assert lower.tolist() == pytest.approx([0.5 - half, 0.9 - 2 * half, 1.0, 0.0])
    assert upper.tolist() == pytest.approx([0.5 + half, 1.0, 1.0, 1.0])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0])
def test_confidence_is_inside_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        t_limits(0.5, 0.01, 5, confidence=confidence)
    with pytest.raises(ValueError, match="confidence"):
        korn_graubard(0.5, 0.01, 5, most=5, alike=5, confidence=confidence)
