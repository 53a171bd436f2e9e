"""Strata and samples in parts are those of the whole, however few candidates there is room for."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.nbest.stratified import (
    Drawing,
    strata_by_rank,
    strata_by_rank_in_parts,
    strata_by_score,
    strata_by_score_in_parts,
    stratified,
)
from tests.kernels.room_for import room_for

few = st.integers(1, 30)


@given(
    st.lists(st.permutations(range(25)), min_size=1, max_size=3),
    st.sets(st.integers(1, 40), max_size=4),
    few,
)
def test_by_rank(orders: list[list[int]], boundaries: set[int], rows: int) -> None:
    ranks = pl.LazyFrame(
        {
            "measure": [f"m{number}" for number, order in enumerate(orders) for _ in order],
            "id": [f"x{each}" for order in orders for each in order],
            "rank": list(range(1, 26)) * len(orders),
        }
    )
    how: dict[str, Any] = {
        "measures": [f"m{n}" for n in range(len(orders))],
        "boundaries": sorted(boundaries),
    }
    with memory.limited(memory.USUAL), room_for(rows):
        parts = list(strata_by_rank_in_parts(ranks, **how))
    assert pl.concat(parts).sort("id").equals(strata_by_rank(ranks, **how))


@given(st.lists(st.none() | st.integers(0, 9), max_size=40), st.sets(st.integers(0, 9)), few)
def test_by_score(values: list[int | None], boundaries: set[int], rows: int) -> None:
    ids = [f"x{n:03}" for n in range(len(values))]
    scores = pl.LazyFrame({"id": ids, "f": values}, schema={"id": pl.String, "f": pl.Int64})
    how: dict[str, Any] = {"column": "f", "boundaries": sorted(boundaries)}
    with room_for(rows):
        parts = list(strata_by_score_in_parts(scores, **how))
    assert pl.concat(parts).equals(strata_by_score(scores, **how))


@given(
    st.lists(st.sampled_from("abc"), max_size=60),
    st.dictionaries(st.sampled_from("abc"), st.integers(0, 30)),
    few,
)
def test_draws(names: list[str], wanted: dict[str, int], rows: int) -> None:
    schema = {"id": pl.String, "stratum": pl.String}
    strata = pl.DataFrame([(f"x{n}", name) for n, name in enumerate(names)], schema, orient="row")
    counts = dict(strata.group_by("stratum").len().iter_rows())
    sizes = {name: size for name, size in wanted.items() if name in counts}
    drawing = Drawing(sizes, counts, seed="s")
    for start in range(0, len(names), rows):
        drawing.add(strata.slice(start, rows))
    assert drawing.sample().equals(stratified(strata, sizes=sizes, seed="s"))
