"""Measures for overlapping data: slow twins, agreement of ways to count, laws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pipeline.errors import DataError
from pipeline.kernels.clustering.measure import OVERLAPPING_MEASURES
from pipeline.kernels.clustering.overlapping import measures
from pipeline.kernels.clustering.overlapping import memberships as membership_module
from pipeline.kernels.clustering.overlapping.measures import (
    element_centric_estimate,
    overlapping_scores,
)
from pipeline.kernels.clustering.overlapping.memberships import Patterns, memberships
from pipeline.kernels.numeric import IntArray
from tests.kernels.clustering.overlapping.slow_overlapping import (
    TWINS,
    Items,
    clustered,
    frames,
    overlapping,
)

ALL = OVERLAPPING_MEASURES.resolve(["all"])
Way: TypeAlias = Callable[[Patterns, Patterns, IntArray, IntArray], Iterator[tuple[Any, ...]]]


def scores(items: Items, names: list[str] = ALL) -> dict[str, float]:
    table = overlapping_scores(*frames(items), measures=names, seed="s")
    assert table["standard_error"].null_count() == table.height
    return dict(table.select("measure", pl.col("value").fill_null(math.nan)).iter_rows())


def items_of(*pairs: tuple[str, str]) -> Items:
    return [(frozenset(map(int, a)), frozenset(map(int, b))) for a, b in pairs]


@given(overlapping)
def test_overlapping_measures_agree_with_slow_twins(items: Items) -> None:
    expected = {name: twin(items) for name, twin in TWINS.items()}
    assert scores(items, list(TWINS)) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@given(overlapping)
def test_single_measures_equal_those_of_the_table(items: Items) -> None:
    data = memberships(*frames(items), seed="s")
    alone = {name: OVERLAPPING_MEASURES.get(name).score(data) for name in ALL}
    assert scores(items) == pytest.approx(alone, nan_ok=True)


def count_shared(items: Items, way: Way) -> IntArray:
    """Return how many items share so many classes and clusters with each pattern."""
    data = memberships(*frames(items))
    full = np.zeros((len(data.counts), 7, 7), dtype=np.int64)
    for places, shared in way(data.gold, data.clusters, data.pairs, data.counts):
        full[places, : shared.shape[1], : shared.shape[2]] = shared
    return full


@given(overlapping)
def test_both_ways_to_count_pairs_agree(items: Items) -> None:
    values = [
        count_shared(items, way)
        for way in (membership_module._from_subsets, membership_module._from_pairs)
    ]
    assert (values[0] == values[1]).all()


def drawn_sets() -> Items:
    """Return 80 items with up to six classes and six clusters."""
    masks = np.random.default_rng(3).integers(1, 64, size=(80, 2))
    sets = [[frozenset(j for j in range(6) if mask >> j & 1) for mask in row] for row in masks]
    return [(classes, clusters) for classes, clusters in sets]


@pytest.mark.parametrize(("block", "dense"), [(2**21, 10), (40, 2**24), (40, 10)])
def test_subsets_are_counted_in_blocks_and_without_a_dense_table(
    block: int, dense: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = drawn_sets()
    before = count_shared(items, membership_module._from_subsets)
    monkeypatch.setattr(membership_module, "_BLOCK", block)
    monkeypatch.setattr(membership_module, "_DENSE", dense)
    assert (count_shared(items, membership_module._from_subsets) == before).all()


def test_block_sizes_do_not_change_the_values(monkeypatch: pytest.MonkeyPatch) -> None:
    items = drawn_sets()
    before = scores(items)
    changed = [
        (membership_module, "_BLOCK", 40),
        (membership_module, "_ROWS", 3),
        (measures, "_ROWS", 7),
    ]
    for module, name, value in changed:
        monkeypatch.setattr(module, name, value)
    assert scores(items) == before
    monkeypatch.setattr(measures, "_COLUMNS", 5)
    assert scores(items) == pytest.approx(before, rel=1e-12)


def test_overlapping_measures_agree_with_values_by_hand() -> None:
    # Two items of classes {0, 1} and {0}, both in cluster 0.
    values = scores(items_of(("01", "0"), ("0", "0")))
    # Each pair shares one cluster, and one class at least: precision 1. The first item shares
    # two classes with itself but one cluster, 1/2, and one with the other, 1: recall 3/4.
    assert values["bcubed_precision"] == 1.0
    assert values["bcubed_recall"] == 7 / 8
    assert values["bcubed_f"] == pytest.approx(14 / 15)
    assert values["omega"] == 1.0


def test_items_missing_from_the_output_are_kept() -> None:
    values = scores(items_of(("0", "0"), ("0", "")))
    assert (values["bcubed_precision"], values["bcubed_recall"]) == (1.0, 1 / 4)
    assert values["element_centric"] == 1 / 4
    assert values["omega"] == 0.0


def test_items_in_every_cluster_have_low_values() -> None:
    values = scores(items_of(*[(str(i), "0123") for i in range(4)] * 2))
    assert values["nmi_lfk"] == values["nmi_max"] == 0.0
    # A pair shares four clusters, and one class with the chance 1/4.
    assert values["bcubed_precision"] == pytest.approx(1 / 16)
    assert values["omega"] <= 0.0


@given(st.lists(st.frozensets(st.integers(0, 4), min_size=1, max_size=4), min_size=2, max_size=14))
def test_equal_groupings_have_a_value_of_1(sets: list[frozenset[int]]) -> None:
    values = scores([(each, each) for each in sets])
    assert values == pytest.approx(dict.fromkeys(ALL, 1.0), abs=1e-9)


@given(clustered, st.permutations(range(5)))
def test_names_order_and_repeated_rows_do_not_matter(items: Items, names: list[int]) -> None:
    values = scores(items)
    renamed = [(a, frozenset(names[k] for k in b)) for a, b in items]
    assert scores(renamed) == pytest.approx(values, abs=1e-9, nan_ok=True)
    gold, induced = frames(items)
    again = overlapping_scores(
        pl.concat([gold.reverse(), gold]), induced.reverse(), measures=["all"], seed="s"
    )
    assert again.equals(overlapping_scores(gold, induced, measures=["all"], seed="s"))


@given(clustered)
def test_symmetric_measures_do_not_depend_on_the_order_of_sides(items: Items) -> None:
    one, other = scores(items), scores([(b, a) for a, b in items])
    symmetric = [name for name in ALL if OVERLAPPING_MEASURES.get(name).symmetric]
    expected = {name: one[name] for name in symmetric}
    assert {name: other[name] for name in symmetric} == pytest.approx(
        expected, abs=1e-9, nan_ok=True
    )
    assert other["bcubed_precision"] == pytest.approx(one["bcubed_recall"])
    assert other["bcubed_f"] == pytest.approx(one["bcubed_f"])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30))
def test_omega_is_the_adjusted_rand_index_of_partitions(labels: list[tuple[int, int]]) -> None:
    items = [(frozenset({a}), frozenset({b})) for a, b in labels]
    expected = adjusted_rand_score(*map(list, zip(*labels, strict=True)))
    assert scores(items, ["omega"])["omega"] == pytest.approx(expected, abs=1e-9)


def test_a_sample_of_items_gives_an_estimate_and_its_error() -> None:
    bits = np.random.default_rng(8)
    pairs = [
        (frozenset({int(a), int(b)}), frozenset({int(a), int(c)}))
        for a, b, c in bits.integers(7, size=(600, 3))
    ]
    data = memberships(*frames(pairs), seed="s")
    exact, none = element_centric_estimate(data)
    each = measures._similarities(data, np.arange(len(data.counts)), 0.9)
    sd = math.sqrt(np.average((each - exact) ** 2, weights=data.counts))
    estimate, error = element_centric_estimate(data, most_pairs=len(data.counts) * 200)
    assert none == 0.0
    assert error == pytest.approx(sd / math.sqrt(200), rel=0.15)
    assert abs(estimate - exact) < 4 * error
    assert element_centric_estimate(data, most_pairs=len(data.counts) * 200) == (estimate, error)


def test_patterns_are_drawn_in_proportion_to_their_items() -> None:
    patterns = measures._draw_patterns(np.array([1, 2, 1]), 4000, np.random.default_rng(2))
    assert np.bincount(patterns) == pytest.approx([1000, 2000, 1000], abs=150)


def test_tables_without_items_have_no_values() -> None:
    gold, induced = frames([])
    values = overlapping_scores(gold, induced, measures=["all"], seed="s")
    assert values["value"].null_count() == len(ALL)


def test_items_without_clusters_have_values() -> None:
    values = scores(items_of(("0", ""), ("01", "")))
    assert math.isnan(values.pop("bcubed_precision"))
    assert values == dict.fromkeys(values, 0.0)


def test_one_class_and_one_cluster_have_values_of_1() -> None:
    values = scores(items_of(("0", "0"), ("0", "0"), ("0", "0")))
    assert values == dict.fromkeys(ALL, 1.0)


def test_one_item_has_no_pairs() -> None:
    values = scores(items_of(("01", "3")))
    assert math.isnan(values["omega"])
    assert values["bcubed_precision"] == 1.0


def test_items_without_a_class_are_dropped_and_counted() -> None:
    gold, induced = frames(items_of(("0", "0"), ("1", "1"), ("0", "")))
    further = pl.DataFrame({"item": ["x", "x", "y", "z"], "cluster": ["8", "9", "x0", "8"]})
    data = memberships(gold, pl.concat([induced, further]))
    assert (data.items, data.unclustered, data.without_gold) == (3, 1, 3)
    assert data.clusters.labels == ("x0", "x1")


def test_null_and_empty_labels_are_refused() -> None:
    gold, induced = frames(items_of(("0", "0")))
    for wrong in (None, ""):
        bad = pl.DataFrame({"item": ["w0000"], "cluster": [wrong]}, schema=induced.schema)
        with pytest.raises(DataError, match="column cluster: 1 null or empty"):
            overlapping_scores(gold, bad, measures=["omega"], seed="s")
        with pytest.raises(DataError, match="column item: 1 null or empty"):
            overlapping_scores(
                gold.with_columns(item=pl.lit(wrong, dtype=pl.String)), induced,
                measures=["omega"], seed="s",
            )  # fmt: skip


def test_counts_beyond_the_limit_of_work_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(membership_module, "MOST_WORK", 3)
    with pytest.raises(DataError, match="2 distinct patterns of up to 4 classes and clusters"):
        scores(items_of(("01", "01"), ("12", "12")), ["omega"])


def test_weights_are_refused() -> None:
    gold = pl.DataFrame({"item": ["run", "run"], "gold": ["N", "V"]})
    induced = pl.DataFrame({"item": ["run"], "cluster": ["1"], "weight": [0.5]})
    message = (
        "memberships: has weights of clusters, 1 other than 1, for example 0.5 of 'run' in '1'"
    )
    with pytest.raises(DataError, match=message):
        overlapping_scores(gold, induced, measures=["omega"], seed="s")
    with pytest.raises(DataError, match="has weights of classes, 2 other than 1"):
        overlapping_scores(
            gold.with_columns(weight=pl.lit(2)), induced.drop("weight"), measures=["omega"], seed=""
        )
