"""Differences for candidates to come, against loops over pairs of draws that share a word."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from pipeline.kernels.nbest.comparison import adjust
from pipeline.kernels.numeric import IntArray
from pipeline.kernels.survey.clustered import (
    cluster_variation,
    draw_shares,
    two_way_differences,
)
from pipeline.kernels.survey.study import Study, build_study
from pipeline.kernels.survey.tables import pair_estimates
from schemas import ClusteredDesignedDifferences, DesignedDifferences
from tests.valid import valid

# The variation of a sum over draws, against loops


def effective(shares: Sequence[Sequence[float]], cluster: Sequence[object]) -> float:
    """Return the effective number of clusters of draws with these weights in each part."""
    spread = {
        name: sum(
            sum(w for w, own in zip(part, cluster, strict=True) if own == name) ** 2
            for part in shares
        )
        for name in set(cluster)
    }
    return sum(spread.values()) ** 2 / sum(each**2 for each in spread.values())


def by_pairs(
    shares: Sequence[Sequence[float]], z: Sequence[float], clusters: Sequence[Sequence[object]]
) -> tuple[float, float]:
    """Return variance and degrees of freedom: a loop over pairs of draws that share a value."""

    def spread(alike: Callable[[int, int], bool], g: float) -> float:
        every = range(len(z))
        return g / (g - 1) * sum(z[i] * z[j] for i in every for j in every if alike(i, j))

    ways = list(clusters)
    if len(clusters) == 2:
        ways.append(list(zip(*clusters, strict=True)))
    g = [effective(shares, way) for way in ways]
    if min(g[: len(clusters)]) < 1 + 1e-9:
        return math.nan, math.nan
    variances = [
        spread(lambda i, j, way=way: way[i] == way[j], each)  # type: ignore[misc]  # a default
        for way, each in zip(ways, g, strict=True)
    ]
    if len(clusters) == 2:
        one, two, both = variances
        variances = [max(one, two, one + two - both)]
    return variances[0], min(g[: len(clusters)]) - 1


@given(st.integers(0, 10**6), st.integers(1, 2), st.integers(2, 12))
def test_the_variance_agrees_with_a_loop_over_pairs(seed: int, columns: int, draws: int) -> None:
    random = np.random.default_rng(seed)
    part = np.arange(draws) % 2 == 0
    weights = random.random(draws) + 0.1
    shares = np.stack([np.where(part == side, weights, 0.0) for side in (True, False)])
    shares /= shares.sum(axis=1, keepdims=True)
    y = random.integers(0, 2, draws)
    z = shares[0] * (y - shares[0] @ y) - shares[1] * (y - shares[1] @ y)
    clusters = random.integers(0, 4, (columns, draws))
    variation = cluster_variation(shares[None], z[None], clusters)
    variance, freedom = by_pairs(shares.tolist(), z.tolist(), clusters.tolist())
    if not variance > 1e-12:
        assert np.isnan(variation.error[0])
        assert np.isnan(variation.freedom[0])
        return
    assert variation.error[0] ** 2 == pytest.approx(variance)
    assert variation.freedom[0] == pytest.approx(freedom)
    assert variation.clusters[:, 0].tolist() == [len(set(each)) for each in clusters.tolist()]


def even(draws: int, y: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    shares = np.full((1, 1, draws), 1 / draws)
    return shares, (np.array(y) - np.mean(y))[None] / draws


def test_a_column_of_single_candidates_changes_nothing() -> None:
    shares, z = even(12, [1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1])
    verbs, own = np.arange(12) // 3, np.arange(12)
    one = cluster_variation(shares, z, verbs[None])
    for pair in ([verbs, own], [own, verbs]):
        both = cluster_variation(shares, z, np.stack(pair))
        assert (both.error, both.freedom) == (pytest.approx(one.error), pytest.approx(one.freedom))
        assert both.design_effect == pytest.approx(one.design_effect)


def test_clusters_of_one_draw_have_the_plain_variance() -> None:
    y = [1, 0, 0, 1, 0, 0, 0, 1, 0, 0]
    shares, z = even(10, y)
    variation = cluster_variation(shares, z, np.stack([np.arange(10), np.arange(10)[::-1]]))
    assert variation.error[0] == pytest.approx(np.std(y, ddof=1) / np.sqrt(10))
    assert (variation.freedom[0], variation.design_effect[0]) == pytest.approx((9, 1))


def test_clusters_of_equal_draws_count_as_one_draw_each() -> None:
    y = np.repeat([1, 0, 0, 1, 0], 4)
    shares, z = even(20, y.tolist())
    variation = cluster_variation(shares, z, np.repeat(np.arange(5), 4)[None])
    assert variation.error[0] == pytest.approx(np.std(y[::4], ddof=1) / np.sqrt(5))
    assert variation.freedom[0] == pytest.approx(4)


# Tables of differences

N = 240
IDS = [f"c{place:03}" for place in range(N)]
BITS = np.random.default_rng(18)
RANKS = pl.concat(
    pl.DataFrame(
        {"measure": name, "id": [IDS[place] for place in BITS.permutation(N)], "rank": range(1, N + 1)}
    )
    for name in ("a", "b", "c")
)  # fmt: skip
CHANCE = np.clip(0.35 * np.exp(0.8 * BITS.normal(size=N)), 0.1, 1.0)
CANDIDATES = pl.DataFrame(
    {"id": IDS, "pi": CHANCE, "stratum": [f"s{place % 2}" for place in range(N)]}
)
DRAWS = CANDIDATES.with_columns(
    tp=pl.Series(
        [
            None if place % 40 == 7 and CHANCE[place] < 1 else BITS.random() < 0.4
            for place in range(N)
        ]
    )
).filter(pl.Series(BITS.random(N) < CHANCE))
WORDS = np.stack([np.arange(N) ** 2 % 23, np.arange(N) % 31])
AT = [60, 120]
PAIRS = [("a", "b"), ("a", "c"), ("b", "c")]


def study_of(
    draws: pl.DataFrame = DRAWS, ranks: pl.DataFrame = RANKS, candidates: pl.DataFrame = CANDIDATES
) -> Study:
    return build_study(ranks, draws, candidates=candidates)


def differences(
    study: Study, words: IntArray = WORDS, pairs: Sequence[tuple[str, str]] = PAIRS, **options: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the differences for these candidates, and for candidates to come."""
    columns = {f"{old}_{side}": f"{new}_{side}" for side in (1, 2)
               for old, new in (("n_sampled", "n"), ("k_sampled", "k"))}  # fmt: skip
    variation = pair_estimates(study, pairs=pairs, at=options.pop("at", AT)).rename(columns)
    variation = variation.with_columns(category=pl.lit("TP"))
    variation = variation.with_columns(lower_family="lower", upper_family="upper")
    here = variation.select(name for name in DesignedDifferences.columns() if name in variation)
    made_of = ("l1", "l2")[: len(words)]
    tests = two_way_differences(study, here, words, columns=made_of, confidence=0.95)
    table = adjust(
        tests, correction="holm", alpha=0.05, margin=0.0, table=ClusteredDesignedDifferences
    )
    # never more certain than of these candidates
    assert (table["lower"] <= variation["lower"]).all()
    assert (table["upper"] >= variation["upper"]).all()
    assert (table["p_value"] >= variation["p_value"]).all()
    return variation, valid(table, ClusteredDesignedDifferences)


def test_estimates_are_sums_of_shares() -> None:
    study = study_of()
    assert study.classes > 1
    assert study.strata > study.classes
    first = np.searchsorted(AT, study.ranks, side="left")
    shares = draw_shares(study, first, [(0, 1), (0, 2), (1, 2)], range(2))
    assert shares.shares.sum(axis=-1) == pytest.approx(1.0)
    estimates = shares.shares @ shares.y
    here, _ = differences(study)
    defined = here.drop_nulls("difference")
    assert 0 < defined.height < here.height  # one has too few draws in a class
    for row in defined.iter_rows(named=True):
        at, pair = AT.index(row["n"]), PAIRS.index((row["measure_1"], row["measure_2"]))
        expected = row["estimate_1"], row["estimate_2"]
        assert estimates[at, pair].tolist() == pytest.approx(expected)


def test_differences_of_one_stratum_agree_with_a_slow_twin() -> None:
    """Weights 1 / pi within one class; certain draws weigh 1."""
    chance = np.where(np.arange(N) % 9 == 0, 1.0, 0.3 + 0.2 * (np.arange(N) % 3))
    candidates = pl.DataFrame({"id": IDS, "pi": chance})
    is_drawn = (np.arange(N) % 9 == 0) | (BITS.random(N) < chance)
    draws = candidates.with_columns(tp=pl.Series(BITS.random(N) < 0.4)).filter(pl.Series(is_drawn))
    here, table = differences(study_of(draws, candidates=candidates), pairs=[("a", "b")])
    place = {name: at for at, name in enumerate(IDS)}
    ranked = {
        name: dict(RANKS.filter(measure=name).select("id", "rank").iter_rows()) for name in "ab"
    }
    for row in table.iter_rows(named=True):
        n = row["n"]
        sets = [
            {name for name in IDS if ranked[one][name] <= n < ranked[other][name]}
            for one, other in ("ab", "ba")
        ]
        rows = [each for each in draws.iter_rows(named=True) if any(each["id"] in s for s in sets)]
        shares, p = [], []
        for members in sets:
            certain = sum(chance[place[name]] == 1 for name in members)
            total = sum(1 / each["pi"] for each in rows if each["id"] in members and each["pi"] < 1)
            part = [
                (each["id"] in members) * (1.0 if each["pi"] == 1
                 else (len(members) - certain) / total / each["pi"]) / len(members)
                for each in rows
            ]  # fmt: skip
            shares.append(part)
            p.append(sum(w * each["tp"] for w, each in zip(part, rows, strict=True)))
        z = [
            w1 * (each["tp"] - p[0]) - w2 * (each["tp"] - p[1])
            for w1, w2, each in zip(*shares, rows, strict=True)
        ]
        words = [[int(column[place[each["id"]]]) for each in rows] for column in WORDS]
        variance, freedom = by_pairs(shares, z, words)
        share = row["size"] / n
        assert row["difference"] == pytest.approx(share * (p[0] - p[1]))
        assert row["standard_error"] == pytest.approx(share * math.sqrt(variance))
        assert row["freedom"] == pytest.approx(freedom)
        half = student.isf(0.025, freedom) * row["standard_error"]
        lower, upper = here.filter(n=n).select("lower", "upper").row(0)
        assert row["lower"] == pytest.approx(min(row["difference"] - half, lower))
        assert row["upper"] == pytest.approx(max(row["difference"] + half, upper))


def test_estimates_and_order_are_those_for_these_candidates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study = study_of()
    here, table = differences(study)
    columns = ["measure_1", "measure_2", "n", "size", "n_1", "k_1", "n_2", "k_2", "difference"]
    assert table.select(columns).equals(here.select(columns))
    monkeypatch.setattr("pipeline.kernels.survey.study._BLOCK", 1)
    assert differences(study)[1].equals(table)
    shuffled = study_of(DRAWS.reverse(), RANKS.reverse(), CANDIDATES.reverse())
    assert differences(shuffled)[1].equals(table)
    _, turned = differences(study, pairs=[("b", "a")])
    straight = table.filter(measure_1="a", measure_2="b")
    assert turned["lower"].to_list() == pytest.approx((-straight["upper"]).to_list())
    assert turned["p_value"].to_list() == pytest.approx(straight["p_value"].to_list())
    assert straight["clusters_2"].null_count() == 0
    assert differences(study, WORDS[:1])[1]["clusters_2"].null_count() == table.height


def test_degenerate_samples_have_the_worst_limits() -> None:
    def worst(draws: pl.DataFrame, words: IntArray = WORDS) -> None:
        _, table = differences(study_of(draws), words)
        assert table.height == len(PAIRS) * len(AT)
        assert table["p_value"].null_count() == table["standard_error"].null_count() == table.height
        assert (table["upper"] - table["lower"] == 2 * table["size"] / table["n"]).all()

    worst(DRAWS.with_columns(tp=pl.lit(value=True)))
    worst(DRAWS.with_columns(tp=pl.lit(None, pl.Boolean)))
    worst(DRAWS.clear())
    worst(DRAWS, np.zeros_like(WORDS))
    worst(DRAWS, np.stack([WORDS[0], np.zeros(N, dtype=np.int64)]))
    _, equal = differences(study_of(), at=[N])
    assert equal.select("difference", "lower", "upper").unique().rows() == [(0.0, 0.0, 0.0)]
    assert equal["p_value"].null_count() == equal.height
    _, none = differences(study_of(), pairs=[])
    assert none.is_empty()
    sure = CANDIDATES.with_columns(pi=pl.lit(1.0))
    _, certain = differences(study_of(sure.with_columns(tp=pl.lit(True) & (pl.col("pi") > 0)), candidates=sure))  # fmt: skip
    assert certain["p_value"].null_count() == certain.height
    _, known = differences(study_of(sure.with_columns(tp=pl.col("id") < "c100"), candidates=sure))
    assert (known["standard_error"] > 0).all()  # candidates to come are unknown
