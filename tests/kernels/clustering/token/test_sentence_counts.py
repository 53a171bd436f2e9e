"""Counts by sentence in few bytes, against sums that are taken by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.errors import DataError
from pipeline.kernels import partitions
from pipeline.kernels.clustering.token import bootstrap as counting
from pipeline.kernels.clustering.token.bootstrap import sentence_counts, token_intervals
from pipeline.memory import limited

COLUMNS = {"file": pl.String, "s": pl.Int64, "gold": pl.String, "cluster": pl.String, "f": pl.Int64}
ROWS = st.lists(
    st.tuples(
        st.sampled_from("ba"), st.integers(-3, 12), st.sampled_from("NVA"), st.sampled_from("12"),
        st.integers(0, 2**33),
    ),
    min_size=1,
)  # fmt: skip


def frame(rows: list[tuple[str, int, str, str, int]]) -> pl.DataFrame:
    return pl.DataFrame(rows, COLUMNS, orient="row")


@given(rows=ROWS, batch=st.integers(1, 9), memory=st.sampled_from([None, 1, 600]), data=st.data())
def test_weighted_by_hand(
    rows: list[tuple[str, int, str, str, int]],
    batch: int,
    memory: int | None,
    data: st.DataObject,
) -> None:
    places = sorted({(file, s) for file, s, *_ in rows})
    times = st.lists(st.integers(0, 4), min_size=len(places), max_size=len(places))
    samples = data.draw(st.lists(times, min_size=1, max_size=3))
    with pytest.MonkeyPatch.context() as patch, limited(memory):
        patch.setattr(partitions, "_BATCH", batch)
        patch.setattr(counting, "_PLACE", 0)
        with sentence_counts(frame(rows).lazy(), "file", "s") as found:
            assert found.sentences == len(places)
            tables = list(found.weighted(np.array(samples).T))
    for sample, table in zip(samples, tables, strict=True):
        sums = Counter[tuple[str, str]]()
        for file, s, gold, cluster, f in rows:
            sums[gold, cluster] += f * sample[places.index((file, s))]
        expected = [[sums[g, c] for c in found.table.clusters] for g in found.table.gold]
        assert table.tolist() == expected


def test_rows_that_do_not_count_are_as_if_they_were_not_there() -> None:
    rows = [("a", 1, "N", "1", 2), ("a", 2, "V", "1", 3), ("b", 1, "N", "2", 4)]
    cells = frame(rows).with_columns(pl.when(pl.col("f") < 4).then("cluster").alias("cluster"))
    options: dict[str, Any] = {
        "measures": ["v", "many_to_one"],
        "confidence": 0.9,
        "replicates": 20,
        "seed": "s",
    }
    some = token_intervals(
        cells, **options, place=["file", "s"], among=pl.col("cluster").is_not_null()
    )
    left = token_intervals(cells.drop_nulls(), **options, place=["file", "s"])
    assert some.equals(left)


def test_more_sentences_than_there_is_room_for_are_refused() -> None:
    cells = frame([("a", s, "N", "1", 2) for s in range(9)])
    expected = pytest.raises(DataError, match="places of 9 sentences.*bootstrap")
    with limited(200), expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_counts_that_there_is_no_room_for_lie_on_the_disk_and_give_the_same(tmp_path: Path) -> None:
    rows = [("a", s % 9, "NV"[s % 2], "12"[s % 3 % 2], 1 + s) for s in range(200)]
    options: dict[str, Any] = {"measures": ["v"], "confidence": 0.9, "replicates": 20, "seed": "s"}
    held = token_intervals(frame(rows), **options, place=["file", "s"])
    with limited(9 * 100), memory.within(tmp_path / "aside"):
        laid = token_intervals(frame(rows), **options, place=["file", "s"])
        with sentence_counts(frame(rows).lazy(), "file", "s") as found:
            assert found.samples_at_a_time() == 1
            assert found.laid.files(0)
        assert not any((tmp_path / "aside").iterdir())
    assert laid.equals(held)


def test_labels_of_any_batch_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "_BATCH", 2)
    cells = frame([("a", 1, "N", "1", 1)] * 5 + [("a", None, "N", "1", 1)])  # type: ignore[list-item]
    expected = pytest.raises(DataError, match="s")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_the_row_that_is_wrong_is_named() -> None:
    cells = frame([("a", 1, "N", "1", 1)] * 3 + [("a", 1, "", "1", 1)])
    expected = pytest.raises(DataError, match="column gold: 1 null or empty, e.g. row 3")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


@pytest.mark.parametrize("f", [-1, None])
def test_an_impossible_count_is_not_made_up_for_by_others(f: int | None) -> None:
    cells = frame([("a", 1, "N", "1", 5)]).vstack(
        frame([("a", 1, "N", "1", 0)]).with_columns(f=pl.lit(f, pl.Int64))
    )
    expected = pytest.raises(DataError, match="column f: 1 null or negative")
    with expected, sentence_counts(cells.lazy(), "file", "s"):
        pass


def test_counts_of_one_place_are_added_up_beyond_32_bits() -> None:
    most = 2**31 - 1
    rows = frame([("a", 1, "N", "1", most)] * 3)
    with sentence_counts(rows.lazy(), "file", "s") as found:
        [table] = found.weighted(np.ones((1, 1), dtype=np.int64))
    assert table.tolist() == [[3 * most]]
