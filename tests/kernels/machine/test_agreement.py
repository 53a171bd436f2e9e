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
from pipeline.kernels.machine.judges import agreement_with_people
from pipeline.kernels.survey.limits import linear_variance, weights_of

cells = st.tuples(*[st.integers(1, 30)] * 4)


def spelt(a: int, b: int, c: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    people = np.repeat([1, 1, 0, 0], [a, b, c, d])
    return people, np.repeat([1, 0, 1, 0], [a, b, c, d])


@given(cells)
def test_equal_weights_are_the_known_coefficients(table: tuple[int, int, int, int]) -> None:
    people, machine = spelt(*table)
    found = agreement_with_people(people, machine, weights_of(None, draws=len(people)))
    a, b, c, d = table
    assert found["kappa"].value == pytest.approx(float(cohen_kappa([[a, b], [c, d]])))
    counts = np.stack([people + machine, 2 - people - machine], axis=1)
    assert found["ac1"].value == pytest.approx(float(gwet_ac(counts)))


@given(cells)
def test_the_error_is_the_published_one_and_a_further_draw(
    table: tuple[int, int, int, int],
) -> None:
    people, machine = spelt(*table)
    m, (a, b, c, d) = len(people), table
    found = agreement_with_people(people, machine, weights_of(None, draws=m), confidence=0.6827)
    counts = np.stack([people + machine, 2 - people - machine], axis=1)
    r, k = people.mean(), machine.mean()
    q = (r + k) / 2
    chance = {"kappa": r * k + (1 - r) * (1 - k), "ac1": 2 * q * (1 - q)}
    errors = {
        "kappa": cohen_standard_error([[a, b], [c, d]]) * np.sqrt(m / (m - 1)),
        "ac1": gwet_standard_error(counts),
    }
    for name, error in errors.items():
        value, lower, upper = found[name]
        arm = (np.arctanh(upper) - np.arctanh(lower)) / 2 * (1 - value**2)
        whole = np.hypot(float(error), 1 / m / (1 - chance[name]))
        assert arm == pytest.approx(whole, rel=1e-3)


@given(cells)
def test_weights_of_whole_numbers_are_repetitions(table: tuple[int, int, int, int]) -> None:
    people, machine = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    weighted = agreement_with_people(people, machine, weights_of(1 / np.array(table), draws=4))
    repeated = agreement_with_people(*spelt(*table), weights_of(None, draws=sum(table)))
    for name in ("kappa", "ac1"):
        assert weighted[name].value == pytest.approx(repeated[name].value)


def test_perfect_agreement_leaves_room_for_an_error() -> None:
    people, machine = spelt(5, 0, 0, 35)
    found = agreement_with_people(people, machine, weights_of(None, draws=40))
    assert found["kappa"].value == found["kappa"].upper == 1.0
    assert 0.5 < found["kappa"].lower < 1.0


def test_all_known_has_no_width() -> None:
    people, machine = spelt(5, 2, 3, 30)
    found = agreement_with_people(people, machine, weights_of([1.0] * 40, draws=40))
    assert found["kappa"].lower == found["kappa"].value == found["kappa"].upper
    assert linear_variance(np.ones(3), np.zeros(3)) == 0.0


def test_what_is_not_defined() -> None:
    one = agreement_with_people([1, 1], [1, 1], weights_of(None, draws=2))
    assert np.isnan(one["kappa"].value)
    assert one["ac1"].value == 1.0
    few = agreement_with_people([1], [1], weights_of(None, draws=1))
    assert np.isnan(few["ac1"].value)
