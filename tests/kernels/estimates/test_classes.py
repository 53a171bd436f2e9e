"""Strata whose draws weigh differently: classes, their limits, and how often these hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import set_limits, stratified_sets
from pipeline.kernels.survey.limits import difference_limits, difference_p_values, limits
from pipeline.kernels.survey.ratio_estimator import (
    Estimates,
    Known,
    draw_moments,
    hajek,
    weight_classes,
)

NOTHING = Known(*np.zeros(3))
SAMPLES = 3000
LEAST = 0.94 - 3 * (0.94 * 0.06 / SAMPLES) ** 0.5


def coverage(size: list[int], draws: list[int], precision: list[float]) -> float:
    """Return the share of stratified samples whose limits hold the truth."""
    sizes, drawn = np.array(size), np.array(draws)
    true = np.round(sizes * np.array(precision)).astype(int)
    hits = np.random.default_rng(0).hypergeometric(
        true, sizes - true, drawn, size=(SAMPLES, len(sizes))
    )
    members, judged = (np.broadcast_to(each, hits.shape) for each in (sizes, drawn))
    lower, upper = set_limits(members, judged, hits, confidence=0.95)
    truth = true.sum() / sizes.sum()
    return float(((lower <= truth + 1e-9) & (truth - 1e-9 <= upper)).mean())


HEAVY = [
    ([550, 450], [first, second], [0.4, low])
    for first in (400, 500, 545) for second in (5, 10, 18, 30) for low in (0.02, 0.1, 0.2)
]  # fmt: skip
ALIKE = [([100] * h, [m] * h, [p] * h) for h in (5, 20) for m in (3, 5, 10) for p in (0.02, 0.1)]


@pytest.mark.parametrize(("size", "draws", "precision"), HEAVY + ALIKE)
def test_limits_hold_the_truth(size: list[int], draws: list[int], precision: list[float]) -> None:
    assert coverage(size, draws, precision) >= LEAST


def test_one_class_has_the_limits_of_one_variance() -> None:
    alike = stratified_sets([100, 100], [10, 20], [1, 6])
    assert alike.parts == ()
    apart = stratified_sets([100, 100], [5, 20], [1, 6])
    assert len(apart.parts) == 2
    assert [float(part.share) for part in apart.parts] == [0.5, 0.5]


def test_classes_of_many_sets_at_once() -> None:
    """A set of one class keeps its limits beside one of two."""
    sizes, draws = np.array([[100, 100], [100, 100]]), np.array([[10, 20], [5, 50]])
    hits = np.array([[1, 6], [1, 9]])
    both = set_limits(sizes, draws, hits, confidence=0.95)
    for row in range(2):
        alone = set_limits(sizes[row], draws[row], hits[row], confidence=0.95)
        assert [float(each[row]) for each in both] == pytest.approx([float(x) for x in alone])


def test_strata_without_draws_or_members_have_no_class() -> None:
    sums = draw_moments([1, 0], [0.1, 0.5])[:, :, None]
    sums = np.concatenate([sums, np.zeros((len(sums), 2, 1))], axis=1)
    assert weight_classes(sums, np.array([100.0, 50.0, 30.0, 0.0])).tolist() == [0, 1, -1, -1]


def made(bits: np.random.Generator) -> Estimates:
    strata = [bits.random(int(bits.integers(3, 40))) < bits.random() for _ in range(3)]
    chances = bits.choice([0.02, 0.1, 0.5], 3)
    sums = np.stack(
        [draw_moments(y, pi).sum(axis=1) for y, pi in zip(strata, chances, strict=True)], axis=-1
    )
    mass = np.array([len(y) / pi for y, pi in zip(strata, chances, strict=True)])
    return hajek(sums[..., None], mass, known=NOTHING)


@given(st.integers(0, 10_000))
def test_the_p_value_is_where_the_limits_begin_to_hold_0(seed: int) -> None:
    bits = np.random.default_rng(seed)
    one, other = made(bits), made(bits)
    p = float(difference_p_values(one, other))
    assert p == pytest.approx(float(difference_p_values(other, one)), rel=1e-6)
    for factor, inside in ((0.98, True), (1.02, False)):
        if 1e-9 < p * factor < 0.9:
            lower, upper = difference_limits(one, other, confidence=1 - p * factor)
            assert bool(lower <= 0 <= upper) is inside


@given(st.integers(0, 10_000), st.floats(0.5, 0.99))
def test_limits_hold_the_estimate_and_grow(seed: int, confidence: float) -> None:
    found = made(np.random.default_rng(seed))
    narrow, wide = (limits(found, confidence=level) for level in (confidence, 0.995))
    assert 0 <= wide[0] <= narrow[0] + 1e-12
    assert narrow[0] <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= narrow[1] <= wide[1] + 1e-12 <= 1 + 2e-12
