"""Sums over all buckets are there once, however many buckets were counted."""

from __future__ import annotations

import polars as pl

from tests.runner.execution.batching import BUCKETS, given
from tests.runner.laboratory import Laboratory


def test_one_part_of_sums_for_all_buckets(texts: Laboratory) -> None:
    given(texts, BUCKETS)
    texts.run()
    (counts,) = texts.root.glob("candidates/counts/[0-9a-f]*/counts")
    pairs = pl.concat(pl.read_parquet(part) for part in counts.glob("*.parquet"))
    (part,) = (counts.parent / "totals").glob("*.parquet")
    sums = pl.read_parquet(part)
    assert len(list(counts.glob("*.parquet"))) > 1
    for side in (1, 2):
        expected = pairs.group_by(unit=f"l{side}").agg(pl.sum("f")).sort("unit")
        found = sums.filter(pl.col("side") == side).select("unit", "f").sort("unit")
        assert found.rows() == expected.rows()
