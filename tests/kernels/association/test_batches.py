"""Distinct signatures, scored once and put back in their places."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.association import log_tails
from pipeline.kernels.association.scoring import (
    all_distinct,
    measure_expressions,
    score_now,
    score_signatures,
)
from pipeline.kernels.numeric import FloatArray
from tests.kernels.association.cells import SCHEMA

rows = st.lists(st.tuples(*[st.integers(1, 3)] * 2, st.just(5), st.integers(9, 10)), max_size=20)


@given(rows=rows)
def test_distinct(rows: list[tuple[int, ...]]) -> None:
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    assert all_distinct(table) == (len(set(rows)) == len(rows))


@given(rows=rows)
def test_scores_stand_where_their_signatures_do(rows: list[tuple[int, ...]]) -> None:
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    calls: list[int] = []

    def counted(column: pl.Series) -> pl.Series:
        calls.append(len(column))
        return column

    kept = pl.col("o11").map_batches(counted, return_dtype=pl.Float64, is_elementwise=True)
    found = score_signatures(table, {"joint": kept, "sum": pl.col("r1") + pl.col("N")})
    assert found.get_column("joint").to_list() == [row[0] for row in rows]
    assert found.get_column("sum").to_list() == [row[1] + row[3] for row in rows]
    if len(set(rows)) > 1:
        assert sum(calls) == len(set(rows))


def test_a_measure_that_others_are_written_over_is_computed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[int] = []

    def counted(square: FloatArray) -> FloatArray:
        seen.append(len(square))
        return square

    monkeypatch.setattr(log_tails, "log10_two_sided", counted)
    table = pl.DataFrame({"f": [3, 9], "f1": [40, 11], "f2": [8, 60], "N": [500, 400]})
    score_now(table, wanted=measure_expressions(["t_score_tt_pv", "t_score_pv"], {}))
    assert seen == [2]
