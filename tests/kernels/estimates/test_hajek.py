from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.survey.ratio_estimator import Estimates, Known, draw_moments, hajek, tuned
from tests.kernels.estimates.slow import Member, slow_estimate, slow_tau

CHANCES = [Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(99, 100), Fraction(1, 10**5)]


@st.composite
def member(draw: st.DrawFn, *, folds: int = 1) -> Member:
    # a slope keeps 16 digits but for those of the square of the largest by the smallest weight
    pi = draw(st.sampled_from(CHANCES if folds == 1 else [*CHANCES[:4], Fraction(1, 200)]))
    y = draw(st.sampled_from([0, 1] if pi == 1 else [0, 1, None, None]))
    guess = Fraction(draw(st.integers(0, 8)), 8) if folds > 1 else Fraction(0)
    return Member(y, pi, draw(st.integers(0, 2)), draw(st.integers(0, folds - 1)), guess)


def sums_of(
    members: Sequence[Member], folds: int
) -> tuple[np.ndarray, np.ndarray, Known, np.ndarray]:
    sums, mass, guessed = np.zeros((18, 3, folds)), np.zeros(3), np.zeros(3)
    known = np.zeros(3)
    for each in members:
        if each.pi == 1:
            known[2 if each.y is None else 1 - each.y] += 1
            continue
        mass[each.stratum] += 1
        if each.y is None:
            guessed[each.stratum] += float(each.guess)
        else:
            column = draw_moments(each.y, float(each.pi), prediction=float(each.guess))
            sums[:, each.stratum, each.fold] += column[:, 0]
    return sums, mass, Known(*known), guessed


def estimate(members: Sequence[Member], folds: int = 1, enough: int = 1) -> Estimates:
    sums, mass, known, guessed = sums_of(members, folds)
    return hajek(sums, mass, known=known, guessed=guessed if folds > 1 else None, enough=enough)


def same(
    found: Estimates, slow: tuple[Fraction | None, Fraction | None], rel: float = 1e-12
) -> None:
    estimate, variance = (float("nan") if each is None else float(each) for each in slow)
    assert float(found.estimate) == pytest.approx(estimate, rel=rel, abs=rel / 1000, nan_ok=True)
    assert float(found.variance) == pytest.approx(
        variance, rel=max(rel, 1e-7 if rel > 1e-9 else 1e-9), abs=rel / 1000, nan_ok=True
    )


@given(st.lists(member(), min_size=1, max_size=14))
def test_agrees_with_exact_fractions(members: list[Member]) -> None:
    same(estimate(members), slow_estimate(members))


@given(st.lists(member(folds=3), min_size=1, max_size=14))
def test_agrees_with_exact_fractions_of_predictions(members: list[Member]) -> None:
    open_ = [each for each in members if each.pi < 1]
    sizes = {h: [each for each in open_ if each.stratum == h] for h in range(3)}
    left = {
        h: part for h, part in sizes.items() if any(each.y is None for each in part)
    }  # the others are known
    drawn = [each for part in left.values() for each in part if each.y is not None]
    count = {h: len(part) for h, part in left.items()}
    tau = [slow_tau(drawn, count, fold, folds=3) for fold in range(3)]
    found = estimate(members, folds=3)
    assert float(found.tau) == pytest.approx(float(sum(tau) / 3), rel=1e-8, abs=1e-10)
    same(found, slow_estimate(members, tau), rel=1e-8)


def simple(y: Sequence[int], pi: float, size: float) -> Estimates:
    columns = draw_moments(y, pi).sum(axis=1)[:, None, None]
    return hajek(columns, np.array([size]), known=Known(*np.zeros(3)))


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60), st.floats(0.01, 0.99))
def test_constant_chances_give_the_textbook_variance(y: list[int], pi: float) -> None:
    p, m = sum(y) / len(y), len(y)
    found = simple(y, pi, m / pi)
    assert float(found.estimate) == pytest.approx(p, rel=1e-13)
    expected = (1 - pi) * p * (1 - p) / (m - 1)
    assert float(found.variance) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert float(found.most) == pytest.approx(m / (1 - pi))
    assert float(found.alike) == pytest.approx(m / (1 - pi))


@given(st.integers(1, 40), st.floats(1e-6, 0.99))
def test_draws_that_are_all_alike_give_0_or_1_exactly(m: int, pi: float) -> None:
    chances = np.linspace(pi, (1 + pi) / 2, m)
    for y in (0.0, 1.0):
        columns = draw_moments(np.full(m, y), chances).sum(axis=1)[:, None, None]
        found = hajek(columns, np.array([10.0 * m]), known=Known(*np.zeros(3)))
        assert float(found.p) == y


def test_the_known_part_shifts_and_scales() -> None:
    alone = simple([1, 0, 0, 1, 0], 0.25, 20.0)
    columns = draw_moments([1, 0, 0, 1, 0], 0.25).sum(axis=1)[:, None, None]
    found = hajek(columns, np.array([20.0]), known=Known(*np.array([3.0, 2.0, 0.0])))
    assert float(found.estimate) == pytest.approx((3 + 20 * 0.4) / 25)
    assert float(found.variance) == pytest.approx(0.8**2 * float(alone.variance))
    assert (float(found.floor), float(found.ceiling)) == pytest.approx((5 / 25, 1 - 5 / 25))


def test_nothing_drawn_one_drawn_all_drawn_nothing_there() -> None:
    none = hajek(np.zeros((18, 1, 1)), np.array([4.0]), known=Known(*np.array([2.0, 1.0, 0.0])))
    assert np.isnan(none.estimate)
    assert np.isnan(none.variance)
    assert (float(none.floor), float(none.ceiling)) == pytest.approx((2 / 7, 6 / 7))
    one = simple([1], 0.5, 2.0)
    assert float(one.estimate) == 1.0
    assert np.isnan(one.variance)
    everything = simple([1, 0], 0.9, 2.0)  # both uncertain, both drawn
    assert (float(everything.estimate), float(everything.variance)) == (0.5, 0.0)
    assert float(everything.share) == 0.0
    empty = hajek(np.zeros((18, 1, 1)), np.zeros(1), known=Known(*np.zeros(3)))
    assert np.isnan(empty.estimate)
    assert (float(empty.floor), float(empty.ceiling)) == (0.0, 1.0)


def test_a_certain_member_without_a_judgement() -> None:
    columns = draw_moments([1, 0], 0.5).sum(axis=1)[:, None, None]
    found = hajek(columns, np.array([4.0]), known=Known(*np.array([1.0, 0.0, 1.0])))
    assert np.isnan(found.estimate)
    assert (float(found.floor), float(found.ceiling)) == pytest.approx((2 / 6, 5 / 6))


def predicted(y: np.ndarray, g: np.ndarray, others: np.ndarray, folds: int = 5) -> Estimates:
    columns, fold = draw_moments(y, 0.1, prediction=g), np.arange(len(y)) % folds
    sums = np.stack([columns[:, fold == each].sum(axis=1) for each in range(folds)], axis=-1)
    mass, guessed = np.array([float(len(y) + len(others))]), np.array([others.sum()])
    return hajek(sums[:, None], mass, known=Known(*np.zeros(3)), guessed=guessed)


def test_predictions_that_are_right_leave_no_variance() -> None:
    y = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], 10)
    found = predicted(y, y, np.array([1.0] * 300 + [0.0] * 150))
    assert float(found.tau) == pytest.approx(1.0)
    assert float(found.estimate) == pytest.approx((20 + 300) / 500)
    assert float(found.variance) == pytest.approx(0.0, abs=1e-15)


def test_few_judgements_and_equal_predictions_count_nothing() -> None:
    y = np.tile([1.0, 0.0], 14)
    assert float(predicted(y, y, np.ones(100)).tau) == 0.0  # 28 draws
    more = np.tile([1.0, 0.0], 30)
    equal = predicted(more, np.full(60, 0.3), np.full(100, 0.3))
    assert float(equal.tau) == 0.0
    assert float(equal.estimate) == pytest.approx(0.5)


def test_full_annotation_gives_the_exact_value_whatever_is_predicted() -> None:
    random = np.random.default_rng(1)
    y, g = (random.random(200) < 0.3).astype(float), random.random(200)
    found = predicted(y, g, np.zeros(0))
    assert float(found.estimate) == pytest.approx(y.mean(), rel=1e-14)
    # and by the ratio alone, if one more is left that nobody knows
    almost = predicted(y, g, np.array([0.5]))
    assert float(almost.estimate) == pytest.approx(y.mean(), abs=0.01)


def test_the_weight_of_a_fold_does_not_see_its_own_judgements() -> None:
    random = np.random.default_rng(2)
    y, g = (random.random(60) < 0.5).astype(float), random.random(60)
    fold = np.arange(60) % 3

    def weights(judged: np.ndarray) -> np.ndarray:
        columns = draw_moments(judged, 0.2, prediction=0.5 * g + 0.3 * y)
        sums = np.stack([columns[:, fold == each].sum(axis=1) for each in range(3)], axis=-1)
        return tuned(sums[:, None], np.ones(1))

    changed = np.where(fold == 1, 1 - y, y)
    before, after = weights(y), weights(changed)
    assert before[1] == pytest.approx(after[1])
    assert before[0] != pytest.approx(after[0])
