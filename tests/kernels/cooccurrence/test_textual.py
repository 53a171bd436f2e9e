"""Textual co-occurrence against sets of types in plain Python."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import given

from pipeline.kernels.cooccurrence.pairs import TEXT_UNIT, occurrences, together
from pipeline.kernels.cooccurrence.tokens import PLACE, Unit, numbered, units
from tests.kernels.cooccurrence.trees import Token, corpora, frame

NOUN = Unit(pl.col("upos") == "NOUN", "{lemma}")
EVERY = Unit(pl.lit(value=True), "{lemma}")


def held(corpus: list[list[Token]], unit: Unit) -> pl.LazyFrame:
    tokens = numbered(frame(corpus))
    return units(tokens, unit).with_columns(pl.col(PLACE).alias(TEXT_UNIT))


@given(corpus=corpora())
def test_pairs_of_types(corpus: list[list[Token]]) -> None:
    found = together(held(corpus, NOUN), held(corpus, EVERY)).collect()
    slow = Counter[tuple[str, str]]()
    for sentence in corpus:
        slow.update(
            {
                (one["lemma"], two["lemma"])
                for one in sentence
                for two in sentence
                if one["lemma"] != two["lemma"] and one["upos"] == "NOUN"
            }
        )
    assert Counter(found.select("l1", "l2").rows()) == slow
    assert (found["token_1"] >= 0).all()


@given(corpus=corpora())
def test_occurrences(corpus: list[list[Token]]) -> None:
    found = dict(occurrences(held(corpus, NOUN)).collect().rows())
    slow = Counter(
        lemma
        for sentence in corpus
        for lemma in {token["lemma"] for token in sentence if token["upos"] == "NOUN"}
    )
    assert found == slow
