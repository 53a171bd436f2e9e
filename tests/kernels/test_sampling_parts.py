"""Samples in parts are those of the whole, however few candidates there is room for."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.sampling import (
    with_replacement,
    with_replacement_in_parts,
    without_replacement,
    without_replacement_in_parts,
)
from tests.kernels.room_for import room_for


def ids(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"x{i}" for i in range(count)]}, schema={"id": pl.String})


WAYS = [
    (without_replacement_in_parts, without_replacement),
    (with_replacement_in_parts, with_replacement),
]


@pytest.mark.parametrize(("parts", "whole"), WAYS)
@given(
    population=st.integers(0, 60),
    size=st.integers(1, 80),
    rows=st.integers(1, 70),
    seed=st.text(max_size=3),
)
def test_parts_are_the_whole(
    parts: object, whole: object, *, population: int, size: int, rows: int, seed: str
) -> None:
    every = ids(population)
    with room_for(rows):
        found = parts(every.lazy(), size=size, seed=seed)
    assert found.equals(whole(every, size=size, seed=seed))
