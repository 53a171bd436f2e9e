"""P-values that allow for all planned looks, against the levels that they invert."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from pipeline.kernels.statistics.sequential import (
    SPENDING,
    apart_levels,
    repeated_p_values,
    spent_levels,
)

PLANS = [[0.05, 0.1, 0.15, 0.2], [0.1, 0.5, 0.9], [0.02, 0.04, 0.3, 0.31], [0.4]]
ALPHAS = [0.9, 0.5, 0.3, 0.1, 0.05, 0.01, 1e-3, 1e-6]


@pytest.mark.parametrize("spending", sorted(SPENDING))
@pytest.mark.parametrize("rates", PLANS)
def test_they_invert_the_levels(rates: list[float], spending: str) -> None:
    f = np.array(rates)
    for look in range(len(f)):
        p = [
            spent_levels(f / f[-1], (1 - f) / f, alpha=alpha, spending=spending)[look]
            for alpha in ALPHAS
        ]
        found = repeated_p_values(p, f / f[-1], (1 - f) / f, look=look, spending=spending)
        assert ndtri(found / 2) == pytest.approx(ndtri(np.array(ALPHAS) / 2), abs=1e-3)


def test_each_test_has_its_own_plan() -> None:
    plans = np.array([[4.0, 2.0], [4.0, 1.0], [4.0, 2.0]])
    found = repeated_p_values([0.04, 0.04, 0.01], [0.5, 1.0], plans, look=1)
    alone = [
        repeated_p_values([p], [0.5, 1.0], plan, look=1)[0]
        for p, plan in zip([0.04, 0.04, 0.01], plans, strict=True)
    ]
    assert found.tolist() == pytest.approx(alone)
    assert len(set(found)) == 3


def test_an_exact_look_needs_no_allowance_and_an_empty_one_tells_nothing() -> None:
    plans = np.array([[2.0, 0.0], [np.inf, 1.0]])
    assert repeated_p_values([0.3, 0.04], [0.5, 1], plans, look=1)[0] == 0.3
    assert repeated_p_values([0.3, 0.04], [0.5, 1], plans, look=0)[1] == 1.0


def test_extremes() -> None:
    plan = [0.5, 1.0], [2.0, 1.0]
    found = repeated_p_values([0.0, 1.0, np.nan, 1e-300], *plan, look=0)
    assert found[0] == pytest.approx(2.4e-16, rel=0.1)
    assert found[1] == 1.0
    assert np.isnan(found[2])
    assert repeated_p_values([], *plan, look=0).shape == (0,)
    p = np.linspace(0, 1, 300)
    for look in (0, 1):
        values = repeated_p_values(p, *plan, look=look)
        assert (np.diff(values) >= 0).all()
        assert (values >= p).all()


@pytest.mark.parametrize("spending", sorted(SPENDING))
def test_levels_apart_add_up_to_alpha_and_are_the_lowest(spending: str) -> None:
    shares = [0.1, 0.4, 0.7, 1.0]
    apart = apart_levels(shares, alpha=0.05, spending=spending)
    assert apart.sum() == pytest.approx(0.05)
    known = spent_levels(shares, [9, 2, 1.5, 0.9], alpha=0.05, spending=spending)
    assert (apart <= known + 1e-9).all()


def test_less_alike_looks_have_lower_levels() -> None:
    """Why variances may be rounded down, and 1 - f may be counted in."""
    random = np.random.default_rng(2)
    for spending in SPENDING:
        for _ in range(20):
            steps = random.uniform(0.2, 0.95, 3)
            V = np.cumprod([1.0, *steps])
            less = np.cumprod([1.0, *(steps * random.uniform(0.8, 1.0, 3))])
            shares = [*np.sort(random.uniform(0.1, 0.95, 3)).tolist(), 1.0]
            known, lower = (
                spent_levels(shares, each, alpha=0.05, spending=spending) for each in (V, less)
            )
            assert (lower <= known + 1e-9).all()
