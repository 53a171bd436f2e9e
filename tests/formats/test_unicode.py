"""Normalisation of characters that look the same: text, bytes and columns, against a slow twin."""

from __future__ import annotations

import unicodedata
from collections import Counter
from unittest import mock

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.formats.unicode import normalise, normalise_bytes, normalise_column

WITHOUT_BLANKS = [*range(0x0E00, 0x0F00), *range(0x1000, 0x10A0), *range(0x1780, 0x1800)]


def slow_normalise(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    signs: list[str] = []
    for place, sign in enumerate(text):
        after = text[place + 1 :]
        line_goes_on = after.startswith(("\n", "\r\n"))
        if sign in "\u00ad\u2060\ufeff\u200e\u200f\u061c" and not line_goes_on:
            continue
        signs.append(" " if sign in "\u00a0\u202f\u2007" else sign)
    text, signs = unicodedata.normalize("NFC", "".join(signs)), []
    for sign in text:
        if sign != "\u200b" or (signs and ord(signs[-1]) in WITHOUT_BLANKS):
            signs.append(sign)
    text, signs = unicodedata.normalize("NFC", "".join(signs)), []
    for place, sign in enumerate(text):
        after = text[place + 1 : place + 2]
        straight = sign in "\u2019\u02bc" and after.isalpha() and after not in "\u2019\u02bc"
        signs.append("'" if straight else sign)
    return "".join("-" if sign in "\u2010\u2011" else sign for sign in signs)


SIGNS = "aé\u2010\u2011\u0301Ⅷ1'\u2019\u02bc\u00ad\u200b\u200e\u00a0 \r\n\u0e01\u1780漢\u212b\u1100\u1161"


@given(st.lists(st.text(SIGNS, max_size=8), max_size=5))
def test_normalisation_agrees_with_a_slow_twin(texts: list[str]) -> None:
    expected = [slow_normalise(text) for text in texts]
    assert [normalise(text) for text in texts] == expected
    assert [normalise_bytes(text.encode()).decode() for text in texts] == expected
    frame = pl.DataFrame({"a": [*texts, None]}, schema={"a": pl.String})
    assert frame.select(normalise_column(pl.col("a")))["a"].to_list() == [*expected, None]
    assert [normalise(text) for text in expected if "\u00ad" not in text] == [
        text for text in expected if "\u00ad" not in text
    ]


@given(st.text(SIGNS))
def test_a_long_text_is_normalised_in_pieces(text: str) -> None:
    content = text.encode()
    whole, by_line = Counter[str](), Counter[str]()
    expected = normalise_bytes(content, whole)
    with mock.patch("pipeline.formats.unicode._PIECE", 1):
        assert normalise_bytes(content, by_line) == expected
    assert by_line == whole


@pytest.mark.parametrize(
    "text", ["null", "NA", "nan", "true", "1e5", "-", "=1+1", "#", "", "ﬁ", "ß", "x²", "…", "“a”"]
)
def test_ordinary_text_stays_unchanged(text: str) -> None:
    assert normalise(text) == text


@pytest.mark.parametrize("sign", ["\u00ad", "\u200b", "\u2060"])
def test_invisible_characters_before_accents_are_removed(sign: str) -> None:
    assert normalise(f"a{sign}\u0301") == "\u00e1"


def test_invalid_bytes_stay_unchanged() -> None:
    assert normalise_bytes(b"caf\xe9 \xff") == b"caf\xe9 \xff"
