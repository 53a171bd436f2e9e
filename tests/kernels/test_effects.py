"""Main effects against values computed by hand, plain means, and a design matrix written out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.effects import ConfoundedSettings, MainEffects, main_effects

VALUES = np.array([0.2, 0.4, 0.6, 0.4, 0.6, 0.8])
"""Two spans times three measures; the effects add up."""
CODES = np.array([*itertools.product(range(2), range(3))])


def test_effects_of_a_balanced_design_agree_with_those_by_hand() -> None:
    """SS_total = .22, SS_span = 3 (.1^2 + .1^2) = .06, SS_measure = 2 (.2^2 + .2^2) = .16."""
    effects = main_effects(VALUES, CODES, [2, 3])
    assert effects.means[0] == pytest.approx([0.4, 0.6])
    assert effects.means[1] == pytest.approx([0.3, 0.5, 0.7])
    assert effects.shares == pytest.approx([0.06 / 0.22, 0.16 / 0.22])
    assert effects.residual == pytest.approx(0, abs=1e-12)
    assert np.isnan(effects.lower[0]).all()


def test_effects_of_an_unbalanced_design_agree_with_those_by_hand() -> None:
    """Without the last combination: type II sums of squares .04 and .10 of .112, by hand.

    Without spans the residuals are those within measures (.02 + .02 + 0), without measures those
    within spans (.08 + .02). The least-squares means are those of the whole table.
    """
    effects = main_effects(VALUES[:-1], CODES[:-1], [2, 3])
    assert effects.means[0] == pytest.approx([0.4, 0.6])
    assert effects.means[1] == pytest.approx([0.3, 0.5, 0.7])
    assert effects.shares == pytest.approx([0.04 / 0.112, 0.10 / 0.112])
    assert effects.residual == pytest.approx(0, abs=1e-12)


def test_limits_of_effects_are_mean_half_widths() -> None:
    """Half-widths of .1 below and .3 above at the first span, .2 at the second."""
    below = np.array([0.1] * 3 + [0.2] * 3)
    above = np.array([0.3] * 3 + [0.2] * 3)
    effects = main_effects(VALUES, CODES, [2, 3], VALUES - below, VALUES + above)
    assert effects.lower[0] == pytest.approx([0.4 - 0.1, 0.6 - 0.2])
    assert effects.upper[0] == pytest.approx([0.4 + 0.3, 0.6 + 0.2])
    assert effects.lower[1] == pytest.approx(np.array([0.3, 0.5, 0.7]) - 0.15)


def test_unknown_limits_affect_only_their_levels() -> None:
    lower = VALUES - 0.1
    lower[0] = np.nan
    effects = main_effects(VALUES, CODES, [2, 3], lower, VALUES + 0.1)
    assert np.isnan(effects.lower[0]).tolist() == [True, False]
    assert np.isnan(effects.lower[1]).tolist() == [True, False, False]
    assert not np.isnan(effects.upper[0]).any()


def test_limits_hold_if_all_estimates_err_together() -> None:
    """The worst case: errors as large as the half-widths, with the signs of the weights."""
    rng = np.random.default_rng(3)
    codes = CODES[[0, 1, 2, 3, 4, 4, 1]]
    truth = rng.random(len(codes))
    for _ in range(50):
        errors = 0.1 * rng.choice([-1, 1], len(codes))
        estimates = truth + errors
        effects = main_effects(estimates, codes, [2, 3], estimates - 0.1, estimates + 0.1)
        exact = main_effects(truth, codes, [2, 3])
        for place in range(2):
            assert (effects.lower[place] <= exact.means[place] + 1e-12).all()
            assert (exact.means[place] <= effects.upper[place] + 1e-12).all()


def balanced_twin(values: np.ndarray, levels: list[int]) -> tuple[list[list[float]], list[float]]:
    """Return plain means and SS / SS_total of a full factorial design, by loops."""
    cells = [*itertools.product(*(range(each) for each in levels))]
    grand = sum(values) / len(values)
    total = sum((each - grand) ** 2 for each in values)
    means, shares = [], []
    for place, count in enumerate(levels):
        own = [
            np.mean(
                [value for value, cell in zip(values, cells, strict=True) if cell[place] == level]
            )
            for level in range(count)
        ]
        of_setting = sum((own[cell[place]] - grand) ** 2 for cell in cells)
        means.append([float(each) for each in own])
        shares.append(float(of_setting / total))
    return means, shares


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.integers(0, 10**6))
def test_balanced_designs_agree_with_plain_means(levels: list[int], seed: int) -> None:
    codes = np.array([*itertools.product(*(range(each) for each in levels))])
    values = np.random.default_rng(seed).random(len(codes))
    if len(values) == 1:
        return
    effects = main_effects(values, codes, levels)
    means, shares = balanced_twin(values, levels)
    for place, own in enumerate(means):
        assert effects.means[place] == pytest.approx(own)
    assert effects.shares == pytest.approx(shares, abs=1e-10)
    assert effects.shares.sum() + effects.residual == pytest.approx(1)


def residual(values: np.ndarray, *blocks: np.ndarray) -> float:
    design = np.hstack([np.ones((len(values), 1)), *blocks])
    fitted = design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return float(((values - fitted) ** 2).sum())


@given(st.integers(0, 10**6))
def test_unbalanced_designs_agree_with_a_design_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    levels = [2, 3, 4]
    cells = np.array([*itertools.product(*(range(each) for each in levels))])
    codes = np.vstack([cells, cells[rng.integers(0, len(cells), 10)]])  # some twice
    codes = codes[rng.permutation(len(codes))[:25]]
    values = rng.random(len(codes))
    dummies = [np.eye(count)[codes[:, place]] for place, count in enumerate(levels)]
    try:
        effects = main_effects(values, codes, levels)
    except ConfoundedSettings:
        assert np.linalg.matrix_rank(np.hstack(dummies)) < sum(levels) - 2
        return
    total = ((values - values.mean()) ** 2).sum()
    unexplained = residual(values, *dummies)
    assert effects.residual == pytest.approx(unexplained / total)
    for place in range(3):
        rest = [each for other, each in enumerate(dummies) if other != place]
        assert effects.shares[place] == pytest.approx(
            (residual(values, *rest) - unexplained) / total
        )


@pytest.mark.parametrize(
    ("codes", "levels", "wrong"),
    [
        ([[0, 0], [1, 1]], [2, 2], (0, 1)),
        ([[0, 0, 0], [0, 1, 0], [1, 2, 0], [1, 2, 1], [0, 1, 1]], [2, 3, 2], (0, 1)),
        ([[0, 0], [0, 1], [1, 2], [1, 3]], [2, 4], (0, 1)),  # as if nested
    ],
)
def test_confounded_settings_are_refused(
    codes: list[list[int]], levels: list[int], wrong: tuple[int, ...]
) -> None:
    with pytest.raises(ConfoundedSettings) as refused:
        main_effects(np.arange(len(codes)) / 10, np.array(codes), levels)
    assert refused.value.settings == wrong


def test_constant_values_have_no_shares() -> None:
    effects: MainEffects = main_effects(np.full(6, 0.1), CODES, [2, 3])
    assert np.isnan(effects.shares).all()
    assert np.isnan(effects.residual)
    assert effects.means[1] == pytest.approx([0.1] * 3)


def test_a_single_value_is_its_own_mean() -> None:
    effects = main_effects(
        np.array([0.3]), np.array([[0, 0]]), [1, 1], np.array([0.1]), np.array([1.0])
    )
    assert effects.means[0] == pytest.approx([0.3])
    assert (effects.lower[1].item(), effects.upper[1].item()) == pytest.approx((0.1, 1.0))
