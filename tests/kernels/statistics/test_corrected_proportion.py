"""A proportion corrected for wrong judgements: by hand, laws, edges, and how often it holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.statistics.binomial_intervals import (
    Bounded,
    clopper_pearson,
    corrected_proportion,
)

SURE = Bounded(1.0, 1.0, 1.0)
shares = st.floats(0, 1, allow_subnormal=False)


def known(value: float) -> Bounded:
    return Bounded(value, value, value)


def counted(k: np.ndarray | int, n: int) -> Bounded:
    return Bounded(np.asarray(k) / n, *clopper_pearson(k, n))


def test_by_hand() -> None:
    """(0.3 + 0.9 - 1) / (0.8 + 0.9 - 1) = 2/7, and its limits where q is put at its own."""
    found = corrected_proportion(
        Bounded(0.3, 0.2, 0.45), sensitivity=known(0.8), specificity=known(0.9)
    )
    assert [float(each) for each in found] == pytest.approx([2 / 7, 1 / 7, 0.5])


def test_the_squares_of_the_moves_are_added() -> None:
    q, a, b = Bounded(0.3, 0.2, 0.45), Bounded(0.8, 0.7, 0.9), Bounded(0.9, 0.85, 0.95)
    estimate, lower, upper = corrected_proportion(q, sensitivity=a, specificity=b)
    p = 2 / 7
    down = [p - 0.1 / 0.7, p - 0.2 / 0.8, p - 0.15 / 0.65]
    up = [0.35 / 0.7 - p, 0.2 / 0.6 - p, 0.25 / 0.75 - p]
    assert float(estimate) == pytest.approx(p)
    assert float(lower) == pytest.approx(p - np.hypot.reduce(down))
    assert float(upper) == pytest.approx(p + np.hypot.reduce(up))


@given(shares, shares, shares)
def test_without_errors_nothing_changes(x: float, y: float, z: float) -> None:
    low, middle, high = sorted([x, y, z])
    found = corrected_proportion(Bounded(middle, low, high), sensitivity=SURE, specificity=SURE)
    assert [float(each) for each in found] == pytest.approx([middle, low, high])


@given(shares, shares, shares)
def test_what_is_judged_of_a_known_share_gives_that_share(p: float, x: float, y: float) -> None:
    a, b = 0.5 + x / 2, 0.51 + y * 0.49
    found = corrected_proportion(known(p * a + (1 - p) * (1 - b)), sensitivity=known(a),
                                 specificity=known(b))  # fmt: skip
    assert [float(each) for each in found] == pytest.approx([p] * 3, abs=1e-9)


def test_fewer_are_judged_true_than_errors_alone_would_make() -> None:
    found = corrected_proportion(
        Bounded([0.02, 0.99], [0.0, 0.97], [0.05, 1.0]), sensitivity=known(0.9),
        specificity=known(0.9),
    )  # fmt: skip
    assert [each.tolist() for each in found] == [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("a", [0.1, 0.05, float("nan")])
def test_judgements_that_say_nothing(a: float) -> None:
    found = corrected_proportion(
        Bounded(0.3, 0.2, 0.4), sensitivity=known(a), specificity=known(0.9)
    )
    assert np.isnan(found[0])
    assert (float(found[1]), float(found[2])) == (0.0, 1.0)


def test_limits_at_which_judgements_say_nothing_have_no_end() -> None:
    wide = Bounded(0.6, 0.1, 1.0)
    _, lower, upper = corrected_proportion(known(0.3), sensitivity=wide, specificity=known(0.9))
    assert (float(lower), float(upper)) == (0.0, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize(("n", "n_true", "n_false"), [(20, 15, 40), (150, 40, 150)])
def test_how_often_the_limits_hold(p: float, n: int, n_true: int, n_false: int) -> None:
    """At least 95 %, within the error of 2,000 samples; uncorrected, a fraction of that."""
    random, runs, a, b = np.random.default_rng(5), 2000, 0.8, 0.9
    k = random.binomial(n, p * a + (1 - p) * (1 - b), runs)
    sides = [counted(random.binomial(m, s, runs), m) for m, s in ((n_true, a), (n_false, b))]
    _, lower, upper = corrected_proportion(
        counted(k, n), sensitivity=sides[0], specificity=sides[1]
    )
    assert np.mean((lower <= p) & (p <= upper)) >= 0.95 - 3 * (0.0475 / runs) ** 0.5
    if n == 150 and p != 0.3:  # near .3 the two kinds of errors outweigh each other
        plain = clopper_pearson(k, n)
        assert np.mean((plain[0] <= p) & (p <= plain[1])) < 0.5
