"""Units and pair tokens against a slow counter in plain Python."""

from __future__ import annotations

import sys
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import Literal

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.pairs import (
    TEXT_UNIT,
    Dependency,
    Span,
    add_positions,
    add_span_start,
    adjacent,
    ambiguous,
    count,
    in_span,
    marginals,
    neighbours,
    occurrences,
    pair_tokens,
    shared_types,
    text_of,
    to_pairs,
    together,
)
from pipeline.kernels.cooccurrence.tokens import (
    LABELS,
    PLACE,
    TOKEN,
    RelatedToken,
    Unit,
    fields,
    fold_case,
    label,
    number_tokens,
    units,
)
from pipeline.kernels.cooccurrence.tuples import with_subsets
from tests.kernels.cooccurrence.trees import Token, corpora, frame
from tests.kernels.room_for import room_for

# Neighbours by a shift of rows equal those of the search in spans.

SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "b", "", "c"]), min_size=1, max_size=6), max_size=5
)


def tables(sentences: list[list[str]]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return tokens and units; a token without a letter has none."""
    rows = [(place, word) for place, words in enumerate(sentences) for word in words]
    schema = pl.Schema({PLACE: pl.Int64(), "unit": pl.Categorical(pl.Categories(LABELS))})
    every = pl.DataFrame(rows, schema=schema, orient="row").with_row_index(TOKEN)
    tokens = every.with_columns(pl.col(TOKEN).cast(pl.Int64))
    return tokens.select(TOKEN, PLACE), tokens.filter(pl.col("unit") != "")


@given(sentences=SENTENCES, reverse=st.booleans())
def test_neighbours_are_those_of_the_search_in_spans(
    sentences: list[list[str]], reverse: bool
) -> None:
    tokens, units = tables(sentences)
    pairs = neighbours(units.reverse() if reverse else units)
    assert pairs is not None
    expected = adjacent(units, units, tokens)
    assert pairs.schema == expected.schema
    assert sorted(pairs.rows()) == sorted(expected.rows())


def test_two_units_on_a_token_need_the_search() -> None:
    _, units = tables([["a", "b"]])
    assert neighbours(pl.concat([units, units])) is None


# Pairings of tuples against pairs counted as pairs.

Triples = dict[tuple[str, str, str], int]
triples = st.dictionaries(
    st.tuples(*[st.sampled_from("abc")] * 3), st.integers(1, 9), min_size=1, max_size=15
)


def tuples(counts: Triples) -> pl.LazyFrame:
    rows = [(*words, f) for words, f in counts.items()]
    schema = {"l1": pl.String, "l2": pl.String, "l3": pl.String, "f": pl.Int64}
    return with_subsets(pl.LazyFrame(rows, schema=schema, orient="row"), size=3)


@given(counts=triples, groups=st.sampled_from([([1, 2], [3]), ([2], [3, 1]), ([3, 2], [1])]))
def test_paired_tuples_equal_counted_pairs(
    counts: Triples, groups: tuple[list[int], list[int]]
) -> None:
    slow: Counter[tuple[str, str]] = Counter()
    for words, f in counts.items():
        one, two = ("+".join(words[i - 1] for i in group) for group in groups)
        slow[one, two] += f
    pairs = to_pairs(tuples(counts), first=groups[0], second=groups[1], separator="+").collect()
    assert pairs.height == len(slow)
    assert pairs.columns == ["l1", "l2", "f", "f1", "f2", "N"]
    for l1, l2, f, f1, f2, n in pairs.rows():
        assert f == slow[l1, l2]
        assert f1 == sum(count for (one, _), count in slow.items() if one == l1)
        assert f2 == sum(count for (_, two), count in slow.items() if two == l2)
        assert n == sum(slow.values())


def test_other_columns_are_kept_and_scores_are_renamed() -> None:
    frame = tuples({("a", "b", "c"): 2}).with_columns(documents=pl.lit(1), mi=pl.lit(0.5))
    pairs = to_pairs(frame, first=[1], second=[2, 3], separator=" ")
    names = ["l1", "l2", "f", "f1", "f2", "N", "documents", "tuple_mi"]
    assert pairs.collect_schema().names() == names


def test_ambiguous_labels_of_groups_are_found() -> None:
    frame = tuples({("a b", "c", "x"): 1, ("a", "b c", "x"): 2, ("d e", "f", "x"): 3})
    ambiguous_labels = ambiguous(frame, first=[1, 2], second=[3], separator=" ")
    assert ambiguous_labels.to_series().to_list() == ["a b c"]
    with memory.with_limit(memory.DEFAULT_MEMORY), room_for(1):
        assert ambiguous(frame, first=[1, 2], second=[3], separator=" ").equals(ambiguous_labels)
    assert ambiguous(frame, first=[1, 2], second=[3], separator="+").height == 0


def tokens(corpus: list[list[Token]]) -> pl.LazyFrame:
    return number_tokens(frame(corpus))


def found_units(corpus: list[list[Token]], unit: Unit) -> pl.DataFrame:
    where = tokens(corpus).select("token", "sentence", "position")
    return units(tokens(corpus), unit).join(where, on="token").collect()


def found_pairs(
    corpus: list[list[Token]], left: Unit, right: Unit, relation: Dependency | None
) -> pl.DataFrame:
    pairs = pair_tokens(tokens(corpus), left=left, right=right, relation=relation)
    return add_positions(pairs, tokens(corpus)).collect()


NOUN, VERB, ADP = (pl.col("upos") == tag for tag in ("NOUN", "VERB", "ADP"))
CASE, OBJ, PRT = (pl.col("deprel") == label for label in ("case", "obj", "prt"))


def slow_units(
    sentence: list[Token], tag: str, deprel: str, *, optional: bool, each: bool
) -> list[tuple[int, str]]:
    """Return tokens of a tag with the lemma of a dependent before their own."""
    labelled = []
    for token in sentence:
        if token["upos"] != tag:
            continue
        below = [t for t in sentence if t["head"] == token["position"] and t["deprel"] == deprel]
        names = [t["lemma"] for t in below] or ([""] if optional else [])
        for name in names if each else names[:1]:
            labelled.append((token["position"], f"{name}:{token['lemma']}"))
    return labelled


@given(corpus=corpora(), optional=st.booleans(), each=st.booleans())
def test_units_with_a_related_token_agree_with_a_slow_counter(
    corpus: list[list[Token]], optional: bool, each: bool
) -> None:
    related = RelatedToken(CASE, optional=optional, each=each)
    result = found_units(corpus, Unit(NOUN, "{prep.lemma}:{lemma}", {"prep": related}))
    slow = [
        (sentence[0]["sentence"], *unit)
        for sentence in corpus
        for unit in slow_units(sentence, "NOUN", "case", optional=optional, each=each)
    ]
    assert sorted(result.select("sentence", "position", "unit").rows()) == sorted(slow)


@given(corpus=corpora())
def test_the_head_can_be_the_related_token(corpus: list[list[Token]]) -> None:
    above = Unit(ADP, "{h.upos}>{lemma}", {"h": RelatedToken(pl.lit(value=True), side="head")})
    result = found_units(corpus, above)
    slow = [
        (token["sentence"], f"{sentence[token['head'] - 1]['upos']}>{token['lemma']}")
        for sentence in corpus
        for token in sentence
        if token["upos"] == "ADP" and token["head"] > 0
    ]
    assert sorted(result.select("sentence", "unit").rows()) == sorted(slow)


@given(corpus=corpora())
def test_pairs_of_a_sentence_agree_with_a_slow_counter(corpus: list[list[Token]]) -> None:
    left = Unit(NOUN, "{p.lemma}:{lemma}", {"p": RelatedToken(CASE)})
    pairs = pair_tokens(tokens(corpus), left=left, right=Unit(VERB, "{lemma}"), relation=None)
    slow: Counter[tuple[str, str]] = Counter()
    for sentence in corpus:
        for _, first in slow_units(sentence, "NOUN", "case", optional=False, each=False):
            for token in sentence:
                if token["upos"] == "VERB":
                    slow[first, token["lemma"]] += 1
    assert {(a, b): f for a, b, f in count(pairs).collect().select("l1", "l2", "f").rows()} == slow


@pytest.mark.parametrize("governor", ["left", "right", "either"])
@given(corpus=corpora())
def test_pairs_by_dependency_agree_with_a_slow_counter(
    governor: Literal["left", "right", "either"], corpus: list[list[Token]]
) -> None:
    relation = Dependency(OBJ, governor)
    left, right = Unit(VERB, "{lemma}"), Unit(NOUN, "{form}")
    pairs = found_pairs(corpus, left, right, relation)
    slow = []
    for sentence in corpus:
        for one in sentence:
            for two in sentence:
                down = two["head"] == one["position"] and two["deprel"] == "obj"
                up = one["head"] == two["position"] and one["deprel"] == "obj"
                holds = {"left": down, "right": up, "either": down or up}[governor]
                if one["upos"] == "VERB" and two["upos"] == "NOUN" and holds:
                    slow.append(
                        (
                            one["sentence"],
                            one["lemma"],
                            two["form"],
                            one["position"],
                            two["position"],
                        )
                    )
    columns = ["sentence", "l1", "l2", "position_1", "position_2"]
    assert sorted(pairs.select(columns).rows()) == sorted(slow)


@given(corpus=corpora())
def test_paths_through_a_token_agree_with_a_slow_counter(corpus: list[list[Token]]) -> None:
    relation = Dependency(OBJ, "left", through=ADP)
    left, right = Unit(VERB, "{lemma}"), Unit(NOUN, "{lemma}")
    pairs = found_pairs(corpus, left, right, relation)
    slow = []
    for sentence in corpus:
        for below in sentence:
            between = sentence[below["head"] - 1] if below["head"] else None
            if not between or between["upos"] != "ADP" or not between["head"]:
                continue
            above = sentence[between["head"] - 1]
            if (above["upos"], below["upos"], below["deprel"]) == ("VERB", "NOUN", "obj"):
                slow.append((below["sentence"], above["position"], below["position"]))
    assert sorted(pairs.select("sentence", "position_1", "position_2").rows()) == sorted(slow)


@given(corpus=corpora())
def test_tokens_do_not_pair_with_themselves(corpus: list[list[Token]]) -> None:
    every = Unit(pl.lit(value=True), "{lemma}")
    pairs = pair_tokens(tokens(corpus), left=every, right=every, relation=None).collect()
    assert pairs.height == sum(len(s) * (len(s) - 1) for s in corpus)


counts = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), st.integers(1, 9), max_size=9
)


@given(table=counts)
def test_marginals_are_sums_of_pairs(table: dict[tuple[str, str], int]) -> None:
    rows = [(l1, l2, f) for (l1, l2), f in table.items()]
    schema = {"l1": pl.String, "l2": pl.String, "f": pl.Int64}
    result = marginals(pl.LazyFrame(rows, schema=schema, orient="row")).collect()
    for row in result.iter_rows(named=True):
        assert row["f1"] == sum(f for (l1, _), f in table.items() if l1 == row["l1"])
        assert row["f2"] == sum(f for (_, l2), f in table.items() if l2 == row["l2"])
        assert row["N"] == sum(table.values())


def test_null_attributes_give_no_unit() -> None:
    token = {"file": "f", "doc": "d", "sentence": 1, "position": 1, "head": 0, "form": "A"}
    one: Token = {**token, "lemma": None, "upos": "NOUN", "deprel": "root"}
    assert found_units([[one]], Unit(NOUN, "{lemma}")).is_empty()
    assert found_units([[one]], Unit(NOUN, "{form}")).height == 1


@given(corpus=corpora(), fold=st.booleans(), exclude=st.sets(st.sampled_from("abAB")))
def test_labels_are_folded_and_filtered(
    corpus: list[list[Token]], fold: bool, exclude: set[str]
) -> None:
    unit = Unit(NOUN, "{form}", fold=fold, matches="^[abAC]", exclude=sorted(exclude))
    slow = []
    for token in (token for sentence in corpus for token in sentence if token["upos"] == "NOUN"):
        label = token["form"].lower() if fold else token["form"]
        if label[0] in "abAC" and label not in exclude:
            slow.append((token["sentence"], token["position"], label))
    result = found_units(corpus, unit).select("sentence", "position", "unit")
    assert sorted(result.rows()) == sorted(slow)


@given(corpus=corpora())
def test_relations_have_names(corpus: list[list[Token]]) -> None:
    word = Unit(pl.lit(value=True), "{lemma}")
    relation = Dependency(pl.col("deprel") != "case", "either", named=True)
    result = pair_tokens(tokens(corpus), left=word, right=word, relation=relation).collect()
    slow = []
    for sentence in corpus:
        for token in sentence:
            if token["head"] > 0 and token["deprel"] != "case":
                above, name = sentence[token["head"] - 1], token["deprel"]
                slow += [
                    (f"{name}({above['lemma']}, *)", token["lemma"]),
                    (f"{name}(*, {token['lemma']})", above["lemma"]),
                ]
    pairs = result.select(pl.col("l1", "l2").cast(pl.String))
    assert sorted(pairs.rows()) == sorted(slow)


# Textual co-occurrence against sets of types in plain Python.

NOUN_TEXTUAL = Unit(pl.col("upos") == "NOUN", "{lemma}")
EVERY = Unit(pl.lit(value=True), "{lemma}")


def units_in_text(corpus: list[list[Token]], unit: Unit) -> pl.LazyFrame:
    tokens = number_tokens(frame(corpus))
    return units(tokens, unit).with_columns(pl.col(PLACE).alias(TEXT_UNIT))


@pytest.mark.parametrize("other", ["NOUN", "VERB", ""])
@given(corpus=corpora())
def test_textual_pairs_agree_with_sets_of_types(other: str, corpus: list[list[Token]]) -> None:
    """A type is with itself where the tokens of the two sides differ."""
    right = Unit(pl.col("upos") == other, "{lemma}") if other else EVERY
    first, second = units_in_text(corpus, NOUN_TEXTUAL), units_in_text(corpus, right)
    pairs = together(first, second, shared_types(first, second)).collect()
    slow = Counter[tuple[str, str]]()
    for sentence in corpus:
        places = [*enumerate(sentence)]
        ours = [(token["lemma"], place) for place, token in places if token["upos"] == "NOUN"]
        theirs = [
            (token["lemma"], place) for place, token in places if other in {"", token["upos"]}
        ]
        both = {lemma for lemma, _ in {*ours} & {*theirs}}
        slow.update({(a, b) for a, _ in ours for b, _ in theirs if a != b or a not in both})
    assert Counter(pairs.select("l1", "l2").rows()) == slow
    assert Counter(together(first, second).collect().select("l1", "l2").rows()) == Counter(
        {(a, b): f for (a, b), f in slow.items() if a != b}
    )
    assert (pairs["token_1"] >= 0).all()


@given(corpus=corpora())
def test_textual_occurrences_agree_with_sets_of_types(corpus: list[list[Token]]) -> None:
    result = dict(occurrences(units_in_text(corpus, NOUN_TEXTUAL)).collect().rows())
    slow = Counter(
        lemma
        for sentence in corpus
        for lemma in {token["lemma"] for token in sentence if token["upos"] == "NOUN"}
    )
    assert result == slow


# Adjacent units and spans against slow counters that follow the specification literally.

NOUN_WINDOWS = Unit(pl.col("upos") == "NOUN", "{lemma}")
VERB_WINDOWS = Unit(pl.col("upos") == "VERB", "{lemma}")
Pair = tuple[int, str, str, int, int]


def units_and_tokens(
    corpus: list[list[Token]], left: Unit, right: Unit
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    tokens = number_tokens(frame(corpus)).collect()
    return units(tokens.lazy(), left).collect(), units(tokens.lazy(), right).collect(), tokens


def ucs(corpus: list[list[Token]], span: Span) -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Go through the hits of each node in corpus order, as specified."""
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


def pairs_in_span(
    first: pl.DataFrame, second: pl.DataFrame, tokens: pl.DataFrame, span: Span
) -> tuple[pl.DataFrame, pl.DataFrame]:
    return in_span(first, text_of(second, tokens), span)


@pytest.mark.parametrize("bits", [64, 7])
@given(nodes=st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), max_size=30))
def test_a_hit_begins_after_the_span_of_the_previous_one(
    bits: int, nodes: list[tuple[int, str]]
) -> None:
    nodes = sorted(nodes, key=lambda node: node[0])
    columns = {"place": pl.Int64, "unit": pl.Categorical}
    hits = pl.DataFrame(nodes, columns, orient="row").with_row_index("token")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(counting, "_BITS", bits)
        start = add_span_start(hits.with_columns(pl.col("token").cast(pl.Int64)), Span(2, 3))[
            "start"
        ]
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
def test_pairs_in_spans_agree_with_a_slow_counter(corpus: list[list[Token]], span: Span) -> None:
    pairs, positions = pairs_in_span(*units_and_tokens(corpus, NOUN_WINDOWS, VERB_WINDOWS), span)
    f, f1 = ucs(corpus, span)
    assert Counter(pairs.select("l1", "l2").rows()) == f
    assert {unit: count for unit, count in positions.rows() if count} == dict(f1)


@given(corpus=corpora(), span=spans)
def test_spans_exclude_their_node_and_end_with_sentences(
    corpus: list[list[Token]], span: Span
) -> None:
    pairs, _ = pairs_in_span(*units_and_tokens(corpus, EVERY, EVERY), span)
    distance = pairs["token_2"] - pairs["token_1"]
    assert not (distance == 0).any()
    assert distance.is_between(-span.left, span.right).all()
    place = number_tokens(frame(corpus)).select("token", "place").collect()
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
    tables = units_and_tokens(corpus, NOUN_WINDOWS, VERB_WINDOWS)
    once, positions = pairs_in_span(*tables, Span(2, 2))
    # The first n counts v and the second n (2 positions), the second w and w alone.
    assert Counter(once["l2"].to_list()) == {"v": 1, "w": 2}
    assert positions.rows() == [("n", 4)]
    twice, windows = pairs_in_span(*tables, Span(2, 2, "windows"))
    assert Counter(twice["l2"].to_list()) == {"v": 2, "w": 2}
    assert windows.rows() == [("n", 6)]


@pytest.mark.parametrize("gap", [0, 1, 3])
@given(corpus=corpora())
def test_adjacent_pairs_agree_with_a_slow_counter(gap: int, corpus: list[list[Token]]) -> None:
    pairs = adjacent(*units_and_tokens(corpus, NOUN_WINDOWS, VERB_WINDOWS), gap=gap)
    slow = Counter(
        (one["lemma"], two["lemma"])
        for sentence in corpus
        for place, one in enumerate(sentence)
        for two in sentence[place + 1 : place + gap + 2]
        if (one["upos"], two["upos"]) == ("NOUN", "VERB")
    )
    assert Counter(pairs.select("l1", "l2").rows()) == slow


@given(corpus=corpora())
def test_several_units_on_one_token_are_adjacent_to_others(corpus: list[list[Token]]) -> None:
    below = Unit(
        pl.lit(value=True), "{d.lemma}:{lemma}", {"d": RelatedToken(pl.lit(value=True), each=True)}
    )
    pairs = adjacent(*units_and_tokens(corpus, below, below))
    slow = Counter(
        (f"{d1['lemma']}:{one['lemma']}", f"{d2['lemma']}:{two['lemma']}")
        for sentence in corpus
        for one, two in pairwise(sentence)
        for d1 in sentence
        for d2 in sentence
        if d1["head"] == one["position"] and d2["head"] == two["position"]
    )
    assert Counter(pairs.select("l1", "l2").rows()) == slow


def test_spans_of_an_empty_corpus_have_no_pairs() -> None:
    pairs, positions = pairs_in_span(*units_and_tokens([], NOUN_WINDOWS, VERB_WINDOWS), Span())
    assert pairs.is_empty()
    assert positions.is_empty()
    assert pairs.columns == ["place", "l1", "l2", "token_1", "token_2"]


TOKENS = pl.DataFrame(
    {"lemma": ["Frage", "Tat", None], "prep.lemma": ["in", None, "zu"], "n": [1, 2, 3]}
)


def labels(template: str, *optional: str) -> list[str | None]:
    return TOKENS.select(label(template, optional=frozenset(optional))).to_series().to_list()


def test_absent_attributes_give_no_label_unless_optional() -> None:
    assert labels("{prep.lemma}:{lemma}") == ["in:Frage", None, None]
    assert labels("{prep.lemma}:{lemma}", "prep") == ["in:Frage", ":Tat", None]


def test_templates_accept_numbers_and_braces() -> None:
    assert labels("{{{n}}}") == ["{1}", "{2}", "{3}"]
    assert fields("{{{n}}} {lemma}") == ["n", "lemma"]


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{}", "write {attribute} or {name.attribute}"),
        ("{lemma!r}", "write {attribute} or {name.attribute}"),
        ("{lemma:>9}", "write {attribute} or {name.attribute}"),
        ("lemma", "contains no attribute"),
        ("{lemma}" * 100_000, "the label has 100,000 attributes, but may have at most 100"),
        ("{lemma", "has an unpaired brace: write {attribute}"),
        ("lemma}", "has an unpaired brace: write {attribute}"),
    ],
)
def test_invalid_templates_are_refused(template: str, message: str) -> None:
    for make in (fields, label):
        with pytest.raises(ValueError, match=message):
            make(template)


@pytest.mark.parametrize("blank", ["", " ", "\u00a0\t"])
def test_blank_labels_are_null(blank: str) -> None:
    frame = pl.DataFrame({"lemma": [blank, "a"]})
    assert frame.select(label("{lemma}")).to_series().to_list() == [None, "a"]


# Case


def test_full_case_folding_agrees_with_python() -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    result = pl.select(fold_case(pl.lit(pl.Series(letters)), "full")).to_series().to_list()
    folded = [letter.casefold() for letter in letters]
    # Letters of a later version of Unicode, in one of the two libraries.
    other = [a for a, b, c in zip(letters, folded, result, strict=True) if b != c]
    assert len(other) < 100
    assert all(unicodedata.category(each) in {"Cn", "Lu", "Ll"} for each in other)


def test_lower_case_keeps_sharp_s() -> None:
    words = pl.lit(pl.Series(["Maße", "MASSE", "ΟΔΌΣ", "ẞ"]))
    assert pl.select(fold_case(words)).to_series().to_list() == ["maße", "masse", "οδός", "ß"]
    full = ["masse", "masse", "οδόσ", "ss"]
    assert pl.select(fold_case(words, "full")).to_series().to_list() == full
