"""Wordlists against dictionaries of sets: lex, can, union, Y."""

from __future__ import annotations

import polars as pl
from hypothesis import given

from pipeline.kernels.lexicon.wordlists import canonical, common, lex, sizes, union
from tests.kernels.lexicon.lexicons import Lexicon, frame, lexicons, sets


def merged(first: Lexicon, second: Lexicon) -> Lexicon:
    return {key: first.get(key, set()) | second.get(key, set()) for key in {*first, *second}}


@given(lexicons, lexicons)
def test_union_is_a_full_outer_join(first: Lexicon, second: Lexicon) -> None:
    made = union(frame(first), frame(second))
    assert sets(made) == merged(first, second)
    rows = made.collect()
    assert rows.is_unique().all()
    bare = rows.filter(pl.col("form").is_null())["lemma"]
    assert set(bare) == {lemma for lemma, forms in merged(first, second).items() if not forms}


@given(lexicons, lexicons, lexicons)
def test_laws_of_the_union(first: Lexicon, second: Lexicon, third: Lexicon) -> None:
    a, b, c = (frame(each) for each in (first, second, third))
    assert sets(union(a, a)) == first
    assert sets(union(a, b)) == sets(union(b, a))
    assert sets(union(union(a, b), c)) == sets(union(a, union(b, c))) == sets(union(a, b, c))
    assert sets(union(a, frame({}))) == first


@given(lexicons, lexicons)
def test_y_holds_the_lemmas_of_both(first: Lexicon, second: Lexicon) -> None:
    found = common(frame(first), frame(second)).collect()["lemma"].to_list()
    assert sorted(found) == sorted({*first} & {*second})


def test_lex_keeps_the_order_of_first_appearance() -> None:
    rows = [("d", 3, "ra"), ("d", 1, "zija"), ("d", 2, "dar"), ("d", 9, "zija"), ("d", 4, None)]
    entries = pl.LazyFrame(rows, schema=["file", "line", "lemma"], orient="row")
    for shuffled in (entries, entries.reverse()):
        assert lex(shuffled).collect().rows() == [("zija", 1, 2), ("dar", 2, 1), ("ra", 3, 1)]


def test_lex_takes_files_in_order() -> None:
    rows = [("b", 1, "x"), ("a", 7, "y"), ("a", 9, "x")]
    entries = pl.LazyFrame(rows, schema=["file", "line", "lemma"], orient="row")
    assert lex(entries).collect()["lemma"].to_list() == ["y", "x"]


def test_duplicates_count_once_and_homographs_are_merged() -> None:
    rows = [("ra", "rat"), ("ra", "rat"), ("ra", "ra"), ("ra", None), (None, "x")]
    made = canonical(pl.LazyFrame(rows, schema=["lemma", "form"], orient="row"))
    assert sorted(made.collect().rows()) == [("ra", "ra"), ("ra", "rat")]


def test_a_form_of_many_lemmas_counts_in_each() -> None:
    many = {f"l{number:04}": {"x"} for number in range(1000)}
    assert sizes(canonical(frame(many))).collect()["n"].to_list() == [1] * 1000


def test_a_lemma_without_forms_has_none() -> None:
    assert sizes(frame({"a": set(), "b": {"x"}})).collect().sort("lemma").rows() == [
        ("a", 0), ("b", 1),
    ]  # fmt: skip
