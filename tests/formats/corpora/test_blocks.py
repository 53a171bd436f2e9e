"""Duplicate keys among hashes, however few may be held: against a counter."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.formats.corpora.blocks import Hashes

HASHES = st.lists(st.lists(st.integers(0, 9) | st.sampled_from([2**58, 2**63, 2**64 - 1])))


def taken_in(parts: list[list[int]], most: int) -> list[int]:
    with Hashes(most=most) as hashes:
        for part in parts:
            hashes.add(pl.Series("any name", part, dtype=pl.UInt64))
        return sorted(hashes.repeated().to_list())


@given(HASHES, st.integers(0, 20))
def test_against_a_counter(parts: list[list[int]], most: int) -> None:
    counts = Counter(each for part in parts for each in part)
    assert taken_in(parts, most) == sorted(each for each, n in counts.items() if n > 1)


@pytest.mark.parametrize("most", [10, 1000])
def test_they_lie_on_the_disk_only_where_there_are_many(tmp_path: Path, most: int) -> None:
    folder = tmp_path / "aside"
    with memory.spill_to(folder), Hashes(most=most) as hashes:
        for start in range(0, 100, 5):
            hashes.add(pl.Series(range(start, start + 6), dtype=pl.UInt64))
        assert folder.exists() == (most < 100)
        assert hashes.repeated().sort().to_list() == list(range(5, 100, 5))
    assert not folder.exists()
