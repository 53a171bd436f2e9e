"""Expected half-widths against the standard deviation of estimates over many samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.allocation import estimands, question_sums, size_measure
from pipeline.kernels.survey.design import (
    expected_half_widths,
    inclusion,
    require_chances,
    sequential_poisson,
    simple_half_widths,
)
from tests.kernels.design.slow_design import sets_of

COUNT, SIZE = 1000, 250
RANKS = {"x": list(range(1, COUNT + 1)), "y": list(range(COUNT, 0, -1))}
TRUE = (np.random.default_rng(5).random(COUNT) < 0.3).astype(float)
Z = norm.ppf(0.975)


def hajek(inside: np.ndarray, drawn: np.ndarray, pi: FloatArray) -> float:
    """Return the mean over the certain ones and the rest of a list, each by its share."""
    certain, rest = inside & (pi == 1), inside & (pi < 1)
    total = TRUE[certain].sum()
    members = drawn[rest[drawn]]
    if rest.any():
        total += rest.sum() * np.average(TRUE[members], weights=1 / pi[members])
    return float(total / inside.sum())


def test_they_are_the_spread_of_estimates() -> None:
    asked = estimands(
        sets_of(RANKS, [("x", "y")], [200]), p=np.full(COUNT, TRUE.mean()),
        judged=np.zeros(COUNT, dtype=bool),
    )  # fmt: skip
    whole = question_sums(asked, np.ones(COUNT))
    x = size_measure(asked, weights=np.ones(asked.count), whole=whole, floor=0.0)
    pi = inclusion(x, size=SIZE)
    first, second, every = (np.array(RANKS["x"]) <= 200, np.array(RANKS["y"]) <= 200, pi > 0)
    bits, runs = np.random.default_rng(6), []
    for _ in range(1500):
        drawn = sequential_poisson(pi, bits.random(COUNT), size=SIZE)
        one, two = hajek(first, drawn, pi), hajek(second, drawn, pi)
        runs.append([one, two, one - two, hajek(every, drawn, pi)])
    spread = Z * np.std(runs, axis=0)
    expected = expected_half_widths(asked, pi, confidence=0.95)
    np.testing.assert_allclose(spread, expected, rtol=0.12)  # y of a list is not .3 exactly
    simple = simple_half_widths(whole, candidates=COUNT, size=SIZE, confidence=0.95)
    assert (expected[:3] < 0.8 * simple[:3]).all()
    assert expected[3] > simple[3]


def test_a_design_of_equal_chances_is_as_wide_as_the_simple_sample() -> None:
    asked = estimands(
        sets_of(RANKS, [("x", "y")], [20, 300]), p=np.random.default_rng(2).random(COUNT),
        judged=np.zeros(COUNT, dtype=bool),
    )  # fmt: skip
    whole = question_sums(asked, np.ones(COUNT))
    found = expected_half_widths(asked, np.full(COUNT, 0.2), confidence=0.9)
    simple = simple_half_widths(whole, candidates=COUNT, size=200, confidence=0.9)
    np.testing.assert_allclose(found, simple, rtol=1e-9)


def test_worked_value_and_extremes() -> None:
    """A list of 4 with p = .5 and pi = .5: 1.96 sqrt(4/16 * .25 * 1) = .49."""
    asked = estimands(
        sets_of({"x": list(range(1, 9))}, [], [4]), p=np.full(8, 0.5),
        judged=np.zeros(8, dtype=bool),
    )  # fmt: skip
    half = expected_half_widths(asked, np.full(8, 0.5), confidence=0.95)
    assert half.round(4).tolist() == [0.49, 0.3465]
    assert expected_half_widths(asked, np.ones(8), confidence=0.95).tolist() == [0.0, 0.0]
    some = np.array([0.5] * 4 + [0.0] * 4)
    assert expected_half_widths(asked, some, confidence=0.95).round(4).tolist() == [0.49, np.inf]
    whole = np.array([0.1, 0.0])
    nothing = simple_half_widths(whole, candidates=5, size=0, confidence=0.95)
    assert nothing.tolist() == [np.inf, 0.0]
    assert simple_half_widths(whole, candidates=5, size=9, confidence=0.95).tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match="between 0 and 1, not at 1"):
        expected_half_widths(asked, some, confidence=1.0)


def test_a_question_about_who_is_never_drawn_is_refused() -> None:
    sets = sets_of(RANKS, [], [10])
    a, pi = np.full(COUNT, 0.001), np.where(np.arange(COUNT) < 995, 0.1, 0.0)
    with pytest.raises(ValueError, match="baseline: 5 of its 1,000 .* as c995, c996, c997; ask"):
        require_chances("baseline", sets.ids, a, pi)
    require_chances("x at 10", sets.ids, np.where(np.arange(COUNT) < 10, 0.1, 0.0), pi)
