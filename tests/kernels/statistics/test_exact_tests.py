"""Boschloo's test against slow twins, and common properties of all exact tests."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import boschloo_exact, fisher_exact

from pipeline.kernels.statistics import exact_tests
from pipeline.kernels.statistics.exact_tests import (
    ALTERNATIVES,
    TESTS,
    boschloo_greater,
    boschloo_minlike,
    boschloo_two_sided,
)
from pipeline.kernels.statistics.fisher import fisher_greater, fisher_two_sided

Table = tuple[int, int, int, int]


@st.composite
def tables(draw: st.DrawFn, largest: int = 9) -> Table:
    n1, n2 = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


def tail(k1: int, n1: int, k2: int, n2: int) -> Fraction:
    k = k1 + k2
    ways = sum(comb(n1, x) * comb(n2, k - x) for x in range(k1, min(n1, k) + 1))
    return Fraction(ways, comb(n1 + n2, k))


def slow_boschloo(k1: int, n1: int, k2: int, n2: int) -> float:
    """Collect the extreme tables with exact fractions and look for the maximum on a fine grid."""
    limit = tail(k1, n1, k2, n2) * (1 + Fraction(1, 10**7))
    ways = [0] * (n1 + n2 + 1)
    for a, b in product(range(n1 + 1), range(n2 + 1)):
        if tail(a, n1, b, n2) <= limit:
            ways[a + b] += comb(n1, a) * comb(n2, b)
    return slow_maximum_boschloo(ways, n1 + n2)


def slow_maximum_boschloo(ways: list[int], draws: int) -> float:
    """Look for the largest probability of these tables over p, on grids that grow finer."""
    angles, s = np.linspace(0, np.pi / 2, 4001), np.arange(draws + 1)
    for _ in range(3):
        p = np.sin(angles)[:, None] ** 2
        values = (np.array(ways, dtype=float) * p**s * (1 - p) ** (draws - s)).sum(axis=1)
        top = int(values.argmax())
        angles = np.linspace(angles[max(top - 1, 0)], angles[min(top + 1, len(angles) - 1)], 4001)
    return float(values.max())


def one(table: Table) -> float:
    return float(boschloo_greater(*([value] for value in table))[0])


@pytest.mark.parametrize(("table", "p"), [
    ((74, 117, 31, 63), 0.0355644),  # the example in the documentation of SciPy
    ((1, 1, 0, 1), 0.25),  # p (1-p) at 1/2
    ((2, 2, 0, 2), 0.0625),
])  # fmt: skip
def test_published_p_values_are_reproduced(table: Table, p: float) -> None:
    assert one(table) == pytest.approx(p, rel=1e-5)


@pytest.mark.parametrize("table", [
    (7, 12, 1, 8), (3, 20, 1, 25), (0, 4, 0, 9), (15, 30, 12, 31), (9, 9, 4, 11), (2, 33, 0, 11),
])  # fmt: skip
def test_one_sided_p_values_agree_with_scipy(table: Table) -> None:
    k1, n1, k2, n2 = table
    cells = [[k1, k2], [n1 - k1, n2 - k2]]
    greater = boschloo_exact(cells, alternative="greater", n=64).pvalue
    less = boschloo_exact(cells, alternative="less", n=64).pvalue
    assert one(table) == pytest.approx(greater, rel=1e-7)
    assert one((k2, n2, k1, n1)) == pytest.approx(less, rel=1e-7)


@given(tables())
def test_one_sided_p_values_agree_with_the_definition(table: Table) -> None:
    assert one(table) == pytest.approx(slow_boschloo(*table), rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "table", [(22, 24, 4, 14), (4, 4, 9, 14), (19, 24, 6, 21), (13, 30, 2, 30), (24, 24, 0, 20)]
)
def test_one_sided_p_values_of_larger_groups_agree_with_the_definition(table: Table) -> None:
    assert one(table) == pytest.approx(slow_boschloo(*table), rel=1e-10, abs=0)


@given(tables(largest=60))
def test_one_sided_p_values_are_at_most_fishers_and_grow_with_k2(table: Table) -> None:
    k1, n1, k2, n2 = table
    p = boschloo_greater([k1] * (n2 + 1), [n1] * (n2 + 1), np.arange(n2 + 1), [n2] * (n2 + 1))
    assert 0 < p[k2] <= fisher_greater([k1], [n1], [k2], [n2])[0] <= 1
    assert np.all(np.diff(p) >= -1e-9)


@given(tables(largest=60))
def test_mirrored_tables_have_equal_p_values(table: Table) -> None:
    k1, n1, k2, n2 = table
    mirrored = one((n2 - k2, n2, n1 - k1, n1))
    # Above 0.99 several maxima are close to each other, and to 1.
    assert one(table) == pytest.approx(mirrored, rel=1e-6 if mirrored < 0.99 else 1e-4)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5, 0.77])
def test_the_one_sided_test_keeps_its_level(p: float) -> None:
    n1, n2 = 11, 14
    every = list(product(range(n1 + 1), range(n2 + 1)))
    k1, k2 = (np.array(column) for column in zip(*every, strict=True))
    p_values = boschloo_greater(k1, np.full(len(k1), n1), k2, np.full(len(k1), n2))
    chance = np.array([
        comb(n1, a) * comb(n2, b) * p ** (a + b) * (1 - p) ** (n1 + n2 - a - b) for a, b in every
    ])  # fmt: skip
    for alpha in (0.01, 0.05, 0.2):
        assert chance[p_values <= alpha].sum() <= alpha + 1e-12


@pytest.mark.long
def test_one_sided_p_values_of_far_tails_are_close_to_fishers() -> None:
    table = ([300, 900], [600, 5000], [20, 700], [600, 5000])
    p, fisher = boschloo_greater(*table), fisher_greater(*table)
    assert np.all((p <= fisher) & (p > fisher / 20))
    assert p[0] < 1e-70


def test_degenerate_tables_have_one_sided_p_values_of_1_or_none() -> None:
    p = boschloo_greater([0, 0, 3, 0], [0, 5, 3, 7], [1, 0, 4, 2], [5, 0, 4, 2])
    assert np.isnan(p).tolist() == [True, True, False, False]
    assert p[2:].tolist() == [1.0, 1.0]
    empty = np.array([], dtype=np.int64)
    assert boschloo_greater(empty, empty, empty, empty).shape == (0,)


@given(st.lists(tables(largest=12), min_size=2, max_size=20), st.randoms())
def test_batches_do_not_change_one_sided_p_values(rows: list[Table], random: Random) -> None:
    alone = {row: one(row) for row in rows}
    random.shuffle(rows)
    columns = [list(column) for column in zip(*rows, strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact_tests, "_CELLS", 40)
        few = boschloo_greater(*columns)
    assert few.tolist() == [alone[row] for row in rows]
    assert boschloo_greater(*columns).tolist() == few.tolist()


def test_wrong_tables_are_refused() -> None:
    with pytest.raises(ValueError, match="in 1 table "):
        boschloo_greater([5], [4], [0], [3])
    with pytest.raises(ValueError, match=r"limited to 10,000 draws in both groups, not 12,000"):
        boschloo_greater([5], [6000], [0], [6000])


@st.composite
def tables_boschloo_two_sided(draw: st.DrawFn, largest: int = 9) -> Table:
    n1, n2 = draw(st.integers(1, largest)), draw(st.integers(1, largest))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2


@cache
def fisher(k1: int, n1: int, k2: int, n2: int) -> Fraction:
    k = k1 + k2
    ways = [comb(n1, x) * comb(n2, k - x) for x in range(max(0, k - n2), min(n1, k) + 1)]
    limit = comb(n1, k1) * comb(n2, k2) * (1 + Fraction(1, 10**7))
    return Fraction(sum(way for way in ways if way <= limit), comb(n1 + n2, k))


def slow(k1: int, n1: int, k2: int, n2: int) -> float:
    """Collect the extreme tables with exact fractions and look for the maximum on a fine grid."""
    limit = fisher(k1, n1, k2, n2) * (1 + Fraction(1, 10**7))
    ways = [0] * (n1 + n2 + 1)
    for a, b in product(range(n1 + 1), range(n2 + 1)):
        if fisher(a, n1, b, n2) <= limit:
            ways[a + b] += comb(n1, a) * comb(n2, b)
    return slow_maximum_boschloo(ways, n1 + n2)


def one_boschloo_two_sided(table: Table) -> float:
    return float(boschloo_two_sided(*([value] for value in table))[0])


def test_two_sided_p_values_agree_with_those_by_hand() -> None:
    # 2 of 2 and 0 of 2, or the other way round: p^2 (1 - p)^2 twice, at 1/2; Fisher: 2/6
    assert one_boschloo_two_sided((2, 2, 0, 2)) == pytest.approx(2 / 16)
    assert (
        one_boschloo_two_sided((1, 1, 0, 1)) == 1.0
    )  # as probable as the other table with one success


def test_twice_the_smaller_p_value_can_exceed_fishers() -> None:
    table = ([9], [14], [34], [38])
    both, fishers = exact_tests.boschloo(*table)[0], fisher_two_sided(*table)[0]
    assert (round(fishers, 4), round(both, 4)) == (0.0477, 0.0538)
    assert boschloo_minlike(*table)[0] == pytest.approx(slow(9, 14, 34, 38), rel=1e-9)
    assert boschloo_minlike(*table)[0] < fishers


@given(tables_boschloo_two_sided())
@example((6, 6, 2, 3))  # a climb from the minimum between two maxima takes many steps
@example((8, 9, 3, 9))  # two maxima closer than the grid, a minimum between them
def test_two_sided_p_values_agree_with_the_definition(table: Table) -> None:
    assert one_boschloo_two_sided(table) == pytest.approx(slow(*table), rel=1e-9, abs=0)


@pytest.mark.parametrize(
    "table", [(22, 24, 4, 14), (4, 4, 9, 14), (13, 30, 2, 30), (24, 24, 0, 20)]
)
def test_two_sided_p_values_of_larger_groups_agree_with_the_definition(table: Table) -> None:
    assert one_boschloo_two_sided(table) == pytest.approx(slow(*table), rel=1e-9, abs=0)


@pytest.mark.long
@given(st.lists(tables_boschloo_two_sided(largest=60), min_size=1, max_size=4))
def test_two_sided_p_values_are_at_most_fishers_and_symmetric(rows: list[Table]) -> None:
    k1, n1, k2, n2 = (np.array(column) for column in zip(*rows, strict=True))
    p = boschloo_two_sided(k1, n1, k2, n2)
    assert np.all((p > 0) & (p <= fisher_two_sided(k1, n1, k2, n2)))
    same = boschloo_two_sided(k2, n2, k1, n1), boschloo_two_sided(n1 - k1, n1, n2 - k2, n2)
    for other in same:  # above .99 several maxima are close to each other
        assert np.allclose(p, other, rtol=1e-6, atol=1e-4)


@pytest.mark.parametrize("p", [0.02, 0.1, 0.3, 0.5, 0.77])
def test_the_two_sided_test_keeps_its_level_and_rejects_more(p: float) -> None:
    n1, n2 = 11, 14
    every = list(product(range(n1 + 1), range(n2 + 1)))
    k1, k2 = (np.array(column) for column in zip(*every, strict=True))
    p_values = boschloo_two_sided(k1, n1, k2, n2)
    fishers = fisher_two_sided(k1, n1, k2, n2)
    chance = np.array([
        comb(n1, a) * comb(n2, b) * p ** (a + b) * (1 - p) ** (n1 + n2 - a - b) for a, b in every
    ])  # fmt: skip
    for alpha in (0.01, 0.05, 0.2):
        assert chance[p_values <= alpha].sum() <= alpha + 1e-12
        assert not ((fishers <= alpha) & (p_values > alpha)).any()
        assert ((fishers > alpha) & (p_values <= alpha)).any()


def test_both_variants_have_equal_one_sided_p_values() -> None:
    for alternative in ("greater", "less"):
        p_values = boschloo_minlike([9, 3], [14, 9], [34, 1], [38, 7], alternative=alternative)
        expected = exact_tests.boschloo([9, 3], [14, 9], [34, 1], [38, 7], alternative=alternative)
        assert p_values.tolist() == expected.tolist()


@pytest.mark.long
def test_two_sided_p_values_of_far_tails_are_close_to_fishers() -> None:
    table = ([300, 900], [600, 5000], [20, 700], [600, 5000])
    p, fishers = boschloo_two_sided(*table), fisher_two_sided(*table)
    assert np.all((p <= fishers) & (p > fishers / 20))


def test_degenerate_tables_have_two_sided_p_values_of_1_or_none() -> None:
    p = boschloo_two_sided([0, 0, 3, 0], [0, 5, 3, 7], [1, 0, 4, 2], [5, 0, 4, 2])
    assert np.isnan(p).tolist() == [True, True, False, False]
    assert p[2:].tolist() == [1.0, pytest.approx(slow(0, 7, 2, 2))]
    empty = np.array([], dtype=np.int64)
    assert boschloo_two_sided(empty, empty, empty, empty).shape == (0,)


def test_batches_do_not_change_two_sided_p_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = ([3, 9, 0, 7, 4], [10, 20, 5, 12, 6], [6, 2, 4, 1, 0], [10, 15, 7, 8, 14])
    whole = boschloo_two_sided(*columns)
    monkeypatch.setattr(exact_tests, "_ROWS", 20)
    few = boschloo_two_sided(*(column[::-1] for column in columns))
    assert whole == pytest.approx(few[::-1], rel=1e-12)


def test_wrong_tables_are_refused_by_the_two_sided_test() -> None:
    with pytest.raises(ValueError, match="in 1 table "):
        boschloo_two_sided([5], [4], [0], [3])
    with pytest.raises(ValueError, match=r"limited to 10,000 draws in both groups, not 12,000"):
        boschloo_two_sided([5], [6000], [0], [6000])


TEAMS = ([7], [12], [2], [9])
CELLS = np.array([[7, 2], [5, 7]])


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_alternatives_agree_with_scipy(alternative: Any) -> None:
    spelt = alternative.replace("_", "-")
    expected = fisher_exact(CELLS, alternative=spelt)[1]
    assert exact_tests.fisher(*TEAMS, alternative=alternative)[0] == pytest.approx(
        expected, rel=1e-10
    )
    expected = boschloo_exact(CELLS, alternative=spelt, n=64).pvalue
    assert exact_tests.boschloo(*TEAMS, alternative=alternative)[0] == pytest.approx(
        expected, rel=1e-7
    )


@pytest.mark.parametrize("name", TESTS)
def test_tests_are_two_sided_by_default_and_symmetric(name: str) -> None:
    test = TESTS.get(name).p_values
    two, greater, less = (float(test(*TEAMS, alternative=a)[0]) for a in ALTERNATIVES)
    assert float(test(*TEAMS)[0]) == two
    assert greater < two < less
    turned = (TEAMS[2], TEAMS[3], TEAMS[0], TEAMS[1])
    assert float(test(*turned)[0]) == pytest.approx(two, rel=1e-12)
    assert float(test(*turned, alternative="less")[0]) == greater


def test_two_sided_p_values_are_at_most_one() -> None:
    assert float(exact_tests.boschloo([2], [4], [2], [4])[0]) == 1.0


@pytest.mark.parametrize("name", TESTS)
def test_unknown_alternatives_are_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match="unknown alternative 'two-sided'; valid: two_sided, greater"
    ):
        TESTS.get(name).p_values(*TEAMS, alternative="two-sided")  # type: ignore[arg-type]  # the mistake


def test_an_unknown_test_is_refused_with_the_valid_names() -> None:
    with pytest.raises(ValueError, match=f"'mcnemar'; valid: {', '.join(TESTS)}"):
        TESTS.get("mcnemar")
