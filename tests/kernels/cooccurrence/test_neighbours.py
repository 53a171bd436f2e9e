"""Neighbours by a shift of rows are those that the search in spans finds."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.pairs import adjacent, neighbours
from pipeline.kernels.cooccurrence.tokens import LABELS, PLACE, TOKEN

SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "b", "", "c"]), min_size=1, max_size=6), max_size=5
)


def tables(sentences: list[list[str]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return tokens and units; a token without a letter bears none."""
    rows = [(place, word) for place, words in enumerate(sentences) for word in words]
    schema = pl.Schema({PLACE: pl.Int64(), "unit": pl.Categorical(pl.Categories(LABELS))})
    every = pl.DataFrame(rows, schema=schema, orient="row").with_row_index(TOKEN)
    tokens = every.with_columns(pl.col(TOKEN).cast(pl.Int64))
    return tokens.select(TOKEN, PLACE), tokens.filter(pl.col("unit") != "")


@given(sentences=SENTENCES, reverse=st.booleans())
def test_the_same_as_by_spans(sentences: list[list[str]], reverse: bool) -> None:
    tokens, units = tables(sentences)
    found = neighbours(units.reverse() if reverse else units)
    assert found is not None
    expected = adjacent(units, units, tokens)
    assert found.schema == expected.schema
    assert sorted(found.rows()) == sorted(expected.rows())


def test_two_units_on_a_token_are_left_to_the_search() -> None:
    _, units = tables([["a", "b"]])
    assert neighbours(pl.concat([units, units])) is None
