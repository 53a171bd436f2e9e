"""What shared work costs, and designs that mind it."""

from __future__ import annotations

import bisect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.survey.design import Work, expected_cost, groups_met, inclusion, priced


def invented(seed: int, size: int = 400, groups: int = 60) -> tuple[np.ndarray, np.ndarray]:
    bits = np.random.default_rng(seed)
    share = 1 / np.arange(1, groups + 1)
    return bits.gamma(1.0, size=size) + 0.05, bits.choice(groups, size, p=share / share.sum())


def test_costs_are_those_of_many_samples() -> None:
    x, group = invented(1)
    pi, bits = inclusion(x, size=60), np.random.default_rng(2)
    drawn = bits.random((4000, len(x))) < pi
    met = [len(np.unique(group[row])) for row in drawn]
    assert groups_met(pi, group) == pytest.approx(np.mean(met), rel=0.01)
    taken = [4.0 * m + row.sum() for m, row in zip(met, drawn, strict=True)]
    assert expected_cost(pi, Work(group, 5.0, 1.0)) == pytest.approx(np.mean(taken), rel=0.01)


def variance(x: np.ndarray, pi: np.ndarray) -> float:
    return float((x**2 * (1 - pi) / pi).sum())


@pytest.mark.long
@given(st.integers(0, 1000), st.sampled_from([2.0, 5.0, 20.0]), st.integers(20, 120))
def test_at_equal_cost_the_variance_is_smaller(seed: int, first: float, size: int) -> None:
    x, group = invented(seed)
    work = Work(group, first, 1.0)
    plain = inclusion(x, size=size)
    budget = expected_cost(plain, work)

    def cost(m: int) -> float:  # of more draws it is more
        return expected_cost(inclusion(priced(x, work, size=m), size=m), work)

    sizes = range(size, len(x))
    most = sizes[bisect.bisect_right(sizes, budget, key=cost) - 1]
    assert cost(most) <= budget
    minded = inclusion(priced(x, work, size=most), size=most)
    rounding = 1 + 1.5 / size  # of the budget to whole draws
    assert variance(x, minded) <= rounding * variance(x, plain)


def test_no_neighbouring_design_buys_more() -> None:
    """The measure meets the condition of the optimum: x^2 / pi^2 in proportion to the cost."""
    x, group = invented(3)
    work = Work(group, 5.0, 1.0)
    pi = inclusion(priced(x, work, size=40), size=40)
    free = pi < 1
    step, base = 1e-6, expected_cost(pi, work)
    gains = []
    for place in np.flatnonzero(free)[:50]:
        more = pi.copy()
        more[place] += step
        price = (expected_cost(more, work) - base) / step
        gains.append(x[place] ** 2 / pi[place] ** 2 / price)
    assert max(gains) / min(gains) == pytest.approx(1.0, abs=1e-3)


def test_equal_costs_change_nothing_and_strange_ones_are_refused() -> None:
    x, group = invented(4)
    assert priced(x, Work(group, 3.0, 3.0), size=30) == pytest.approx(x / np.sqrt(3.0))
    for first, further in ((1.0, 2.0), (1.0, 0.0), (-1.0, -2.0)):
        with pytest.raises(ValueError, match="takes as long as a further one"):
            priced(x, Work(group, first, further), size=30)


def test_nobody_to_draw() -> None:
    work = Work(np.zeros(3, dtype=np.int64), 5.0, 1.0)
    assert priced(np.zeros(3), work, size=0).tolist() == [0.0, 0.0, 0.0]
    assert expected_cost(np.zeros(0), Work(np.zeros(0, dtype=np.int64), 5.0, 1.0)) == 0.0
