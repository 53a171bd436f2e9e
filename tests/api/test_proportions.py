"""Intervals and tests on numbers, lists, arrays and series equal those of other programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
import polars as pl
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

import pipeline as lx
from pipeline.errors import ConfigError, DataError
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.intervals import INTERVALS

pd = pytest.importorskip("pandas", reason="a dependency of statsmodels, which tests install")

Side = Literal["two-sided", "greater", "less"]
SIDES: tuple[Side, ...] = get_args(Side)
COUNTS = st.integers(0, 40).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
OTHERS = {"clopper_pearson": "beta", "wilson": "wilson", "jeffreys": "jeffreys"}


@pytest.mark.parametrize("interval", OTHERS)
def test_limits_equal_those_of_statsmodels(interval: str) -> None:
    k, n = np.array([1, 5, 9, 40]), np.array([9, 10, 12, 90])
    expected = proportion_confint(k, n, alpha=0.1, method=OTHERS[interval])
    limits = lx.precision_interval(k, n, interval=interval, confidence=0.9)
    np.testing.assert_allclose(limits, expected, rtol=1e-9)


def test_limits_for_a_finite_population_equal_kernel_tables() -> None:
    """All 10 are drawn: nothing is left open. 3 of 9 from 20 equals the kernel's tables."""
    assert lx.precision_interval(4, 10, interval="hypergeometric", population=10) == (0.4, 0.4)
    limits = lx.precision_interval([3, 4], 9, interval="hypergeometric", population=[20, 20])
    assert [each.tolist() for each in limits] == [[0.15, 0.2], [0.6, 0.7]]
    with pytest.raises(DataError, match="requires the population size"):
        lx.precision_interval(3, 9, interval="hypergeometric")


@given(st.lists(COUNTS, min_size=1, max_size=5), st.sampled_from(sorted(INTERVALS)))
def test_an_array_has_the_limits_of_its_elements(counts: list[tuple[int, int]], name: str) -> None:
    k, n = zip(*counts, strict=True)
    lower, upper = lx.precision_interval(k, n, interval=name, population=50)
    for place, (one, many) in enumerate(counts):
        limits = lx.precision_interval(one, many, interval=name, population=50)
        assert limits == (lower[place], upper[place])
        assert all(type(each) is float for each in limits)
    assert ((lower <= upper) & (lower >= 0) & (upper <= 1)).all()


def test_fisher_test_of_the_lady_tasting_tea() -> None:
    """Fisher 1935: 3 of 4 and 1 of 4, p = 34/70; all right, 2/70, one-sided 1/70."""
    assert lx.fisher(3, 4, 1, 4) == pytest.approx(34 / 70)
    assert lx.fisher(4, 4, 0, 4) == pytest.approx(2 / 70)
    assert lx.fisher(4, 4, 0, 4, alternative="greater") == pytest.approx(1 / 70)
    assert lx.fisher(4, 4, 0, 4, alternative="less") == 1.0


@given(COUNTS, COUNTS, st.sampled_from(SIDES))
def test_p_values_equal_those_of_scipy(
    one: tuple[int, int], two: tuple[int, int], alternative: Side
) -> None:
    (k1, n1), (k2, n2) = one, two
    p = lx.fisher(k1, n1, k2, n2, alternative=alternative)
    if not n1 or not n2:
        assert np.isnan(p)
    else:
        table = np.array([[k1, k2], [n1 - k1, n2 - k2]])
        assert p == pytest.approx(scipy.stats.fisher_exact(table, alternative).pvalue, rel=1e-6)


@pytest.mark.parametrize("test", sorted(TESTS))
def test_every_test_takes_any_shape(test: str) -> None:
    many = lx.difference_test([[3, 0], [4, 1]], 4, 1, [4, 4], test=test)
    assert many.shape == (2, 2)
    assert many[0, 0] == lx.difference_test(3, 4, 1, 4, test=test)
    assert many[1, 1] == lx.difference_test(1, 4, 1, 4, test=test)
    assert lx.difference_test([], [], [], [], test=test).shape == (0,)
    both = [lx.difference_test(3, 4, 1, 4, test=test, alternative=each) for each in
            ("two-sided", "two_sided")]  # fmt: skip
    assert both[0] == both[1]


def test_results_have_the_type_and_index_of_the_series() -> None:
    k = pd.Series([3, 2], index=["b", "a"], name="k", dtype="Int64")
    lower, upper = lx.precision_interval(k, 9)
    assert type(lower) is pd.Series
    assert (lower.index.tolist(), lower.name, upper.name) == (["b", "a"], "lower", "upper")
    assert lower["b"] == lx.precision_interval(3, 9)[0]
    assert isinstance(lx.fisher(3, 9, pl.Series([1, 2]), 9), pl.Series)
    assert isinstance(lx.fisher([3, 1], 9, [1, 2], 9), np.ndarray)
    assert lx.precision_interval([], [])[0].tolist() == []


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: lx.precision_interval([3, None, 2.5, "a"], 9), DataError,
     "k: 3 of 4 missing or not a whole number, for example None at position 1, 2.5 at position 2, a at position 3"),
    (lambda: lx.precision_interval(1, pl.Series([2, None])), DataError, "n: 1 of 2 missing"),
    (lambda: lx.precision_interval(pd.Series([1, None], dtype="Int64"), 2), DataError,
     "k: 1 of 2 missing"),
    (lambda: lx.precision_interval(1, 1e30), DataError, "n: 1 of 1"),
    (lambda: lx.precision_interval(5, 4), DataError, "precision_interval: 0 <= k <= n is violated"),
    (lambda: lx.precision_interval([1, 2], [2, 2, 2]), DataError, "k has 2 values, n has 3"),
    (lambda: lx.precision_interval(1, 2, confidence=95), DataError, "confidence must be in"),
    (lambda: lx.precision_interval(1, 2, interval="wald"), ConfigError, "unknown interval 'wald'"),
    (lambda: lx.fisher(5, 4, 1, 4), DataError, "fisher: 0 <= k <= n is violated"),
    (lambda: lx.fisher(-1, 4, 1, 4), DataError, "fisher: 0 <= k <= n is violated"),
    (lambda: lx.fisher([1, 1], 4, [1, 1, 1], 4), DataError, "k1 has 2 values, n1 has 1, k2 has 3"),
    (lambda: lx.fisher(1, 4, 1, 4, alternative="more"), ConfigError, "valid: greater, less, two-"),
    (lambda: lx.difference_test(1, 4, 1, 4, test="fischer"), ConfigError, "did you mean fisher"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), WRONG, ids=[each[2][:30] for each in WRONG])
def test_invalid_counts_and_options_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)
