"""Occurrences and documents of a type: the same from the whole corpus and from any parts of it."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.pairs import pair_tokens
from pipeline.kernels.cooccurrence.tokens import LABEL, Unit, numbered
from pipeline.stages.base import Bounds
from pipeline.stages.collocations import extract_corpus
from tests.kernels.cooccurrence.trees import Token, corpora, frame

EVERY = Unit(pl.lit(value=True), "{lemma}")
PAIR = ("l1", "l2")
Parts = list[list[list[Token]]]
Signature = dict[tuple[str, str], tuple[int, int]]


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


def counted(parts: Parts, together: int) -> Signature:
    """Count batches, so many at once, and add the counts up."""
    before = pl.DataFrame(schema=counting.OPEN)
    raw: dict[str, list[pl.DataFrame]] = {name: [] for name in extract_corpus.RAW}
    counts: list[pl.LazyFrame] = []
    for number, part in enumerate(parts, start=1):
        tokens = numbered(frame(part))
        pairs = pair_tokens(tokens, left=EVERY, right=EVERY, relation=None).collect()
        sentences = counting.sentences(tokens, before)
        for name, each in extract_corpus.of_batch(pairs, PAIR, sentences).items():
            raw[name].append(each.lazy().collect())
        before = counting.left_open(sentences, before)
        if number % together == 0 or number == len(parts):
            bounds = Bounds(bool(counts), number < len(parts))
            tables = {name: pl.concat(frames) for name, frames in raw.items()}
            counts += [extract_corpus.tallied(tables, PAIR, bounds)["counts"].lazy()]
            raw = {name: [] for name in raw}
    if not counts:
        return {}
    added_up = extract_corpus.added_up(pl.concat(counts), PAIR)
    closed = extract_corpus.closed(added_up, PAIR).collect()
    assert closed["across"].null_count() == closed.height
    return {(l1, l2): (f, n) for l1, l2, f, n, _ in closed.rows()}


def slow(corpus: list[list[Token]]) -> Signature:
    runs: dict[tuple[str, str], set[int]] = defaultdict(set)
    f = Counter[tuple[str, str]]()
    run, before = 0, None
    for sentence in corpus:
        run += (here := (sentence[0]["file"], sentence[0]["doc"])) != before
        before = here
        for one in sentence:
            for two in sentence:
                if one is not two:
                    runs[one["lemma"], two["lemma"]].add(run)
                    f[one["lemma"], two["lemma"]] += 1
    return {pair: (f[pair], len(found)) for pair, found in runs.items()}


@given(
    corpus=in_documents(),
    places=st.lists(st.integers(0, 15), max_size=5),
    together=st.integers(1, 4),
)
def test_parts_give_what_the_whole_gives(
    corpus: list[list[Token]], places: list[int], together: int
) -> None:
    expected = slow(corpus)
    assert counted(cut(corpus, []), 1) == expected
    assert counted(cut(corpus, places), together) == expected


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(5, 9)), max_size=30
)


def table(found: list[tuple[str, str, int]]) -> pl.DataFrame:
    schema = pl.Schema({"l1": LABEL, "l2": LABEL, "document": pl.UInt32()})
    return pl.DataFrame(found, schema, orient="row")


@given(found=rows, across=st.sets(st.integers(5, 9), max_size=2))
def test_by_sorting_as_by_grouping(found: list[tuple[str, str, int]], across: set[int]) -> None:
    some = table(found)
    quick = counting.tally(some, PAIR, across=across)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting._Coding, "fits", False)
        grouped = counting.tally(some, PAIR, across=across)
    assert quick.schema == grouped.schema
    assert sorted(quick.rows(), key=str) == sorted(grouped.rows(), key=str)


@given(found=rows)
def test_counts_are_those_of_a_counter(found: list[tuple[str, str, int]]) -> None:
    f = Counter((l1, l2) for l1, l2, _ in found)
    held = {pair: {d for *labels, d in found if tuple(labels) == pair} for pair in f}
    expected = {(*pair, number, len(held[pair]), None) for pair, number in f.items()}
    assert set(counting.tally(table(found), PAIR).rows()) == expected
