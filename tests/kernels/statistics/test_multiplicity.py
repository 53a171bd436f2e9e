from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pipeline.kernels.statistics.exact_tests import (
    CORRECTIONS,
    benjamini_hochberg,
    bonferroni,
    holm,
)

P_VALUES = st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02]), min_size=1, max_size=30)
BH_1995 = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
    0.5719, 0.6528, 0.7590, 1.0,
]  # fmt: skip


def test_holm_agrees_with_values_by_hand() -> None:
    # ascending 0.01, 0.02, 0.03 times 3, 2, 1; the last may not fall below the one before
    assert holm([0.02, 0.01, 0.03]) == pytest.approx([0.04, 0.03, 0.04], rel=1e-15, abs=0)


def test_benjamini_hochberg_agrees_with_values_by_hand() -> None:
    # ascending 0.01, 0.02, 0.03, 0.5 times 4/1, 4/2, 4/3, 1
    adjusted = benjamini_hochberg([0.5, 0.01, 0.03, 0.02])
    assert adjusted == pytest.approx([0.5, 0.04, 0.04, 0.04], rel=1e-15, abs=0)


def test_corrections_have_their_published_rejections() -> None:
    # Benjamini & Hochberg 1995, section 4: control of the familywise error rejects three
    # hypotheses at 0.05, control of the false discovery rate four
    assert int(np.sum(holm(BH_1995) <= 0.05)) == 3
    assert int(np.sum(benjamini_hochberg(BH_1995) <= 0.05)) == 4


def slow_holm(p: list[float]) -> list[float]:
    sizes = [sum(other >= value for other in p) for value in p]
    return [min(1.0, max(sizes[j] * p[j] for j in range(len(p)) if p[j] <= value)) for value in p]


def slow_benjamini_hochberg(p: list[float]) -> list[float]:
    places = [sum(other <= value for other in p) for value in p]
    return [
        min(1.0, *(len(p) / places[j] * p[j] for j in range(len(p)) if p[j] >= value))
        for value in p
    ]


@given(P_VALUES)
def test_corrections_agree_with_their_definitions(p: list[float]) -> None:
    assert holm(p) == pytest.approx(slow_holm(p), rel=1e-14, abs=0)
    assert benjamini_hochberg(p) == pytest.approx(slow_benjamini_hochberg(p), rel=1e-14, abs=0)
    expected = [min(1.0, len(p) * value) for value in p]
    assert bonferroni(p) == pytest.approx(expected, rel=1e-14, abs=0)
    assert np.all(holm(p) <= bonferroni(p))


@pytest.mark.parametrize("tests", [1, 2, 40])
@pytest.mark.parametrize(
    ("name", "method"),
    [("holm", "holm"), ("benjamini_hochberg", "fdr_bh"), ("bonferroni", "bonferroni")],
)
def test_corrections_agree_with_statsmodels(name: str, method: str, tests: int) -> None:
    p = np.random.default_rng(5).beta(0.3, 2, size=tests).round(2)
    expected = multipletests(p, method=method)[1]
    assert CORRECTIONS.get(name).adjust(p) == pytest.approx(expected, rel=1e-14, abs=0)


@pytest.mark.parametrize("name", CORRECTIONS)
@given(p=P_VALUES)
def test_adjusted_p_values_are_not_smaller_and_in_the_same_order(name: str, p: list[float]) -> None:
    adjusted = CORRECTIONS.get(name).adjust(p)
    assert np.all((adjusted >= np.array(p) * (1 - 1e-15)) & (adjusted <= 1))
    assert np.all(np.diff(adjusted[np.argsort(p)]) >= 0)


@pytest.mark.parametrize("name", CORRECTIONS)
@given(p=P_VALUES, places=st.lists(st.integers(0, 30), max_size=5))
def test_missing_tests_do_not_count(name: str, p: list[float], places: list[int]) -> None:
    with_gaps = list(p)
    for place in places:
        with_gaps.insert(place, float("nan"))
    adjusted = CORRECTIONS.get(name).adjust(with_gaps)
    assert np.isnan(adjusted).tolist() == np.isnan(with_gaps).tolist()
    assert adjusted[~np.isnan(adjusted)].tolist() == CORRECTIONS.get(name).adjust(p).tolist()


@pytest.mark.parametrize("name", CORRECTIONS)
def test_degenerate_families_are_adjusted(name: str) -> None:
    correct = CORRECTIONS.get(name).adjust
    assert correct([]).shape == (0,)
    assert np.isnan(correct([np.nan, np.nan])).all()
    assert correct([0.3]).tolist() == [0.3]
    assert correct([1.0, 1.0]).tolist() == [1.0, 1.0]


def test_corrections_do_not_change_their_argument() -> None:
    p = np.array([0.02, 0.01])
    holm(p)
    assert p.tolist() == [0.02, 0.01]


def test_impossible_p_values_are_refused() -> None:
    with pytest.raises(ValueError, match=r"from -0\.1 to 1\.5"):
        holm([0.2, -0.1, 1.5])
