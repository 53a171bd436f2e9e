"""Judgements by a list: cases by hand, and a slow independent implementation."""

from __future__ import annotations

from itertools import product
from typing import get_args

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.annotation.gold import Covered, judge_by_list, list_coverage, spelling

Pair = tuple[str | None, str | None]
ENTRIES = [("take", "place"), ("take", "part"), ("pay", "heed")]
CANDIDATES = [("take", "place"), ("take", "man"), ("give", "part"), ("place", "take"), ("go", "on")]


def entries(*pairs: Pair, category: str = "TP", file: str = "list.tsv") -> pl.DataFrame:
    schema = {"l1": pl.String, "l2": pl.String}
    rows = pl.DataFrame(list(pairs), schema=schema, orient="row")
    return rows.select(category=pl.lit(category), file=pl.lit(file), l1="l1", l2="l2")


def candidates(*pairs: Pair) -> pl.DataFrame:
    schema = {"l1": pl.String, "l2": pl.String}
    words = pl.DataFrame(list(pairs), schema=schema, orient="row")
    return words.select(id=pl.int_range(pl.len()).cast(pl.String).str.zfill(3), l1="l1", l2="l2")


def judge(
    listed: pl.DataFrame, pairs: pl.DataFrame, covered: Covered, *, either_order: bool = False
) -> dict[tuple[str, str], bool]:
    judgements = judge_by_list(
        listed.drop_nulls().lazy(), pairs.lazy(), covered=covered, either_order=either_order
    )
    return {(category, each): tp for category, each, tp in judgements.collect().iter_rows()}


def coverage_counts(
    listed: pl.DataFrame, pairs: pl.DataFrame, covered: Covered, **order: bool
) -> dict[str, int]:
    either_order = order.get("either_order", False)
    judgements = judge_by_list(
        listed.drop_nulls().lazy(), pairs.lazy(), covered=covered, either_order=either_order
    )
    return (
        list_coverage(listed.lazy(), pairs.lazy(), judgements, either_order=either_order)
        .collect()
        .row(0, named=True)
    )


@pytest.mark.parametrize(("covered", "either_order", "expected"), [
    ("l1", False, "+-   "),
    ("l2", False, "+ -  "),
    ("either", False, "+--  "),
    ("all", False, "+----"),
    ("l1", True, "+- + "),
    ("l2", True, "+ -+ "),
    ("either", True, "+--+ "),
])  # fmt: skip
def test_judgements_agree_with_those_by_hand(
    covered: Covered, either_order: bool, expected: str
) -> None:
    judgements = judge(
        entries(*ENTRIES), candidates(*CANDIDATES), covered, either_order=either_order
    )
    signs = {None: " ", True: "+", False: "-"}
    assert "".join(signs[judgements.get(("TP", f"{i:03}"))] for i in range(5)) == expected


def test_coverage_counts_agree_with_those_by_hand() -> None:
    listed = entries(*ENTRIES, ("take", "place"), ("tea", None))
    assert coverage_counts(listed, candidates(*CANDIDATES), "l1") == {
        "category": "TP", "n_candidates": 5, "n_judged": 2, "n_true": 1, "n_false": 1,
        "n_unjudged": 3, "n_entries": 3, "n_matched": 1, "n_unmatched": 2, "n_absent": 1,
        "n_duplicates": 1, "n_unreadable": 1,
    }  # fmt: skip


def test_an_entry_of_two_candidates_is_one_entry() -> None:
    counts = coverage_counts(
        entries(("take", "place")), candidates(*CANDIDATES), "all", either_order=True
    )
    assert (counts["n_entries"], counts["n_matched"], counts["n_true"]) == (1, 1, 2)


def test_two_entries_of_one_candidate_are_one_entry() -> None:
    listed = entries(("take", "place"), ("place", "take"))
    counts = coverage_counts(listed, candidates(("take", "place")), "all", either_order=True)
    assert (counts["n_entries"], counts["n_matched"], counts["n_true"]) == (1, 1, 1)
    assert counts["n_duplicates"] == 1


def test_the_same_entry_in_two_files_is_no_duplicate() -> None:
    listed = pl.concat([entries(*ENTRIES), entries(*ENTRIES, file="other.tsv")])
    counts = coverage_counts(listed, candidates(*CANDIDATES), "l1")
    assert (counts["n_entries"], counts["n_duplicates"]) == (3, 0)


def test_each_category_covers_its_own_words() -> None:
    listed = pl.concat(
        [entries(("take", "place"), category="a"), entries(("go", "on"), category="b")]
    )
    judgements = judge(listed, candidates(("take", "man"), ("go", "far")), "l1")
    assert judgements == {("a", "000"): False, ("b", "001"): False}


def test_empty_lists_and_candidates_give_no_judgements() -> None:
    assert judge(entries(), candidates(*CANDIDATES), "all") == {}
    assert judge(entries(*ENTRIES), candidates(), "all") == {}
    assert coverage_counts(entries(*ENTRIES), candidates(), "all")["n_absent"] == 3
    assert judge(entries(*ENTRIES), candidates((None, "place")), "all") == {}


def test_words_are_compared_in_one_unicode_form() -> None:
    words = pl.DataFrame({"word": ["Cafe\u0301", " Café"]})
    assert words.select(spelling(pl.col("word"), lower=False).n_unique()).item() == 1


WORDS = st.sampled_from(["a", "b", "c", "d", None])
PAIRS = st.lists(st.tuples(WORDS, WORDS), max_size=12)


@given(PAIRS, PAIRS, st.sampled_from(get_args(Covered)), st.booleans())
def test_judgements_agree_with_a_slow_twin(
    listed: list[Pair], pairs: list[Pair], covered: Covered, either_order: bool
) -> None:
    """Every candidate is compared with every entry; counts are those of sets."""
    pairs = list(dict.fromkeys(pairs))
    frames = entries(*listed), candidates(*pairs)
    readable = [pair for pair in listed if None not in pair]

    def same(one: Pair, other: Pair) -> bool:
        return one == other or (either_order and one == other[::-1])

    def covers(pair: Pair, place: int) -> bool:
        places = (0, 1) if either_order else (place,)
        return any(entry[each] == pair[place] for entry in readable for each in places)

    expected = {}
    for number, pair in enumerate(pairs):
        inside = {
            "l1": covers(pair, 0), "l2": covers(pair, 1),
            "either": covers(pair, 0) or covers(pair, 1), "all": bool(readable),
        }  # fmt: skip
        if None in pair:
            continue
        if any(same(pair, entry) for entry in readable):
            expected["TP", f"{number:03}"] = True
        elif inside[covered]:
            expected["TP", f"{number:03}"] = False
    assert judge(*frames, covered, either_order=either_order) == expected
    if not listed:
        return
    counts = coverage_counts(*frames, covered, either_order=either_order)
    whole = [pair for pair in pairs if None not in pair]
    kinds = {frozenset(each) if either_order else each for each in readable}
    matched = {
        kind for kind, pair in product(kinds, whole)
        if kind == (frozenset(pair) if either_order else pair)
    }  # fmt: skip
    assert counts["n_entries"] == len(kinds)
    assert counts["n_matched"] == len(matched)
    assert counts["n_true"] == sum(expected.values())
    assert counts["n_unjudged"] == len(pairs) - len(expected)
    assert counts["n_duplicates"] == len(readable) - len(kinds)
    assert counts["n_unreadable"] == len(listed) - len(readable)
