"""Expected errors of other samples, against samples that were drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.lexicon.inference import (
    METHODS,
    Method,
    Sample,
    Spread,
    chances_by_size,
    error_by_size,
    error_simple,
    estimate,
    expected_error,
    expected_errors,
    interval,
    interval_by_chance,
    lemmas_by_size,
    spread_of,
    standard_error,
)
from pipeline.kernels.lexicon.wordlists import sample_by_size
from pipeline.kernels.sampling import seeded_generator
from pipeline.kernels.survey.design import inclusion


def scores(lemmas: int = 300) -> pl.DataFrame:
    """Return all lemmas, each certain; large paradigms are matched less well."""
    random = np.random.default_rng(3)
    size = np.rint(random.lognormal(2.0, 1.0, lemmas)).astype(int) + 1
    value = np.clip(random.beta(8, 2, lemmas) - 0.05 * np.log(size), 0, 1)
    table = pl.DataFrame({"lemma": [f"l{i:03}" for i in range(lemmas)], "size": size, "L": value})
    return table.with_columns(
        base="size", n_gold="size", pi=pl.lit(1.0), drawn=True,
        population=pl.lit(lemmas, pl.Int64), base_total=pl.col("size").sum(),
    )  # fmt: skip


EVERY = scores()


def by_size(size: int, seed: str) -> pl.DataFrame:
    lemmas = EVERY.select("lemma", n=pl.col("n_gold").cast(pl.Float64))
    sample = sample_by_size(lemmas, size=size, seed=seed).select("lemma", "pi")
    return EVERY.drop("pi").join(sample, on="lemma")


def test_chances_of_all_lemmas_are_those_of_the_design() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    expected = inclusion(EVERY["n_gold"].to_numpy().astype(float), size=40)
    assert chances_by_size(spread, 40) == pytest.approx(expected)


def test_chances_by_size_agree_with_a_slow_twin() -> None:
    """Find by bisection the factor k for which the chances min(1, k x) sum to the size."""
    spread = Spread(np.array([20.0, 5.0, 1.0]), np.array([2.0, 9.0, 70.0]), np.zeros(3))
    for size in (0.5, 3.0, 6.5, 20.0):
        low, high = 0.0, 10.0
        for _ in range(100):
            k = (low + high) / 2
            fits = spread.weight @ np.minimum(1, k * spread.x) < size
            low, high = (k, high) if fits else (low, k)
        assert chances_by_size(spread, size) == pytest.approx(np.minimum(1, low * spread.x))


def test_all_lemmas_are_certain_in_larger_samples() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    assert chances_by_size(spread, 300).min() == pytest.approx(1)
    assert error_by_size(spread, 300) == pytest.approx(0, abs=1e-9)
    assert error_simple(spread, 400) == 0


@pytest.mark.long
def test_expected_errors_are_those_of_samples() -> None:
    spread = spread_of(EVERY)
    assert spread is not None
    stars = [
        interval_by_chance(by_size(40, f"{number}"), method="t", confidence=0.95).estimate or 0.0
        for number in range(400)
    ]
    assert error_by_size(spread, 40) == pytest.approx(np.std(stars, ddof=1), rel=0.12)


def test_samples_expect_the_errors_that_all_lemmas_expect() -> None:
    whole = {each.size: each for each in expected_errors(EVERY, [0.1, 0.3, 1.0])}
    errors = [expected_errors(by_size(60, f"{number}"), [0.1, 0.3, 1.0]) for number in range(60)]
    for place, size in enumerate(whole):
        for kind in ("simple", "by_size"):
            expected = getattr(whole[size], kind)
            mean = np.sqrt(np.mean([getattr(each[place], kind) ** 2 for each in errors]))
            assert mean == pytest.approx(expected, rel=0.1, abs=1e-9)


def test_sampling_by_size_needs_fewer_lemmas() -> None:
    first, last = expected_errors(EVERY, [0.2, 1.0])
    assert first.by_size is not None
    assert first.simple is not None
    assert first.by_size < first.simple
    assert (last.by_size, last.simple) == (0.0, 0.0)
    assert lemmas_by_size(EVERY, error=first.by_size * 1.0001) == first.size == 60
    assert lemmas_by_size(EVERY, error=1e-12) == 300


@pytest.mark.parametrize("count", [0, 1])
def test_too_few_lemmas_have_no_expected_error_by_size(count: int) -> None:
    few = EVERY.head(count)
    assert spread_of(few) is None
    assert all(each.by_size is None for each in expected_errors(few, [0.5]))


def test_lemmas_chosen_by_hand_have_no_expected_error_by_size() -> None:
    lemmas = EVERY.with_columns(drawn=pl.lit(value=False), pi=pl.lit(None, pl.Float64))
    assert expected_errors(lemmas, [0.5])[0].by_size is None


# The sampling error of L*: against exhaustive sampling, known values, degenerate samples.

GENERATOR = np.random.default_rng(5)
X = GENERATOR.integers(1, 30, 400).astype(float)
L = np.clip(0.9 - 0.01 * X + GENERATOR.normal(0, 0.1, 400), 0, 1)


def sample_of(size: int, *, population: int = 400) -> Sample:
    return Sample((X[:size] * L[:size],), (X[:size],), population)


def test_estimate_and_standard_error_agree_with_those_by_hand() -> None:
    """R = 4/6; e = -1/9, 1/9; s^2 = (1 - 2/4) (2/81) / (2 * 1)."""
    sample = Sample((np.array([1.0, 3.0]),), (np.array([2.0, 4.0]),), population=4)
    assert estimate(sample) == pytest.approx(2 / 3)
    assert standard_error(sample) == pytest.approx(math.sqrt(0.5 * 2 / 81 / 2))


def test_the_standard_error_agrees_with_all_samples() -> None:
    """With equal sizes the ratio is a mean, whose variance is unbiased."""
    y, size = np.array([0.1, 0.5, 0.2, 0.9, 0.4, 0.7]), 3
    of_all = [np.mean(each) for each in itertools.combinations(y, size)]
    errors = [
        standard_error(Sample((np.array(each),), (np.ones(size),), len(y))) or 0.0
        for each in itertools.combinations(y, size)
    ]
    assert np.mean(np.square(errors)) == pytest.approx(np.var(of_all))


@pytest.mark.parametrize("method", METHODS)
def test_intervals_of_many_lemmas_agree(method: Method) -> None:
    limits = interval(sample_of(300, population=10**9), method=method, seed="s")
    assert limits.lower is not None
    assert limits.upper is not None
    assert limits.estimate is not None
    assert limits.standard_error is not None
    width = limits.upper - limits.lower
    assert limits.lower < limits.estimate < limits.upper
    assert width == pytest.approx(2 * 1.96 * limits.standard_error, rel=0.1)
    assert limits.method == method


@pytest.mark.parametrize("method", METHODS)
def test_the_intervals_allow_for_a_finite_population(method: Method) -> None:
    wide, narrow = (
        interval(sample_of(300, population=size), method=method, seed="s") for size in (10**9, 400)
    )
    spread = [(each.upper or 0) - (each.lower or 0) for each in (wide, narrow)]
    assert spread[1] == pytest.approx(spread[0] * math.sqrt(1 - 300 / 400), rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_interval_of_all_lemmas_has_no_width(method: Method) -> None:
    limits = interval(sample_of(400), method=method, seed="s")
    assert (limits.lower, limits.upper, limits.standard_error) == (
        limits.estimate,
        limits.estimate,
        0.0,
    )


@pytest.mark.parametrize("method", METHODS)
def test_one_lemma_or_equal_lemmas_have_no_limits(method: Method) -> None:
    limits = interval(sample_of(1), method=method, seed="s")
    assert (limits.lower, limits.upper) == (None, None)
    equal = Sample((np.ones(5),), (np.ones(5),), 50)
    limits = interval(equal, method=method, seed="s")
    assert (limits.estimate, limits.lower, limits.upper) == (1.0, None, None)


@pytest.mark.parametrize("method", ["bootstrap_t", "percentile"])
def test_limits_are_unknown_without_a_defined_replicate(method: Method) -> None:
    """There is one replicate, which may consist of the last lemma alone, which has no forms."""
    sample = Sample((np.array([1.0, 2.0, 0.0]),), (np.array([2.0, 2.5, 0.0]),), 30)
    estimates = [interval(sample, method=method, replicates=1, seed=str(s)) for s in range(60)]
    unknown = [each for each in estimates if each.lower is None]
    assert 0 < len(unknown) < 60
    assert {each.upper for each in unknown} == {None}
    assert {(each.estimate, each.standard_error, each.method) for each in estimates} == {
        (estimate(sample), standard_error(sample), method)
    }


def test_an_empty_sample_has_no_estimate() -> None:
    nothing = Sample((np.zeros(0),), (np.zeros(0),), 0)
    assert estimate(nothing) is None
    assert interval(nothing, seed="s").estimate is None
    assert expected_error(nothing, rate=0.1) == (0, None)
    assert estimate(Sample((np.zeros(2),), (np.zeros(2),), 5)) is None


@pytest.mark.parametrize("method", METHODS)
def test_a_difference_equals_that_of_the_estimates(method: Method) -> None:
    other = np.clip(L + 0.05, 0, 1)
    both = Sample((X * other, X * L), (X, X), 4000)
    limits = interval(both, method=method, seed="s", bounds=(-1.0, 1.0))
    singles = [estimate(Sample((X * each,), (X,), 4000)) or 0 for each in (other, L)]
    assert limits.estimate == pytest.approx(singles[0] - singles[1])
    assert limits.lower is not None
    assert 0 < limits.lower < (limits.estimate or 0)
    # For the same lemmas it is far narrower than the two single intervals.
    alone = interval(Sample((X * L,), (X,), 4000), method=method, seed="s")
    assert (limits.upper or 1) - limits.lower < ((alone.upper or 0) - (alone.lower or 0)) / 3


def test_a_lexicon_has_no_difference_from_itself() -> None:
    limits = interval(Sample((X * L, X * L), (X, X), 4000), seed="s", bounds=(-1.0, 1.0))
    assert (limits.estimate, limits.lower, limits.upper) == (0.0, None, None)


def test_the_expected_error_at_the_same_rate_is_the_error() -> None:
    sample = sample_of(40)
    assert expected_error(sample, rate=0.1) == (40, pytest.approx(standard_error(sample)))
    assert expected_error(sample, rate=1.0) == (400, 0.0)


def test_very_many_lemmas_are_not_resampled() -> None:
    many = Sample((np.tile(X * L, 60),), (np.tile(X, 60),), 10**6)
    assert interval(many, seed="s").method == "linearised"
    assert interval(many, seed="s") == interval(many, method="linearised", seed="s")


def test_equal_seeds_give_equal_intervals() -> None:
    one, two, other = (interval(sample_of(50), seed=seed) for seed in ("a", "a", "b"))
    assert one == two
    assert one != other


@pytest.mark.parametrize("confidence", [0.0, 1.0])
def test_confidence_out_of_range_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="out of range"):
        interval(sample_of(9), confidence=confidence, seed="s")


def test_bootstrap_t_equals_a_slow_twin() -> None:
    """R - t_high s and R - t_low s, each t from one replicate."""
    sample = sample_of(12)
    y, x = sample.y[0], sample.x[0]
    R, error = y.sum() / x.sum(), standard_error(sample) or 0.0
    t = []
    for row in seeded_generator(seed="s", purpose="lexicon bootstrap").integers(0, 12, (200, 12)):
        again = sum(y[row]) / sum(x[row])
        e = [(y[i] - again * x[i]) / (sum(x[row]) / 12) for i in row]
        t.append((again - R) / math.sqrt(sum(each**2 for each in e) / 11 / 12))
    low, high = np.quantile(t, [0.05, 0.95])
    limits = interval(sample, replicates=200, confidence=0.9, seed="s")
    assert limits.lower == pytest.approx(R - high * error)
    assert limits.upper == pytest.approx(min(1.0, R - low * error))


def test_bootstrap_t_covers_more_than_the_normal_interval() -> None:
    """300 samples of 20 from a skewed population."""
    truth = (X * L).sum() / X.sum()
    hits = dict.fromkeys(METHODS, 0)
    for number in range(300):
        indices = np.random.default_rng(number).permutation(400)[:20]
        sample = Sample((X[indices] * L[indices],), (X[indices],), 400)
        for method in METHODS:
            limits = interval(sample, method=method, replicates=300, seed=str(number))
            hits[method] += (limits.lower or 0) <= truth <= (limits.upper or 0)
    assert hits["bootstrap_t"] > hits["percentile"]
    assert hits["bootstrap_t"] / 300 > 0.9
