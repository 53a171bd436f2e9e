"""Tuple tokens and their counts against slow twins in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise, product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.errors import DataError
from pipeline.kernels.cooccurrence import counting
from pipeline.kernels.cooccurrence.counting import Packing, pack, tally
from pipeline.kernels.cooccurrence.pairs import pair_tokens
from pipeline.kernels.cooccurrence.tokens import RelatedToken, Unit, number_tokens, units
from pipeline.kernels.cooccurrence.tuples import (
    ROW,
    adjacent_tuples,
    elements,
    join_elements,
    pair_tuples,
    split_elements,
    subset_sums,
    with_subsets,
)
from pipeline.stages.collocations.extract_corpus import occurrence_tables
from schemas import Tuples
from schemas.candidates import cell, frequency_name, signature, subsets
from schemas.validate import validate
from tests.kernels.cooccurrence.trees import Token, corpora, frame

# Marginals of tuples against sums in plain Python, and keys packed into words.

Counts = dict[tuple[str, ...], int]


@st.composite
def tuple_counts(draw: st.DrawFn) -> Counts:
    size = draw(st.integers(2, 6))
    words = st.tuples(*[st.sampled_from("abc")] * size)
    return draw(st.dictionaries(words, st.integers(1, 9), min_size=1, max_size=12))


def counts_frame(counts: Counts) -> pl.LazyFrame:
    size = len(next(iter(counts)))
    schema = {f"l{i}": pl.String for i in range(1, size + 1)} | {"f": pl.Int64}
    return pl.LazyFrame([(*each, f) for each, f in counts.items()], schema=schema, orient="row")


@given(counts=tuple_counts(), threshold=st.integers(1, 5))
def test_frequencies_of_subsets_are_sums(counts: Counts, threshold: int) -> None:
    size = len(next(iter(counts)))
    sums = with_subsets(counts_frame(counts), size=size, min_frequency=threshold).collect()
    assert sums.height == sum(f >= threshold for f in counts.values())
    for row in sums.iter_rows(named=True):
        words = [row[f"l{i}"] for i in range(1, size + 1)]
        for each in subsets(size):
            slow = sum(f for w, f in counts.items() if all(w[i - 1] == words[i - 1] for i in each))
            assert row[frequency_name(each, size)] == slow


@given(
    counts=tuple_counts(),
    threshold=st.integers(1, 5),
    cuts=st.lists(st.integers(0, 12), max_size=4),
    room_for=st.sampled_from([1, 2, 5, 1000]),
    data=st.data(),
)
@pytest.mark.long
def test_sums_on_disk_equal_those_in_memory(
    counts: Counts, threshold: int, cuts: list[int], room_for: int, data: st.DataObject
) -> None:
    """For any division into parts, and any limit of memory."""
    size = len(next(iter(counts)))
    whole = with_subsets(counts_frame(counts), size=size).collect()
    positions = data.draw(st.lists(st.sampled_from(subsets(size)[:-1]), min_size=1, unique=True))
    names = [frequency_name(each, size) for each in positions]
    joined = join_elements(counts_frame(counts).collect(), size=size)
    bounds = sorted({0, *(min(cut, joined.height) for cut in cuts)})
    ends = [*bounds[1:], joined.height]
    parts = [joined[first:end] for first, end in zip(bounds, ends, strict=True)]
    with memory.with_limit(room_for * ROW):
        sums = list(
            subset_sums(
                [each.lazy() for each in parts], positions, size=size, min_frequency=threshold
            )
        )
    assert [each.height for each in sums] == [each.height for each in parts]
    enough = pl.col("f") >= threshold
    expected = whole.select(
        pl.col(name) if name == "N" else pl.when(enough).then(name).alias(name) for name in names
    )
    assert pl.concat(sums).equals(expected)


def test_tables_without_counts_have_no_sums() -> None:
    assert list(subset_sums([], [(), (1,)], size=2)) == []


@given(counts=tuple_counts())
def test_cells_equal_plain_counts_and_obey_the_laws(counts: Counts) -> None:
    size = len(next(iter(counts)))
    sums = with_subsets(counts_frame(counts), size=size).collect()
    observed = sums.with_columns(cell(each, size).alias(str(each)) for each in subsets(size))
    for row in observed.iter_rows(named=True):
        words = [row[f"l{i}"] for i in range(1, size + 1)]
        for each in subsets(size):
            agree = [[i for i in range(1, size + 1) if w[i - 1] == words[i - 1]] for w in counts]
            slow = sum(f for f, at in zip(counts.values(), agree, strict=True) if at == list(each))
            assert row[str(each)] == slow
        assert sum(row[str(each)] for each in subsets(size)) == row["N"]
    table = sums.with_columns(id=pl.col("l1")).select("id", pl.exclude("id"))
    assert validate([table], Tuples, name="tuples") == sums.height


def test_quadruples_have_this_signature() -> None:
    assert signature(4) == [
        "f", "f1", "f2", "f3", "f4", "f_12", "f_13", "f_14", "f_23", "f_24", "f_34",
        "f_123", "f_124", "f_134", "f_234", "N",
    ]  # fmt: skip


@given(
    sizes=st.lists(st.sampled_from([1, 2, 3, 1000, 2**16, 2**31, 2**32]), min_size=1, max_size=6),
    data=st.data(),
)
def test_packed_words_distinguish_the_same_rows_as_their_numbers(
    sizes: list[int], data: st.DataObject
) -> None:
    """Words distinguish the same rows as their numbers, for all columns or some."""
    row = st.tuples(*[st.sampled_from(sorted({0, size // 2, size - 1})) for size in sizes])
    rows = data.draw(st.lists(row, min_size=1, max_size=20))
    some = sorted(data.draw(st.sets(st.sampled_from(range(len(sizes))), min_size=1)))
    names = [f"c{i}" for i in range(len(sizes))]
    numbers = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.Int64), orient="row")
    packing = Packing.of(sizes)
    words = numbers.select(packing.words([pl.col(name) for name in names]))
    assert words.n_unique() == numbers.n_unique()
    part = words.select(packing.part(some))
    same = numbers.select(names[i] for i in some).hash_rows().rank("dense").to_list()
    assert part.hash_rows().rank("dense").n_unique() == len(set(same))


def test_six_positions_of_a_large_vocabulary_need_two_words() -> None:
    assert len(Packing.of([100_000] * 3).names) == 1
    assert len(Packing.of([100_000] * 6).names) == 2


def test_an_empty_table_is_packed() -> None:
    nothing = pl.DataFrame(schema={"a": pl.String, "b": pl.String})
    words, _ = pack(nothing, ["a", "b"])
    assert words.height == 0


EVERY = pl.lit(value=True)
CASE = RelatedToken(pl.col("deprel") == "case", each=True)
KINDS = {
    "any": Unit(EVERY, "{lemma}"),
    "nouns": Unit(pl.col("upos") == "NOUN", "{form}", fold=True),
    "not a": Unit(EVERY, "{lemma}", exclude=["a"]),
    "prepositions": Unit(EVERY, "{p.lemma}:{lemma}", {"p": CASE}),
}


def labels(kind: str, token: Token, sentence: list[Token]) -> list[str]:
    """Return the labels of the units of a kind on a token."""
    if kind == "nouns":
        return [token["form"].lower()] if token["upos"] == "NOUN" else []
    if kind == "not a":
        return [token["lemma"]] if token["lemma"] != "a" else []
    below = [t for t in sentence if t["head"] == token["position"] and t["deprel"] == "case"]
    lemma = token["lemma"]
    return [f"{t['lemma']}:{lemma}" for t in below] if kind == "prepositions" else [lemma]


def slow_tuples(
    corpus: list[list[Token]], kinds: list[str], gap: int
) -> Iterator[tuple[int, tuple[int, ...], tuple[str, ...]]]:
    """Yield sentence, positions and labels of every combination of tokens in order."""
    for sentence in corpus:
        for choice in combinations(sentence, len(kinds)):
            steps = [b["position"] - a["position"] for a, b in pairwise(choice)]
            if max(steps) > gap + 1:
                continue
            here = [labels(kind, t, sentence) for kind, t in zip(kinds, choice, strict=True)]
            for each in product(*here):
                yield choice[0]["sentence"], tuple(t["position"] for t in choice), each


def found_tuples(corpus: list[list[Token]], kinds: list[str], gap: int) -> pl.DataFrame:
    tokens = number_tokens(frame(corpus)).collect()
    tables = [units(tokens.lazy(), KINDS[kind]).collect() for kind in kinds]
    return adjacent_tuples(tables, tokens, gap=gap)


@given(
    corpus=corpora(),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=2, max_size=5),
    gap=st.integers(0, 2),
)
def test_adjacent_tuples_agree_with_a_slow_twin(
    corpus: list[list[Token]], kinds: list[str], gap: int
) -> None:
    tokens = number_tokens(frame(corpus)).collect()
    where = {row[0]: row[1:] for row in tokens.select("token", "sentence", "position").rows()}
    size = len(kinds)
    rows = []
    for row in found_tuples(corpus, kinds, gap).iter_rows(named=True):
        places = [where[row[f"token_{number}"]] for number in range(1, size + 1)]
        assert len({sentence for sentence, _ in places}) == 1
        words = tuple(row[name] for name in elements(size))
        rows.append((places[0][0], tuple(position for _, position in places), words))
    assert sorted(rows) == sorted(slow_tuples(corpus, kinds, gap))


@given(corpus=corpora())
def test_pairs_become_triples_of_prepositions_nouns_and_verbs(corpus: list[list[Token]]) -> None:
    """A noun with its preposition, and a verb of the sentence, as three elements."""
    tokens = number_tokens(frame(corpus)).collect()
    noun = Unit(pl.col("upos") == "NOUN", "{p.lemma}", {"p": CASE}, further=["{lemma}"])
    verb = Unit(pl.col("upos") == "VERB", "{form}")
    pairs = pair_tokens(tokens.lazy(), left=noun, right=verb, relation=None).collect()
    result = pair_tuples(pairs, left=2, right=1).select("l1", "l2", "l3")
    slow = []
    for sentence in corpus:
        for one, two in product(sentence, sentence):
            if (one["upos"], two["upos"]) == ("NOUN", "VERB"):
                below = [t for t in sentence if t["head"] == one["position"]]
                slow += [
                    (t["lemma"], one["lemma"], two["form"]) for t in below if t["deprel"] == "case"
                ]
    assert sorted(result.rows()) == sorted(slow)


def test_filters_apply_to_each_element() -> None:
    """Both elements are folded; either may keep the token from being a unit."""
    token = {"file": "f", "doc": "d", "sentence": 1, "head": 0, "upos": "X", "deprel": "x"}
    names = [("A", "Ok"), ("B", "x"), ("stop", "y"), ("z", "STOP"), ("1", "n")]
    corpus = [
        [{**token, "position": i, "form": form, "lemma": lemma}]
        for i, (form, lemma) in [(1, each) for each in names]
    ]
    for number, sentence in enumerate(corpus, start=1):
        sentence[0]["sentence"] = number
    unit = Unit(
        EVERY, "{form}", fold=True, matches="^[a-z]+$", exclude=["stop"], further=["{lemma}"]
    )
    result = units(number_tokens(frame(corpus)), unit).select("unit").collect()
    assert sorted(result.to_series().to_list()) == ["a\x1fok", "b\x1fx"]


def test_the_separator_in_an_element_is_refused() -> None:
    rows = {"place": [0], "l1": ["a\x1fb\x1fc"], "l2": ["d"], "token_1": [0], "token_2": [1]}
    pairs = pl.DataFrame(rows).with_columns(pl.col("l1", "l2").cast(pl.Categorical))
    with pytest.raises(DataError, match=r"1 label with the control character U\+001F"):
        pair_tuples(pairs, left=2, right=1)


@given(corpus=corpora(), size=st.integers(2, 4))
def test_occurrences_and_documents_of_tuples_are_counted(
    corpus: list[list[Token]], size: int
) -> None:
    kinds = ["any"] * size
    nothing = pl.DataFrame(schema=counting.OPEN)
    sentences = counting.sentences(number_tokens(frame(corpus)), nothing)
    result = found_tuples(corpus, kinds, 0)
    rows = occurrence_tables(result, elements(size), sentences)["occurrences"].lazy().collect()
    counts = join_elements(tally(rows, elements(size)), size=size).lazy()
    slow: Counter[tuple[str, ...]] = Counter()
    pairs_: set[tuple[tuple[str, ...], int]] = set()
    for sentence, _, words in slow_tuples(corpus, kinds, 0):
        slow[words] += 1
        pairs_.add((words, sentence))  # each sentence is a document of its own in `corpora`
    names = elements(size)
    plain = split_elements(counts, size=size).collect()
    assert {row[:size]: row[size] for row in plain.select(*names, "f").rows()} == slow
    spread = {row[:size]: row[size] for row in plain.select(*names, "documents").rows()}
    assert spread == Counter(words for words, _ in pairs_)


def test_the_separator_in_a_unit_is_refused() -> None:
    token = {"file": "f", "doc": "d", "sentence": 1, "head": 0, "upos": "X", "deprel": "x"}
    words = [{**token, "position": i, "lemma": word} for i, word in [(1, "a\x1fb"), (2, "c")]]
    corpus = [[{**word, "form": ""} for word in words]]
    with pytest.raises(DataError, match=r"1 label with the control character U\+001F"):
        join_elements(found_tuples(corpus, ["any", "any"], 0), size=2)


def test_an_empty_corpus_has_no_tuples() -> None:
    result = found_tuples([], ["any"] * 3, 0)
    assert result.height == 0
    assert result.columns == ["place", "l1", "l2", "l3", "token_1", "token_2", "token_3"]
