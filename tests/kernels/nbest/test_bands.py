"""Limits that hold at all list sizes at once: what they contain, and how often."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.precision import crossings, nbest_counts, simultaneous_bands
from pipeline.kernels.statistics.intervals import interval_columns
from schemas import BandThresholds
from schemas.validate import validate

# Thresholds that a simultaneous band crosses: a slow twin, edges, and coverage.


def band(*limits: tuple[float, float], measure: str = "mi", first: int = 1) -> pl.DataFrame:
    lower, upper = zip(*limits, strict=True)
    return pl.DataFrame({
        "category": "TP", "measure": measure, "n": range(first, first + len(limits)),
        "lower_band": lower, "upper_band": upper,
    })  # fmt: skip


def crossings_of(bands: pl.DataFrame, *thresholds: float) -> list[tuple[int | None, ...]]:
    table = crossings(bands, thresholds=thresholds, confidence=0.95)
    validate([table], BandThresholds, name="band_thresholds")
    return table.select("n", "at_least_to", "below_from").rows()


def test_crossings_agree_with_those_by_hand() -> None:
    falls = band((0.6, 0.9), (0.4, 0.8), (0.5, 0.7), (0.2, 0.4), first=100)
    assert crossings_of(falls, 0.5) == [(103, 100, 103)]  # it was already below 0.5 at 101
    assert crossings_of(falls, 0.1, 0.95) == [(None, 103, None), (100, None, 100)]


def test_crossings_are_per_measure_in_any_order_of_rows() -> None:
    both = pl.concat([band((0.6, 0.7)), band((0.1, 0.2), measure="dice", first=7)])
    table = crossings(both[::-1], thresholds=[0.5], confidence=0.9)
    assert table.select("measure", "first_n", "last_n", "at_least_to", "below_from").rows() == [
        ("dice", 7, 7, None, 7), ("mi", 1, 1, 1, None),
    ]  # fmt: skip
    assert crossings(both.clear(), thresholds=[0.5], confidence=0.9).is_empty()
    assert crossings(both, thresholds=[], confidence=0.9).is_empty()


limits = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: tuple(sorted(pair)))


@given(st.lists(limits, min_size=1, max_size=8), st.integers(1, 9))
def test_crossings_agree_with_a_slow_twin(pairs: list[tuple[int, int]], tenth: int) -> None:
    t = tenth / 10
    shares = [(low / 10, high / 10) for low, high in pairs]
    n_from = at_least = below = None
    for n, (low, _) in enumerate(shares, 1):
        if low >= t and at_least == (n - 1 or None):
            at_least = n
    for n in range(len(shares), 0, -1):
        if shares[n - 1][1] < t and below in (None if n == len(shares) else n + 1, n + 1):
            below = n
        if shares[n - 1][0] < t and n_from == (None if n == len(shares) else n + 1):
            n_from = n
    assert crossings_of(band(*shares), t) == [(n_from, at_least, below)]


@pytest.mark.long
def test_statements_about_thresholds_hold_simultaneously() -> None:
    """Lists that fall from 80 to 20 %: at which n is a statement about a threshold wrong?"""
    random, size, wrong, pointwise = np.random.default_rng(3), 300, 0, 0
    tp = random.random(size) < np.linspace(0.9, 0.05, size)
    truth = tp.cumsum() / np.arange(1, size + 1)
    ids = [f"c{place}" for place in range(size)]
    ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, size + 1), "tie": 1})
    thresholds, runs = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], 60
    for _ in range(runs):
        sample = np.sort(random.choice(size, 90, replace=False))
        judged = pl.DataFrame({
            "category": "TP", "id": [ids[i] for i in sample], "tp": tp[sample], "multiplicity": 1,
        })  # fmt: skip
        counts = nbest_counts(ranks.lazy(), judged.lazy())
        selected = counts.filter(pl.col("n") >= 40)
        bands = simultaneous_bands(
            selected,
            ranks,
            judged,
            method="clopper_pearson",
            confidence=0.95,
            replicates=500,
            seed="s",
        )
        for row in crossings(bands, thresholds=thresholds, confidence=0.95).iter_rows(named=True):
            high = slice(39, row["at_least_to"] or 39)
            low = slice((row["below_from"] or size + 1) - 1, None)
            wrong += bool((truth[high] < row["threshold"]).any())
            wrong += bool((truth[low] >= row["threshold"]).any())
            pointwise += row["at_least_to"] is not None or row["below_from"] is not None
    assert wrong <= 0.1 * runs
    assert pointwise > runs, "it says something"


SIZE, DRAWN = 600, 120
RANKS = pl.concat(
    pl.DataFrame({"measure": measure, "id": ids, "rank": range(1, SIZE + 1),
                  "tie": range(1, SIZE + 1)})
    for measure, ids in {
        "falling": [f"c{each}" for each in range(SIZE)],
        "rising": [f"c{each}" for each in reversed(range(SIZE))],
    }.items()
)  # fmt: skip
RNG = np.random.default_rng(5)
TRUE = RNG.random(SIZE) < np.linspace(0.6, 0.05, SIZE)
"""Whether each candidate is a true positive: more often so at the top."""


def judged_frame(indices: np.ndarray, multiplicity: int = 1) -> pl.DataFrame:
    return pl.DataFrame({
        "category": "TP", "id": [f"c{each}" for each in indices], "tp": TRUE[indices],
        "multiplicity": multiplicity,
    }).with_columns(pl.col("multiplicity").cast(pl.Int64))  # fmt: skip


def counts_between(draws: pl.DataFrame, first: int = 50, last: int = 400) -> pl.DataFrame:
    counts = nbest_counts(RANKS.lazy(), draws.lazy())
    return counts.filter(pl.col("n").is_between(first, last))


def band_of(draws: pl.DataFrame, *, replicates: int = 1000, first: int = 50) -> pl.DataFrame:
    return simultaneous_bands(
        counts_between(draws, first), RANKS, draws, method="hypergeometric", confidence=0.95,
        replicates=replicates, seed="s",
    )  # fmt: skip


def draw(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(SIZE, DRAWN, replace=False)


def test_bands_contain_pointwise_limits_and_differ_by_measure() -> None:
    draws = judged_frame(draw(1))
    band = band_of(draws)
    pointwise = interval_columns(
        counts_between(draws).sort("category", "measure", "n"), k="k_sampled", n="n_sampled",
        population="n", method="hypergeometric", confidence=0.95,
    )  # fmt: skip
    assert band.select("measure", "n").equals(pointwise.select("measure", "n"))
    assert (band["lower_band"] <= pointwise["lower"]).all()
    assert (band["upper_band"] >= pointwise["upper"]).all()
    levels = band.group_by("measure").agg(pl.col("level").unique()).explode("level")
    assert levels.height == 2
    assert levels["level"].is_between(0.97, 0.9999).all()


@pytest.mark.long
def test_bands_cover_all_sizes_more_often_than_pointwise_limits() -> None:
    truth = np.cumsum(TRUE) / np.arange(1, SIZE + 1)
    covered = {"band": 0, "pointwise": 0}
    runs = 120
    for seed in range(runs):
        draws = judged_frame(draw(seed))
        counts = counts_between(draws).filter(measure="falling").sort("n")
        for name, frame in (
            ("band", band_of(draws, replicates=300).filter(measure="falling")),
            ("pointwise", interval_columns(
                counts, k="k_sampled", n="n_sampled", method="clopper_pearson", confidence=0.95)),
        ):  # fmt: skip
            lower, upper = frame.select(pl.col("^lower.*$", "^upper.*$")).to_numpy().T
            of = truth[frame["n"].to_numpy() - 1]
            covered[name] += bool(np.all((lower <= of + 1e-9) & (of <= upper + 1e-9)))
    assert covered["band"] >= 0.95 * runs - 2 * np.sqrt(0.05 * 0.95 * runs)
    assert covered["pointwise"] < covered["band"]


def test_a_band_of_one_list_size_is_nearly_pointwise() -> None:
    draws = judged_frame(draw(2))
    one = simultaneous_bands(
        counts_between(draws, 200, 200), RANKS, draws, method="clopper_pearson", confidence=0.9,
        replicates=20_000, seed="s",
    )  # fmt: skip
    assert one["level"].to_list() == pytest.approx([0.9, 0.9], abs=0.005)


def test_unjudged_draws_do_not_change_the_band() -> None:
    draws = judged_frame(draw(3))
    unjudged = judged_frame(draw(4)).with_columns(tp=pl.lit(None, pl.Boolean))
    fresh = unjudged.join(draws, on="id", how="anti")
    assert band_of(pl.concat([draws, fresh])).equals(band_of(draws))


def test_bands_without_draws_are_0_to_1() -> None:
    none = judged_frame(draw(1)).with_columns(tp=pl.lit(None, pl.Boolean))
    band = band_of(none)
    assert set(band["lower_band"]) == {0.0}
    assert set(band["upper_band"]) == {1.0}
    assert band_of(none.head(0)).height == 0
