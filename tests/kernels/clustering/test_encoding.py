"""Distinct sets of labels against Python's own sets."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pipeline.kernels.clustering import encoding
from pipeline.kernels.clustering.encoding import distinct_sets, distinct_values

SETS = st.lists(st.frozensets(st.integers(0, 3)), max_size=12)


def held(sets: Sequence[Set[int]], labels: int = 4) -> sparse.csr_array:
    rows = [[int(label in each) for label in range(labels)] for each in sets]
    return sparse.csr_array(np.array(rows, dtype=np.int64).reshape(len(sets), labels))


@given(SETS)
def test_rows_have_one_place_if_and_only_if_they_hold_the_same(sets: list[frozenset[int]]) -> None:
    one, places = distinct_sets(held(sets))
    assert len(one) == len({*sets})
    assert [sets[one[place]] for place in places] == sets


def test_sets_that_begin_alike_differ() -> None:
    one, places = distinct_sets(held([{0}, {0, 1}, {0, 1, 2}, set(), {0}]))
    assert len(one) == 4
    assert places[0] == places[4]


def test_no_labels_at_all() -> None:
    one, places = distinct_sets(held([set(), set()], labels=0))
    assert one.tolist() in ([0], [1])
    assert places.tolist() == [0, 0]


@pytest.mark.parametrize("table", [0, 2**22])
def test_numbers_are_the_same_with_and_without_a_table(
    table: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "_LARGEST_TABLE", table)
    distinct, places = distinct_values(np.array([5, 0, 9, 5]))
    assert distinct.tolist() == [0, 5, 9]
    assert places.tolist() == [1, 0, 2, 1]


def test_no_numbers() -> None:
    distinct, places = distinct_values(np.zeros(0, dtype=np.int64))
    assert len(distinct) == len(places) == 0
