"""Random dependency trees, as frames and as plain lists."""

from __future__ import annotations

from typing import Any

import polars as pl
from hypothesis import strategies as st

Token = dict[str, Any]
SCHEMA = {
    "file": pl.String, "doc": pl.String, "sentence": pl.Int64, "position": pl.Int64,
    "head": pl.Int64, "lemma": pl.String, "form": pl.String, "upos": pl.String, "deprel": pl.String,
}  # fmt: skip


@st.composite
def corpora(draw: st.DrawFn) -> list[list[Token]]:
    """Draw a few sentences of a few words."""
    sentences = []
    for number in range(1, draw(st.integers(0, 5)) + 1):
        length = draw(st.integers(1, 7))
        sentences.append(
            [
                {
                    "file": "f", "doc": f"d{number % 2}", "sentence": number, "position": position,
                    "head": draw(st.sampled_from([h for h in range(length + 1) if h != position])),
                    "lemma": draw(st.sampled_from("abc")), "form": draw(st.sampled_from("ABC")),
                    "upos": draw(st.sampled_from(["NOUN", "VERB", "ADP"])),
                    "deprel": draw(st.sampled_from(["case", "obj", "prt"])),
                }
                for position in range(1, length + 1)
            ]
        )  # fmt: skip
    return sentences


def frame(sentences: list[list[Token]]) -> pl.LazyFrame:
    """Return the tokens as a plan, in an arbitrary order."""
    rows = [token for sentence in sentences for token in sentence]
    return pl.LazyFrame(list(reversed(rows)), schema=SCHEMA)
