"""Documents are counted once, even if they continue in the next batch."""

from __future__ import annotations

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.counting import merge_pairs
from pipeline.kernels.cooccurrence.pairs import pair_tokens
from pipeline.kernels.cooccurrence.tokens import LABEL, Unit, number_tokens
from pipeline.stages.base import DocumentBounds
from pipeline.stages.collocations import extract_corpus
from tests.kernels.cooccurrence.trees import Token, corpora, frame

NOTHING = pl.DataFrame(schema=counting.OPEN)


def batch(*rows: tuple[str, str, int]) -> pl.LazyFrame:
    schema = {"file": pl.String, "doc": pl.String, "sentence": pl.Int64}
    some = pl.LazyFrame(list(rows), schema, orient="row")
    return number_tokens(some.with_columns(position=pl.lit(1, pl.Int64)), in_order=True)


def known_places(rows: pl.DataFrame) -> list[tuple[int, int]]:
    return rows.select("start", "document").rows()


def test_documents_of_the_first_batch_are_numbered() -> None:
    sentences = counting.sentences(batch(("f", "x", 1), ("f", "x", 2), ("f", "y", 3)), NOTHING)
    assert known_places(sentences) == [(1, 0), (1, 0), (3, 1)]


def test_a_repeated_name_is_another_document() -> None:
    sentences = counting.sentences(batch(("f", "", 1), ("f", "x", 2), ("f", "", 3)), NOTHING)
    assert known_places(sentences) == [(1, 0), (2, 1), (3, 2)]


def test_the_open_document_may_continue_in_the_next_batch() -> None:
    first = counting.sentences(batch(("f", "x", 1), ("f", "y", 4)), NOTHING)
    before = counting.left_open(first, NOTHING)
    assert known_places(counting.sentences(batch(("f", "y", 5), ("f", "z", 6)), before)) == [
        (4, 1),
        (6, 2),
    ]
    assert known_places(counting.sentences(batch(("f", "z", 5)), before)) == [(5, 2)]
    assert known_places(counting.sentences(batch(("g", "y", 1)), before)) == [(1, 2)]


def test_a_batch_without_sentences_leaves_the_document_open() -> None:
    before = counting.left_open(counting.sentences(batch(("f", "x", 1)), NOTHING), NOTHING)
    nothing = counting.sentences(batch(), before)
    assert nothing.is_empty()
    assert counting.left_open(nothing, before).equals(before)


def test_a_part_continues_the_document_of_the_part_before() -> None:
    """A part receives file, name and start of the open document, and no number."""
    before = pl.DataFrame([("f", "x", 7, None)], counting.OPEN, orient="row")
    assert known_places(counting.sentences(batch(("f", "x", 9), ("f", "y", 12)), before)) == [
        (7, 0),
        (12, 1),
    ]


# Counts of several corpora, merged in parts, against sums by hand.

SCHEMA = {"l1": pl.String, "l2": pl.String, "f": pl.Int64, "documents": pl.Int64}
units = st.sampled_from("abcde")
corpora_merging = st.lists(
    st.dictionaries(st.tuples(units, units), st.integers(1, 5)), min_size=1, max_size=3
)
Pair = tuple[str, str]


def table(corpus: dict[Pair, int]) -> pl.LazyFrame:
    rows = [(*pair, f, 2 * f) for pair, f in corpus.items()]
    return pl.LazyFrame(rows, schema=SCHEMA, orient="row")


def by_hand(
    corpora: list[dict[Pair, int]], least: int
) -> list[tuple[str, str, int, int, int, int]]:
    f: Counter[Pair] = Counter()
    for corpus in corpora:
        f.update(corpus)
    first, second = (
        {unit: sum(n for pair, n in f.items() if pair[place] == unit) for unit in "abcde"}
        for place in (0, 1)
    )
    return sorted(
        (*pair, n, first[pair[0]], second[pair[1]], f.total())
        for pair, n in f.items()
        if n >= least
    )


@given(corpora_merging, st.sampled_from([None, 1]), st.integers(1, 4))
def test_merged_counts_agree_with_sums_by_hand(
    corpora: list[dict[Pair, int]], limit: int | None, least: int
) -> None:
    tables = [table(each) for each in corpora]
    with memory.with_limit(limit):
        parts = list(merge_pairs(tables, added=["documents"], min_frequency=least))
    whole = pl.concat(parts)
    result = whole.select("l1", "l2", "f", "f1", "f2", "N").sort("l1", "l2").rows()
    assert result == by_hand(corpora, least)
    assert whole["id"].is_sorted()
    assert whole["documents"].equals(2 * whole["f"])


def test_merged_tables_without_pairs_are_empty() -> None:
    (part,) = merge_pairs([table({})] * 2)
    assert part.is_empty()
    assert part.columns == ["id", "l1", "l2", "f", "f1", "f2", "N"]


# Occurrences and documents of a type: equal for the whole corpus and for any parts of it.

EVERY = Unit(pl.lit(value=True), "{lemma}")
PAIR = ("l1", "l2")
Parts = list[list[list[Token]]]
Signature = dict[tuple[str, str], tuple[int, int]]


@st.composite
def in_documents(draw: st.DrawFn) -> list[list[Token]]:
    """Draw sentences whose documents change sometimes; names may repeat."""
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


def count_batches(parts: Parts, together: int) -> Signature:
    """Count batches, several at a time, and add up the counts."""
    before = pl.DataFrame(schema=counting.OPEN)
    raw: dict[str, list[pl.DataFrame]] = {name: [] for name in extract_corpus.RAW}
    counts: list[pl.LazyFrame] = []
    for number, part in enumerate(parts, start=1):
        tokens = number_tokens(frame(part))
        pairs = pair_tokens(tokens, left=EVERY, right=EVERY, relation=None).collect()
        sentences = counting.sentences(tokens, before)
        for name, each in extract_corpus.occurrence_tables(pairs, PAIR, sentences).items():
            raw[name].append(each.lazy().collect())
        before = counting.left_open(sentences, before)
        if number % together == 0 or number == len(parts):
            bounds = DocumentBounds(bool(counts), number < len(parts))
            tables = {name: pl.concat(frames) for name, frames in raw.items()}
            counts += [extract_corpus.count_occurrences(tables, PAIR, bounds)["counts"].lazy()]
            raw = {name: [] for name in raw}
    if not counts:
        return {}
    added_up = extract_corpus.add_counts(pl.concat(counts), PAIR)
    closed = extract_corpus.close_documents(added_up, PAIR).collect()
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
    return {pair: (f[pair], len(documents)) for pair, documents in runs.items()}


@given(
    corpus=in_documents(),
    places=st.lists(st.integers(0, 15), max_size=5),
    together=st.integers(1, 4),
)
def test_counts_of_parts_equal_those_of_the_whole(
    corpus: list[list[Token]], places: list[int], together: int
) -> None:
    expected = slow(corpus)
    assert count_batches(cut(corpus, []), 1) == expected
    assert count_batches(cut(corpus, places), together) == expected


rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(5, 9)), max_size=30
)


def table_tally(occurrences: list[tuple[str, str, int]]) -> pl.DataFrame:
    schema = pl.Schema({"l1": LABEL, "l2": LABEL, "document": pl.UInt32()})
    return pl.DataFrame(occurrences, schema, orient="row")


@given(occurrences=rows, across=st.sets(st.integers(5, 9), max_size=2))
def test_sorting_gives_the_counts_of_grouping(
    occurrences: list[tuple[str, str, int]], across: set[int]
) -> None:
    some = table_tally(occurrences)
    quick = counting.tally(some, PAIR, across=across)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting._Coding, "fits", False)
        grouped = counting.tally(some, PAIR, across=across)
    assert quick.schema == grouped.schema
    assert sorted(quick.rows(), key=str) == sorted(grouped.rows(), key=str)


@given(occurrences=rows)
def test_counts_agree_with_a_counter(occurrences: list[tuple[str, str, int]]) -> None:
    f = Counter((l1, l2) for l1, l2, _ in occurrences)
    documents = {pair: {d for *labels, d in occurrences if tuple(labels) == pair} for pair in f}
    expected = {(*pair, number, len(documents[pair]), None) for pair, number in f.items()}
    assert set(counting.tally(table_tally(occurrences), PAIR).rows()) == expected
