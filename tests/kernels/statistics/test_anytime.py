"""Differences at any time: the test is the interval turned round, and both hold at all times."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.statistics.sequential import (
    anytime_difference,
    anytime_margin_p_values,
    anytime_p_values,
)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int, int]:
    size = draw(st.integers(1, 60))
    n = draw(st.integers(1, size))
    return draw(st.integers(0, n)), n, size


@given(one=counts(), two=counts())
def test_the_p_value_is_the_smallest_alpha_at_which_limits_exclude_0(
    one: tuple[int, int, int], two: tuple[int, int, int]
) -> None:
    (k1, n1, size1), (k2, n2, size2) = one, two
    sizes = size1, size2
    p = float(anytime_p_values(k1, n1, k2, n2, populations=sizes))
    for alpha, expected in ((p * 0.999, False), (p * 1.001, True)):
        if 1e-12 < alpha < 1:
            lower, upper = anytime_difference(
                k1, n1, k2, n2, populations=sizes, confidence=1 - alpha
            )
            assert (lower > 1e-12 or upper < -1e-12) == expected
    assert p == float(anytime_p_values(k2, n2, k1, n1, populations=(size2, size1)))


def plausibilities(k: int, n: int, size: int) -> dict[int, float]:
    """Return P(X_T = k) (n + 1) of every T that is possible."""
    possible = range(k, size - n + k + 1)
    law = scipy.stats.hypergeom
    return {T: float(law.pmf(k, size, T, n)) * (n + 1) for T in possible}


@pytest.mark.long
@given(st.data(), st.integers(1, 30), st.integers(0, 30), st.sampled_from([0.0, 0.05, 0.3]))
def test_the_margin_is_passed_where_no_plausible_pair_of_numbers_lies_within(
    data: st.DataObject, size: int, more: int, margin: float
) -> None:
    n1, n2 = (data.draw(st.integers(1, size)) for _ in range(2))
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    p = anytime_margin_p_values(
        [k1], [n1], [k2], [n2], size=[size], list_size=[size + more], margin=margin
    )
    first, second = plausibilities(k1, n1, size), plausibilities(k2, n2, size)
    most = margin * (size + more) + 1e-9
    # limits at alpha keep each T of a set whose plausibility is above alpha / 2
    above = max(
        (min(first[T], second[U]) for T in first for U in second if most >= T - U), default=0.0
    )
    below = max(
        (min(first[T], second[U]) for T in first for U in second if most >= U - T), default=0.0
    )
    assert p[0] == pytest.approx(min(1.0, 2.0 * min(above, below)), rel=1e-6, abs=1e-15)


@pytest.mark.long
@given(one=counts(), more=st.integers(0, 40), k=st.data())
def test_at_a_margin_of_0_it_is_the_test_of_a_difference(
    one: tuple[int, int, int], more: int, k: st.DataObject
) -> None:
    k1, n1, size = one
    n2 = k.draw(st.integers(1, size))
    k2 = k.draw(st.integers(0, n2))
    p = anytime_margin_p_values(
        [k1], [n1], [k2], [n2], size=[size], list_size=[size + more], margin=0.0
    )
    plain = float(anytime_p_values(k1, n1, k2, n2, populations=(size, size)))
    assert p[0] == pytest.approx(max(plain, 1e-16), rel=1e-6, abs=1e-15)


def test_lists_with_the_same_candidates_pass_no_margin() -> None:
    p = anytime_margin_p_values([0], [0], [0], [0], size=[0], list_size=[50], margin=0.0)
    assert p.tolist() == [1.0]


def test_what_is_all_judged_differs_for_certain() -> None:
    found = anytime_p_values([9, 9], [40, 40], [8, 9], [40, 40], populations=(40, 40))
    assert found[0] < 0.1 * anytime_p_values(9, 39, 8, 39, populations=(41, 41))
    assert found[1] == 1.0
    lower, upper = anytime_difference(9, 40, 8, 40, populations=(40, 40))
    assert lower == upper == pytest.approx(1 / 40)


def test_without_draws_there_is_no_test() -> None:
    found = anytime_p_values([0, 0], [0, 3], [1, 0], [4, 0], populations=([9, 9], [9, 0]))
    assert np.isnan(found).all()
    lower, upper = anytime_difference(0, 0, 0, 0, populations=(5, 5))
    assert (lower, upper) == (-1, 1)


@pytest.mark.long
def test_equal_sets_are_ever_called_different_with_alpha_at_most() -> None:
    random = np.random.default_rng(8)
    labels = np.arange(120) < 36
    ever = np.zeros(400, dtype=bool)
    for run in range(400):
        sets = [np.cumsum(random.permutation(labels)) for _ in range(2)]
        n = np.arange(1, 120)
        p = anytime_p_values(sets[0][n - 1], n, sets[1][n - 1], n, populations=(120, 120))
        ever[run] = (p < 0.05).any()
    assert ever.mean() <= 0.05
