""""""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import comb, fsum, sqrt
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import betainc, mp, mpf
from mpmath import sqrt as root
from scipy.stats import binomtest
from statsmodels.stats.proportion import proportion_confint

from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.intervals import (
    INTERVALS,
    EstimateWithLimits,
    Interval,
    Limits,
    clopper_pearson,
    corrected_proportion,
    interval_columns,
    jeffreys,
    wilson,
    wilson_corrected,
)

METHODS = [clopper_pearson, wilson, wilson_corrected, jeffreys]
COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCE = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999])


@pytest.mark.parametrize(("method", "limits"), [
    (wilson, [(0.2553, 0.3662), (0.0624, 0.1605), (0.0, 0.1611), (0.0061, 0.1718)]),
    (wilson_corrected, [(0.2535, 0.3682), (0.0598, 0.1644), (0.0, 0.2005), (0.0018, 0.1963)]),
    (clopper_pearson, [(0.2527, 0.3676), (0.0578, 0.1617), (0.0, 0.1684), (0.0009, 0.1776)]),
])  # fmt: skip
def test_methods_have_their_published_limits(
    method: Any, limits: list[tuple[float, float]]
) -> None:
    """Newcombe 1998, Two-sided confidence intervals for the single proportion, table I."""
    lower, upper = method([81, 15, 0, 1], [263, 148, 20, 29])
    assert list(zip(lower.round(4).tolist(), upper.round(4).tolist(), strict=True)) == limits


R_LIMITS = [
    # the example in the documentation of R's binom.test
    (clopper_pearson, 682, 925, 0.95, (0.7076683, 0.7654066)),
    # output of binom.test and prop.test in courses, and in R's bug report 2794
    (clopper_pearson, 9, 24, 0.95, (0.1879929, 0.5940636)),
    (clopper_pearson, 360, 1226, 0.95, (0.2682571, 0.3200123)),
    (clopper_pearson, 1, 1497, 0.9, (3.426347e-05, 3.164954e-03)),
    (clopper_pearson, 39, 215, 0.95, (0.1322842, 0.2395223)),
    (wilson_corrected, 39, 215, 0.95, (0.1335937, 0.2408799)),
    (wilson_corrected, 6, 52, 0.95, (0.04778925, 0.24129372)),
    (wilson, 6, 52, 0.95, (0.05396969, 0.22971664)),
    (wilson_corrected, 115, 300, 0.95, (0.3285190, 0.4411865)),
    (wilson_corrected, 276, 600, 0.95, (0.4196787, 0.5008409)),
    # binom.confint(3, 312) of the package binom, in two digits
    (clopper_pearson, 3, 312, 0.95, (0.0020, 0.028)),
    (wilson, 3, 312, 0.95, (0.0033, 0.028)),
    (wilson_corrected, 3, 312, 0.95, (0.0025, 0.030)),
]


@pytest.mark.parametrize(("method", "k", "n", "level", "limits"), R_LIMITS)
def test_limits_agree_with_r(
    method: Any, k: int, n: int, level: float, limits: tuple[float, float]
) -> None:
    """R's binom.test, prop.test(correct=FALSE) and prop.test(correct=TRUE)."""
    computed = [float(limit) for limit in method(k, n, confidence=level)]
    for value, printed in zip(computed, limits, strict=True):
        last = 10.0 ** -len(f"{printed:.9f}".rstrip("0").partition(".")[2])
        assert value == pytest.approx(printed, abs=0.51 * last)


@pytest.mark.parametrize(("k", "n"), [(1, 100), (99, 100), (1, 10**6), (3, 4)])
@pytest.mark.parametrize("level", [1e-6, 0.01, 0.1, 0.2, 0.5])
def test_the_estimate_is_inside_the_limits_at_any_level(k: int, n: int, level: float) -> None:
    for method in METHODS:
        lower, upper = (float(limit) for limit in method(k, n, confidence=level))
        assert lower - 1e-15 <= k / n <= upper + 1e-15


def test_jeffreys_limits_at_a_low_level_end_at_the_estimate() -> None:
    # P(Gamma(1.5) < 1) = 0.4276 < 0.45: the quantile of Beta(1.5, n - 0.5) is above 1/n
    lower, upper = (float(limit) for limit in jeffreys(1, 10**4, confidence=0.1))
    assert lower == 1e-4 < upper
    assert float(jeffreys(1, 10**4, confidence=0.15)[0]) < 1e-4


@pytest.mark.parametrize(("method", "name"), [
    (clopper_pearson, "exact"), (wilson, "wilson"), (wilson_corrected, "wilsoncc"),
])  # fmt: skip
def test_limits_agree_with_scipy(
    method: Callable[..., Limits], name: Literal["exact", "wilson", "wilsoncc"]
) -> None:
    for k, n in [(0, 1), (1, 1), (1, 2), (3, 7), (30, 60), (59, 60), (7, 5000), (2500, 5000)]:
        for level in (0.8, 0.95, 0.999):
            limits = [float(limit) for limit in method(k, n, confidence=level)]
            expected = binomtest(k, n).proportion_ci(level, method=name)
            assert limits == pytest.approx([expected.low, expected.high], rel=1e-9, abs=1e-15)


def test_inner_jeffreys_limits_agree_with_statsmodels() -> None:
    k, n = np.arange(1, 30), 30
    expected = proportion_confint(k, n, alpha=0.1, method="jeffreys")
    result = jeffreys(k, n, confidence=0.9)
    assert np.allclose(result, expected, rtol=1e-12, atol=0)


def quadratic(k: int, n: int, z: float, correction: float) -> tuple[float, float]:
    """Solve the equation that defines the score interval, with many digits."""
    with mp.workdps(40):
        limits = []
        for h in (k - mpf(correction), k + mpf(correction)):
            p, square = h / n, mpf(z) ** 2
            centre, half = p + square / (2 * n), root(square * (p * (1 - p) + square / (4 * n)) / n)
            limits.append((centre, half / (1 + square / n), 1 + square / n))
        lower = limits[0][0] / limits[0][2] - limits[0][1]
        upper = limits[1][0] / limits[1][2] + limits[1][1]
        return float(0 if k == 0 else lower), float(1 if k == n else upper)


@pytest.mark.parametrize(("method", "correction"), [(wilson, 0), (wilson_corrected, 0.5)])
@given(counts=COUNTS | st.tuples(st.integers(0, 20), st.just(10**9)), level=CONFIDENCE)
def test_score_limits_solve_their_equation(
    method: Any, correction: float, counts: tuple[int, int], level: float
) -> None:
    k, n = counts
    z = NormalDist().inv_cdf((1 + level) / 2)
    limits = [float(limit) for limit in method(k, n, confidence=level)]
    assert limits == pytest.approx(quadratic(k, n, z, correction), rel=1e-12, abs=1e-25)


@given(COUNTS.filter(lambda c: 0 < c[0] < c[1]), CONFIDENCE)
def test_jeffreys_limits_have_half_of_alpha_on_each_side(
    counts: tuple[int, int], level: float
) -> None:
    k, n = counts
    lower, upper = (float(limit) for limit in jeffreys(k, n, confidence=level))
    below = betainc(k + 0.5, n - k + 0.5, 0, lower, regularized=True)
    above = betainc(k + 0.5, n - k + 0.5, upper, 1, regularized=True)
    assert float(below) == pytest.approx((1 - level) / 2, rel=1e-9)
    assert float(above) == pytest.approx((1 - level) / 2, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
@given(counts=COUNTS, level=CONFIDENCE)
def test_intervals_contain_the_estimate_and_mirror(
    method: Any, counts: tuple[int, int], level: float
) -> None:
    k, n = counts
    lower, upper = method([k, n - k], [n, n], confidence=level)
    assert 0 <= lower[0] <= k / n <= upper[0] <= 1
    assert lower[0] == pytest.approx(1 - upper[1], abs=1e-14)


@pytest.mark.parametrize("method", METHODS)
def test_ends_are_exact_and_empty_samples_have_trivial_limits(method: Any) -> None:
    lower, upper = method([0, 0, 9], [0, 9, 9])
    assert (lower[0], upper[0]) == (0.0, 1.0)
    assert (lower[1], upper[2]) == (0.0, 1.0)
    assert 0 < upper[1] < 0.4
    assert lower[2] == pytest.approx(1 - upper[1], abs=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_limits_broadcast_and_may_be_empty(method: Any) -> None:
    empty = np.array([], dtype=np.int64)
    assert [limit.shape for limit in method(empty, empty)] == [(0,), (0,)]
    assert method([[1], [2]], [3, 4])[0].shape == (2, 2)


@pytest.mark.parametrize("method", METHODS)
def test_wrong_counts_and_levels_are_refused(method: Any) -> None:
    with pytest.raises(ValueError, match="in 2 rows, for example k = 3, n = 2"):
        method([0, 3, -1], [1, 2, 1])
    with pytest.raises(ValueError, match="confidence"):
        method(1, 2, confidence=95)


@given(COUNTS)
def test_methods_are_ordered_by_width(counts: tuple[int, int]) -> None:
    (cp, plain, corrected, bayes) = ([float(x) for x in method(*counts)] for method in METHODS)
    assert corrected[0] <= plain[0]
    assert plain[1] <= corrected[1]
    assert cp[0] <= bayes[0]
    assert bayes[1] <= cp[1]


def test_widths_approach_that_of_wald() -> None:
    lower, upper = wilson(3 * 10**8, 10**9)
    assert float(upper - lower) == pytest.approx(2 * 1.959963985 * sqrt(0.21e-9), rel=1e-6)


def binomial_sum(values: Iterable[int], n: int, p: float) -> float:
    return fsum(comb(n, x) * p**x * (1 - p) ** (n - x) for x in values)


def test_limits_without_successes_agree_with_those_by_hand() -> None:
    # P(X = 0 | u) = (1 - u)^n = 0.025
    lower, upper = clopper_pearson([0, 3], [3, 3])
    limit = 1 - 0.025 ** (1 / 3)
    assert lower == pytest.approx([0, 1 - limit], rel=1e-14, abs=0)
    assert upper == pytest.approx([limit, 1], rel=1e-14, abs=0)


@given(COUNTS, CONFIDENCE)
def test_clopper_pearson_limits_have_half_of_alpha_in_each_tail(
    counts: tuple[int, int], level: float
) -> None:
    k, n = counts
    lower, upper = (float(limit) for limit in clopper_pearson(k, n, confidence=level))
    if k > 0:
        assert binomial_sum(range(k, n + 1), n, lower) == pytest.approx(
            (1 - level) / 2, rel=1e-10, abs=0
        )
    if k < n:
        assert binomial_sum(range(k + 1), n, upper) == pytest.approx(
            (1 - level) / 2, rel=1e-10, abs=0
        )


def test_limits_grow_with_successes_and_width_with_confidence() -> None:
    lower, upper = clopper_pearson(np.arange(51), 50)
    assert np.all(np.diff(lower) > 0)
    assert np.all(np.diff(upper) > 0)
    wider = clopper_pearson(np.arange(51), 50, confidence=0.99)
    assert np.all((wider[0] <= lower) & (wider[1] >= upper))


# A proportion corrected for wrong judgements: by hand, laws, edges, and coverage.

SURE = EstimateWithLimits(1.0, 1.0, 1.0)
shares = st.floats(0, 1, allow_subnormal=False)


def exact_estimate(value: float) -> EstimateWithLimits:
    return EstimateWithLimits(value, value, value)


def interval_of(k: np.ndarray | int, n: int) -> EstimateWithLimits:
    return EstimateWithLimits(np.asarray(k) / n, *clopper_pearson(k, n))


def test_corrected_proportions_agree_with_those_by_hand() -> None:
    """(0.3 + 0.9 - 1) / (0.8 + 0.9 - 1) = 2/7, and its limits at those of q."""
    result = corrected_proportion(
        EstimateWithLimits(0.3, 0.2, 0.45),
        sensitivity=exact_estimate(0.8),
        specificity=exact_estimate(0.9),
    )
    assert [float(each) for each in result] == pytest.approx([2 / 7, 1 / 7, 0.5])


def test_squared_shifts_of_the_limits_are_added() -> None:
    q, a, b = (
        EstimateWithLimits(0.3, 0.2, 0.45),
        EstimateWithLimits(0.8, 0.7, 0.9),
        EstimateWithLimits(0.9, 0.85, 0.95),
    )
    estimate, lower, upper = corrected_proportion(q, sensitivity=a, specificity=b)
    p = 2 / 7
    down = [p - 0.1 / 0.7, p - 0.2 / 0.8, p - 0.15 / 0.65]
    up = [0.35 / 0.7 - p, 0.2 / 0.6 - p, 0.25 / 0.75 - p]
    assert float(estimate) == pytest.approx(p)
    assert float(lower) == pytest.approx(p - np.hypot.reduce(down))
    assert float(upper) == pytest.approx(p + np.hypot.reduce(up))


@given(shares, shares, shares)
def test_proportions_without_errors_are_not_changed(x: float, y: float, z: float) -> None:
    low, middle, high = sorted([x, y, z])
    result = corrected_proportion(
        EstimateWithLimits(middle, low, high), sensitivity=SURE, specificity=SURE
    )
    assert [float(each) for each in result] == pytest.approx([middle, low, high])


@given(shares, shares, shares)
def test_expected_judgements_of_a_share_give_that_share(p: float, x: float, y: float) -> None:
    a, b = 0.5 + x / 2, 0.51 + y * 0.49
    result = corrected_proportion(exact_estimate(p * a + (1 - p) * (1 - b)), sensitivity=exact_estimate(a),
                                  specificity=exact_estimate(b))  # fmt: skip
    assert [float(each) for each in result] == pytest.approx([p] * 3, abs=1e-9)


def test_fewer_positives_than_errors_explain_give_zero() -> None:
    result = corrected_proportion(
        EstimateWithLimits([0.02, 0.99], [0.0, 0.97], [0.05, 1.0]), sensitivity=exact_estimate(0.9),
        specificity=exact_estimate(0.9),
    )  # fmt: skip
    assert [each.tolist() for each in result] == [[0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize("a", [0.1, 0.05, float("nan")])
def test_uninformative_judgements_have_no_estimate(a: float) -> None:
    result = corrected_proportion(
        EstimateWithLimits(0.3, 0.2, 0.4),
        sensitivity=exact_estimate(a),
        specificity=exact_estimate(0.9),
    )
    assert np.isnan(result[0])
    assert (float(result[1]), float(result[2])) == (0.0, 1.0)


def test_limits_are_trivial_if_judgements_may_be_uninformative() -> None:
    wide = EstimateWithLimits(0.6, 0.1, 1.0)
    _, lower, upper = corrected_proportion(
        exact_estimate(0.3), sensitivity=wide, specificity=exact_estimate(0.9)
    )
    assert (float(lower), float(upper)) == (0.0, 1.0)


@pytest.mark.parametrize("p", [0.02, 0.3, 0.9])
@pytest.mark.parametrize(("n", "n_true", "n_false"), [(20, 15, 40), (150, 40, 150)])
def test_corrected_limits_cover_the_truth(p: float, n: int, n_true: int, n_false: int) -> None:
    """At least 95 %, within the error of 2,000 samples; a fraction of that without correction."""
    random, runs, a, b = np.random.default_rng(5), 2000, 0.8, 0.9
    k = random.binomial(n, p * a + (1 - p) * (1 - b), runs)
    sides = [interval_of(random.binomial(m, s, runs), m) for m, s in ((n_true, a), (n_false, b))]
    _, lower, upper = corrected_proportion(
        interval_of(k, n), sensitivity=sides[0], specificity=sides[1]
    )
    assert np.mean((lower <= p) & (p <= upper)) >= 0.95 - 3 * (0.0475 / runs) ** 0.5
    if n == 150 and p != 0.3:  # near .3 the two kinds of errors outweigh each other
        plain = clopper_pearson(k, n)
        assert np.mean((plain[0] <= p) & (p <= plain[1])) < 0.5


@pytest.mark.parametrize("method", [clopper_pearson, wilson, wilson_corrected, jeffreys])
def test_methods_are_registered_under_their_names(method: Any) -> None:
    registered = INTERVALS.get(method.__name__)([3, 0], [9, 4], confidence=0.9, population=[9, 9])
    expected = method([3, 0], [9, 4], confidence=0.9)
    assert [x.tolist() for x in registered] == [x.tolist() for x in expected]


def test_finite_methods_require_the_population() -> None:
    result = INTERVALS.get("hypergeometric")(4, 10, population=100)
    assert tuple(map(float, result)) == (0.14, 0.72)
    for each in filter(lambda each: each.finite, map(INTERVALS.get, INTERVALS)):
        with pytest.raises(ValueError, match="requires the population size"):
            each(4, 10)


def test_finite_methods_add_columns() -> None:
    frame = pl.DataFrame({"k": [4, 4, 56, 4], "n": [10, 10, 200, 10], "S": [100, 10, 1000, 100]})
    result = interval_columns(
        frame, k="k", n="n", population="S", method="hypergeometric", confidence=0.95
    )
    lower, upper = hypergeometric(frame["k"], frame["n"], population=frame["S"])
    assert (result["lower"].to_list(), result["upper"].to_list()) == (
        lower.tolist(), upper.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("method", sorted(INTERVALS))
def test_every_method_accepts_an_empty_table(method: str) -> None:
    empty = pl.DataFrame(schema={"k": pl.Int64, "n": pl.Int64, "S": pl.Int64})
    result = interval_columns(empty, k="k", n="n", population="S", method=method, confidence=0.95)
    assert result.schema == {**empty.schema, "lower": pl.Float64, "upper": pl.Float64}


def add(frame: pl.DataFrame, method: str = "clopper_pearson") -> pl.DataFrame:
    return interval_columns(frame, k="k", n="n", method=method, confidence=0.95)


def test_columns_have_the_order_of_the_rows() -> None:
    frame = pl.DataFrame({"k": [5, 0, 5, 2, 5], "n": [10, 0, 10, 4, 9], "x": list("abcde")})
    result = add(frame)
    lower, upper = clopper_pearson(frame["k"], frame["n"])
    assert result.drop("lower", "upper").equals(frame)
    assert (result["lower"].to_list(), result["upper"].to_list()) == (
        lower.tolist(), upper.tolist(),
    )  # fmt: skip


def test_distinct_pairs_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[tuple[int, int]] = []

    def spy(k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float) -> Limits:
        calls.extend(zip(np.asarray(k).tolist(), np.asarray(n).tolist(), strict=True))
        return clopper_pearson(k, n, confidence=confidence)

    methods = {"clopper_pearson": Interval("clopper_pearson", spy, reference="")}
    monkeypatch.setattr("pipeline.kernels.statistics.intervals.INTERVALS", methods)
    add(pl.DataFrame({"k": [1, 2, 1, 1], "n": [5, 5, 5, 6]}))
    assert sorted(calls) == [(1, 5), (1, 6), (2, 5)]


def test_an_empty_table_has_limit_columns() -> None:
    result = add(pl.DataFrame(schema={"k": pl.Int64, "n": pl.Int64}))
    assert result.schema == {
        "k": pl.Int64, "n": pl.Int64, "lower": pl.Float64, "upper": pl.Float64,
    }  # fmt: skip
    assert result.is_empty()


def test_an_unknown_method_is_refused_with_the_valid_names() -> None:
    with pytest.raises(ValueError, match=r"'wald'.*clopper_pearson"):
        add(pl.DataFrame({"k": [1], "n": [2]}), method="wald")
