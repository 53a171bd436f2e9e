"""Ranks are a permutation in score order, ties random but reproducible."""

from __future__ import annotations

import math

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.nbest.ranking import rank, ranked_in_parts
from schemas import Ranks
from schemas.validate import validate
from tests.kernels.room_for import room_for

scores = st.lists(
    st.one_of(st.none(), st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf])), max_size=25
)


def ranked(values: list[float | None], seed: str = "s") -> pl.DataFrame:
    ids = [f"x{i}" for i in range(len(values))]
    frame = pl.LazyFrame({"id": ids, "m": values}, schema={"id": pl.String, "m": pl.Float64})
    return rank(frame, measures=["m"], seed=seed).collect()


@given(values=scores)
def test_ranks_against_a_slow_twin(values: list[float | None]) -> None:
    found = ranked(values)
    validate([found], Ranks, name="ranks")
    order = {"x" + str(i): v for i, v in enumerate(values)}
    keys = dict(found.select("id", "tie_key").iter_rows())
    worth = {i: -math.inf if v is None else v for i, v in order.items()}
    slow = sorted(order, key=lambda i: (order[i] is None, -worth[i], keys[i], i))
    assert found.sort("rank").get_column("id").to_list() == slow
    for row in found.iter_rows(named=True):
        same = [slow.index(i) + 1 for i, v in order.items() if v == order[row["id"]]]
        assert row["tie"] == min(same)


@given(values=scores)
def test_row_order_does_not_matter(values: list[float | None]) -> None:
    ids = [f"x{i}" for i in range(len(values))]
    frame = pl.DataFrame({"id": ids, "m": values}, schema={"id": pl.String, "m": pl.Float64})
    assert rank(frame.reverse().lazy(), measures=["m"], seed="s").collect().equals(ranked(values))


def test_ties_break_alike_for_all_measures_and_otherwise_for_another_seed() -> None:
    ids = [f"x{i}" for i in range(50)]
    frame = pl.LazyFrame({"id": ids, "a": [1.0] * 50, "b": [2.0] * 50})
    orders = {
        (seed, measure): tuple(part.get_column("id"))
        for seed in "st"
        for (measure,), part in rank(frame, measures=["a", "b"], seed=seed)
        .collect()
        .group_by("measure", maintain_order=True)
    }
    assert orders["s", "a"] == orders["s", "b"] != orders["t", "a"]
    assert sorted(orders["t", "a"]) == sorted(ids)


# --- Ranks in parts are the ranks, wherever the parts begin.

values = st.one_of(
    st.none(), st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf, math.nan])
)


def in_parts(scores: pl.LazyFrame, measures: list[str], rows: int) -> list[pl.DataFrame]:
    with memory.with_limit(memory.USUAL), room_for(rows):
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
