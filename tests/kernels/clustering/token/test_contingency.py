"""The contingency table: labels in order, impossible input refused."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.kernels.clustering.token.contingency import contingency, without_empty


def cells(rows: list[tuple[str | None, str | None, int | None]]) -> pl.DataFrame:
    schema = {"gold": pl.String, "cluster": pl.String, "f": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_labels_are_sorted_and_empty_ones_left_out() -> None:
    table = contingency(cells([("b", "2", 3), ("a", "1", 1), ("a", "9", 0), ("c", "1", 0)]))
    assert (table.gold, table.clusters) == (("a", "b"), ("1", "2"))
    assert table.counts.tolist() == [[1, 0], [0, 3]]
    assert (table.classes.tolist(), table.sizes.tolist(), table.N) == ([1, 3], [1, 3], 4)


def test_no_tokens() -> None:
    table = contingency(cells([]))
    assert (table.N, table.counts.shape) == (0, (0, 0))


def test_equal_partitions() -> None:
    assert contingency(cells([("a", "x", 3), ("b", "y", 2)])).equal
    assert not contingency(cells([("a", "x", 3), ("b", "x", 2)])).equal
    assert not contingency(cells([("a", "x", 3), ("a", "y", 2)])).equal


def test_rows_and_columns_without_tokens_go() -> None:
    table = contingency(cells([("a", "1", 1), ("b", "2", 3)]))
    table.counts[0, 0] = 0
    left = without_empty(table)
    assert (left.gold, left.clusters, left.counts.tolist()) == (("b",), ("2",), [[3]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "1", 1), (None, "1", 2)], "column gold: 1 null or empty, e.g. row 1"),
        ([("a", "", 1), ("b", None, 2)], "column cluster: 2 null or empty, e.g. row 0, 1"),
        ([("a", "1", -1)], "column f: 1 null or negative"),
        ([("a", "1", None)], "column f: 1 null or negative"),
        ([("a", "1", 1), ("a", "1", 2)], "2 pairs that come twice, e.g. row 0, 1; add them up"),
    ],
)
def test_impossible_input(
    rows: list[tuple[str | None, str | None, int | None]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        contingency(cells(rows))
