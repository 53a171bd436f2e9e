"""Long texts are cut so that the words that they are about stay."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report.explorer import cut


def one(text: str, most: int) -> str:
    return cut(pl.Series([text, None]), most=most).to_list()[0]


def test_short_texts_and_nulls_stay() -> None:
    assert cut(pl.Series(["short", None]), most=5).to_list() == ["short", None]


def test_the_marked_words_stay() -> None:
    text = f"{'a ' * 300}[[kommen]] in [[Frage]]{' b' * 300}"
    short = one(text, 100)
    assert "[[kommen]] in [[Frage]]" in short
    assert short.startswith("…")
    assert short.endswith("…")
    assert len(short) <= 102


def test_no_mark_is_cut_through() -> None:
    text = f"[[one]]{'x' * 60}[[{'two' * 5}]] and more"
    for most in range(10, 90):
        assert one(text, most).count("[[") == one(text, most).count("]]"), most


@given(st.text(max_size=200), st.integers(10, 100))
def test_cut_texts_are_parts_of_their_texts(text: str, most: int) -> None:
    short = one(text, most)
    assert short.strip("…") in text or short == text
    assert len(short) <= 2 * most + 2
