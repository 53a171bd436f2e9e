"""Rounds of annotation: which rows are of which, and what is no round."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.annotation.adjudication import of_round, unknown_rounds
from schemas import Faults
from schemas.validate import validate

ROUNDS = ["annotation", None, " ", "adjudication", " Adjudication ", "2"]
ROWS = pl.LazyFrame({"file": "d", "line": list(range(2, 8)), "round": ROUNDS}).with_columns(
    pl.col("line").cast(pl.Int64), pl.col("file").cast(pl.String)
)


def lines(rows: pl.LazyFrame) -> list[int]:
    return rows.collect()["line"].to_list()


def test_empty_is_the_first_round() -> None:
    assert lines(of_round(ROWS.limit(5), "annotation")) == [2, 3, 4]
    assert lines(of_round(ROWS, "adjudication")) == [5, 6]


def test_without_the_column_all_is_the_first_round() -> None:
    bare = ROWS.drop("round")
    assert lines(of_round(bare, "annotation")) == lines(ROWS)
    assert lines(of_round(bare, "adjudication")) == []
    assert unknown_rounds(bare).collect().is_empty()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("2", "is no round; valid: adjudication, annotation"),
        (" adjudicated", "is no round; did you mean adjudication?"),
    ],
)
def test_what_is_no_round_has_a_place(typed: str, said: str) -> None:
    rows = ROWS.with_columns(
        round=pl.when(pl.col("line") == 7).then(pl.lit(typed)).otherwise("round")
    )
    found = unknown_rounds(rows).collect()
    validate([found], Faults, name="faults")
    assert found.rows() == [("d", 7, "round", typed, said)]
