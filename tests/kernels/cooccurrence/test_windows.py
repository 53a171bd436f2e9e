"""Adjacent units and spans against slow counters that follow the words of the rules."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.pairs import Span, adjacent, in_span, started, text_of
from pipeline.kernels.cooccurrence.tokens import Related, Unit, numbered, units
from tests.kernels.cooccurrence.trees import Token, corpora, frame

EVERY = Unit(pl.lit(value=True), "{lemma}")
NOUN = Unit(pl.col("upos") == "NOUN", "{lemma}")
VERB = Unit(pl.col("upos") == "VERB", "{lemma}")
Pair = tuple[int, str, str, int, int]


def prepared(
    corpus: list[list[Token]], left: Unit, right: Unit
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    tokens = numbered(frame(corpus)).collect()
    return units(tokens.lazy(), left).collect(), units(tokens.lazy(), right).collect(), tokens


def ucs(corpus: list[list[Token]], span: Span) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Go through the hits of each node in corpus order, as the rule of the spec says."""
    text = [(number, token) for number, sentence in enumerate(corpus) for token in sentence]
    f, f1 = Counter[tuple[str, str]](), Counter[str]()
    for node in {token["lemma"] for _, token in text if token["upos"] == "NOUN"}:
        end = -1
        for c, (sentence, token) in enumerate(text):
            if token["upos"] != "NOUN" or token["lemma"] != node:
                continue
            window = [
                p
                for p in range(c - span.left, c + span.right + 1)
                if 0 <= p < len(text) and text[p][0] == sentence
            ]
            for p in window:
                if p != c and (span.count == "windows" or p > end):
                    f1[node] += 1
                    if text[p][1]["upos"] == "VERB":
                        f[node, text[p][1]["lemma"]] += 1
            end = max(window)
    return f, f1


def spanned(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, span: Span
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return in_span(first, text_of(second, tokens), span)


@pytest.mark.parametrize("bits", [64, 7])
@given(nodes=st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=30))
def test_a_hit_begins_after_the_span_of_the_last(bits: int, nodes: list[tuple[int, str]]) -> None:
    nodes = sorted(nodes, key=lambda node: node[0])
    columns = {"place": pl.Int64, "unit": pl.Categorical}
    found = pl.DataFrame(nodes, columns, orient="row").with_row_index("token")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "_BITS", bits)
        start = started(found.with_columns(pl.col("token").cast(pl.Int64)), Span(2, 3))["start"]
    last: dict[tuple[int, str], int] = {}
    for token, node in enumerate(nodes):
        assert start[token] == (last[node] + 3 + 1 if node in last else 0)
        last[node] = token


spans = st.builds(
    Span,
    left=st.integers(0, 4),
    right=st.integers(1, 4),
    count=st.sampled_from(["positions", "windows"]),
)


@given(corpus=corpora(), span=spans)
def test_span(corpus: list[list[Token]], span: Span) -> None:
    pairs, positions = spanned(*prepared(corpus, NOUN, VERB), span)
    f, f1 = ucs(corpus, span)
    assert Counter(pairs.select("l1", "l2").rows()) == f
    assert {unit: count for unit, count in positions.rows() if count} == dict(f1)


@given(corpus=corpora(), span=spans)
def test_no_node_is_counted_in_its_own_span_and_none_across_sentences(
    corpus: list[list[Token]], span: Span
) -> None:
    pairs, _ = spanned(*prepared(corpus, EVERY, EVERY), span)
    distance = pairs["token_2"] - pairs["token_1"]
    assert not (distance == 0).any()
    assert distance.is_between(-span.left, span.right).all()
    place = numbered(frame(corpus)).select("token", "place").collect()
    ends = [pairs.select(token=each).join(place, on="token", how="left", maintain_order="left")
            for each in ("token_1", "token_2")]  # fmt: skip
    assert ends[0]["place"].equals(ends[1]["place"])


def test_positions_in_two_spans_count_once() -> None:
    words = ["n", "v", "n", "w", "w"]
    token = {"file": "f", "doc": "d", "sentence": 1, "head": 0, "form": "x", "deprel": "x"}
    corpus = [
        [
            {**token, "position": at, "lemma": word, "upos": "NOUN" if word == "n" else "VERB"}
            for at, word in enumerate(words, start=1)
        ]
    ]
    tables = prepared(corpus, NOUN, VERB)
    once, positions = spanned(*tables, Span(2, 2))
    # The first n counts v and the second n (2 positions), the second w and w alone.
    assert Counter(once["l2"].to_list()) == {"v": 1, "w": 2}
    assert positions.rows() == [("n", 4)]
    twice, windows = spanned(*tables, Span(2, 2, "windows"))
    assert Counter(twice["l2"].to_list()) == {"v": 2, "w": 2}
    assert windows.rows() == [("n", 6)]


@pytest.mark.parametrize("gap", [0, 1, 3])
@given(corpus=corpora())
def test_adjacent(gap: int, corpus: list[list[Token]]) -> None:
    found = adjacent(*prepared(corpus, NOUN, VERB), gap=gap)
    slow = Counter(
        (one["lemma"], two["lemma"])
        for sentence in corpus
        for place, one in enumerate(sentence)
        for two in sentence[place + 1 : place + gap + 2]
        if (one["upos"], two["upos"]) == ("NOUN", "VERB")
    )
    assert Counter(found.select("l1", "l2").rows()) == slow


@given(corpus=corpora())
def test_several_units_on_one_token(corpus: list[list[Token]]) -> None:
    below = Unit(
        pl.lit(value=True), "{d.lemma}:{lemma}", {"d": Related(pl.lit(value=True), each=True)}
    )
    found = adjacent(*prepared(corpus, below, below))
    slow = Counter(
        (f"{d1['lemma']}:{one['lemma']}", f"{d2['lemma']}:{two['lemma']}")
        for sentence in corpus
        for one, two in pairwise(sentence)
        for d1 in sentence
        for d2 in sentence
        if d1["head"] == one["position"] and d2["head"] == two["position"]
    )
    assert Counter(found.select("l1", "l2").rows()) == slow


def test_nothing_at_all() -> None:
    pairs, positions = spanned(*prepared([], NOUN, VERB), Span())
    assert pairs.is_empty()
    assert positions.is_empty()
    assert pairs.columns == ["place", "l1", "l2", "token_1", "token_2"]
