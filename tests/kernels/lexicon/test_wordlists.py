"""Wordlists against dictionaries of sets: lex, can, union, Y."""

from __future__ import annotations

import unicodedata

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.wordlists import (
    Both,
    Spelling,
    canonical,
    canonical_in_parts,
    common,
    generate_forms,
    generate_forms_in_parts,
    normalise,
    sampled_matches,
    simple_sample,
    size_groups,
    sizes,
    undrawn_large,
    union,
)
from pipeline.kernels.partitions import spill_of
from tests.kernels.lexicon.lexicons import Lexicon, frame, lexicons, sets
from tests.kernels.room_for import room_for

# Normalised spelling: the steps, their order and their counts.


def forms(texts: list[str | None], spelling: Spelling) -> tuple[list[str | None], list[int]]:
    rows = pl.DataFrame({"form": texts}, schema={"form": pl.String})
    table, counts = normalise(rows, spelling, columns=["form"])
    return table["form"].to_list(), counts["n"].to_list()


def test_each_step_of_normalisation_is_counted() -> None:
    spelling = Spelling(unicode="NFC", case="lower", replace={"ё": "е"})
    assert forms([" е\u0308ж", "Ёлка ", None, " "], spelling) == (
        ["еж", "елка", None, None], [3, 1, 1, 2],
    )  # fmt: skip


def test_the_option_as_it_is_strips_blanks_only() -> None:
    spelling = Spelling(unicode="as_it_is")
    assert forms(["e\u0301 ", "É"], spelling) == (["e\u0301", "É"], [1])


def test_the_longest_text_is_replaced_first() -> None:
    assert forms(["għada"], Spelling(replace={"g": "q", "għ": "ʕ"}))[0] == ["ʕada"]


def test_each_step_has_an_example() -> None:
    rows = pl.DataFrame({"lemma": ["Ra", "A"], "form": ["Ra", "b"]})
    counts = normalise(rows, Spelling(case="lower"), columns=["lemma", "form"])[1]
    assert counts.row(by_predicate=pl.col("step") == "lower case") == (
        "lower case", 3, "'A' → 'a'",
    )  # fmt: skip


@given(st.lists(st.text("aÄñ e\u0301\ufb01", max_size=4)))
def test_normalisation_agrees_with_the_standard_library(texts: list[str]) -> None:
    normalised, _ = forms(list(texts), Spelling(unicode="NFKC"))
    assert normalised == [unicodedata.normalize("NFKC", text.strip()) or None for text in texts]


def test_paradigms_generate_forms() -> None:
    rows = [("kiteb", "ktib", "I"), ("ra", "ra", "II"), ("ħa", "ħa", "none")]
    entries = pl.LazyFrame(rows, schema=["lemma", "stem", "paradigm"], orient="row")
    endings = pl.LazyFrame(
        [("I", "t"), ("I", "ni~"), ("I", "t~u"), ("II", None), ("III", "x")],
        schema=["paradigm", "ending"], orient="row",
    )  # fmt: skip
    assert sorted(generate_forms(entries, endings).collect().rows()) == [
        ("kiteb", "ktibt"), ("kiteb", "niktib"), ("kiteb", "tktibu"), ("ra", "ra"),
    ]  # fmt: skip


# Wordforms that paradigms generate, in parts, agree with a slow twin under any limit of memory.

Entry = tuple[str, str, str]
Ending = tuple[str, str | None]
texts = st.text("aħ~", max_size=2)
paradigms = st.sampled_from(["I", "II", "III"])
ENTRIES = st.lists(st.tuples(st.sampled_from(["ra", "dar"]), texts, paradigms), max_size=8)
ENDINGS = st.lists(st.tuples(paradigms, st.none() | texts), max_size=8)


def slow(entries: list[Entry], endings: list[Ending]) -> list[tuple[str, str]]:
    """Add every ending to every stem: a suffix, or a pattern whose first ~ is the stem."""
    return [
        (lemma, ending.replace("~", stem, 1) if "~" in ending else stem + ending)
        for lemma, stem, paradigm in entries
        for ending in [text or "" for of, text in endings if of == paradigm]
    ]


def frames(entries: list[Entry], endings: list[Ending]) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    text = pl.String
    one = {"lemma": text, "stem": text, "paradigm": text}
    two = {"paradigm": text, "ending": text}
    return (
        pl.DataFrame(entries, schema=one, orient="row").lazy(),
        pl.DataFrame(endings, schema=two, orient="row").lazy(),
    )


@given(ENTRIES, ENDINGS, st.integers(1, 9))
def test_generated_forms_agree_with_a_slow_twin(
    entries: list[Entry], endings: list[Ending], rows: int
) -> None:
    with room_for(rows):
        parts = list(generate_forms_in_parts(*frames(entries, endings)))
    assert sorted(pl.concat(parts).rows()) == sorted(slow(entries, endings))
    longest = max((len(slow([each], endings)) for each in entries), default=0)
    assert all(part.height <= rows + longest for part in parts)


@given(ENTRIES, ENDINGS, st.integers(1, 9))
def test_the_wordlist_in_parts_is_sorted_and_without_duplicates(
    entries: list[Entry], endings: list[Ending], rows: int
) -> None:
    with room_for(rows), spill_of(1, pl.Schema({"lemma": pl.String, "form": pl.String})) as spilled:
        for part in generate_forms_in_parts(*frames(entries, endings)):
            spilled.add(part, pl.lit(0))
        parts = list(canonical_in_parts(spilled))
    assert pl.concat(parts).rows() == sorted(set(slow(entries, endings)))


@pytest.mark.parametrize("rows", [1, 100])
def test_no_entries_generate_an_empty_table(rows: int) -> None:
    with room_for(rows):
        parts = list(generate_forms_in_parts(*frames([], [])))
    assert [part.schema for part in parts] == [{"lemma": pl.String, "form": pl.String}]


def merge(first: Lexicon, second: Lexicon) -> Lexicon:
    return {key: first.get(key, set()) | second.get(key, set()) for key in {*first, *second}}


@given(lexicons, lexicons)
def test_union_is_a_full_outer_join(first: Lexicon, second: Lexicon) -> None:
    joined = union(frame(first), frame(second))
    assert sets(joined) == merge(first, second)
    rows = joined.collect()
    assert rows.is_unique().all()
    bare = rows.filter(pl.col("form").is_null())["lemma"]
    assert set(bare) == {lemma for lemma, forms in merge(first, second).items() if not forms}


@given(lexicons, lexicons, lexicons)
def test_the_union_is_commutative_and_associative(
    first: Lexicon, second: Lexicon, third: Lexicon
) -> None:
    a, b, c = (frame(each) for each in (first, second, third))
    assert sets(union(a, a)) == first
    assert sets(union(a, b)) == sets(union(b, a))
    assert sets(union(union(a, b), c)) == sets(union(a, union(b, c))) == sets(union(a, b, c))
    assert sets(union(a, frame({}))) == first


@given(lexicons, lexicons)
def test_y_holds_the_lemmas_of_both(first: Lexicon, second: Lexicon) -> None:
    lemmas = common(frame(first), frame(second)).collect()["lemma"].to_list()
    assert sorted(lemmas) == sorted({*first} & {*second})


def test_duplicates_count_once_and_homographs_are_merged() -> None:
    rows = [("ra", "rat"), ("ra", "rat"), ("ra", "ra"), ("ra", None), (None, "x")]
    table = canonical(pl.LazyFrame(rows, schema=["lemma", "form"], orient="row"))
    assert sorted(table.collect().rows()) == [("ra", "ra"), ("ra", "rat")]


def test_a_form_of_many_lemmas_counts_for_each() -> None:
    many = {f"l{number:04}": {"x"} for number in range(1000)}
    assert sizes(canonical(frame(many))).collect()["n"].to_list() == [1] * 1000


def test_a_lemma_without_forms_has_a_size_of_zero() -> None:
    assert sizes(frame({"a": set(), "b": {"x"}})).collect().sort("lemma").rows() == [
        ("a", 0), ("b", 1),
    ]  # fmt: skip


# Samples of lemmas: shares of the sample


def test_common_lemmas_are_projected_by_the_share_of_the_sample() -> None:
    """Of 98 lemmas drawn from 245 three are in both: 245 x 3 / 98 = 7.5, to the even number 8."""
    lemmas = pl.DataFrame({"lemma": [f"l{i:03}" for i in range(245)]})
    sample = simple_sample(lemmas, size=98, seed="s").with_columns(population=pl.lit(245))
    both = Both(sample.select("lemma").head(3), lemmas=3, bases=0)
    matches = sampled_matches(both, sample, looked_up=None, complete=False).collect()
    assert matches["population"].to_list() == [8, 8, 8]
    assert simple_sample(lemmas, size=245, seed="s")["pi"].unique().to_list() == [1.0]


@given(
    st.lists(st.tuples(st.sampled_from([1.0, 2.5, 4.0, 60.0]), st.booleans()), max_size=30),
)
def test_large_lemmas_agree_with_a_loop(lemmas: list[tuple[float, bool]]) -> None:
    """Take each lemma separately: it is large from five times the mean, drawn or not."""
    names = [f"l{i}" for i in range(len(lemmas))]
    frame = pl.DataFrame(
        {"lemma": names, "n": [n for n, _ in lemmas]}, schema={"lemma": pl.String, "n": pl.Float64}
    )
    drawn_names = [name for name, (_, drawn) in zip(names, lemmas, strict=True) if drawn]
    drawn = pl.DataFrame({"lemma": drawn_names}, schema={"lemma": pl.String})
    total = sum(n for n, _ in lemmas)
    expected = {"large": [0, 0, 0.0, 0.0], "other": [0, 0, 0.0, 0.0]}
    for n, is_drawn in lemmas:
        row = expected["large" if n * len(lemmas) >= 5 * total else "other"]
        for place, value in enumerate((1, is_drawn, n, n * is_drawn)):
            row[place] += value
    groups = size_groups(frame, drawn)
    assert groups.rows() == [(group, *row) for group, row in expected.items()]
    large, sampled, forms, forms_drawn = expected["large"]
    share = (forms - forms_drawn) / total if total else 0.0
    assert undrawn_large(groups) == (large, large - sampled, pytest.approx(share), len(lemmas))
