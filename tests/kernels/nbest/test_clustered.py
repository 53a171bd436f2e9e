"""Precision and differences by clusters, against a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import t as student

from pipeline.kernels.nbest.clustered import (
    ClusterBootstrap,
    clustered_differences,
    clustered_precision,
)
from pipeline.kernels.nbest.comparison import adjust, difference_counts
from pipeline.kernels.statistics.cluster_bootstrap import (
    effective_clusters,
    error_and_freedom,
    student_p_values,
)
from pipeline.kernels.statistics.intervals import clopper_pearson
from schemas import ClusteredDifferences, ClusteredPrecision
from tests.valid import valid

N = 60
IDS = [f"c{place:02}" for place in range(N)]
ORDERS = {"a": IDS, "b": [*IDS[30:], *IDS[:30]], "c": IDS[::-1]}
RANKS = pl.concat(
    pl.DataFrame({"measure": name, "id": order, "rank": range(1, N + 1)})
    for name, order in ORDERS.items()
)
VERB_OF = {name: f"v{(place * place) % 11}" for place, name in enumerate(IDS)}
VERBS = pl.DataFrame({"id": IDS, "cluster": [VERB_OF[name] for name in IDS]})
JUDGED = pl.DataFrame({
    "category": "TP", "id": IDS,
    "tp": [None if place % 10 == 7 else place % 4 == 0 or place < 12 for place in range(N)],
    "multiplicity": [2 if place == 5 else 1 for place in range(N)],
})  # fmt: skip
REDRAWN = ClusterBootstrap("l2", confidence=0.95, replicates=3000, seed="s")


def precision(**changed: Any) -> pl.DataFrame:
    arguments: dict[str, Any] = {"ranks": RANKS, "judged": JUDGED, "clusters": VERBS} | changed
    frames = [arguments.pop(name) for name in ("ranks", "judged", "clusters")]
    options: dict[str, Any] = {
        "measures": ["a", "b", "c"],
        "at": [20, 40],
        "bootstrap": REDRAWN,
    } | arguments
    return valid(clustered_precision(*frames, **options), ClusteredPrecision)


def differences(**changed: Any) -> pl.DataFrame:
    arguments: dict[str, Any] = {"ranks": RANKS, "judged": JUDGED, "clusters": VERBS} | changed
    frames = [arguments.pop(name) for name in ("ranks", "judged", "clusters")]
    options: dict[str, Any] = {
        "pairs": [("a", "b"), ("a", "c")],
        "at": [20, 40],
        "bootstrap": REDRAWN,
    } | arguments
    tests = clustered_differences(*frames, **options)
    whole = adjust(tests, correction="holm", alpha=0.05, margin=0.0, table=ClusteredDifferences)
    return valid(whole, ClusteredDifferences)


def count_by_cluster(members: set[str]) -> dict[str, list[int]]:
    """Count draws and true positives of each cluster among some candidates."""
    result: dict[str, list[int]] = {}
    for name, tp, times in JUDGED.select("id", "tp", "multiplicity").rows():
        if tp is not None:
            draws = result.setdefault(VERB_OF[name], [0, 0])
            draws[0] += times * (name in members)
            draws[1] += times * tp * (name in members)
    return result


def simulate(sets: list[set[str]]) -> np.ndarray:
    """Resample clusters in a loop; return the signed sum of the precisions of the sets."""
    tables = [count_by_cluster(members) for members in sets]
    names, random, result = sorted(tables[0]), np.random.default_rng(1), []
    for _ in range(3000):
        again = [names[place] for place in random.integers(0, len(names), len(names))]
        sums = [np.sum([table[name] for name in again], axis=0) for table in tables]
        shares = [k / n if n else np.nan for n, k in sums]
        result.append(shares[0] if len(shares) == 1 else shares[0] - shares[1])
    return np.array(result)


def test_precision_agrees_with_a_slow_twin() -> None:
    row = precision().filter(measure="b", n=20).row(0, named=True)
    members = set(ORDERS["b"][:20])
    table = {name: counts for name, counts in count_by_cluster(members).items() if counts[0]}
    n, k = np.sum(list(table.values()), axis=0)
    assert (row["n_sampled"], row["k_sampled"], row["clusters"]) == (n, k, len(table))
    g = float(effective_clusters([[counts[0] for counts in table.values()]]))
    assert row["effective_clusters"] == pytest.approx(g)
    p = k / n
    effect = np.nanvar(simulate([members])) / (p * (1 - p) / n)
    assert row["design_effect"] == pytest.approx(effect, rel=0.15)
    assert row["lower"] < p < row["upper"]


def test_differences_agree_with_a_slow_twin() -> None:
    one, two = (set(ORDERS[name][:40]) for name in ("a", "b"))
    sets = [one - two, two - one]
    row = differences().filter(measure_2="b", n=40).row(0, named=True)
    (n_1, k_1), (n_2, k_2) = (
        np.sum(list(count_by_cluster(each).values()), axis=0) for each in sets
    )
    assert (row["n_1"], row["k_1"], row["n_2"], row["k_2"]) == (n_1, k_1, n_2, k_2)
    draws = [[counts[0] for counts in count_by_cluster(each).values()] for each in sets]
    error, freedom = error_and_freedom(simulate(sets), effective_clusters(draws))
    p = student_p_values(k_1 / n_1 - k_2 / n_2, error, freedom)
    assert row["p_value"] == pytest.approx(float(p), abs=0.03)
    half = (row["upper"] - row["lower"]) / 2
    expected = student.isf(0.025, freedom) * error * len(sets[0]) / 40
    assert half == pytest.approx(float(expected), rel=0.06)


def test_counts_are_those_of_the_difference_sets() -> None:
    columns = ["measure_1", "measure_2", "n", "size", "n_1", "k_1", "n_2", "k_2"]
    pairs = [("a", "b"), ("a", "c")]
    expected = difference_counts(RANKS, JUDGED, pairs=pairs, at=[20, 40]).select(columns)
    assert differences().select(columns).equals(expected)


def test_the_order_of_rows_and_names_does_not_matter() -> None:
    shuffled = {
        "ranks": RANKS.reverse(), "judged": JUDGED.reverse(), "clusters": VERBS.reverse(),
    }  # fmt: skip
    assert differences(**shuffled).equals(differences())
    assert precision(**shuffled).equals(precision())
    turned = differences(pairs=[("b", "a")], at=[40]).row(0, named=True)
    straight = differences(pairs=[("a", "b")], at=[40]).row(0, named=True)
    assert (turned["lower"], turned["upper"]) == pytest.approx(
        (-straight["upper"], -straight["lower"])
    )
    assert turned["p_value"] == pytest.approx(straight["p_value"])


def test_pairs_in_parts_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.kernels.nbest.clustered._COLUMNS", 8)
    some = differences()
    monkeypatch.undo()
    assert some.equals(differences())


def test_equal_draws_within_clusters_count_by_cluster() -> None:
    ids = [f"d{place:03}" for place in range(200)]
    ranks = pl.DataFrame({"measure": "a", "id": ids, "rank": range(1, 201)})
    judged = pl.DataFrame({
        "category": "TP", "id": ids, "tp": [place % 20 < 10 for place in range(200)], "multiplicity": 1,
    })  # fmt: skip
    own = pl.DataFrame({"id": ids, "cluster": ids})
    tens = pl.DataFrame({"id": ids, "cluster": [f"v{place // 10}" for place in range(200)]})
    free, tied = (
        precision(ranks=ranks, judged=judged, clusters=each, measures=["a"], at=[200]).row(
            0, named=True
        )
        for each in (own, tens)
    )
    assert free["design_effect"] == pytest.approx(1.0, abs=0.1)
    assert tied["design_effect"] == pytest.approx(10.0, abs=1.0)
    # never narrower than that of as many independent draws as there are clusters
    assert tied["upper"] - tied["lower"] >= np.ptp(clopper_pearson(10, 20))


def test_degenerate_samples_have_limits() -> None:
    one = JUDGED.with_columns(tp=pl.when(pl.col("id") == "c00").then(statement=True))
    row = precision(judged=one, measures=["a"], at=[20]).row(0, named=True)
    assert (row["precision"], row["clusters"], row["effective_clusters"]) == (1.0, 1, 1.0)
    assert (row["lower"], row["upper"]) == pytest.approx((0.025, 1.0))
    assert row["design_effect"] is None
    none = precision(judged=JUDGED.with_columns(tp=pl.lit(None, pl.Boolean)))
    assert none.select("lower", "upper").unique().rows() == [(0.0, 1.0)]
    false = differences(judged=JUDGED.with_columns(tp=pl.lit(value=False)))
    assert false["p_value"].null_count() == false.height
    assert (false["upper"] - false["lower"] == 2 * false["size"] / false["n"]).all()
    assert precision(ranks=RANKS.clear(), measures=[]).is_empty()
    assert differences(judged=JUDGED.clear()).is_empty()
    assert differences(pairs=[]).is_empty()
    same = differences(ranks=RANKS.with_columns(rank=pl.col("id").str.slice(1).cast(pl.Int64) + 1))
    assert same.select("difference", "lower", "upper").unique().rows() == [(0.0, 0.0, 0.0)]


def test_candidates_without_a_cluster_are_refused() -> None:
    with pytest.raises(ValueError, match="no cluster for 2 candidates, for example c00, c01"):
        precision(clusters=VERBS.filter(pl.col("id") > "c01"))
