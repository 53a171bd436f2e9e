"""Pairings of tuples against pairs counted as pairs."""

from __future__ import annotations

from collections import Counter

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from pipeline import memory
from pipeline.kernels.cooccurrence.pairs import ambiguous, paired
from pipeline.kernels.cooccurrence.tuples import with_subsets
from tests.kernels.room_for import room_for

Triples = dict[tuple[str, str, str], int]
triples = st.dictionaries(
    st.tuples(*[st.sampled_from("abc")] * 3), st.integers(1, 9), min_size=1, max_size=15
)


def tuples(counts: Triples) -> pl.LazyFrame:
    rows = [(*words, f) for words, f in counts.items()]
    schema = {"l1": pl.String, "l2": pl.String, "l3": pl.String, "f": pl.Int64}
    return with_subsets(pl.LazyFrame(rows, schema=schema, orient="row"), size=3)


@given(counts=triples, groups=st.sampled_from([([1, 2], [3]), ([2], [3, 1]), ([3, 2], [1])]))
def test_a_pairing_is_what_counting_pairs_gives(
    counts: Triples, groups: tuple[list[int], list[int]]
) -> None:
    slow: Counter[tuple[str, str]] = Counter()
    for words, f in counts.items():
        one, two = ("+".join(words[i - 1] for i in group) for group in groups)
        slow[one, two] += f
    made = paired(tuples(counts), first=groups[0], second=groups[1], separator="+").collect()
    assert made.height == len(slow)
    assert made.columns == ["l1", "l2", "f", "f1", "f2", "N"]
    for l1, l2, f, f1, f2, n in made.rows():
        assert f == slow[l1, l2]
        assert f1 == sum(count for (one, _), count in slow.items() if one == l1)
        assert f2 == sum(count for (_, two), count in slow.items() if two == l2)
        assert n == sum(slow.values())


def test_further_columns_are_kept_and_scores_are_those_of_the_tuple() -> None:
    frame = tuples({("a", "b", "c"): 2}).with_columns(documents=pl.lit(1), mi=pl.lit(0.5))
    made = paired(frame, first=[1], second=[2, 3], separator=" ")
    names = ["l1", "l2", "f", "f1", "f2", "N", "documents", "tuple_mi"]
    assert made.collect_schema().names() == names


def test_labels_that_stand_for_two_groups() -> None:
    frame = tuples({("a b", "c", "x"): 1, ("a", "b c", "x"): 2, ("d e", "f", "x"): 3})
    found = ambiguous(frame, first=[1, 2], second=[3], separator=" ")
    assert found.to_series().to_list() == ["a b c"]
    with memory.limited(memory.USUAL), room_for(1):
        assert ambiguous(frame, first=[1, 2], second=[3], separator=" ").equals(found)
    assert ambiguous(frame, first=[1, 2], second=[3], separator="+").height == 0
