"""Ranks in parts are the ranks, wherever the parts begin."""

from __future__ import annotations

import math

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.nbest.ranking import rank, ranked_in_parts
from tests.kernels.room_for import room_for

values = st.one_of(
    st.none(), st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf, math.nan])
)


def in_parts(scores: pl.LazyFrame, measures: list[str], rows: int) -> list[pl.DataFrame]:
    with memory.limited(memory.USUAL), room_for(rows):
        return list(ranked_in_parts(scores, measures=measures, seed="s"))


@given(st.lists(st.tuples(values, values), max_size=40), st.integers(1, 12))
def test_parts_are_the_whole(scored: list[tuple[float | None, float | None]], rows: int) -> None:
    first, second = ([pair[place] for pair in scored] for place in (0, 1))
    ids = [f"x{number}" for number in range(len(scored))]
    schema = {"id": pl.String, "b": pl.Float64, "a": pl.Float64}
    scores = pl.LazyFrame({"id": ids, "b": first, "a": second}, schema=schema)
    whole = rank(scores, measures=["b", "a"], seed="s").collect()
    assert pl.concat(in_parts(scores, ["b", "a"], rows)).equals(whole)


def test_equal_scores_are_divided_too() -> None:
    scores = pl.LazyFrame({"id": [f"x{number}" for number in range(1000)], "m": [1] * 1000})
    parts = in_parts(scores, ["m"], 100)
    assert len(parts) > 5
    assert max(part.height for part in parts) < 250
    assert pl.concat(parts)["tie"].unique().to_list() == [1]


def test_without_a_limit_a_measure_is_one_part() -> None:
    scores = pl.LazyFrame({"id": ["x", "y"], "m": [1.0, 2.0], "tie_key": [2.0, 1.0]})
    with room_for(1):
        parts = list(ranked_in_parts(scores, measures=["m", "tie_key"], seed="s"))
    assert [part["id"].to_list() for part in parts] == [["y", "x"], ["x", "y"]]
