"""How often intervals hold the truth, and how often tests are wrong, over many samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.numeric import FloatArray, IntArray
from pipeline.kernels.survey.limits import difference_limits, difference_p_values, limits
from pipeline.kernels.survey.ratio_estimator import Estimates, korn_graubard
from pipeline.kernels.survey.study import cross_fitted, normal_scores
from tests.kernels.estimates.simulated import chances, estimated, sequential_poisson

SAMPLES = 1000
LEAST = 0.94 - 3.5 * np.sqrt(0.94 * 0.06 / SAMPLES)
"""Below it an observed coverage is significantly less than 94 %, over all cells together."""
SIZE = 1500
SCORE = np.random.default_rng(20).normal(size=SIZE)
RANK = np.argsort(np.argsort(-SCORE)) + 1
TRUE = (np.random.default_rng(21).random(SIZE) < 1 / (1 + np.exp(2 - SCORE))).astype(float)


def coverage(found: Estimates, truth: float) -> float:
    lower, upper = limits(found, confidence=0.95)
    return float(((lower <= truth + 1e-12) & (truth - 1e-12 <= upper)).mean())


def unbiased(found: Estimates, truth: float) -> bool:
    made = found.estimate[~np.isnan(found.estimate)]
    return bool(abs(made.mean() - truth) < 4 * made.std() / np.sqrt(len(made)) + 0.01)


@pytest.mark.parametrize("design", ["simple", "unequal"])
@pytest.mark.parametrize("size", [100, pytest.param(400, marks=pytest.mark.long)])
def test_lists_of_a_generated_population(design: str, size: int) -> None:
    x = np.ones(SIZE) if design == "simple" else np.exp(-RANK / 300) + 0.05
    pi = chances(x, size)
    drawn = sequential_poisson(pi, SAMPLES, seed=size)
    for n in (50, 200, 600, SIZE):
        members, truth = n >= RANK, TRUE[n >= RANK].mean()
        found = estimated(members, TRUE, pi, drawn)
        held = coverage(found, truth)
        assert held >= LEAST, n
        assert unbiased(found, truth)
        if found.draws.mean() >= 30:
            assert held <= 0.985, n
            known = found.estimate[~np.isnan(found.variance)]
            ratio = np.nanmean(found.variance) / known.var()
            assert 0.8 < ratio < 1.25, n


def strata_of(rates: Sequence[float], sizes: Sequence[int]) -> tuple[FloatArray, IntArray]:
    y = [
        [1.0] * round(r * n) + [0.0] * (n - round(r * n)) for r, n in zip(rates, sizes, strict=True)
    ]
    return np.concatenate(y), np.repeat(np.arange(len(sizes)), sizes)


def sampled_strata(
    rates: Sequence[float], sizes: Sequence[int], draws: Sequence[int], seed: int
) -> tuple[Estimates, float]:
    y, stratum = strata_of(rates, sizes)
    pi = (np.array(draws) / np.array(sizes))[stratum]
    drawn = sequential_poisson(pi, SAMPLES, seed, stratum)
    return estimated(np.ones(len(y), dtype=bool), y, pi, drawn, stratum=stratum), float(y.mean())


@pytest.mark.parametrize(
    "strata", [2, 5, *(pytest.param(n, marks=pytest.mark.long) for n in (10, 20))]
)
@pytest.mark.parametrize("draws", [1, 3, 10, pytest.param(50, marks=pytest.mark.long)])
def test_strata(strata: int, draws: int) -> None:
    for rates in ([0.1] * strata, np.linspace(0.6, 0.02, strata).tolist()):
        sizes = np.linspace(100, 400, strata).astype(int).tolist()
        found, truth = sampled_strata(rates, sizes, [draws] * strata, seed=strata)
        assert coverage(found, truth) >= LEAST
        assert unbiased(found, truth)


def test_a_large_stratum_with_few_draws() -> None:
    found, truth = sampled_strata([0.5, 0.1], [100, 900], [50, 3], seed=1)
    parts = (found.p, found.p_variance, found.draws)
    plain = korn_graubard(*parts, most=found.most, alike=found.alike, confidence=0.95)
    held = float(((plain[0] <= truth) & (truth <= plain[1])).mean())
    assert held < 0.4  # their interval doesn't know what three draws have missed
    assert coverage(found, truth) >= LEAST


@pytest.mark.parametrize("right", [0.5, 0.8, 0.97])
def test_a_judge_good_or_bad(right: float) -> None:
    random = np.random.default_rng(30)
    guess = np.where(random.random(SIZE) < right, TRUE, 1 - TRUE)
    pi = chances(np.exp(-RANK / 300) + 0.05, 300)
    drawn = sequential_poisson(pi, SAMPLES, seed=31)
    for n in (200, 600, SIZE):
        members, truth = n >= RANK, TRUE[n >= RANK].mean()
        widths = []
        for prediction in (None, guess):
            found = estimated(members, TRUE, pi, drawn, prediction=prediction)
            assert coverage(found, truth) >= LEAST, n
            assert unbiased(found, truth)
            lower, upper = limits(found, confidence=0.95)
            widths.append((upper - lower).mean())
        assert widths[1] < {0.5: 1.02, 0.8: 0.98, 0.97: 0.85}[right] * widths[0]


@pytest.mark.parametrize("design", ["simple", "unequal"])
def test_the_size_of_the_test_where_two_sets_hold_the_same(design: str) -> None:
    # 200 and 200 members, 60 true ones in each, their places at random
    random = np.random.default_rng(40)
    first = np.arange(400) < 200
    y = np.concatenate([random.permutation([1.0] * 60 + [0.0] * 140) for _ in range(2)])
    pi = chances(np.ones(400) if design == "simple" else random.uniform(0.2, 2, 400), 120)
    drawn = sequential_poisson(pi, 2000, seed=41)
    sides = [estimated(members, y, pi, drawn) for members in (first, ~first)]
    wrong = (difference_p_values(sides[0], sides[1]) < 0.05).mean()
    assert 0.01 < wrong < 0.055 + 2.5 * np.sqrt(0.055 * 0.945 / 2000)
    # where all of it is drawn a difference is found, whatever Fisher's test says of chance
    y[0] = 1 - y[0]
    full = [
        estimated(members, y, np.ones(400), np.arange(400)[None], folds=1)
        for members in (first, ~first)
    ]
    assert difference_p_values(full[0], full[1]).tolist() == [0.0]


@pytest.mark.long
def test_lists_and_differences_of_krenn(public_data: Callable[[str], Path]) -> None:
    """A designed sample with predictions by a logistic model of scores, fitted in each sample."""
    path = public_data("collocations/krenn_pp_verb.ds")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    y = table["b.TP"].cast(pl.Float64).to_numpy()
    places = table.select(pl.col("f", "^am[.].*$").rank("ordinal", descending=True).cast(pl.Int64))
    ranks = {name: places[name].to_numpy() for name in places.columns}
    features = normal_scores(np.stack(list(ranks.values()))).T
    best = np.min(list(ranks.values()), axis=0)
    pi = chances(np.exp(-best / 1000) + 0.1, 400)
    drawn = sequential_poisson(pi, 300, seed=50)
    fold, widths, held = np.arange(drawn.shape[1]) % 10, [], []
    for sample in drawn:
        guess = cross_fitted(features, sample, y[sample], fold)
        for n in (500, 1000):
            members = ranks["am.t.score"] <= n
            for prediction in (None, guess):
                found = estimated(members, y, pi, sample[None], prediction=prediction)
                lower, upper = limits(found, confidence=0.95)
                widths.append(float(upper[0] - lower[0]))
                held.append(float(lower[0]) <= y[members].mean() <= float(upper[0]))
    width, share = (np.array(each).reshape(300, 2, 2).mean(axis=0) for each in (widths, held))
    assert share.min() >= 0.94 - 3.5 * np.sqrt(0.94 * 0.06 / 300)
    assert (width[:, 1] < 0.95 * width[:, 0]).all()
    only = ranks["am.t.score"] <= 1000, ranks["am.log.likelihood"] <= 1000
    parts = (only[0] & ~only[1], only[1] & ~only[0])
    truth = y[parts[0]].mean() - y[parts[1]].mean()
    sides = [estimated(members, y, pi, drawn) for members in parts]
    low, high = difference_limits(sides[0], sides[1], confidence=0.95)
    assert ((low <= truth) & (truth <= high)).mean() >= 0.9


def test_sets_that_are_drawn_but_for_one_or_two() -> None:
    # 8 and 6 members among 400, nearly all of them drawn; 6 and 1 are true
    y, members = np.zeros(400), np.arange(400)
    y[[0, 1, 2, 3, 4, 5, 8]] = 1
    pi = chances(np.where(members < 14, 0.93, 0.0) + np.where(members >= 14, 0.1, 0.0), 52)
    drawn = sequential_poisson(pi, 2000, seed=60)
    sides = [
        estimated(inside, y, pi, drawn) for inside in (members < 8, (members >= 8) & (members < 14))
    ]
    assert coverage(sides[0], 6 / 8) >= LEAST
    assert coverage(sides[1], 1 / 6) >= LEAST
    low, high = difference_limits(sides[0], sides[1], confidence=0.95)
    assert ((low <= 6 / 8 - 1 / 6) & (high >= 6 / 8 - 1 / 6)).mean() >= LEAST
