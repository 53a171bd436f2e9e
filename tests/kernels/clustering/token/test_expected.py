"""Expected mutual information against the whole sum in 40 digits, also where N is large."""

from __future__ import annotations

from random import Random

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.clustering.token.contingency import expected_information


def slow(classes: list[int], sizes: list[int]) -> mpmath.mpf:
    N, total = sum(classes), mpmath.mpf(0)
    for a in classes:
        for b in sizes:
            low = max(0, a + b - N)
            chance = (
                mpmath.binomial(b, low) * mpmath.binomial(N - b, a - low) / mpmath.binomial(N, a)
            )
            for n in range(low, min(a, b) + 1):
                if n:
                    total += chance * n * mpmath.log(mpmath.mpf(n) * N / (a * b)) / N
                chance = chance * (a - n) * (b - n) / ((n + 1) * (N - a - b + n + 1))
    return total


def check(classes: list[int], sizes: list[int], rel: float = 1e-12) -> None:
    with mpmath.workdps(40):
        expected = slow(classes, sizes)
    assert expected_information(classes, sizes) == pytest.approx(
        float(expected), rel=rel, abs=1e-16
    )


@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.randoms())
def test_the_whole_sum(classes: list[int], random: Random) -> None:
    N = sum(classes)
    cut = random.randint(0, N)
    check(classes, [size for size in (cut, N - cut) if size])


@pytest.mark.parametrize(
    ("classes", "sizes"),
    [
        ([2000, 3000, 10], [2500, 2510]),
        ([12000, 8000], [50, 19950]),
        ([15999, 1], [8000, 8000]),
        # Standard deviations about 4, where steps grow from 1 to 2.
        ([64, 936], [500, 500]),
        ([80, 920], [700, 300]),
    ],
)
def test_steps_lose_nothing(classes: list[int], sizes: list[int]) -> None:
    check(classes, sizes)


def test_many_tokens_come_near_the_chi_squared_mean() -> None:
    sizes = [10**8 // 8] * 8
    # 2 N I is about chi-squared with (8 - 1)^2 degrees of freedom.
    assert expected_information(sizes, sizes) == pytest.approx(49 / (2 * 10**8), rel=1e-6)


def test_one_class_expects_nothing() -> None:
    assert expected_information([7], [3, 4]) == 0.0
    assert expected_information([], []) == 0.0
