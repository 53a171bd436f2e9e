"""MacroI, MicroI and MicroC of a given mapping against sets, and the identity of MacroC."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.measures import (
    Score,
    macro_c,
    macro_i,
    micro_c,
    micro_i,
)
from tests.kernels.clustering.types.type_twin import TWINS, Sets, matrix, patterns_of

DOG: tuple[Sets, Sets] = ([{0}, {0, 1}, {1}, {0, 1}], [{0}, {0, 1}, {1}, {2}])


@st.composite
def mapped_items(draw: st.DrawFn) -> tuple[Sets, Sets, list[int]]:
    items = draw(st.integers(1, 7))
    gold = [draw(st.sets(st.integers(0, 3), min_size=1)) for _ in range(items)]
    induced = [draw(st.sets(st.integers(0, 4))) for _ in range(items)]
    return gold, induced, draw(st.lists(st.integers(-1, 3), min_size=5, max_size=5))


def test_every_measure_has_a_twin() -> None:
    assert set(TYPE_MEASURES) == set(TWINS), "add its twin to TWINS in type_twin.py"


@given(mapped_items())
def test_equals_the_sums_over_sets(case: tuple[Sets, Sets, list[int]]) -> None:
    gold, induced, h = case
    patterns = patterns_of(gold, induced, 4, 5)
    for name, twin in TWINS.items():
        assert TYPE_MEASURES.get(name).score(patterns, h).value == twin(gold, induced, h), name


@given(mapped_items())
def test_macro_c_is_macro_i(case: tuple[Sets, Sets, list[int]]) -> None:
    gold, induced, h = case
    patterns = patterns_of(gold, induced, 4, 5)
    assert macro_c(patterns, h) == macro_i(patterns, h).value


def test_recall_and_precision_by_hand() -> None:
    # dog N, run NV, eat V, walk NV; {0}, {0, 1}, {1}, {2}; cluster 2 without a class
    patterns, h = patterns_of(*DOG, 2, 3), [0, 1, -1]
    third = Fraction(1, 3)
    assert macro_i(patterns, h) == Score(Fraction(8, 11), 2 * third, Fraction(4, 5))
    # items: 1, 1, 1, 0 for both
    assert micro_i(patterns, h) == Score(Fraction(3, 4), Fraction(3, 4), Fraction(3, 4))
    # unions: 2 of the 3 N, 2 of the 3 V, and cluster 2 with weight 1 of 5
    assert micro_c(patterns, h) == Score(Fraction(16, 25), Fraction(8, 15), Fraction(4, 5))


def test_precision_leaves_out_items_without_clusters() -> None:
    patterns = patterns_of([{0}, {0, 1}, {1}], [{0}, {0}, set()], 2, 1)
    assert micro_i(patterns, [0]) == Score(Fraction(5, 9), Fraction(1, 2), Fraction(1))
    assert macro_i(patterns, [0]) == Score(Fraction(2, 3), Fraction(1, 2), Fraction(1))


def test_equal_items_count_as_often_as_they_are() -> None:
    gold, induced = DOG
    counts = np.array([3, 1, 2, 5])
    many = Patterns(counts, matrix(gold, 2), matrix(induced, 3))
    spread = [place for place, count in enumerate(counts) for _ in range(count)]
    each_gold, each_induced = ([part[place] for place in spread] for part in DOG)
    for name, twin in TWINS.items():
        found = TYPE_MEASURES.get(name).score(many, [1, 0, 0]).value
        assert found == twin(each_gold, each_induced, [1, 0, 0])


@pytest.mark.parametrize("name", TYPE_MEASURES)
def test_nothing_induced(name: str) -> None:
    nothing: list[set[int]] = [set(), set()]
    for clusters in (0, 2):
        patterns = patterns_of([{0}, {1}], nothing, 2, clusters)
        assert TYPE_MEASURES.get(name).score(patterns, [0] * clusters) == Score(
            Fraction(0), Fraction(0), None
        )


def test_micro_c_does_not_see_a_class_without_clusters() -> None:
    patterns = patterns_of([{0}, {1}], [{0}, set()], 2, 1)
    assert micro_c(patterns, [0]).value == 1
    assert macro_i(patterns, [0]).value == Fraction(2, 3)
