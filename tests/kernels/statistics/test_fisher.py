from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from pipeline.kernels.statistics import fisher
from pipeline.kernels.statistics.fisher import (
    fisher_greater,
    fisher_two_sided,
    for_distinct_tables,
    mid_p_greater,
    mid_p_two_sided,
)

Table = tuple[int, int, int, int]


def slow_fisher(k1: int, n1: int, k2: int, n2: int) -> float:
    """Add up exact fractions over the whole support."""
    k = k1 + k2
    values = range(max(0, k - n2), min(n1, k) + 1)
    ways = {x: comb(n1, x) * comb(n2, k - x) for x in values}
    limit = ways[k1] * (1 + Fraction(1, 10**7))
    return float(Fraction(sum(w for w in ways.values() if w <= limit), comb(n1 + n2, k)))


@st.composite
def tables(draw: st.DrawFn, largest: int = 120) -> Table:
    n1, n2 = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


def columns(rows: list[Table]) -> tuple[list[int], ...]:
    return tuple(map(list, zip(*rows, strict=True)))


@pytest.mark.parametrize(("table", "p"), [
    ((3, 4, 1, 4), 0.4857143),  # tea tasting: Fisher 1935, in the examples of R's fisher.test
    ((2, 12, 15, 18), 0.0005367241),  # convictions of twins, ditto
])  # fmt: skip
def test_published_examples(table: Table, p: float) -> None:
    assert fisher_two_sided(*([value] for value in table))[0] == pytest.approx(p, rel=1e-6, abs=0)


def test_by_hand() -> None:
    # k = 2 of n1 = 3, n2 = 2: C(3,x) C(2,2-x) = 1, 6, 3 of 10; x = 0, 1, 2
    p = fisher_two_sided([0, 1, 2], [3, 3, 3], [2, 1, 0], [2, 2, 2])
    assert p == pytest.approx([0.1, 1.0, 0.4], rel=1e-14, abs=0)


@given(st.lists(tables(), min_size=1, max_size=20))
def test_agrees_with_exact_fractions(rows: list[Table]) -> None:
    exact = [slow_fisher(*row) for row in rows]
    assert fisher_two_sided(*columns(rows)) == pytest.approx(exact, rel=1e-12, abs=0)


def test_agrees_with_scipy_on_every_small_table() -> None:
    sizes = [(n1, n2) for n1, n2 in product(range(1, 7), repeat=2)]
    rows = [(k1, n1, k2, n2) for n1, n2 in sizes for k1 in range(n1 + 1) for k2 in range(n2 + 1)]
    oracle = [fisher_exact(np.array([[k1, k2], [n1 - k1, n2 - k2]]))[1] for k1, n1, k2, n2 in rows]
    assert fisher_two_sided(*columns(rows)) == pytest.approx(oracle, rel=1e-11, abs=0)


@pytest.mark.parametrize("table", [
    (400, 2500, 5, 2500), (566, 2500, 0, 2500), (0, 2000, 90, 300), (277, 2551, 289, 2551),
    (3, 10**9, 2, 2 * 10**9), (6, 10**6, 0, 10**6), (1, 1, 0, 2500),
])  # fmt: skip
def test_keeps_its_digits_in_far_tails_and_large_groups(table: Table) -> None:
    p = fisher_two_sided(*([value] for value in table))[0]
    assert p == pytest.approx(slow_fisher(*table), rel=1e-12, abs=0)


@pytest.mark.parametrize(("n", "p"), [(10**8, 0.5), (10**6, 0.25)])
def test_probabilities_within_the_tolerance_count_as_equal(n: int, p: float) -> None:
    # k1 + k2 = 2: about 1/4, 1/2, 1/4; x = 0 is more probable than x = 2 by a factor 1 + 2/n
    assert fisher_two_sided([2], [n], [0], [n + 1])[0] == pytest.approx(p, abs=1e-6)


@given(tables())
def test_rows_and_columns_may_change_places(table: Table) -> None:
    k1, n1, k2, n2 = table
    swapped = [(k2, n2, k1, n1), (n1 - k1, n1, n2 - k2, n2), (n2 - k2, n2, n1 - k1, n1)]
    if 0 < k1 + k2 < n1 + n2:
        swapped.append((k1, k1 + k2, n1 - k1, n1 + n2 - k1 - k2))  # the transpose
    p = fisher_two_sided(*columns([table, *swapped]))
    assert p[1:] == pytest.approx(p[0], rel=1e-12, abs=0)
    assert 0 < p[0] <= 1


def test_without_trials_there_is_no_test() -> None:
    p = fisher_two_sided([0, 0, 0, 1], [0, 5, 0, 5], [1, 0, 0, 1], [5, 0, 0, 5])
    assert np.isnan(p).tolist() == [True, True, True, False]


def test_one_possible_table_gives_one() -> None:
    assert fisher_two_sided([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [1.0, 1.0]


def test_no_tables() -> None:
    empty = np.array([], dtype=np.int64)
    assert fisher_two_sided(empty, empty, empty, empty).shape == (0,)


@given(st.lists(tables(largest=8), min_size=2, max_size=30), st.randoms())
def test_result_belongs_to_its_table_whatever_the_order_and_the_chunks(
    rows: list[Table], random: Random
) -> None:
    alone = {row: fisher_two_sided(*columns([row]))[0] for row in rows}
    random.shuffle(rows)
    together = for_distinct_tables(fisher._two_sided, *columns(rows), at_a_time=3)
    assert together.tolist() == [alone[row] for row in rows]


@pytest.mark.parametrize("table", [(5, 4, 0, 3), (1, 4, -1, 3), (0, -2, 0, 3)])
def test_impossible_counts_are_refused(table: Table) -> None:
    with pytest.raises(ValueError, match=r"in 1 tables .*" + str(table[0])):
        fisher_two_sided(*([value] for value in table))


def slow_ways(table: Table) -> tuple[dict[int, int], int]:
    k1, n1, k2, n2 = table
    k = k1 + k2
    values = range(max(0, k - n2), min(n1, k) + 1)
    return {x: comb(n1, x) * comb(n2, k - x) for x in values}, comb(n1 + n2, k)


def slow_greater(table: Table) -> float:
    ways, total = slow_ways(table)
    return float(Fraction(sum(w for x, w in ways.items() if x >= table[0]), total))


def slow_mid_greater(table: Table) -> float:
    ways, total = slow_ways(table)
    more = sum(w for x, w in ways.items() if x > table[0])
    return float(Fraction(2 * more + ways[table[0]], 2 * total))


def slow_mid_two_sided(table: Table) -> float:
    ways, total = slow_ways(table)
    observed, tolerance = ways[table[0]], 1 + Fraction(1, 10**7)
    less = sum(w for w in ways.values() if w * tolerance < observed)
    equal = sum(w for w in ways.values() if observed <= w * tolerance <= observed * tolerance**2)
    return float(Fraction(2 * less + equal, 2 * total))


TWINS = [
    (fisher_greater, slow_greater),
    (mid_p_greater, slow_mid_greater),
    (mid_p_two_sided, slow_mid_two_sided),
]


@pytest.mark.parametrize(("test", "slow"), TWINS)
@given(rows=st.lists(tables(), min_size=1, max_size=20))
def test_one_sided_and_mid_p_agree_with_exact_fractions(
    test: Any, slow: Any, rows: list[Table]
) -> None:
    assert test(*columns(rows)) == pytest.approx([slow(row) for row in rows], rel=1e-12, abs=0)


@pytest.mark.parametrize(("test", "slow"), TWINS)
@pytest.mark.parametrize("table", [
    (400, 2500, 5, 2500), (5, 2500, 400, 2500), (566, 2500, 0, 2500), (277, 2551, 289, 2551),
    (3, 10**9, 2, 2 * 10**9), (1, 1, 0, 2500),
])  # fmt: skip
def test_one_sided_and_mid_p_keep_their_digits(test: Any, slow: Any, table: Table) -> None:
    found = test(*([value] for value in table))[0]
    assert found == pytest.approx(slow(table), rel=1e-12, abs=0)


def test_one_sided_agrees_with_scipy() -> None:
    for k1, n1, k2, n2 in [(3, 9, 1, 11), (0, 5, 5, 5), (7, 8, 2, 30), (12, 40, 15, 33)]:
        cells = np.array([[k1, k2], [n1 - k1, n2 - k2]])
        sides: list[tuple[Literal["greater", "less"], Table]] = [
            ("greater", (k1, n1, k2, n2)),
            ("less", (k2, n2, k1, n1)),
        ]
        for alternative, table in sides:
            expected = fisher_exact(cells, alternative=alternative)[1]
            found = fisher_greater(*([value] for value in table))[0]
            assert found == pytest.approx(expected, rel=1e-10, abs=0)


@given(tables())
def test_laws_of_the_sides(table: Table) -> None:
    k1, n1, k2, n2 = ([value] for value in table)
    greater, less = fisher_greater(k1, n1, k2, n2)[0], fisher_greater(k2, n2, k1, n1)[0]
    middle = mid_p_greater(k1, n1, k2, n2)[0]
    assert middle + mid_p_greater(k2, n2, k1, n1)[0] == pytest.approx(1.0, rel=1e-12)
    assert 0 < middle <= greater <= 1
    assert mid_p_two_sided(k1, n1, k2, n2)[0] < fisher_two_sided(k1, n1, k2, n2)[0]
    assert greater + less > 1 - 1e-12


def test_one_possible_table_has_a_mid_p_of_one_half() -> None:
    assert mid_p_two_sided([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [0.5, 0.5]
    assert mid_p_greater([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [0.5, 0.5]
    assert fisher_greater([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [1.0, 1.0]
