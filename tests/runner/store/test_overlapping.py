"""Parts whose keys overlap, read in the order of all, a range at a time."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.runner.store import digest
from pipeline.runner.store.digest import ranges, table_digest
from schemas import SchemaViolation

KEY = ["a", "b"]
LETTERS = st.sampled_from([None, "", "x", "y", "é"])
PARTS = st.lists(st.lists(st.tuples(LETTERS, st.integers(0, 5))), min_size=1, max_size=4)


def frames(parts: list[list[tuple[str | None, int]]]) -> list[pl.LazyFrame]:
    schema = {"a": pl.String, "b": pl.Int64}
    return [pl.DataFrame(rows, schema, orient="row").sort(KEY).lazy() for rows in parts]


@given(PARTS, st.integers(1, 30))
def test_one_after_the_other_they_are_the_sorted_whole(
    parts: list[list[tuple[str | None, int]]], rows: int
) -> None:
    found = pl.concat(ranges(frames(parts), KEY, rows=rows)).collect()
    assert found.equals(pl.concat(frames(parts)).sort(KEY).collect())


def test_a_range_is_as_long_as_there_is_room_for() -> None:
    whole = pl.LazyFrame({"a": range(300_000)})
    with memory.limited(1):
        few = ranges([whole], ["a"])
        most = max(each.collect().height for each in few)
    assert len(few) > len(ranges([whole], ["a"])) > 1
    assert most < 2 * digest.ROWS / 10
    assert pl.concat(few).collect().equals(whole.collect())


@given(PARTS, st.integers(1, 30))
def test_equal_keys_are_in_one_range(parts: list[list[tuple[str | None, int]]], rows: int) -> None:
    found = [each.unique().collect() for each in ranges(frames(parts), KEY, rows=rows)]
    assert not pl.concat(found).is_duplicated().any()


def test_the_digest_is_that_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(digest, "ranges", lambda *given: ranges(*given, rows=7))
    whole = pl.LazyFrame({"a": [f"k{number}" for number in range(100)], "n": range(100)})
    parts = [whole.filter(pl.col("n") % 3 == each).sort("a") for each in range(3)]
    expected = table_digest(whole, key=["a"], name="t")
    assert table_digest(*parts, key=["a"], name="t") == expected
    unordered = [part.sort("n", descending=True) for part in parts]
    assert table_digest(*unordered, key=["a"], name="t") == expected
    with pytest.raises(SchemaViolation, match=r"key_is_unique \(a\) in 1 row\n"):
        table_digest(*parts, parts[1].head(1), key=["a"], name="t")
