"""Inclusion probabilities: worked values, laws, a slow twin that takes the certain ones in turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.allocation import floored
from pipeline.kernels.survey.design import inclusion

SIZES = st.lists(st.sampled_from([0.0, 0.25, 1.0, 3.0, 10.0, 55.0]), min_size=1, max_size=12)


def by_turns(x: FloatArray, size: int) -> FloatArray:
    """Take those at 1 or more, and again for the rest, until there are none."""
    pi = np.zeros(len(x))
    rest = x > 0
    while rest.any():
        left = size - int((pi == 1).sum())
        chance = left * x / x[rest].sum()
        certain = rest & (chance > 1 - 1e-9)
        if not certain.any():
            pi[rest] = chance[rest]
            break
        pi[certain] = 1.0
        rest &= ~certain
    return pi


def test_the_example_of_r_s_sps() -> None:
    """sps() of 1..10, 100, 150, six drawn: what weights() gives, 1/pi."""
    weights = 1 / inclusion(np.array([*range(1, 11), 100.0, 150.0]), size=6)
    found = weights[[3, 7, 8, 9, 10, 11]].round(6).tolist()
    assert found == [3.4375, 1.71875, 1.527778, 1.375, 1.0, 1.0]


@given(SIZES, st.integers(0, 14))
def test_laws_and_twin(sizes: list[float], size: int) -> None:
    x = np.array(sizes)
    pi = inclusion(x, size=size)
    assert pi.sum() == pytest.approx(min(size, (x > 0).sum()))
    assert ((pi >= 0) & (pi <= 1)).all()
    assert (pi[x == 0] == 0).all()
    np.testing.assert_allclose(pi, by_turns(x, size), rtol=1e-12)
    np.testing.assert_allclose(pi, inclusion(x * 7.0, size=size), rtol=1e-12)
    assert (inclusion(x, size=size + 1) >= pi - 1e-12).all()


@given(st.integers(1, 60), st.integers(0, 70))
def test_equal_sizes_make_a_simple_sample(count: int, size: int) -> None:
    pi = inclusion(np.full(count, 0.1), size=size)
    np.testing.assert_allclose(pi, min(1.0, size / count), rtol=1e-12)
    assert size < count or (pi == 1.0).all()


@pytest.mark.parametrize("wrong", [-1.0, float("nan"), float("inf")])
def test_mistaken_sizes(wrong: float) -> None:
    with pytest.raises(ValueError, match="1 size measures are not from 0 on"):
        inclusion(np.array([1.0, wrong]), size=1)
    with pytest.raises(ValueError, match="0 draws or more, not -1"):
        inclusion(np.ones(2), size=-1)


@given(SIZES, st.floats(0.001, 0.95), st.integers(0, 4))
def test_the_floor_is_a_share_of_the_mean_of_what_comes_of_it(
    sizes: list[float], floor: float, judged: int
) -> None:
    x = np.array(sizes)
    assume(x.any())
    found = floored(np.append(x, np.zeros(judged)), among=len(x), floor=floor)[: len(x)]
    least = floor * found.mean()
    assert found.min() >= least * (1 - 1e-12)
    np.testing.assert_allclose(found, np.maximum(x, least), rtol=1e-9)
    # what the floor costs is at most its share of the labels
    assert (found - x).sum() <= floor * found.sum() * (1 + 1e-12)


def test_no_floor() -> None:
    assert floored(np.array([2.0, 0.0]), among=2, floor=0.0).tolist() == [2.0, 0.0]
    assert floored(np.zeros(2), among=2, floor=0.5).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"in \[0, 1\), not 1"):
        floored(np.ones(2), among=2, floor=1.0)
