"""Calibration: bins by hand, errors, laws, one value only."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.machine.judges import brier_score, calibration, calibration_error
from pipeline.kernels.survey.limits import weights_of

SAID = [0.0, 0.05, 0.1, 0.95, 1.0]


def test_bins_begin_with_their_lower_edge_and_the_last_ends_with_1() -> None:
    found = calibration([0, 0, 1, 1, 1], SAID, weights_of(None, draws=5))
    assert found.select("bin", "first", "last", "n_judged").rows() == [
        (1, 0.0, 0.1, 2), (2, pytest.approx(0.1), pytest.approx(0.2), 1), (10, 0.9, 1.0, 2),
    ]  # fmt: skip
    assert found["share"].to_list() == [0.0, 1.0, 1.0]
    assert found["weight"].sum() == pytest.approx(1.0)


def test_the_error_by_hand() -> None:
    found = calibration([0, 0, 1, 1, 1], SAID, weights_of(None, draws=5))
    assert calibration_error(found) == pytest.approx(0.4 * 0.025 + 0.2 * 0.9 + 0.4 * 0.025)
    assert brier_score([0, 0, 1, 1, 1], SAID, weights_of(None, draws=5)) == pytest.approx(
        (0.05**2 + 0.9**2 + 0.05**2) / 5
    )


def test_weights_count() -> None:
    weights = weights_of([1.0, 0.25], draws=2)
    found = calibration([1, 0], [0.2, 0.4], weights, bins=1)
    assert found.select("mean_prediction", "share").row(0) == pytest.approx((0.36, 0.2))
    assert brier_score([1, 0], [0.2, 0.4], weights) == pytest.approx((0.64 + 4 * 0.16) / 5)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1), st.integers(1, 20))
def test_every_draw_is_in_one_bin(draws: list[tuple[bool, float]], bins: int) -> None:
    y, g = zip(*draws, strict=True)
    found = calibration(y, g, weights_of(None, draws=len(y)), bins=bins)
    assert found["n_judged"].sum() == len(y)
    inside = (found["mean_prediction"] >= found["first"] - 1e-9) & (
        found["mean_prediction"] <= found["last"] + 1e-9
    )
    assert inside.all()
    assert 0 <= calibration_error(found) <= 1 + 1e-9


def test_one_value_for_all_is_one_bin() -> None:
    found = calibration([1, 0, 0, 0], [0.5] * 4, weights_of(None, draws=4))
    assert found.select("bin", "n_judged", "share").rows() == [(6, 4, 0.25)]
    assert calibration_error(found) == pytest.approx(0.25)


def test_a_judge_that_is_sure_and_right() -> None:
    y = np.array([1, 0, 1, 0])
    found = calibration(y, y, weights_of(None, draws=4))
    assert calibration_error(found) == 0.0
    assert brier_score(y, y, weights_of(None, draws=4)) == 0.0


def test_nothing_judged_and_no_bin() -> None:
    found = calibration([], [], weights_of(None, draws=0))
    assert found.is_empty()
    assert np.isnan(calibration_error(found))
    assert np.isnan(brier_score([], [], weights_of(None, draws=0)))
    with pytest.raises(ValueError, match="bins = 0"):
        calibration([1], [1.0], weights_of(None, draws=1), bins=0)
