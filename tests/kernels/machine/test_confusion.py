"""The table of confusion: by hand, weights, degenerate judges."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.kernels.machine.judges import confusion, weighted_cells
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from pipeline.kernels.survey.limits import weights_of

PEOPLE = [True] * 10 + [False] * 20
MACHINE = [0.9] * 8 + [0.1] * 2 + [0.6] * 5 + [0.3] * 15


def test_cells_and_shares_by_hand() -> None:
    found = confusion(PEOPLE, MACHINE, weights_of(None, draws=30))
    cells = ("true_positives", "false_negatives", "false_positives", "true_negatives")
    assert [found[name] for name in cells] == [8, 2, 5, 15]
    shares = [found[name] for name in ("sensitivity", "specificity", "ppv", "npv")]
    assert shares == pytest.approx([8 / 10, 15 / 20, 8 / 13, 15 / 17])
    lower, upper = clopper_pearson(8, 10, confidence=0.95)
    assert found["sensitivity_lower"] == pytest.approx(float(lower))
    assert found["sensitivity_upper"] == pytest.approx(float(upper))


def test_the_threshold_is_positive_itself() -> None:
    found = confusion(PEOPLE, MACHINE, weights_of(None, draws=30), threshold=0.6)
    assert found["false_positives"] == 5
    higher = confusion(PEOPLE, MACHINE, weights_of(None, draws=30), threshold=0.61)
    assert higher["false_positives"] == 0


def test_draws_stand_for_what_they_were_drawn_from() -> None:
    """Of the true positives one of weight 1 is found, one of weight 4 is not."""
    found = confusion([1, 1, 0], [1.0, 0.0, 0.0], weights_of([1.0, 0.25, 0.5], draws=3))
    assert found["sensitivity"] == pytest.approx(0.2)
    assert found["npv"] == pytest.approx(2 / 6)
    table = weighted_cells([1, 1, 0], [1, 0, 0], weights_of([1.0, 0.25, 0.5], draws=3))
    assert table.tolist() == [pytest.approx([1 / 7, 4 / 7]), pytest.approx([0, 2 / 7])]


@pytest.mark.parametrize("people", [[True] * 3, [False] * 3])
def test_one_class_only(people: list[bool]) -> None:
    found = confusion(people, [0.9, 0.8, 0.2], weights_of(None, draws=3))
    lacking = "specificity" if people[0] else "sensitivity"
    assert np.isnan(found[lacking])
    assert (found[f"{lacking}_lower"], found[f"{lacking}_upper"]) == (0.0, 1.0)


def test_nothing_judged() -> None:
    found = confusion([], [], weights_of(None, draws=0))
    assert found["n_judged"] == 0
    assert np.isnan([found[name] for name in ("sensitivity", "specificity", "ppv", "npv")]).all()
    assert not weighted_cells([], [], weights_of(None, draws=0)).any()
