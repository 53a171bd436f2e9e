"""Measures of lexicons in parts: those of the whole, and of the slow twins, in any parts."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.lexicon.l_measure import (
    aligned,
    aligned_in_parts,
    best_match_f,
    best_match_in_parts,
    entropy,
    entropy_in_parts,
    f_star,
    lexicon_overlaps,
    matched,
    matches,
    overlaps_in_parts,
)
from pipeline.kernels.lexicon.wordlists import common, common_in_parts
from pipeline.kernels.partitions import ranges_of
from tests.kernels.lexicon.lexicons import Lexicon, frame, lexicons, most_in_common
from tests.kernels.lexicon.lexicons import entropy as slow_entropy
from tests.kernels.room_for import room_for

rooms = st.integers(1, 6)


def sized(lexicon: Lexicon) -> int:
    return sum(map(len, lexicon.values()))


@given(lexicons, lexicons, rooms)
def test_overlaps(gold: Lexicon, lexicon: Lexicon, rows: int) -> None:
    with room_for(rows):
        parts = list(overlaps_in_parts(frame(gold), frame(lexicon)))
    expected = lexicon_overlaps(frame(gold), frame(lexicon)).collect().sort("gold", "lemma")
    assert pl.concat(parts).equals(expected)  # in order, too


@given(lexicons, lexicons, rooms)
def test_entropy(gold: Lexicon, lexicon: Lexicon, rows: int) -> None:
    table = lexicon_overlaps(frame(gold), frame(lexicon))
    with room_for(rows):
        found = entropy_in_parts(table, frame(gold), frame(lexicon), lemmas=len(lexicon))
    assert found == entropy(table.collect(), frame(gold), frame(lexicon))
    slow = slow_entropy(gold, lexicon)
    assert found.value is slow is None or math.isclose(found.value or 0, slow or 0, abs_tol=1e-12)


@given(lexicons, lexicons, rooms)
def test_best_match(gold: Lexicon, lexicon: Lexicon, rows: int) -> None:
    table = lexicon_overlaps(frame(gold), frame(lexicon))
    sizes = {"gold_forms": sized(gold), "lexicon_forms": sized(lexicon)}
    with room_for(rows):
        found = best_match_in_parts(table, **sizes)
    assert found == best_match_f(table.collect(), **sizes)
    both = sum(sizes.values())
    assert found == (2.0 * most_in_common(gold, lexicon) / both if both else None)


@given(lexicons, lexicons, rooms)
def test_matches_and_forms(gold: Lexicon, lexicon: Lexicon, rows: int) -> None:
    one, two = frame(gold), frame(lexicon)
    table = lexicon_overlaps(one, two)
    every = matches(table, one, two).collect().sort("lemma")
    both = every.drop_nulls("n_same")
    with room_for(rows):
        ranges = ranges_of("lemma", one, two, table.select(lemma="gold"))
        found = matched(table, one, two, ranges=ranges, sample=None, weights="gold")
        forms = [each.collect() for each in aligned_in_parts(both.lazy(), one, two, ranges)]
    assert found.both.matches.equals(both)
    assert (found.common, found.bases) == (both.height, both["n_gold"].sum())
    assert (found.gold_lemmas, found.lexicon_lemmas) == (len(gold), len(lexicon))
    assert (found.gold_forms, found.lexicon_forms) == (sized(gold), sized(lexicon))
    assert found.f_star == f_star(every)
    expected = aligned(both.lazy(), one, two).collect().sort("lemma", "form")
    assert pl.concat(forms).sort("lemma", "form").equals(expected)


@given(lexicons, lexicons, rooms)
def test_common_lemmas(first: Lexicon, second: Lexicon, rows: int) -> None:
    with room_for(rows):
        found = common_in_parts(frame(first), frame(second))
    assert sorted(found["lemma"]) == sorted(common(frame(first), frame(second)).collect()["lemma"])


@pytest.mark.long
def test_forms_of_very_many_lemmas() -> None:
    """A form that all lemmas have makes more pairs than there are forms."""
    gold = {f"g{i}": {"of all", f"w{i}"} for i in range(30)}
    lexicon = {f"l{i}": {"of all", f"w{i}"} for i in range(30)}
    with room_for(7):
        parts = list(overlaps_in_parts(frame(gold), frame(lexicon)))
        match = best_match_in_parts(
            pl.concat(parts).lazy(), gold_forms=60, lexicon_forms=60
        )  # fmt: skip
    assert pl.concat(parts).height == 900
    assert max(each.height for each in parts) <= 60
    assert match == 1.0
