"""Tables of counts for the tests: from lists, and drawn by Hypothesis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
from hypothesis import strategies as st

SCHEMA = {"gold": pl.String, "cluster": pl.String, "f": pl.Int64}

labellings = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=40)
"""Tokens with a class and a cluster."""


def from_counts(counts: Sequence[Sequence[int]]) -> pl.DataFrame:
    rows = [
        (f"c{i:03}", f"k{j:03}", int(f))
        for i, row in enumerate(counts)
        for j, f in enumerate(row)
        if f
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def from_tokens(tokens: Sequence[tuple[int, int]]) -> pl.DataFrame:
    counts = np.zeros((6, 6), dtype=np.int64)
    for c, k in tokens:
        counts[c, k] += 1
    return from_counts(counts.tolist())


def swap_sides(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.select(gold="cluster", cluster="gold", f="f")
