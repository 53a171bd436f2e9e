"""Kappa and AC1 with people: the published coefficients where weights are equal, laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.agreement import (
    cohen_kappa,
    cohen_standard_error,
    gwet_ac,
    gwet_standard_error,
)
from pipeline.kernels.machine import (
    agreement_with_people,
    brier_score,
    calibration,
    calibration_error,
    confusion,
    squared_correlation,
)
from pipeline.kernels.numeric import BoolArray
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.kernels.survey.limits import domain_weights, linear_variance

cells = st.tuples(*[st.integers(1, 30)] * 4)


def judgements(a: int, b: int, c: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    people = np.repeat([1, 1, 0, 0], [a, b, c, d])
    return people, np.repeat([1, 0, 1, 0], [a, b, c, d])


@given(cells)
def test_equal_weights_give_the_published_coefficients(table: tuple[int, int, int, int]) -> None:
    people, machine = judgements(*table)
    result = agreement_with_people(people, machine, domain_weights(None, draws=len(people)))
    a, b, c, d = table
    assert result["kappa"].value == pytest.approx(float(cohen_kappa([[a, b], [c, d]])))
    counts = np.stack([people + machine, 2 - people - machine], axis=1)
    assert result["ac1"].value == pytest.approx(float(gwet_ac(counts)))


@given(cells)
def test_the_error_allows_for_a_further_draw(
    table: tuple[int, int, int, int],
) -> None:
    people, machine = judgements(*table)
    m, (a, b, c, d) = len(people), table
    result = agreement_with_people(
        people, machine, domain_weights(None, draws=m), confidence=0.6827
    )
    counts = np.stack([people + machine, 2 - people - machine], axis=1)
    r, k = people.mean(), machine.mean()
    q = (r + k) / 2
    chance = {"kappa": r * k + (1 - r) * (1 - k), "ac1": 2 * q * (1 - q)}
    errors = {
        "kappa": cohen_standard_error([[a, b], [c, d]]) * np.sqrt(m / (m - 1)),
        "ac1": gwet_standard_error(counts),
    }
    for name, error in errors.items():
        value, lower, upper = result[name]
        arm = (np.arctanh(upper) - np.arctanh(lower)) / 2 * (1 - value**2)
        whole = np.hypot(float(error), 1 / m / (1 - chance[name]))
        assert arm == pytest.approx(whole, rel=1e-3)


@given(cells)
def test_whole_weights_equal_repetitions(table: tuple[int, int, int, int]) -> None:
    people, machine = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    weighted = agreement_with_people(people, machine, domain_weights(1 / np.array(table), draws=4))
    repeated = agreement_with_people(*judgements(*table), domain_weights(None, draws=sum(table)))
    for name in ("kappa", "ac1"):
        assert weighted[name].value == pytest.approx(repeated[name].value)


def test_perfect_agreement_has_a_lower_limit_below_1() -> None:
    people, machine = judgements(5, 0, 0, 35)
    result = agreement_with_people(people, machine, domain_weights(None, draws=40))
    assert result["kappa"].value == result["kappa"].upper == 1.0
    assert 0.5 < result["kappa"].lower < 1.0


def test_agreement_without_sampling_has_no_width() -> None:
    people, machine = judgements(5, 2, 3, 30)
    result = agreement_with_people(people, machine, domain_weights([1.0] * 40, draws=40))
    assert result["kappa"].lower == result["kappa"].value == result["kappa"].upper
    assert linear_variance(np.ones(3), np.zeros(3)) == 0.0


def test_coefficients_may_be_undefined() -> None:
    one = agreement_with_people([1, 1], [1, 1], domain_weights(None, draws=2))
    assert np.isnan(one["kappa"].value)
    assert one["ac1"].value == 1.0
    few = agreement_with_people([1], [1], domain_weights(None, draws=1))
    assert np.isnan(few["ac1"].value)


# Calibration: bins by hand, errors, laws, constant predictions.

PREDICTED = [0.0, 0.05, 0.1, 0.95, 1.0]


def test_bins_include_their_lower_edge_and_the_last_includes_1() -> None:
    result = calibration([0, 0, 1, 1, 1], PREDICTED, domain_weights(None, draws=5))
    assert result.select("bin", "first", "last", "n_judged").rows() == [
        (1, 0.0, 0.1, 2), (2, pytest.approx(0.1), pytest.approx(0.2), 1), (10, 0.9, 1.0, 2),
    ]  # fmt: skip
    assert result["share"].to_list() == [0.0, 1.0, 1.0]
    assert result["weight"].sum() == pytest.approx(1.0)


def test_the_calibration_error_agrees_with_that_by_hand() -> None:
    result = calibration([0, 0, 1, 1, 1], PREDICTED, domain_weights(None, draws=5))
    assert calibration_error(result) == pytest.approx(0.4 * 0.025 + 0.2 * 0.9 + 0.4 * 0.025)
    assert brier_score([0, 0, 1, 1, 1], PREDICTED, domain_weights(None, draws=5)) == pytest.approx(
        (0.05**2 + 0.9**2 + 0.05**2) / 5
    )


def test_calibration_is_weighted() -> None:
    weights = domain_weights([1.0, 0.25], draws=2)
    result = calibration([1, 0], [0.2, 0.4], weights, bins=1)
    assert result.select("mean_prediction", "share").row(0) == pytest.approx((0.36, 0.2))
    assert brier_score([1, 0], [0.2, 0.4], weights) == pytest.approx((0.64 + 4 * 0.16) / 5)


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1), st.integers(1, 20))
def test_every_draw_is_in_one_bin(draws: list[tuple[bool, float]], bins: int) -> None:
    y, g = zip(*draws, strict=True)
    result = calibration(y, g, domain_weights(None, draws=len(y)), bins=bins)
    assert result["n_judged"].sum() == len(y)
    inside = (result["mean_prediction"] >= result["first"] - 1e-9) & (
        result["mean_prediction"] <= result["last"] + 1e-9
    )
    assert inside.all()
    assert 0 <= calibration_error(result) <= 1 + 1e-9


def test_equal_predictions_are_in_one_bin() -> None:
    result = calibration([1, 0, 0, 0], [0.5] * 4, domain_weights(None, draws=4))
    assert result.select("bin", "n_judged", "share").rows() == [(6, 4, 0.25)]
    assert calibration_error(result) == pytest.approx(0.25)


def test_a_certain_and_correct_judge_has_no_error() -> None:
    y = np.array([1, 0, 1, 0])
    result = calibration(y, y, domain_weights(None, draws=4))
    assert calibration_error(result) == 0.0
    assert brier_score(y, y, domain_weights(None, draws=4)) == 0.0


def test_calibration_needs_judgements_and_bins() -> None:
    result = calibration([], [], domain_weights(None, draws=0))
    assert result.is_empty()
    assert np.isnan(calibration_error(result))
    assert np.isnan(brier_score([], [], domain_weights(None, draws=0)))
    with pytest.raises(ValueError, match="bins = 0"):
        calibration([1], [1.0], domain_weights(None, draws=1), bins=0)


# The table of confusion: by hand, weights, degenerate judges.

PEOPLE = [True] * 10 + [False] * 20
MACHINE = [0.9] * 8 + [0.1] * 2 + [0.6] * 5 + [0.3] * 15


def test_the_table_of_confusion_agrees_with_that_by_hand() -> None:
    result = confusion(PEOPLE, MACHINE, domain_weights(None, draws=30))
    cells = ("true_positives", "false_negatives", "false_positives", "true_negatives")
    assert [result[name] for name in cells] == [8, 2, 5, 15]
    shares = [result[name] for name in ("sensitivity", "specificity", "ppv", "npv")]
    assert shares == pytest.approx([8 / 10, 15 / 20, 8 / 13, 15 / 17])
    lower, upper = clopper_pearson(8, 10, confidence=0.95)
    assert result["sensitivity_lower"] == pytest.approx(float(lower))
    assert result["sensitivity_upper"] == pytest.approx(float(upper))


def test_predictions_at_the_threshold_are_positive() -> None:
    result = confusion(PEOPLE, MACHINE, domain_weights(None, draws=30), threshold=0.6)
    assert result["false_positives"] == 5
    higher = confusion(PEOPLE, MACHINE, domain_weights(None, draws=30), threshold=0.61)
    assert higher["false_positives"] == 0


def test_draws_are_weighted_in_the_table_of_confusion() -> None:
    """Of the true positives one of weight 1 is found, one of weight 4 is not."""
    result = confusion([1, 1, 0], [1.0, 0.0, 0.0], domain_weights([1.0, 0.25, 0.5], draws=3))
    assert result["sensitivity"] == pytest.approx(0.2)
    assert result["npv"] == pytest.approx(2 / 6)


@pytest.mark.parametrize("people", [[True] * 3, [False] * 3])
def test_one_class_alone_leaves_a_share_undefined(people: list[bool]) -> None:
    result = confusion(people, [0.9, 0.8, 0.2], domain_weights(None, draws=3))
    lacking = "specificity" if people[0] else "sensitivity"
    assert np.isnan(result[lacking])
    assert (result[f"{lacking}_lower"], result[f"{lacking}_upper"]) == (0.0, 1.0)


def test_confusion_without_judgements_is_undefined() -> None:
    result = confusion([], [], domain_weights(None, draws=0))
    assert result["n_judged"] == 0
    assert np.isnan([result[name] for name in ("sensitivity", "specificity", "ppv", "npv")]).all()


# Squared correlations within sets: NumPy's where weights are equal, parts, limits.


def everybody(draws: int) -> BoolArray:
    return np.ones((1, 1, draws), dtype=np.bool_)


@given(st.integers(0, 10_000))
def test_equal_weights_give_pearsons_correlation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random(40) < 0.4).astype(float)
    y[:2] = 0, 1
    g = rng.random(40) / 2 + y * rng.random() / 2
    r = np.corrcoef(y, g)[0, 1]
    result = squared_correlation(y, g, everybody(40), domain_weights(None, draws=40))
    assert result.rho2[0] == pytest.approx(max(r, 0) ** 2)
    assert result.lower[0] <= result.rho2[0] <= result.upper[0]


def test_whole_weights_of_correlations_equal_repetitions() -> None:
    rng = np.random.default_rng(1)
    y, g = (rng.random(40) < 0.5).astype(float), rng.random(40)
    times = rng.integers(1, 4, 40)
    weighted = squared_correlation(y, g + y, everybody(40), domain_weights(1 / times, draws=40))
    again = everybody(int(times.sum()))
    repeated = squared_correlation(
        np.repeat(y, times), np.repeat(g + y, times), again,
        domain_weights(None, draws=again.size),
    )  # fmt: skip
    assert weighted.rho2[0] == pytest.approx(repeated.rho2[0])


def test_correlations_are_centred_within_parts() -> None:
    """A difference between the two parts explains nothing within them."""
    rng = np.random.default_rng(2)
    y = np.repeat([0.0, 1.0], 200)
    y = np.where(rng.random(400) < 0.2, 1 - y, y)
    g = np.repeat([0.2, 0.8], 200) + rng.random(400) / 100
    one = squared_correlation(y, g, everybody(400), domain_weights(None, draws=400))
    halves = np.repeat(np.eye(2, dtype=np.bool_), 200, axis=1)[None]
    two = squared_correlation(y, g, halves, domain_weights(None, draws=400))
    assert one.rho2[0] > 0.3
    assert two.rho2[0] < 0.02


def test_a_negative_correlation_counts_as_zero() -> None:
    y = np.array([0.0, 1.0] * 30)
    result = squared_correlation(y, 1 - y, everybody(60), domain_weights(None, draws=60))
    assert [float(each[0]) for each in result] == [0.0, 0.0, 0.0]


def test_a_perfect_judge_has_a_correlation_of_1() -> None:
    y = np.array([0.0, 1.0] * 30)
    result = squared_correlation(y, y, everybody(60), domain_weights(None, draws=60))
    assert [float(each[0]) for each in result] == pytest.approx([1.0, 1.0, 1.0])


@pytest.mark.parametrize(("y", "g"), [(0.0, None), (1.0, None), (None, 0.5)])
def test_constant_values_have_no_correlation(y: float | None, g: float | None) -> None:
    varied = np.array([0.0, 1.0] * 30)
    one, other = (varied if each is None else np.full(60, each) for each in (y, g))
    result = squared_correlation(one, other, everybody(60), domain_weights(None, draws=60))
    assert np.isnan([each[0] for each in result]).all()


def test_too_few_draws_have_no_correlation() -> None:
    y = np.array([0.0, 1.0] * 30)
    weights, members = domain_weights(None, draws=60), everybody(60)
    members[..., 29:] = False
    assert np.isnan(squared_correlation(y, y, members, weights).rho2[0])
    members[..., 29] = True
    assert squared_correlation(y, y, members, weights).rho2[0] == pytest.approx(1.0)


def test_the_limit_of_a_random_judge_rarely_exceeds_zero() -> None:
    """At 95 % confidence its lower limit is above 0 in 2.5 % of samples: here in 1,500."""
    rng = np.random.default_rng(8)
    y = (rng.random((1500, 60)) < 0.3).astype(float)
    g = rng.random((1500, 60))
    result = [
        squared_correlation(a, b, everybody(60), domain_weights(None, draws=60)).lower[0] > 0
        for a, b in zip(y, g, strict=True)
    ]
    assert 0.005 < np.mean(result) < 0.04
