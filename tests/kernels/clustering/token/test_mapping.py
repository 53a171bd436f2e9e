"""The mapping behind the accuracies as a table."""

from __future__ import annotations

import polars as pl
from hypothesis import given

from pipeline.kernels.clustering.token.measures import token_mapping, token_scores
from schemas import TokenMapping
from schemas.validate import validate
from tests.kernels.clustering.token.tables import SCHEMA, from_counts, from_tokens, labellings


def test_rows_by_hand() -> None:
    got = token_mapping(from_counts([[4, 0, 1], [0, 3, 0]]))
    assert got.rows() == [
        ("many_to_one", "k000", "c000", 4, 5, 4),
        ("many_to_one", "k001", "c001", 3, 3, 3),
        ("many_to_one", "k002", "c000", 1, 5, 1),
        ("one_to_one", "k000", "c000", 4, 5, 4),
        ("one_to_one", "k001", "c001", 3, 3, 3),
        ("one_to_one", "k002", None, 0, 0, 1),
    ]


def test_ties_take_the_first_class() -> None:
    got = token_mapping(from_counts([[2, 1], [2, 1]])).filter(mapping="many_to_one")
    assert got["gold"].to_list() == ["c000", "c000"]


@given(labellings)
def test_it_gives_the_accuracies(tokens: list[tuple[int, int]]) -> None:
    cells = from_tokens(tokens)
    table = token_mapping(cells)
    for name in ("many_to_one", "one_to_one"):
        shared = table.filter(mapping=name)["n_ij"].sum()
        assert token_scores(cells, measures=[name])["value"].item() == shared / len(tokens)
    one = table.filter(pl.col("mapping") == "one_to_one", pl.col("gold").is_not_null())
    assert one["gold"].is_unique().all()
    named = table.select(pl.lit("s").alias("system"), pl.lit("1").alias("run"), pl.all())
    assert validate([named], TokenMapping, name="mapping") == table.height
    assert table.equals(token_mapping(cells.reverse()))


def test_no_tokens() -> None:
    got = token_mapping(pl.DataFrame(schema=SCHEMA))
    assert got.height == 0
    assert got.schema == token_mapping(from_counts([[1]])).schema
