"""Examples in context: chosen by seed, the same whatever the shards."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence.concordance import draw, merge, sentences
from pipeline.kernels.cooccurrence.pairs import located, pair_tokens
from pipeline.kernels.cooccurrence.tokens import Unit, numbered
from tests.kernels.cooccurrence.trees import Token, corpora, frame

NOUN, VERB = (Unit(pl.col("upos") == tag, "{lemma}") for tag in ("NOUN", "VERB"))


def chosen(corpus: list[list[Token]], most: int, seed: str = "s") -> pl.DataFrame:
    tokens = numbered(frame(corpus))
    pairs = pair_tokens(tokens, left=NOUN, right=VERB, relation=None)
    drawn = draw(located(pairs, tokens), most=most, seed=seed)
    return sentences(drawn, tokens, form="form").collect()


@given(corpus=corpora(), most=st.integers(0, 3))
def test_up_to_so_many_marked_sentences(corpus: list[list[Token]], most: int) -> None:
    found = chosen(corpus, most)
    plain = {" ".join(token["form"] for token in sentence) for sentence in corpus}
    for row in found.iter_rows(named=True):
        assert row["text"].count("[[") == row["text"].count("]]") == 2
        assert row["text"].replace("[[", "").replace("]]", "") in plain
    assert not found.height or found.group_by("id").len().get_column("len").max() <= most


@pytest.mark.long
@given(corpus=corpora(), most=st.integers(1, 3), cut=st.integers(0, 5))
def test_parts_give_what_the_whole_gives(corpus: list[list[Token]], most: int, cut: int) -> None:
    whole = merge(chosen(corpus, most).lazy(), most=most).collect()
    parts = pl.concat([chosen(corpus[:cut], most), chosen(corpus[cut:], most)])
    assert merge(parts.lazy(), most=most).collect().equals(whole)


def test_the_same_place_of_two_files() -> None:
    """Their keys are equal: both are kept, and what is written decides, whatever the files."""
    token = {"doc": "", "sentence": 1, "head": 0, "deprel": "x", "lemma": "a"}
    texts = {}
    for files in ("fg", "gf"):
        corpus = [
            [
                {**token, "file": file, "position": 1, "upos": "NOUN", "form": word},
                {**token, "file": file, "position": 2, "upos": "VERB", "form": "v"},
            ]
            for file, word in zip(files, ("late", "early"), strict=True)
        ]
        both = chosen(sorted(corpus, key=lambda sentence: str(sentence[0]["file"])), 1)
        assert both.height == 2
        texts[files] = merge(both.lazy(), most=1).collect()["text"].to_list()
    assert texts["fg"] == texts["gf"] == ["[[early]] [[v]]"]


def test_another_seed_chooses_otherwise() -> None:
    token = {"file": "f", "doc": "d", "lemma": "a", "deprel": "x", "head": 0}
    corpus = [
        [
            {**token, "sentence": n, "position": 1, "upos": "NOUN", "form": f"w{n}"},
            {**token, "sentence": n, "position": 2, "upos": "VERB", "form": "v"},
        ]
        for n in range(1, 40)
    ]
    texts = {seed: chosen(corpus, 2, seed).get_column("text").to_list() for seed in "ab"}
    assert texts["a"] != texts["b"]
