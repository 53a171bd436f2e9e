""""""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any, Literal

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from pipeline.kernels.statistics import fisher
from pipeline.kernels.statistics.fisher import (
    bd0,
    fisher_greater,
    fisher_two_sided,
    for_distinct_tables,
    log_binomial_pmf,
    log_hypergeometric_pmf,
    mid_p_greater,
    mid_p_two_sided,
    stirlerr,
    stirling_remainder,
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
def test_published_p_values_are_reproduced(table: Table, p: float) -> None:
    assert fisher_two_sided(*([value] for value in table))[0] == pytest.approx(p, rel=1e-6, abs=0)


def test_two_sided_p_values_agree_with_those_by_hand() -> None:
    # k = 2 of n1 = 3, n2 = 2: C(3,x) C(2,2-x) = 1, 6, 3 of 10; x = 0, 1, 2
    p = fisher_two_sided([0, 1, 2], [3, 3, 3], [2, 1, 0], [2, 2, 2])
    assert p == pytest.approx([0.1, 1.0, 0.4], rel=1e-14, abs=0)


@given(st.lists(tables(), min_size=1, max_size=20))
def test_two_sided_p_values_agree_with_exact_fractions(rows: list[Table]) -> None:
    exact = [slow_fisher(*row) for row in rows]
    assert fisher_two_sided(*columns(rows)) == pytest.approx(exact, rel=1e-12, abs=0)


def test_p_values_of_all_small_tables_agree_with_scipy() -> None:
    sizes = [(n1, n2) for n1, n2 in product(range(1, 7), repeat=2)]
    rows = [(k1, n1, k2, n2) for n1, n2 in sizes for k1 in range(n1 + 1) for k2 in range(n2 + 1)]
    oracle = [fisher_exact(np.array([[k1, k2], [n1 - k1, n2 - k2]]))[1] for k1, n1, k2, n2 in rows]
    assert fisher_two_sided(*columns(rows)) == pytest.approx(oracle, rel=1e-11, abs=0)


@pytest.mark.parametrize("table", [
    (400, 2500, 5, 2500), (566, 2500, 0, 2500), (0, 2000, 90, 300), (277, 2551, 289, 2551),
    (3, 10**9, 2, 2 * 10**9), (6, 10**6, 0, 10**6), (1, 1, 0, 2500),
])  # fmt: skip
def test_p_values_are_exact_in_far_tails_and_large_groups(table: Table) -> None:
    p = fisher_two_sided(*([value] for value in table))[0]
    assert p == pytest.approx(slow_fisher(*table), rel=1e-12, abs=0)


@pytest.mark.parametrize(("n", "p"), [(10**8, 0.5), (10**6, 0.25)])
def test_probabilities_within_the_tolerance_count_as_equal(n: int, p: float) -> None:
    # k1 + k2 = 2: about 1/4, 1/2, 1/4; x = 0 is more probable than x = 2 by a factor 1 + 2/n
    assert fisher_two_sided([2], [n], [0], [n + 1])[0] == pytest.approx(p, abs=1e-6)


@given(tables())
def test_the_order_of_rows_and_columns_does_not_matter(table: Table) -> None:
    k1, n1, k2, n2 = table
    swapped = [(k2, n2, k1, n1), (n1 - k1, n1, n2 - k2, n2), (n2 - k2, n2, n1 - k1, n1)]
    if 0 < k1 + k2 < n1 + n2:
        swapped.append((k1, k1 + k2, n1 - k1, n1 + n2 - k1 - k2))  # the transpose
    p = fisher_two_sided(*columns([table, *swapped]))
    assert p[1:] == pytest.approx(p[0], rel=1e-12, abs=0)
    assert 0 < p[0] <= 1


def test_tables_without_trials_have_no_p_value() -> None:
    p = fisher_two_sided([0, 0, 0, 1], [0, 5, 0, 5], [1, 0, 0, 1], [5, 0, 0, 5])
    assert np.isnan(p).tolist() == [True, True, True, False]


def test_the_only_possible_table_has_a_p_value_of_one() -> None:
    assert fisher_two_sided([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [1.0, 1.0]


def test_empty_arrays_have_no_p_values() -> None:
    empty = np.array([], dtype=np.int64)
    assert fisher_two_sided(empty, empty, empty, empty).shape == (0,)


@given(st.lists(tables(largest=8), min_size=2, max_size=30), st.randoms())
def test_order_and_chunks_do_not_change_p_values(rows: list[Table], random: Random) -> None:
    alone = {row: fisher_two_sided(*columns([row]))[0] for row in rows}
    random.shuffle(rows)
    together = for_distinct_tables(fisher._two_sided, *columns(rows), at_a_time=3)
    assert together.tolist() == [alone[row] for row in rows]


@pytest.mark.parametrize("table", [(5, 4, 0, 3), (1, 4, -1, 3), (0, -2, 0, 3)])
def test_impossible_counts_are_refused(table: Table) -> None:
    with pytest.raises(ValueError, match=r"in 1 table .*" + str(table[0])):
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
def test_one_sided_and_mid_p_values_are_exact_in_far_tails(
    test: Any, slow: Any, table: Table
) -> None:
    p_value = test(*([value] for value in table))[0]
    assert p_value == pytest.approx(slow(table), rel=1e-12, abs=0)


def test_one_sided_p_values_agree_with_scipy() -> None:
    for k1, n1, k2, n2 in [(3, 9, 1, 11), (0, 5, 5, 5), (7, 8, 2, 30), (12, 40, 15, 33)]:
        cells = np.array([[k1, k2], [n1 - k1, n2 - k2]])
        sides: list[tuple[Literal["greater", "less"], Table]] = [
            ("greater", (k1, n1, k2, n2)),
            ("less", (k2, n2, k1, n1)),
        ]
        for alternative, table in sides:
            expected = fisher_exact(cells, alternative=alternative)[1]
            p_value = fisher_greater(*([value] for value in table))[0]
            assert p_value == pytest.approx(expected, rel=1e-10, abs=0)


@given(tables())
def test_one_sided_and_mid_p_values_obey_the_laws(table: Table) -> None:
    k1, n1, k2, n2 = ([value] for value in table)
    greater, less = fisher_greater(k1, n1, k2, n2)[0], fisher_greater(k2, n2, k1, n1)[0]
    middle = mid_p_greater(k1, n1, k2, n2)[0]
    assert middle + mid_p_greater(k2, n2, k1, n1)[0] == pytest.approx(1.0, rel=1e-12)
    assert 0 < middle <= greater <= 1
    assert mid_p_two_sided(k1, n1, k2, n2)[0] < fisher_two_sided(k1, n1, k2, n2)[0]
    assert greater + less > 1 - 1e-12


def test_the_only_possible_table_has_a_mid_p_of_one_half() -> None:
    assert mid_p_two_sided([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [0.5, 0.5]
    assert mid_p_greater([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [0.5, 0.5]
    assert fisher_greater([0, 7], [7, 7], [0, 3], [3, 3]).tolist() == [1.0, 1.0]


EXACT = mpmath.MPContext()
EXACT.dps = 60
PROBABLE = 1e-13  # of the pmf itself, where it is not tiny
RELATIVE = 1e-14  # of the log pmf, in the far tails


def log_choose(n: int, k: int) -> mpmath.mpf:
    return EXACT.loggamma(n + 1) - EXACT.loggamma(k + 1) - EXACT.loggamma(n - k + 1)


def exact_hypergeometric(k: int, good: int, bad: int, draws: int) -> float:
    ways = log_choose(good, k) + log_choose(bad, draws - k)
    return float(ways - log_choose(good + bad, draws))


def exact_binomial(k: int, n: int, p: float) -> float:
    ln_p, ln_q = EXACT.log(EXACT.mpf(p)), EXACT.log(1 - EXACT.mpf(p))
    return float(log_choose(n, k) + k * ln_p + (n - k) * ln_q)


@st.composite
def hypergeometric_cases(draw: st.DrawFn) -> tuple[int, int, int, int]:
    size = st.integers(0, 9).flatmap(lambda digits: st.integers(0, 10**digits))
    good, bad = draw(size), draw(size)
    draws = draw(st.integers(0, good + bad))
    return draw(st.integers(max(0, draws - bad), min(good, draws))), good, bad, draws


@pytest.mark.parametrize("n", [1, 2, 7, 15, 16, 17, 40, 1000, 10**9, 10**15])
def test_stirlerr_equals_its_definition(n: int) -> None:
    exact = EXACT.loggamma(n + 1) - EXACT.log(2 * EXACT.pi * n) / 2 - n * EXACT.log(n) + n
    assert stirlerr(n) == pytest.approx(float(exact), rel=1e-15, abs=0)


def test_stirlerr_broadcasts_and_is_infinite_at_zero() -> None:
    assert stirlerr([[0, 1], [20, 30]]).shape == (2, 2)
    assert stirlerr(0) == np.inf


def test_the_stirling_remainder_completes_the_factorial() -> None:
    n = np.array([1, 2, 3, 10, 20])
    factorials = np.exp(n * np.log(n) - n + stirling_remainder(n))
    assert factorials == pytest.approx([1, 2, 6, 3628800, 2432902008176640000], rel=1e-13, abs=0)
    assert stirling_remainder(0) == 0


def test_distinct_tables_are_tested_once() -> None:
    small = np.array([[1, 4, 3, 4], [0, 2, 1, 1], [1, 4, 3, 4], [0, 2, 1, 1], [1, 5, 3, 4]]).T
    for tables in (small, small * 10**9, small * [[1], [10**18], [1], [10**18]]):
        calls: list[np.ndarray] = []

        def first(*columns: np.ndarray) -> np.ndarray:
            calls.append(np.stack(columns))  # noqa: B023
            return columns[1] * 1.0

        p = for_distinct_tables(first, *tables)
        assert p.tolist() == tables[1].tolist()
        assert np.array_equal(np.concatenate(calls, axis=1), np.unique(tables, axis=1))


def test_remainders_from_the_table_equal_computed_ones() -> None:
    last = np.array([0, 1, 15, 16, 2**16 - 1])
    many = np.resize(last, 5_000)
    assert stirling_remainder(many).tolist() == np.resize(stirling_remainder(last), 5_000).tolist()
    larger = np.append(many, 2**16)
    assert stirling_remainder(larger)[:-1].tolist() == stirling_remainder(many).tolist()


@given(st.floats(1e-3, 1e9), st.floats(-0.999, 3) | st.floats(-1e-6, 1e-6))
def test_bd0_equals_its_definition(expected: float, relative: float) -> None:
    x = expected * (1 + relative)
    exact_x, exact_m = EXACT.mpf(x), EXACT.mpf(expected)
    exact = exact_x * EXACT.log(exact_x / exact_m) + exact_m - exact_x
    assert bd0(x, expected) == pytest.approx(float(exact), rel=5e-15, abs=0)


@pytest.mark.parametrize("v", [0.005, 0.02, 0.05, 0.09, 0.12, 0.1499, 0.1501, 0.2, 0.5])
def test_bd0_is_exact_where_the_series_begins(v: float) -> None:
    x = np.arange(100.0, 200.0)
    for sign in (1, -1):
        m = x * (1 - sign * v) / (1 + sign * v)  # (x - m) / (x + m) is v or -v
        pairs = [(EXACT.mpf(a), EXACT.mpf(b)) for a, b in zip(x, m, strict=True)]
        exact = [float(a * EXACT.log(a / b) + b - a) for a, b in pairs]
        assert bd0(x, m) == pytest.approx(exact, rel=2e-15, abs=0)


def test_bd0_has_these_values_at_its_borders() -> None:
    assert bd0([0, 5, 0, 5], [0, 5, 7, 0]).tolist() == [0, 0, 7, np.inf]


@given(hypergeometric_cases())
def test_hypergeometric_probabilities_agree_with_sixty_digits(
    case: tuple[int, int, int, int],
) -> None:
    exact = exact_hypergeometric(*case)
    assert log_hypergeometric_pmf(*case) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)


@pytest.mark.parametrize("sigmas", [-6, -1, 0, 0.5, 3, 8])
@pytest.mark.parametrize(("good", "bad", "draws"), [
    (10**9, 10**9, 10**9), (10**9, 7 * 10**8, 3 * 10**5), (123_456_789, 987_654_321, 31_415_926),
    (987_654_321, 876_543_219, 765_432_187),
])  # fmt: skip
def test_hypergeometric_probabilities_of_huge_counts_are_exact(
    good: int, bad: int, draws: int, sigmas: float
) -> None:
    total = good + bad
    spread = np.sqrt(draws * (good / total) * (bad / total) * (1 - draws / total))
    k = round(draws * good / total + sigmas * spread)
    log_pmf = log_hypergeometric_pmf(k, good, bad, draws)
    assert log_pmf == pytest.approx(exact_hypergeometric(k, good, bad, draws), abs=2e-13)


@given(
    st.integers(0, 9).flatmap(lambda digits: st.integers(1, 10**digits)),
    st.floats(0, 1),
    st.floats(1e-6, 0.5),
)
def test_binomial_probabilities_agree_with_sixty_digits(n: int, share: float, p: float) -> None:
    k = round(n * share)
    exact = exact_binomial(k, n, p)
    assert log_binomial_pmf(k, n, p, 1 - p) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)
    assert log_binomial_pmf(n - k, n, 1 - p, p) == pytest.approx(exact, rel=RELATIVE, abs=PROBABLE)


@pytest.mark.parametrize("p", [0.3, 1e-3, 0.49999])
@pytest.mark.parametrize("sigmas", [-5, 0, 2, 6])
def test_binomial_probabilities_of_huge_counts_are_exact(p: float, sigmas: float) -> None:
    n = 10**9
    k = round(n * p + sigmas * np.sqrt(n * p * (1 - p)))
    exact = exact_binomial(k, n, p)
    assert log_binomial_pmf(k, n, p, 1 - p) == pytest.approx(exact, abs=1e-13)


def test_probabilities_of_small_cases_agree_with_those_by_hand() -> None:
    # C(4,k) C(4,4-k) / C(8,4) = 1, 16, 36, 16, 1 of 70; C(3,k) 2^(3-k) / 3^3 for p = 1/3
    tables = np.exp(log_hypergeometric_pmf(np.arange(5), 4, 4, 4))
    assert tables * 70 == pytest.approx([1, 16, 36, 16, 1], rel=1e-14, abs=0)
    tosses = np.exp(log_binomial_pmf(np.arange(4), 3, 1 / 3, 2 / 3))
    assert tosses * 27 == pytest.approx([8, 12, 6, 1], rel=1e-14, abs=0)


def test_values_outside_the_support_are_impossible() -> None:
    assert log_binomial_pmf([-1, 4], 3, 0.5, 0.5).tolist() == [-np.inf, -np.inf]
    # of 5 good and 2 bad ones, 4 draws hold at least 2 good ones
    assert log_hypergeometric_pmf([-1, 1, 5], 5, 2, 4).tolist() == [-np.inf] * 3
    assert log_hypergeometric_pmf(0, 2, 2, 5) == -np.inf


def test_certain_outcomes_have_a_log_probability_of_zero() -> None:
    assert log_binomial_pmf([0, 1, 3, 2], 3, [0, 0, 1, 1], [1, 1, 0, 0]).tolist() == [
        0, -np.inf, 0, -np.inf,
    ]  # fmt: skip
    assert log_binomial_pmf(0, 0, 0.3, 0.7) == 0
    certain = log_hypergeometric_pmf([0, 4, 0, 9, 0], [0, 9, 9, 9, 0], [5, 0, 5, 5, 0],
                                     [3, 4, 0, 14, 0])  # fmt: skip
    assert certain == pytest.approx(np.zeros(5), abs=1e-15)
    assert np.all(certain <= 0)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 120))
def test_probabilities_add_up_to_one(good: int, bad: int, draws: int) -> None:
    draws = min(draws, good + bad)
    k = np.arange(-1, draws + 2)
    assert np.exp(log_hypergeometric_pmf(k, good, bad, draws)).sum() == pytest.approx(1, abs=1e-13)


def test_arguments_broadcast_and_may_be_empty() -> None:
    assert log_hypergeometric_pmf(np.arange(3)[:, None], [4, 5], 6, 3).shape == (3, 2)
    assert log_hypergeometric_pmf([], [], [], []).shape == (0,)
    assert log_binomial_pmf([], 3, 0.5, 0.5).shape == (0,)
