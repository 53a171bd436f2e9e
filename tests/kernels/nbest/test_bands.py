"""Limits that hold at all list sizes at once: what they hold, and how often."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.nbest.bands import simultaneous_bands
from pipeline.kernels.nbest.precision import nbest_counts
from pipeline.kernels.statistics.intervals import interval_columns

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
"""Whether each candidate is a true positive: at the top more often."""


def judged(drawn: np.ndarray, multiplicity: int = 1) -> pl.DataFrame:
    return pl.DataFrame({
        "category": "TP", "id": [f"c{each}" for each in drawn], "tp": TRUE[drawn],
        "multiplicity": multiplicity,
    }).with_columns(pl.col("multiplicity").cast(pl.Int64))  # fmt: skip


def counted(draws: pl.DataFrame, first: int = 50, last: int = 400) -> pl.DataFrame:
    counts = nbest_counts(RANKS.lazy(), draws.lazy())
    return counts.filter(pl.col("n").is_between(first, last))


def banded(draws: pl.DataFrame, *, replicates: int = 1000, first: int = 50) -> pl.DataFrame:
    return simultaneous_bands(
        counted(draws, first), RANKS, draws, method="hypergeometric", confidence=0.95,
        replicates=replicates, seed="s",
    )  # fmt: skip


def drawn(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(SIZE, DRAWN, replace=False)


def test_it_lies_around_the_pointwise_limits_and_each_measure_has_its_own() -> None:
    draws = judged(drawn(1))
    band = banded(draws)
    pointwise = interval_columns(
        counted(draws).sort("category", "measure", "n"), k="k_sampled", n="n_sampled",
        population="n", method="hypergeometric", confidence=0.95,
    )  # fmt: skip
    assert band.select("measure", "n").equals(pointwise.select("measure", "n"))
    assert (band["lower_band"] <= pointwise["lower"]).all()
    assert (band["upper_band"] >= pointwise["upper"]).all()
    levels = band.group_by("measure").agg(pl.col("level").unique()).explode("level")
    assert levels.height == 2
    assert levels["level"].is_between(0.97, 0.9999).all()


@pytest.mark.long
def test_it_holds_at_all_sizes_at_once_where_pointwise_limits_do_not() -> None:
    truth = np.cumsum(TRUE) / np.arange(1, SIZE + 1)
    held = {"band": 0, "pointwise": 0}
    runs = 120
    for seed in range(runs):
        draws = judged(drawn(seed))
        mine = counted(draws).filter(measure="falling").sort("n")
        for name, frame in (
            ("band", banded(draws, replicates=300).filter(measure="falling")),
            ("pointwise", interval_columns(
                mine, k="k_sampled", n="n_sampled", method="clopper_pearson", confidence=0.95)),
        ):  # fmt: skip
            lower, upper = frame.select(pl.col("^lower.*$", "^upper.*$")).to_numpy().T
            of = truth[frame["n"].to_numpy() - 1]
            held[name] += bool(np.all((lower <= of + 1e-9) & (of <= upper + 1e-9)))
    assert held["band"] >= 0.95 * runs - 2 * np.sqrt(0.05 * 0.95 * runs)
    assert held["pointwise"] < held["band"]


def test_one_list_size_is_a_pointwise_interval_but_for_the_simulation() -> None:
    draws = judged(drawn(2))
    one = simultaneous_bands(
        counted(draws, 200, 200), RANKS, draws, method="clopper_pearson", confidence=0.9,
        replicates=20_000, seed="s",
    )  # fmt: skip
    assert one["level"].to_list() == pytest.approx([0.9, 0.9], abs=0.005)


def test_draws_that_nobody_judged_do_not_count() -> None:
    draws = judged(drawn(3))
    unjudged = judged(drawn(4)).with_columns(tp=pl.lit(None, pl.Boolean))
    fresh = unjudged.join(draws, on="id", how="anti")
    assert banded(pl.concat([draws, fresh])).equals(banded(draws))


def test_without_a_draw_nothing_is_known() -> None:
    none = judged(drawn(1)).with_columns(tp=pl.lit(None, pl.Boolean))
    band = banded(none)
    assert set(band["lower_band"]) == {0.0}
    assert set(band["upper_band"]) == {1.0}
    assert banded(none.head(0)).height == 0
