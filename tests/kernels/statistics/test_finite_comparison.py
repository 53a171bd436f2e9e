from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from pipeline.kernels.statistics import finite_population
from pipeline.kernels.statistics.finite_population import finite_population_test
from pipeline.kernels.statistics.fisher import fisher_two_sided

Table = tuple[int, int, int, int, int]


@st.composite
def tables(draw: st.DrawFn, largest: int = 12) -> Table:
    size = draw(st.integers(1, largest))
    n1, n2 = draw(st.integers(1, size)), draw(st.integers(1, size))
    return draw(st.integers(0, n1)), n1, draw(st.integers(0, n2)), n2, size


def pmf(k: int, K: int, n: int, size: int) -> Fraction:
    return Fraction(comb(K, k) * comb(size - K, n - k), comb(size, n))


def statistic(k1: int, n1: int, k2: int, n2: int) -> float:
    p = (k1 + k2) / (n1 + n2)
    return abs(k1 / n1 - k2 / n2) / sqrt(p * (1 - p)) if 0 < p < 1 else 0.0


def slow_p(table: Table) -> float:
    """Look at every table for every K that the draws allow, with exact fractions."""
    k1, n1, k2, n2, size = table
    observed, worst = statistic(k1, n1, k2, n2), Fraction(0)
    for K in range(max(k1, k2), size - max(n1 - k1, n2 - k2) + 1):
        chance = sum(
            (pmf(a, K, n1, size) * pmf(b, K, n2, size)
             for a, b in product(range(n1 + 1), range(n2 + 1))
             if statistic(a, n1, b, n2) >= observed * (1 - 1e-9)),
            Fraction(0),
        )  # fmt: skip
        worst = max(worst, chance)
    return float(worst)


def one(table: Table) -> float:
    k1, n1, k2, n2, size = table
    return float(finite_population_test([k1], [n1], [k2], [n2], size=size)[0])


def every(n1: int, n2: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return all tables of a design and their p-values."""
    k1, k2 = (part.ravel() for part in np.meshgrid(range(n1 + 1), range(n2 + 1), indexing="ij"))
    return k1, k2, finite_population_test(k1, n1, k2, n2, size=size)


def rejected(p: np.ndarray, design: tuple[int, int, int], K1: int, K2: int) -> float:
    """Return the probability of p <= 5 %, exactly."""
    n1, n2, size = design
    first = hypergeom.pmf(np.arange(n1 + 1), size, K1, n1)
    second = hypergeom.pmf(np.arange(n2 + 1), size, K2, n2)
    return float(np.outer(first, second).ravel()[p <= 0.05].sum())


def test_by_hand() -> None:
    # one of one and none of one, of 2 each: K = 1, both draws differ with 1/2
    assert one((1, 1, 0, 1, 2)) == pytest.approx(0.5)
    # two of two and none of two, of 3 each: K is 2 or 3 in D1, 0 or 1 in D2
    assert one((2, 2, 0, 2, 3)) == 0.0
    # of 4 each: K = 2 alone is possible, P(2, 0) + P(0, 2) = 2/36
    assert one((2, 2, 0, 2, 4)) == pytest.approx(2 / 36)


@given(tables())
def test_agrees_with_the_definition(table: Table) -> None:
    assert one(table) == pytest.approx(slow_p(table), rel=1e-9, abs=1e-15)


@given(tables(largest=40))
def test_laws(table: Table) -> None:
    k1, n1, k2, n2, size = table
    p = one(table)
    assert 0.0 <= p <= 1.0
    assert p == pytest.approx(one((k2, n2, k1, n1, size)), rel=1e-9)
    assert p == pytest.approx(one((n1 - k1, n1, n2 - k2, n2, size)), rel=1e-9)


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_statistic_falls_along_a_row(n1: int, n2: int) -> None:
    found = finite_population._statistic(n1, n2)
    assert np.all(np.diff(found, axis=1) <= 1e-12)
    assert np.all(np.diff(found, axis=0) >= -1e-12)


@pytest.mark.parametrize(("n1", "n2", "size"), [(12, 12, 60), (20, 14, 40), (5, 30, 50)])
def test_the_level_is_kept_for_every_number_of_true_positives(n1: int, n2: int, size: int) -> None:
    p = every(n1, n2, size)[2]
    sizes = [rejected(p, (n1, n2, size), K, K) for K in range(size + 1)]
    assert max(sizes) <= 0.05 + 1e-12
    assert max(sizes) > 0.03


@pytest.mark.parametrize(("n", "size", "gain"), [(12, 60, 1.1), (25, 50, 1.6), (40, 50, 1.9)])
def test_it_finds_more_than_fisher(n: int, size: int, gain: float) -> None:
    """30 % against 50 % of the candidates; the more of them are judged the larger the gain."""
    k1, k2, p = every(n, n, size)
    K1, K2 = round(0.3 * size), round(0.5 * size)
    power = rejected(p, (n, n, size), K1, K2)
    fisher = fisher_two_sided(k1, np.full(len(k1), n), k2, np.full(len(k1), n))
    assert power > gain * rejected(fisher, (n, n, size), K1, K2)


def test_full_annotation_knows() -> None:
    assert finite_population_test([7, 7], [9, 9], [3, 7], [9, 9], size=9).tolist() == [0.0, 1.0]


def test_degenerate_tables() -> None:
    p = finite_population_test([0, 0, 2, 3], [0, 4, 2, 3], [0, 0, 2, 3], [3, 0, 2, 3], size=9)
    assert np.isnan(p).tolist() == [True, True, False, False]
    assert p[2:].tolist() == [1.0, 1.0]
    assert finite_population_test([], [], [], [], size=[]).shape == (0,)


def test_result_belongs_to_its_table_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ([3, 9, 0, 3], [10, 20, 5, 10], [6, 2, 4, 6], [10, 15, 7, 10])
    sizes = [30, 40, 30, 31]
    whole = finite_population_test(*columns, size=sizes)
    monkeypatch.setattr(finite_population, "_CELLS", 100)
    parts = finite_population_test(*(column[::-1] for column in columns), size=sizes[::-1])
    assert whole == pytest.approx(parts[::-1], rel=1e-12)


def test_mistakes_are_refused() -> None:
    with pytest.raises(ValueError, match="in 1 tables"):
        finite_population_test([5], [4], [0], [3], size=9)
    with pytest.raises(ValueError, match="such as n = 5 of 4"):
        finite_population_test([1], [5], [0], [3], size=4)


def test_sets_that_are_judged_as_a_whole_are_equal_or_not() -> None:
    p = finite_population_test([3, 3, 0], [5, 5, 0], [3, 2, 0], [5, 5, 0], size=[5, 5, 0])
    assert p[:2].tolist() == [1.0, 0.0]
    assert np.isnan(p[2])
