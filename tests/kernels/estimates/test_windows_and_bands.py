"""Windows against sets added up one by one; bands against the limits of single sizes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.survey.bands import equal_chances, list_bands, pair_bands
from pipeline.kernels.survey.study import Study, assisting, features_of, study
from pipeline.kernels.survey.tables import (
    list_estimates,
    pair_estimates,
    span_sums,
    window_estimates,
)

SIZE = 60


def of(tables: dict[str, pl.DataFrame]) -> Study:
    return study(tables["ranks"], tables["draws"], candidates=tables["candidates"])


def made(seed: int, *, strata: bool = False) -> tuple[dict[str, pl.DataFrame], Study]:
    bits = np.random.default_rng(seed)
    ids = [f"c{place:02}" for place in range(SIZE)]
    ranks = pl.concat(
        pl.DataFrame({"measure": name, "id": ids, "rank": bits.permutation(SIZE) + 1})
        for name in ("a", "b")
    )
    pi = bits.uniform(0.2, 1.0, SIZE)
    pi[:5] = 1.0
    stratum = ["x" if place % 2 and strata else "y" for place in range(SIZE)]
    every = pl.DataFrame({"id": ids, "pi": pi, "stratum": stratum, "prediction": bits.random(SIZE)})
    tp = pl.Series(bits.random(SIZE) < 0.4)
    drawn = every.select("id", "pi", "stratum", tp=tp).filter(pl.Series(bits.random(SIZE) < pi))
    tables = {"ranks": ranks, "draws": drawn, "candidates": every}
    return tables, of(tables)


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 9), st.booleans())
def test_a_window_is_the_list_of_its_members(
    seed: int, window: int, every: int, strata: bool
) -> None:
    """Rank the members of a window first, and it is an n-best list."""
    tables, given_ = made(seed, strata=strata)
    found = window_estimates(given_, window=window, every=every)
    assert found["first_rank"].unique().to_list() == list(range(1, SIZE - window + 2, every))
    row = found.sample(1, seed=seed).row(0, named=True)
    inside = pl.col("rank").is_between(row["first_rank"], row["last_rank"])
    moved = tables["ranks"].filter(measure=row["measure"]).sort(~inside, "rank").with_columns(
        rank=pl.int_range(1, SIZE + 1)
    )  # fmt: skip
    other = of(tables | {"ranks": moved})
    listed = list_estimates(other, at=[window]).row(0, named=True)
    for name in ("estimate", "lower", "upper", "variance", "n_eff", "tau"):
        assert row[name] == (None if listed[name] is None else pytest.approx(listed[name]))
    for name in ("n_sampled", "k_sampled", "draws", "certain", "unjudged"):
        assert row[name] == listed[name]


def test_spans_without_units_and_at_the_end() -> None:
    ranks = np.array([2, 4, 4])
    columns, cell = np.array([[1.0, 2.0, 4.0]]), np.array([0, 1, 0])
    found = span_sums(ranks, np.array([1, 2, 3, 5]), 2, columns, cell, cells=2)
    assert found[0].tolist() == [[1.0, 0.0], [1.0, 0.0], [4.0, 2.0], [0.0, 0.0]]


def test_windows_that_do_not_fit() -> None:
    given_ = made(1)[1]
    assert window_estimates(given_, window=SIZE + 1).is_empty()
    assert window_estimates(given_, window=SIZE).height == 2
    with pytest.raises(ValueError, match="1 rank or more"):
        window_estimates(given_, window=0)


@pytest.mark.parametrize("seed", range(5))
def test_bands_are_the_limits_at_their_level(seed: int) -> None:
    given_ = made(seed)[1]
    at = range(20, 51)
    found = list_bands(given_, at=at, replicates=500, seed="s")
    for (measure,), rows in found.group_by("measure"):
        level = rows["level"].unique().item()
        assert 0.95 < level < 0.9999
        alone = list_estimates(given_, at=at, confidence=level).filter(measure=measure)
        assert rows.sort("n")["lower_band"].to_list() == alone["lower"].to_list()
    pairs = [("a", "b")]
    apart = pair_bands(given_, pairs=pairs, at=at, replicates=500, seed="s")
    level = apart["level"].unique().item()
    alone = pair_estimates(given_, pairs=pairs, at=at, confidence=level)
    assert apart["upper_band"].to_list() == alone["upper"].to_list()


def test_levels_of_their_own_for_each_list_and_pair() -> None:
    given_ = made(3)[1]
    levels = np.array([[0.9, 0.99], [0.95, 0.5]])
    found = list_estimates(given_, at=[20, 30], confidence=levels)
    for place, (measure, n) in enumerate(found.select("measure", "n").rows()):
        alone = list_estimates(given_, at=[n], confidence=float(levels.ravel()[place]))
        assert found["upper"][place] == alone.filter(measure=measure)["upper"].item()
    apart = pair_estimates(given_, pairs=[("a", "b")], at=[20, 30], confidence=[[0.9], [0.99]])
    assert (
        apart["lower"][0]
        == pair_estimates(given_, pairs=[("a", "b")], at=[20], confidence=0.9)["lower"].item()
    )
    with pytest.raises(ValueError, match="not 1"):
        list_estimates(given_, at=[20], confidence=[[0.9], [1.0]])


def test_equal_chances_are_told_by_the_members_and_not_the_draws() -> None:
    given_ = made(4)[1]
    pairs = [("a", "b")]
    constant = equal_chances(given_, np.full(SIZE, 0.3), pairs=pairs, at=[10, SIZE])
    assert constant["equal"].to_list() == [True, True]
    one = np.full(SIZE, 0.3)
    ranks = given_.ranks
    only_a = np.flatnonzero((ranks[0] <= 10) & (ranks[1] > 10))
    one[only_a[0]] = 0.31
    told = equal_chances(given_, one, pairs=pairs, at=[10, SIZE])["equal"].to_list()
    assert told == [False, True]
    one[only_a] = 0.31  # all of D1 alike, unlike D2
    assert equal_chances(given_, one, pairs=pairs, at=[10])["equal"].item()


def test_what_assists() -> None:
    bits = np.random.default_rng(2)
    ids = pl.Series([f"c{place:03}" for place in range(200)])
    ranks = bits.permutation(200)[None] + 1
    tp = bits.random(200) < np.where(ranks[0] < 60, 0.9, 0.1)
    draws = pl.DataFrame({"id": ids, "tp": tp}).sample(80, seed=1)
    judge = np.where(tp, 0.8, 0.3)[None]
    none = np.zeros((0, 200))
    assert assisting(ids, ranks, draws, none, assist="none", seed="s")[0] is None
    few = draws.head(20)
    assert assisting(ids, ranks, few, none, assist="scores", seed="s")[0] is None
    scores = assisting(ids, ranks, draws, none, assist="scores", seed="s")[0]
    stacked = assisting(ids, ranks, draws, judge, assist="stacked", seed="s")[0]
    assert scores is not None
    assert stacked is not None
    assert 0.3 < np.corrcoef(scores, tp)[0, 1] < np.corrcoef(stacked, tp)[0, 1]
    with pytest.raises(ValueError, match="with 0 judges"):
        assisting(ids, ranks, draws, none, assist="stacked", seed="s")
    with pytest.raises(ValueError, match="with 2 judges"):
        assisting(ids, ranks, draws, np.zeros((2, 200)), assist="predictions", seed="s")
    assert features_of(ranks, judge).shape == (200, 2)
