"""Which names mean one person, and how that person is spelt."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.sheets import fold, named, unasked

SPELLINGS = ["José Ñ", "josé ñ", " JOSÉ  Ñ ", "José\u00a0Ñ", unicodedata.normalize("NFD", "José Ñ")]


def spelt(names: list[str | None], *known: str) -> list[str | None]:
    rows = pl.LazyFrame({"annotator": pl.Series(names, dtype=pl.String)})
    return named(rows, known).collect()["annotator"].to_list()


@pytest.mark.parametrize("typed", SPELLINGS)
def test_a_name_in_whatever_spelling_is_the_one_that_was_asked(typed: str) -> None:
    assert spelt([typed], "josé Ñ") == ["josé Ñ"]


def test_without_known_names_the_most_frequent_spelling_stands() -> None:
    assert spelt(["A1", " a1", "a1", "b", None, " "]) == ["a1", "a1", "a1", "b", None, None]
    assert spelt(["b", "B"]) == ["B", "B"]
    assert spelt([]) == []


def test_names_that_differ_in_more_stay_apart() -> None:
    assert spelt(["a1", "a 1", "a11"], "a1") == ["a1", "a 1", "a11"]


@given(st.text(max_size=8))
def test_folding_twice_changes_nothing(name: str) -> None:
    assert fold(fold(name)) == fold(name)
    assert fold(f" {name.upper()}  ") == fold(name.upper())


def test_strangers_are_named_with_the_nearest_names() -> None:
    rows = pl.LazyFrame({
        "file": ["a.csv"] * 3, "line": [2, 3, 4], "annotator": ["anne", "anna", "anne"],
        "label": ["SVC", "SVC", " "],
    })  # fmt: skip
    found = unasked(rows, known=["anna", "annie", "ann", "hanna"], answer="label").collect()
    assert found.select("file", "line", "column", "value").rows() == [
        ("a.csv", 2, "annotator", "anne")
    ]
    said = found["problem"].item()
    assert said.startswith("was not asked: did you mean annie, ann, anna?")
    assert 'former = ["anne"]' in said
