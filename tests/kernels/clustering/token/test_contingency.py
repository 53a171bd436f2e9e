"""The contingency table: labels in order, impossible input refused."""

from __future__ import annotations

from random import Random

import mpmath
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.kernels.clustering.token.contingency import (
    contingency,
    expected_information,
    with_tokens,
)


def cells(rows: list[tuple[str | None, str | None, int | None]]) -> pl.DataFrame:
    schema = {"gold": pl.String, "cluster": pl.String, "f": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_labels_are_sorted_and_empty_ones_omitted() -> None:
    table = contingency(cells([("b", "2", 3), ("a", "1", 1), ("a", "9", 0), ("c", "1", 0)]))
    assert (table.gold, table.clusters) == (("a", "b"), ("1", "2"))
    assert table.counts.tolist() == [[1, 0], [0, 3]]
    assert (table.rows.tolist(), table.columns.tolist()) == ([0, 1], [0, 1])
    assert (table.classes.tolist(), table.sizes.tolist(), table.N) == ([1, 3], [1, 3], 4)


def test_a_table_without_tokens_is_empty() -> None:
    table = contingency(cells([]))
    assert (table.N, table.counts.shape) == (0, (0, 0))


def test_equal_partitions_are_recognised() -> None:
    assert contingency(cells([("a", "x", 3), ("b", "y", 2)])).equal
    assert not contingency(cells([("a", "x", 3), ("b", "x", 2)])).equal
    assert not contingency(cells([("a", "x", 3), ("a", "y", 2)])).equal


def test_rows_and_columns_without_tokens_are_dropped() -> None:
    table = contingency(cells([("a", "1", 1), ("b", "2", 3)]))
    remaining = with_tokens(table, np.array([0, 3]))
    assert (remaining.gold, remaining.clusters, remaining.counts.tolist()) == (
        ("b",),
        ("2",),
        [[3]],
    )


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("a", "1", 1), (None, "1", 2)], "column gold: 1 null or empty, e.g. row 1"),
        ([("a", "", 1), ("b", None, 2)], "column cluster: 2 null or empty, e.g. row 0, 1"),
        ([("a", "1", -1)], "column f: 1 null or negative"),
        ([("a", "1", None)], "column f: 1 null or negative"),
        ([("a", "1", 1), ("a", "1", 2)], "2 duplicate pairs, e.g. row 0, 1; sum them"),
    ],
)
def test_impossible_input_is_refused(
    rows: list[tuple[str | None, str | None, int | None]], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        contingency(cells(rows))


# Expected mutual information against the whole sum in 40 digits, also where N is large.


def slow(classes: list[int], sizes: list[int]) -> mpmath.mpf:
    N, total = sum(classes), mpmath.mpf(0)
    for a in classes:
        for b in sizes:
            low = max(0, a + b - N)
            chance = (
                mpmath.binomial(b, low) * mpmath.binomial(N - b, a - low) / mpmath.binomial(N, a)
            )
            for n in range(low, min(a, b) + 1):
                if n:
                    total += chance * n * mpmath.log(mpmath.mpf(n) * N / (a * b)) / N
                chance = chance * (a - n) * (b - n) / ((n + 1) * (N - a - b + n + 1))
    return total


def check(classes: list[int], sizes: list[int], rel: float = 1e-12) -> None:
    with mpmath.workdps(40):
        expected = slow(classes, sizes)
    assert expected_information(classes, sizes) == pytest.approx(
        float(expected), rel=rel, abs=1e-16
    )


@given(st.lists(st.integers(1, 25), min_size=1, max_size=4), st.randoms())
def test_expected_information_agrees_with_the_whole_sum(classes: list[int], random: Random) -> None:
    N = sum(classes)
    split = random.randint(0, N)
    check(classes, [size for size in (split, N - split) if size])


@pytest.mark.parametrize(
    ("classes", "sizes"),
    [
        ([2000, 3000, 10], [2500, 2510]),
        ([12000, 8000], [50, 19950]),
        ([15999, 1], [8000, 8000]),
        # Standard deviations about 4, where steps grow from 1 to 2.
        ([64, 936], [500, 500]),
        ([80, 920], [700, 300]),
    ],
)
def test_summation_in_steps_loses_nothing(classes: list[int], sizes: list[int]) -> None:
    check(classes, sizes)


def test_expected_information_of_many_tokens_is_near_chi_squared() -> None:
    sizes = [10**8 // 8] * 8
    # 2 N I is about chi-squared with (8 - 1)^2 degrees of freedom.
    assert expected_information(sizes, sizes) == pytest.approx(49 / (2 * 10**8), rel=1e-6)


def test_expected_information_of_one_class_is_zero() -> None:
    assert expected_information([7], [3, 4]) == 0.0
    assert expected_information([], []) == 0.0
