from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from pipeline.kernels.annotation.agreement import (
    cohen_kappa,
    cohen_standard_error,
    observed_agreement,
    specific_agreement,
)

FLEISS_COHEN_EVERITT = [[106, 10, 4], [22, 28, 10], [2, 12, 6]]  # 200 subjects, table 1 of 1969


def tables(labels: int = 3) -> st.SearchStrategy[list[list[int]]]:
    row = st.lists(st.integers(0, 12), min_size=labels, max_size=labels)
    return st.lists(row, min_size=labels, max_size=labels)


def slow_kappa(table: list[list[int]]) -> float:
    """Go through all items and all pairs of labels with exact fractions."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    if not pairs:
        return float("nan")
    agreed = Fraction(sum(a == b for a, b in pairs), len(pairs))
    chance = Fraction(sum(a == b for a, _ in pairs for _, b in pairs), len(pairs) ** 2)
    return float("nan") if chance == 1 else float((agreed - chance) / (1 - chance))


def test_published_kappa() -> None:
    assert float(cohen_kappa(FLEISS_COHEN_EVERITT)) == pytest.approx(0.429, abs=5e-4)


def test_by_hand() -> None:
    # both say yes 4 times of 10, and 3 of these together: p_o = 0.8, p_e = 0.16 + 0.36
    table = [[3, 1], [1, 5]]
    assert float(observed_agreement(table)) == pytest.approx(0.8)
    assert float(cohen_kappa(table)) == pytest.approx(0.28 / 0.48)
    assert specific_agreement(table) == pytest.approx([6 / 8, 10 / 12])


@given(tables())
def test_kappa_agrees_with_all_pairs(table: list[list[int]]) -> None:
    assert float(cohen_kappa(table)) == pytest.approx(slow_kappa(table), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("table", [FLEISS_COHEN_EVERITT, [[40, 9], [6, 45]], [[1, 2], [3, 0]]])
def test_agrees_with_scikit_learn_and_statsmodels(table: list[list[int]]) -> None:
    cells = np.array(table)
    first, second = (np.repeat(axis.ravel(), cells.ravel()) for axis in np.indices(cells.shape))
    assert float(cohen_kappa(table)) == pytest.approx(cohen_kappa_score(first, second), rel=1e-12)
    oracle = cohens_kappa(cells)
    assert float(cohen_standard_error(table)) == pytest.approx(oracle.std_kappa, rel=1e-12)


@given(tables())
def test_annotators_may_change_places(table: list[list[int]]) -> None:
    turned = np.transpose(table)
    for coefficient in (cohen_kappa, cohen_standard_error, observed_agreement, specific_agreement):
        assert coefficient(turned) == pytest.approx(coefficient(table), abs=1e-12, nan_ok=True)


def test_many_tables_at_once() -> None:
    several = np.array([FLEISS_COHEN_EVERITT, np.diag([3, 4, 5]), np.ones((3, 3))])
    for coefficient in (cohen_kappa, cohen_standard_error, observed_agreement, specific_agreement):
        alone = [coefficient(table) for table in several]
        assert np.allclose(coefficient(several), alone, rtol=1e-13, atol=0)


def test_perfect_and_chance_agreement() -> None:
    assert float(cohen_kappa(np.diag([3, 4]))) == 1.0
    assert float(cohen_standard_error(np.diag([3, 4]))) == 0.0
    assert float(cohen_kappa([[4, 4], [4, 4]])) == 0.0
    assert float(cohen_kappa([[0, 3], [3, 0]])) == -1.0


def test_undefined() -> None:
    one_label = [[7, 0], [0, 0]]
    assert np.isnan(cohen_kappa(one_label))
    assert np.isnan(cohen_standard_error(one_label))
    assert specific_agreement(one_label) == pytest.approx([1.0, np.nan], nan_ok=True)
    empty = np.zeros((2, 2))
    assert all(np.isnan(f(empty)).all() for f in (cohen_kappa, observed_agreement))
