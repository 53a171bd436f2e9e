"""Documents of a pair: the same from the whole corpus and from any parts of it."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence import dispersion
from pipeline.kernels.cooccurrence.pairs import pair_key, pair_tokens
from pipeline.kernels.cooccurrence.tokens import numbered
from pipeline.kernels.cooccurrence.units import Unit, units
from tests.kernels.cooccurrence.trees import Token, corpora, frame

EVERY = Unit(pl.lit(value=True), "{lemma}")
Parts = list[list[list[Token]]]


@st.composite
def in_documents(draw: st.DrawFn) -> list[list[Token]]:
    """Draw sentences whose documents change now and then, and may come back."""
    corpus = [s for _ in range(3) for s in draw(corpora())]
    names = draw(st.lists(st.sampled_from("de"), min_size=len(corpus), max_size=len(corpus)))
    files = sorted(draw(st.lists(st.sampled_from("fg"), min_size=len(names), max_size=len(names))))
    return [
        [{**token, "doc": name, "file": file, "sentence": number} for token in sentence]
        for number, (sentence, name, file) in enumerate(zip(corpus, names, files, strict=True), 1)
    ]


def cut(corpus: list[list[Token]], places: list[int]) -> Parts:
    ends = sorted({min(place, len(corpus)) for place in places} | {len(corpus)})
    starts = [0, *ends]
    return [corpus[a:b] for a, b in zip(starts, ends, strict=False) if b > a]


def counted(parts: Parts) -> dict[tuple[str, str], int]:
    total = Counter[tuple[str, str]]()
    before = pl.DataFrame(schema=dispersion.OPEN)
    for part in parts:
        tokens = numbered(frame(part))
        paired = pair_tokens(tokens, left=EVERY, right=EVERY, relation=None)
        pairs = paired.with_columns(pair_key().alias("pair")).collect()
        sentences = dispersion.documents(tokens).collect()
        inside = dispersion.by_document(pairs.lazy(), sentences)
        spread, after = pl.collect_all(dispersion.spread(inside, sentences, before))
        labels = pairs.select("pair", "l1", "l2").unique()
        assert spread["f"].sum() == pairs.height
        for l1, l2, documents in spread.join(labels, on="pair")["l1", "l2", "documents"].rows():
            total[l1, l2] += documents
        before = after
    return {pair: documents for pair, documents in total.items() if documents}


def slow(corpus: list[list[Token]]) -> dict[tuple[str, str], int]:
    runs: dict[tuple[str, str], set[int]] = defaultdict(set)
    run, before = 0, None
    for sentence in corpus:
        run += (here := (sentence[0]["file"], sentence[0]["doc"])) != before
        before = here
        for one in sentence:
            for two in sentence:
                if one is not two:
                    runs[one["lemma"], two["lemma"]].add(run)
    return {pair: len(found) for pair, found in runs.items()}


def test_an_open_document_keeps_the_numbers_of_labels() -> None:
    """Without any other column of labels in between, as after a spill to the disk."""

    def number(lemma: str) -> int:
        token = {"file": "f", "doc": "d", "sentence": 1, "position": 1, "head": 0, "form": "F"}
        one: Token = {**token, "lemma": lemma, "upos": "NOUN", "deprel": "x"}
        found = units(numbered(frame([[one]])), EVERY).collect().get_column("unit")
        return int(found.to_physical().item())

    before = pl.DataFrame(schema=dispersion.OPEN)
    first = number("first")
    nothing = pl.LazyFrame(schema={"pair": pl.UInt64, "place": pl.Int64})
    sentences = dispersion.documents(numbered(frame([]))).collect()
    inside = dispersion.by_document(nothing, sentences)
    after = dispersion.spread(inside, sentences, before)[1].collect()
    del before
    assert number("second") != first
    assert number("first") == first
    assert after.is_empty()


@given(corpus=in_documents(), places=st.lists(st.integers(0, 15), max_size=5))
def test_parts_give_what_the_whole_gives(corpus: list[list[Token]], places: list[int]) -> None:
    expected = slow(corpus)
    assert counted(cut(corpus, [])) == expected
    assert counted(cut(corpus, places)) == expected
