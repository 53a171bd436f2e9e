"""Counts of several corpora as one, in parts: as if they were added up by hand."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.counting import merged_in_parts
from tests.kernels.room_for import room_for

SCHEMA = {"l1": pl.String, "l2": pl.String, "f": pl.Int64, "documents": pl.Int64}
units = st.sampled_from("abcde")
corpora = st.lists(
    st.dictionaries(st.tuples(units, units), st.integers(1, 5)), min_size=1, max_size=3
)
Pair = tuple[str, str]


def table(corpus: dict[Pair, int]) -> pl.LazyFrame:
    rows = [(*pair, f, 2 * f) for pair, f in corpus.items()]
    return pl.LazyFrame(rows, schema=SCHEMA, orient="row")


def by_hand(
    corpora: list[dict[Pair, int]], least: int
) -> list[tuple[str, str, int, int, int, int]]:
    f: Counter[Pair] = Counter()
    for corpus in corpora:
        f.update(corpus)
    first, second = (
        {unit: sum(n for pair, n in f.items() if pair[place] == unit) for unit in "abcde"}
        for place in (0, 1)
    )
    return sorted(
        (*pair, n, first[pair[0]], second[pair[1]], f.total())
        for pair, n in f.items()
        if n >= least
    )


@given(corpora, st.integers(1, 30), st.integers(1, 4))
def test_as_added_up_by_hand(corpora: list[dict[Pair, int]], rows: int, least: int) -> None:
    tables = [table(each) for each in corpora]
    with room_for(rows):
        parts = list(merged_in_parts(tables, added=["documents"], min_frequency=least))
    whole = pl.concat(parts)
    found = whole.select("l1", "l2", "f", "f1", "f2", "N").sort("l1", "l2").rows()
    assert found == by_hand(corpora, least)
    assert whole["id"].is_sorted()
    assert whole["documents"].equals(2 * whole["f"])


@pytest.mark.long
def test_more_than_there_is_room_for() -> None:
    corpus = {(f"a{n % 40}", f"b{n}"): 1 for n in range(1000)}
    with room_for(100):
        parts = list(merged_in_parts([table(corpus)] * 2))
    assert len(parts) > 5
    assert max(part.height for part in parts) < 250
    assert sum(part.height for part in parts) == 1000


def test_of_no_pairs() -> None:
    (part,) = merged_in_parts([table({})] * 2)
    assert part.is_empty()
    assert part.columns == ["id", "l1", "l2", "f", "f1", "f2", "N"]
