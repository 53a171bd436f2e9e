"""Wordforms that paradigms generate, in parts: those of a slow twin, whatever the room."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.wordlists import canonical_in_parts, generated_in_parts
from pipeline.kernels.partitions import spill_of
from tests.kernels.room_for import room_for

Entry = tuple[str, str, str]
Ending = tuple[str, str | None]
texts = st.text("aħ~", max_size=2)
paradigms = st.sampled_from(["I", "II", "III"])
ENTRIES = st.lists(st.tuples(st.sampled_from(["ra", "dar"]), texts, paradigms), max_size=8)
ENDINGS = st.lists(st.tuples(paradigms, st.none() | texts), max_size=8)


def slow(entries: list[Entry], endings: list[Ending]) -> list[tuple[str, str]]:
    """Put every ending to every stem: a suffix, or a pattern whose first ~ is the stem."""
    return [
        (lemma, ending.replace("~", stem, 1) if "~" in ending else stem + ending)
        for lemma, stem, paradigm in entries
        for ending in [text or "" for of, text in endings if of == paradigm]
    ]


def frames(entries: list[Entry], endings: list[Ending]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    text = pl.String
    one = {"lemma": text, "stem": text, "paradigm": text}
    two = {"paradigm": text, "ending": text}
    return (
        pl.DataFrame(entries, schema=one, orient="row").lazy(),
        pl.DataFrame(endings, schema=two, orient="row").lazy(),
    )


@given(ENTRIES, ENDINGS, st.integers(1, 9))
def test_against_the_slow_twin(entries: list[Entry], endings: list[Ending], rows: int) -> None:
    with room_for(rows):
        parts = list(generated_in_parts(*frames(entries, endings)))
    assert sorted(pl.concat(parts).rows()) == sorted(slow(entries, endings))
    longest = max((len(slow([each], endings)) for each in entries), default=0)
    assert all(part.height <= rows + longest for part in parts)


@given(ENTRIES, ENDINGS, st.integers(1, 9))
def test_the_wordlist_has_each_once_in_order(
    entries: list[Entry], endings: list[Ending], rows: int
) -> None:
    with room_for(rows), spill_of(1, pl.Schema({"lemma": pl.String, "form": pl.String})) as laid:
        for part in generated_in_parts(*frames(entries, endings)):
            laid.add(part, pl.lit(0))
        found = list(canonical_in_parts(laid))
    assert pl.concat(found).rows() == sorted(set(slow(entries, endings)))


@pytest.mark.parametrize("rows", [1, 100])
def test_nothing_gives_a_table_without_rows(rows: int) -> None:
    with room_for(rows):
        parts = list(generated_in_parts(*frames([], [])))
    assert [part.schema for part in parts] == [{"lemma": pl.String, "form": pl.String}]
