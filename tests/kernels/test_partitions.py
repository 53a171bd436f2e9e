"""Tables in parts: every row in one part, equal values together, parts in order."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.partitions import (
    batches,
    bucket_of,
    buckets_for,
    by_range,
    most_rows,
    parts_of,
    ranges_of,
    slices,
    spill_of,
)
from tests.kernels.room_for import room_for

texts = st.lists(st.text("abß", max_size=2), max_size=30)


def table(values: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"lemma": values}, schema={"lemma": pl.String})


@given(texts, st.integers(1, 7))
def test_parts_are_consecutive_ranges(values: list[str], rows: int) -> None:
    with room_for(rows):
        parts = [each.collect()["lemma"] for each in parts_of(table(values).lazy(), by="lemma")]
    assert sorted(pl.concat(parts)) == sorted(values)
    ends = [(part.min(), part.max()) for part in parts if len(part)]
    assert all(one[1] < two[0] for one, two in itertools.pairwise(ends))


@given(texts, st.integers(1, 7))
def test_spilled_rows_have_the_same_ranges(values: list[str], rows: int) -> None:
    frame = table(values)
    with room_for(rows), spill_of(1, frame.schema) as flat:
        flat.add(frame, pl.lit(0))
        with by_range(flat, by="lemma") as ranges:
            parts = [sorted(each.collect()["lemma"]) for each in ranges]
        expected = [sorted(each.collect()["lemma"]) for each in parts_of(frame.lazy(), by="lemma")]
    assert parts == expected


def test_equal_values_are_never_divided() -> None:
    same = table(["a"] * 9)
    with room_for(2):
        ranges = ranges_of("lemma", same.lazy(), table(["a", "b"]).lazy())
    sizes = [
        ranges.of(same.lazy(), number, by="lemma").collect().height for number in range(len(ranges))
    ]
    assert sorted(sizes)[-1] == sum(sizes) == 9
    assert same.select(ranges.number("lemma")).n_unique() == 1


def test_an_empty_table_has_one_part() -> None:
    empty = table([])
    assert [each.collect().height for each in parts_of(empty.lazy(), by="lemma")] == [0]
    assert [each.shape for each in batches(empty.lazy())] == [(0, 1)]
    assert [each.shape for each in slices(empty)] == [(0, 1)]


@pytest.mark.parametrize("rows", [1, 2, 10])
def test_batches_and_slices_contain_all_rows_in_order(rows: int) -> None:
    frame = table(list("hgfedcba"))
    with room_for(rows):
        assert pl.concat(batches(frame.lazy())).equals(frame)
        assert pl.concat(slices(frame)).equals(frame)


def test_equal_texts_are_in_one_bucket() -> None:
    frame = table(["a", "b", "a", "ß", "ß"])
    numbers = frame.select(bucket_of("lemma", 3)).to_series().to_list()
    assert numbers[0] == numbers[2]
    assert numbers[3] == numbers[4]
    assert set(numbers) <= {0, 1, 2}
    assert frame.select(bucket_of("lemma", 1)).to_series().to_list() == [0]


def test_numbers_of_rows_depend_on_the_memory() -> None:
    with memory.with_limit(4 << 30):
        many, buckets = most_rows(), buckets_for(50_000_000)
    with memory.with_limit(1 << 20):
        few = most_rows()
    assert few < many < 5_000_000
    assert buckets == -(-50_000_000 // many)
