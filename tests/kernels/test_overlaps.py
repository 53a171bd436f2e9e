"""Overlaps of two groupings against sets that are intersected one by one."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.overlaps import f_score, overlaps, precision, recall

GOLD = ["a", "b", "c"]
CLUSTERS = ["1", "2"]
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=25)


def frames(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> list[pl.LazyFrame]:
    schema = {"item": pl.Int64, "gold": pl.String}
    first = pl.LazyFrame([(item, GOLD[i]) for item, i in gold], schema=schema, orient="row")
    schema = {"item": pl.Int64, "cluster": pl.String}
    rows = [(item, CLUSTERS[i % 2]) for item, i in system]
    return [first, pl.LazyFrame(rows, schema=schema, orient="row")]


def table(gold: pl.LazyFrame, system: pl.LazyFrame) -> pl.DataFrame:
    result = overlaps(gold, system, member="item", gold_group="gold", group="cluster")
    return result.collect().sort("gold", "cluster")


@given(pairs, pairs)
def test_overlaps_equal_the_intersections_of_sets(
    gold: list[tuple[int, int]], system: list[tuple[int, int]]
) -> None:
    classes = {name: {x for x, i in gold if GOLD[i] == name} for name in GOLD}
    clusters = {name: {x for x, i in system if CLUSTERS[i % 2] == name} for name in CLUSTERS}
    expected = [
        (c, k, len(classes[c] & clusters[k]), len(classes[c]), len(clusters[k]))
        for c in GOLD
        for k in CLUSTERS
        if classes[c] & clusters[k]
    ]
    assert table(*frames(gold, system)).rows() == expected


def test_a_lexicon_and_a_dictionary_have_these_overlaps() -> None:
    counts = pl.DataFrame({"n_ij": [7, 3], "n_i": [10, 3], "n_j": [7, 3]})
    values = counts.select(p=precision(), r=recall(), f=f_score())
    assert values.rows() == [(1.0, 0.7, 14 / 17), (1.0, 1.0, 1.0)]


def test_nulls_are_no_members() -> None:
    gold = pl.LazyFrame({"item": [1, None, 2], "gold": ["a", "a", None]})
    system = pl.LazyFrame({"item": [1, None], "cluster": ["1", "1"]})
    assert table(gold, system).rows() == [("a", "1", 1, 1, 1)]


def test_groupings_without_a_common_member_have_no_overlap() -> None:
    result = table(*frames([], [(1, 1)]))
    assert result.columns == ["gold", "cluster", "n_ij", "n_i", "n_j"]
    assert result.height == 0
    assert set(result.dtypes[2:]) == {pl.Int64}


def test_groups_need_distinct_names() -> None:
    with pytest.raises(ValueError, match="both group columns are named 'lemma'"):
        overlaps(pl.LazyFrame(), pl.LazyFrame(), member="form", gold_group="lemma", group="lemma")
