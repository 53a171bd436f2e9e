"""Ranks are a permutation in score order, ties random but reproducible."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.nbest.ranking import rank, rank_blocks, rankings, tie_key
from schemas import Ranks
from schemas.validate import validate

scores = st.lists(
    st.one_of(st.none(), st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0, math.inf])), max_size=25
)


def rank_values(values: list[float | None], seed: str = "s") -> pl.DataFrame:
    ids = [f"x{i}" for i in range(len(values))]
    frame = pl.LazyFrame({"id": ids, "m": values}, schema={"id": pl.String, "m": pl.Float64})
    return rank(frame, measures=["m"], seed=seed).collect()


@given(values=scores)
def test_the_order_of_rows_does_not_change_ranks(values: list[float | None]) -> None:
    ids = [f"x{i}" for i in range(len(values))]
    frame = pl.DataFrame({"id": ids, "m": values}, schema={"id": pl.String, "m": pl.Float64})
    assert (
        rank(frame.reverse().lazy(), measures=["m"], seed="s").collect().equals(rank_values(values))
    )


def test_the_seed_decides_ties_for_all_measures() -> None:
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


# Ranks agree with a slow twin, with a limit of memory and without one.

values = st.one_of(
    st.none(), st.sampled_from([-math.inf, -1.0, -0.0, 0.0, 0.5, 2.0, math.inf, math.nan])
)


def place(row: tuple[str, float | None, int]) -> tuple[bool, bool, float, int, str]:
    """Return the sort key of a candidate: NaN is above all numbers, null below."""
    name, score, key = row
    number = 0.0 if score is None or math.isnan(score) else -score
    return score is None, score is not None and not math.isnan(score), number, key, name


def slow_ranks(ids: list[str], scores: list[float | None]) -> list[tuple[str, int, int]]:
    keys = pl.DataFrame({"id": ids}, schema={"id": pl.String}).select(tie_key("s"))
    ordered = sorted(zip(ids, scores, keys.to_series(), strict=True), key=place)
    rows: list[tuple[str, int, int]] = []
    for number, row in enumerate(ordered, start=1):
        tied = number > 1 and place(row)[:3] == place(ordered[number - 2])[:3]
        rows.append((row[0], number, rows[-1][2] if tied else number))
    return rows


@pytest.mark.parametrize("limit", [None, memory.DEFAULT_MEMORY])
@given(st.lists(st.tuples(values, values), max_size=40))
def test_ranks_agree_with_a_slow_twin(
    limit: int | None, scored: list[tuple[float | None, float | None]]
) -> None:
    first, second = ([pair[place] for pair in scored] for place in (0, 1))
    ids = [f"x{number}" for number in range(len(scored))]
    schema = {"id": pl.String, "b": pl.Float64, "a": pl.Float64}
    scores = pl.LazyFrame({"id": ids, "b": first, "a": second}, schema=schema)
    with memory.with_limit(limit):
        plans = list(rankings(scores, measures=["b", "a"], seed="s"))
        parts = [each.collect(engine="streaming") for each in plans]
    validate(parts, Ranks, name="ranks")
    for part, name, own in zip(parts, "ab", (second, first), strict=True):
        assert part.select("id", "rank", "tie").rows() == slow_ranks(ids, own)
        assert part["measure"].unique().to_list() == ([name] if scored else [])
    assert pl.concat(parts).equals(rank(scores, measures=["b", "a"], seed="s").collect())


def test_a_measure_may_have_the_name_of_the_tie_key() -> None:
    scores = pl.LazyFrame({"id": ["x", "y"], "m": [1.0, 2.0], "tie_key": [2.0, 1.0]})
    parts = rankings(scores, measures=["m", "tie_key"], seed="s")
    assert [part.collect()["id"].to_list() for part in parts] == [["y", "x"], ["x", "y"]]


@given(st.lists(st.permutations(range(12)), min_size=1, max_size=3), st.sampled_from([None, 1]))
def test_blocks_hold_every_candidate_once(orders: list[list[int]], limit: int | None) -> None:
    names = [f"m{number}" for number in range(len(orders))]
    ranks = pl.LazyFrame(
        {
            "measure": [name for name in names for _ in range(12)],
            "id": [f"x{each:02}" for order in orders for each in order],
            "rank": list(range(1, 13)) * len(orders),
        }
    )
    places = {f"x{n:02}": tuple(order.index(n) + 1 for order in orders) for n in range(12)}
    some = pl.Series(["x03", "x11", "none"])
    with memory.with_limit(limit), rank_blocks(ranks, names) as blocks:
        rows = [row for block in blocks for row in zip(*block.values(), strict=True)]
        ids, vectors = blocks.of(some)
    assert blocks.candidates == 12
    assert sorted(rows) == sorted(places.values())
    assert ids.to_list() == ["x03", "x11"]
    assert list(zip(*vectors.values(), strict=True)) == [places["x03"], places["x11"]]
