"""What a simultaneous band says of thresholds: the slow way, edges, and how often it holds."""

from __future__ import annotations

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.bands import crossings, simultaneous_bands
from pipeline.kernels.nbest.precision import nbest_counts
from schemas import BandThresholds
from schemas.validate import validate


def band(*limits: tuple[float, float], measure: str = "mi", first: int = 1) -> pl.DataFrame:
    lower, upper = zip(*limits, strict=True)
    return pl.DataFrame({
        "category": "TP", "measure": measure, "n": range(first, first + len(limits)),
        "lower_band": lower, "upper_band": upper,
    })  # fmt: skip


def found(bands: pl.DataFrame, *thresholds: float) -> list[tuple[int | None, ...]]:
    made = crossings(bands, thresholds=thresholds, confidence=0.95)
    validate([made], BandThresholds, name="band_thresholds")
    return made.select("n", "at_least_to", "below_from").rows()


def test_by_hand() -> None:
    falls = band((0.6, 0.9), (0.4, 0.8), (0.5, 0.7), (0.2, 0.4), first=100)
    assert found(falls, 0.5) == [(103, 100, 103)]  # it has been under 0.5 at 101 already
    assert found(falls, 0.1, 0.95) == [(None, 103, None), (100, None, 100)]


def test_each_measure_by_itself_and_rows_in_any_order() -> None:
    both = pl.concat([band((0.6, 0.7)), band((0.1, 0.2), measure="dice", first=7)])
    made = crossings(both[::-1], thresholds=[0.5], confidence=0.9)
    assert made.select("measure", "first_n", "last_n", "at_least_to", "below_from").rows() == [
        ("dice", 7, 7, None, 7), ("mi", 1, 1, 1, None),
    ]  # fmt: skip
    assert crossings(both.clear(), thresholds=[0.5], confidence=0.9).is_empty()
    assert crossings(both, thresholds=[], confidence=0.9).is_empty()


limits = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda pair: tuple(sorted(pair)))


@given(st.lists(limits, min_size=1, max_size=8), st.integers(1, 9))
def test_the_slow_way(pairs: list[tuple[int, int]], tenth: int) -> None:
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
    assert found(band(*shares), t) == [(n_from, at_least, below)]


def test_the_sentences_hold_together() -> None:
    """Lists that fall from 80 to 20 %: at which n is a sentence on some threshold wrong?"""
    random, size, wrong, pointwise = np.random.default_rng(3), 300, 0, 0
    tp = random.random(size) < np.linspace(0.9, 0.05, size)
    truth = tp.cumsum() / np.arange(1, size + 1)
    ids = [f"c{place}" for place in range(size)]
    ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, size + 1), "tie": 1})
    thresholds, runs = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], 60
    for _ in range(runs):
        drawn = np.sort(random.choice(size, 90, replace=False))
        judged = pl.DataFrame({
            "category": "TP", "id": [ids[i] for i in drawn], "tp": tp[drawn], "multiplicity": 1,
        })  # fmt: skip
        counts = nbest_counts(ranks.lazy(), judged.lazy())
        wanted = counts.filter(pl.col("n") >= 40)
        made = simultaneous_bands(
            wanted,
            ranks,
            judged,
            method="clopper_pearson",
            confidence=0.95,
            replicates=500,
            seed="s",
        )
        for row in crossings(made, thresholds=thresholds, confidence=0.95).iter_rows(named=True):
            high = slice(39, row["at_least_to"] or 39)
            low = slice((row["below_from"] or size + 1) - 1, None)
            wrong += bool((truth[high] < row["threshold"]).any())
            wrong += bool((truth[low] >= row["threshold"]).any())
            pointwise += row["at_least_to"] is not None or row["below_from"] is not None
    assert wrong <= 0.1 * runs
    assert pointwise > runs, "it says something"
