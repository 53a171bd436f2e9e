from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import boschloo_exact, fisher_exact

from pipeline.kernels.statistics.exact_tests import (
    ALTERNATIVES,
    TESTS,
    boschloo,
    fisher,
)

TABLE = ([7], [12], [2], [9])
CELLS = np.array([[7, 2], [5, 7]])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_sides_are_those_of_scipy(alternative: Any) -> None:
    spelt = alternative.replace("_", "-")
    expected = fisher_exact(CELLS, alternative=spelt)[1]
    assert fisher(*TABLE, alternative=alternative)[0] == pytest.approx(expected, rel=1e-10)
    expected = boschloo_exact(CELLS, alternative=spelt, n=64).pvalue
    assert boschloo(*TABLE, alternative=alternative)[0] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", TESTS)
def test_two_sided_is_the_default_and_groups_may_change_places(name: str) -> None:
    test = TESTS.get(name).p_values
    two, greater, less = (float(test(*TABLE, alternative=a)[0]) for a in ALTERNATIVES)
    assert float(test(*TABLE)[0]) == two
    assert greater < two < less
    turned = (TABLE[2], TABLE[3], TABLE[0], TABLE[1])
    assert float(test(*turned)[0]) == pytest.approx(two, rel=1e-12)
    assert float(test(*turned, alternative="less")[0]) == greater


def test_two_sided_boschloo_is_at_most_one() -> None:
    assert float(boschloo([2], [4], [2], [4])[0]) == 1.0


@pytest.mark.parametrize("name", TESTS)
def test_mistakes_are_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match="no alternative 'two-sided'; there are two_sided, greater"
    ):
        TESTS.get(name).p_values(*TABLE, alternative="two-sided")  # type: ignore[arg-type]  # the mistake


def test_unknown_test_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=f"'mcnemar'; valid: {', '.join(TESTS)}"):
        TESTS.get("mcnemar")
