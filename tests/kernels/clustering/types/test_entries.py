"""Memberships as patterns: rows that count, are dropped, or are errors."""

from __future__ import annotations

from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.kernels.clustering.types.measures import Entries, entries

GOLD = pl.DataFrame({"item": ["b", "a", "a", "c"], "gold": ["10", "10", "2", "10"]})
INDUCED = pl.DataFrame({"item": ["a", "b", "d", "d"], "cluster": ["1", "1", "1", "9"]})
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=20)


def sets(table: Entries) -> list[tuple[str, set[str], set[str]]]:
    """Return the entries of each item."""
    gold, induced = table.patterns.gold.toarray(), table.patterns.induced.toarray()
    return [
        (
            item,
            {table.classes[int(c)] for c in np.flatnonzero(gold[p])},
            {table.clusters[int(k)] for k in np.flatnonzero(induced[p])},
        )
        for item, p in zip(table.items, table.pattern, strict=True)
    ]


def test_entries_and_dropped_rows_agree_with_those_by_hand() -> None:
    result = entries(GOLD, INDUCED)
    assert sets(result) == [
        ("a", {"10", "2"}, {"1"}),
        ("b", {"10"}, {"1"}),
        ("c", {"10"}, set()),
    ]
    assert (result.n_dropped, result.n_without_cluster, result.n_clusters_dropped) == (
        1,
        1,
        1,
    )
    assert result.clusters.to_list() == ["1"]


def test_weights_are_refused() -> None:
    weighed = INDUCED.with_columns(weight=pl.Series([1.0, None, 0.25, 0.75]))
    message = "memberships: has weights of clusters, 2 other than 1, for example 0.25 of 'd' in '1'"
    with pytest.raises(DataError, match=message):
        entries(GOLD, weighed)
    with pytest.raises(DataError, match="has weights of classes, 4 other than 1"):
        entries(GOLD.with_columns(weight=pl.lit(0.5)), INDUCED)
    one = entries(GOLD.with_columns(weight=pl.lit(1)), INDUCED.with_columns(weight=pl.lit(1.0)))
    assert sets(one) == sets(entries(GOLD, INDUCED))


def test_numbers_sort_as_text() -> None:
    assert entries(GOLD, INDUCED).classes.to_list() == ["10", "2"]


def test_equal_items_are_one_pattern() -> None:
    gold = pl.DataFrame({"item": list("abc"), "gold": ["N", "V", "N"]})
    induced = pl.DataFrame({"item": list("abc"), "cluster": ["1", "1", "1"]})
    result = entries(gold, induced)
    assert result.patterns.counts.tolist() == [2, 1]
    assert result.pattern.tolist() == [0, 1, 0]


@given(pairs, pairs, st.randoms())
def test_order_and_repetition_of_rows_do_not_matter(
    gold: list[tuple[int, int]], induced: list[tuple[int, int]], random: Random
) -> None:
    first = [(f"w{i}", f"c{c}") for i, c in [(0, 0), *gold]]
    second = [(f"w{i}", f"k{k}") for i, k in induced]
    result = entries(_table(first, "gold"), _table(second, "cluster"))
    gold_items = {item for item, _ in first}
    assert sets(result) == [
        (item, {c for i, c in first if i == item}, {k for i, k in second if i == item})
        for item in sorted(gold_items)
    ]
    assert result.n_dropped == len({i for i, _ in second} - gold_items)
    assert result.patterns.counts.sum() == len(gold_items)
    random.shuffle(first)
    random.shuffle(second)
    again = entries(_table(first * 2, "gold"), _table(second * 2, "cluster"))
    assert again.pattern.tolist() == result.pattern.tolist()
    assert abs(again.patterns.gold - result.patterns.gold).nnz == 0
    assert abs(again.patterns.induced - result.patterns.induced).nnz == 0


def _table(rows: list[tuple[str, str]], label: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"item": pl.String, label: pl.String}, orient="row")


def test_nulls_are_no_membership() -> None:
    gold = pl.DataFrame({"item": ["a", "a", None, "b"], "gold": ["N", None, "V", None]})
    induced = pl.DataFrame({"item": ["a", None], "cluster": [None, "1"]})
    result = entries(gold, induced)
    assert sets(result) == [("a", {"N"}, set())]
    assert result.n_without_cluster == 1


def test_gold_entries_without_clusters_are_kept() -> None:
    result = entries(GOLD, INDUCED.clear())
    assert len(result.clusters) == 0
    assert result.patterns.induced.shape == (2, 0)
    assert result.n_without_cluster == 3


def test_items_without_gold_entry_are_dropped() -> None:
    result = entries(GOLD, pl.DataFrame({"item": ["x"], "cluster": ["1"]}))
    assert (result.n_dropped, result.n_clusters_dropped, len(result.clusters)) == (1, 1, 0)


@pytest.mark.parametrize("gold", [GOLD.clear(), GOLD.with_columns(gold=pl.lit(None))])
def test_tables_without_items_are_refused(gold: pl.DataFrame) -> None:
    with pytest.raises(DataError, match="no item has a gold class"):
        entries(gold, INDUCED)


def test_empty_names_are_refused() -> None:
    empty = pl.DataFrame({"item": ["b", "a", ""], "cluster": ["", "", "1"]})
    with pytest.raises(DataError, match="empty item or cluster in 3 rows, for example '': '1', "):
        entries(GOLD, empty)
    with pytest.raises(DataError, match="empty item or gold in 1 row"):
        entries(pl.DataFrame({"item": ["a"], "gold": [""]}), INDUCED)


def test_columns_must_be_present_and_strings() -> None:
    with pytest.raises(DataError, match="no column 'gold' among item, cluster"):
        entries(INDUCED, INDUCED)
    with pytest.raises(DataError, match="column 'cluster' is Int64, not String"):
        entries(GOLD, pl.DataFrame({"item": ["a"], "cluster": [1]}))
