from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

import pipeline as lx
from pipeline.kernels.sampling import seeded_generator
from pipeline.kernels.statistics import simultaneous_band
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.simultaneous_band import (
    Curve,
    band_factor,
    band_level,
    working_weights,
)

POINTWISE = float(-ndtri((1 - 0.95) / 2))


def factor(curves: list[Curve], weights: object, n: object, **options: object) -> float:
    settings = {"confidence": 0.95, "seed": "s", "replicates": 2000} | options
    return band_factor(curves, weights, n=n, **settings)  # type: ignore[arg-type]


def slow_factor(curves: list[Curve], w: np.ndarray, n: list[int], replicates: int) -> float:
    """Add up every list separately, with memberships as defined."""
    g = seeded_generator(seed="s", purpose="simultaneous band").standard_normal(
        (replicates, len(w))
    )
    most = np.zeros(replicates)
    for curve in curves:
        minus = curve.minus if curve.minus is not None else np.full(len(w), 10**9)
        for size in n:
            inside = (np.asarray(curve.ranks) <= size).astype(float)
            a = (inside - (np.asarray(minus) <= size)) / size
            sd = np.sqrt(((a * w) ** 2).sum())
            if sd > 0:
                most = np.maximum(most, np.abs(g @ (a * w)) / sd)
    return max(POINTWISE, float(np.quantile(most, 0.95, method="higher")))


@given(st.integers(1, 12), st.integers(1, 3), st.data())
def test_the_factor_agrees_with_its_definition(
    draws: int, measures: int, data: st.DataObject
) -> None:
    bits = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    ranks = [bits.permutation(30)[:draws] + 1 for _ in range(measures + 1)]
    w = working_weights(bits.choice([0.1, 0.4, 1.0], draws), bits.uniform(0.1, 0.5, draws))
    n = data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=10))
    curves = [Curve(one) for one in ranks[:-1]] + [Curve(ranks[0], ranks[-1])]
    assert factor(curves, w, n, replicates=200) == pytest.approx(
        slow_factor(curves, w, n, 200), rel=1e-9
    )


def test_the_factor_of_one_list_is_the_normal_quantile() -> None:
    weights = working_weights(np.full(40, 0.2))
    result = factor([Curve(np.arange(1, 41))], weights, [25], replicates=40_000)
    assert POINTWISE <= result <= POINTWISE + 0.03


def test_the_factor_of_two_lists_agrees_with_the_bivariate_normal() -> None:
    # lists of 10 and 20 draws, correlation sqrt(1/2): c with P(|Z1|, |Z2| <= c) = .95
    weights = working_weights(np.full(20, 0.2))
    result = factor([Curve(np.arange(1, 21))], weights, [10, 20], replicates=40_000)
    x, y = np.meshgrid(np.linspace(-result, result, 801), np.linspace(-result, result, 801))
    density = np.exp(-(x * x - np.sqrt(2) * x * y + y * y)) / (np.pi * np.sqrt(2))
    inside = density[1:, 1:].sum() * (2 * result / 800) ** 2
    assert inside == pytest.approx(0.95, abs=0.005)


def test_disjoint_lists_are_independent() -> None:
    # ranks 1..50 under one measure are 51..100 under the other: at n = 50 no draw is in both
    first = np.arange(1, 101)
    second = np.where(first <= 50, first + 50, first - 50)
    weights = working_weights(np.full(100, 0.5))
    result = factor([Curve(first), Curve(second)], weights, [50], replicates=40_000)
    assert result == pytest.approx(float(-ndtri((1 - np.sqrt(0.95)) / 2)), abs=0.03)


@given(st.integers(2, 60), st.integers(0, 1000))
def test_the_factor_obeys_the_laws(draws: int, seed: int) -> None:
    bits = np.random.default_rng(seed)
    ranks, other = bits.permutation(500)[:draws] + 1, bits.permutation(500)[:draws] + 1
    w = working_weights(np.full(draws, 0.1), bits.uniform(0.2, 0.5, draws))
    few = factor([Curve(ranks)], w, [100, 200, 400])
    assert 0 < band_level(few) < 0.06
    assert few <= factor([Curve(ranks)], w, range(100, 401))
    assert few <= factor([Curve(ranks), Curve(other)], w, [100, 200, 400])
    assert few <= factor([Curve(ranks)], w, [100, 200, 400], confidence=0.99)
    assert few == pytest.approx(factor([Curve(ranks)], 7.0 * w, [400, 100, 200, 200]))
    both = factor([Curve(ranks, other)], w, [100, 300])
    assert both == pytest.approx(factor([Curve(other, ranks)], w, [100, 300]))


def test_known_candidates_and_empty_lists_do_not_count() -> None:
    ranks, w = np.arange(1, 41), working_weights(np.r_[np.ones(20), np.full(20, 0.3)])
    alone = factor([Curve(ranks)], w, range(1, 41))
    # g is drawn for each draw, so that the others keep theirs
    assert alone == factor([Curve(ranks)], w, range(21, 41))
    assert factor([Curve(ranks)], w, range(1, 21)) == POINTWISE
    assert factor([Curve(ranks, ranks)], w, range(1, 41)) == POINTWISE
    assert factor([Curve([])], [], range(1, 41)) == POINTWISE
    assert factor([], w, [5]) == POINTWISE


def test_parts_do_not_change_the_factor(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks, w = np.arange(1, 41), working_weights(np.full(40, 0.3))
    whole = factor([Curve(ranks)], w, range(1, 41))
    monkeypatch.setattr(simultaneous_band, "_CELLS", 1000)
    assert factor([Curve(ranks)], w, range(1, 41)) == whole


def test_the_level_of_a_band_has_this_value() -> None:
    assert band_level(2.9) == pytest.approx(0.0037317, abs=1e-7)


@pytest.fixture(scope="module")
def misses() -> tuple[float, float]:
    """Return how often pointwise limits and the band miss a curve: samples of 600 candidates."""
    bits = np.random.default_rng(12)
    size, draws, n = 600, 90, np.arange(100, 601, 5)
    true = bits.random(size) < np.linspace(0.7, 0.1, size)
    curve = np.cumsum(true)[n - 1]
    missed = np.zeros((2, 200))
    for number in range(missed.shape[1]):
        ranks = np.sort(bits.choice(size, draws, replace=False)) + 1
        counts = np.searchsorted(ranks, n, side="right")
        k = np.append(0, np.cumsum(true[ranks - 1]))[counts]
        c = factor([Curve(ranks)], working_weights(np.full(draws, draws / size)), n, replicates=500)
        for place, alpha in enumerate((0.05, band_level(c))):
            lower, upper = hypergeometric(k, counts, population=n, confidence=1 - alpha)
            wrong = (np.rint(lower * n) > curve) | (np.rint(upper * n) < curve)
            missed[place, number] = wrong.any()
    return float(missed[0].mean()), float(missed[1].mean())


@pytest.mark.long
def test_only_the_band_keeps_its_level(misses: tuple[float, float]) -> None:
    pointwise, band = misses
    assert pointwise > 0.15
    assert band < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_the_pp_verb_pairs_have_these_factors(public_data: Callable[[str], Path]) -> None:
    """About 2.9 for all n, 2.4 for four cuts: 510 draws of 5,102 candidates, by t-score."""
    pairs = pl.read_csv(
        public_data("collocations/krenn_pp_verb.ds"), separator="\t", quote_char=None
    )
    scores = lx.score(pairs, measures=["t_score"])["t_score"]
    ranks = scores.rank("ordinal", descending=True).to_numpy().astype(np.int64)
    sample = np.random.default_rng(7).choice(len(ranks), 510, replace=False)
    weights = working_weights(np.full(510, 510 / len(ranks)))
    assert factor([Curve(ranks[sample])], weights, range(50, 2001)) == pytest.approx(2.9, abs=0.12)
    cuts = [500, 1000, 1500, 2000]
    assert factor([Curve(ranks[sample])], weights, cuts) == pytest.approx(2.4, abs=0.1)


def test_wrong_weights_and_curves_are_refused() -> None:
    with pytest.raises(ValueError, match=r"1 violate this, for example pi = 0.0"):
        working_weights([0.5, 0.0])
    with pytest.raises(ValueError, match="curve 2 has ranks of 3 draws, .* 2 weights"):
        factor([Curve([1, 2]), Curve([1, 2], [1, 2, 3])], [1.0, 1.0], [2])
    with pytest.raises(ValueError, match=">= 1, not 0"):
        factor([Curve([1, 2])], [1.0, 1.0], [0, 2])
    with pytest.raises(ValueError, match="replicates"):
        factor([Curve([1, 2])], [1.0, 1.0], [2], replicates=0)
