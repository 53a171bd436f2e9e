"""Common functions of measures against 60-digit values."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from typing import Any

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import (
    deviance,
    f_score,
    judgement,
    log_of_ratio,
    number,
    overlaps,
    precision,
    recall,
    whole_number,
    xlogy,
)

mpmath.mp.dps = 60


def one(expression: pl.Expr, **values: float) -> float:
    return pl.DataFrame({k: [float(v)] for k, v in values.items()}).select(expression).item()


@given(x=st.integers(1, 10**9), d=st.integers(-(10**9), 10**9))
def test_deviance_agrees_with_sixty_digits(x: int, d: int) -> None:
    m = x - d
    if m <= 0:
        return
    exact = x * mpmath.log(mpmath.mpf(x) / m) + m - x
    assert abs(one(deviance("x", "m", "d"), x=x, m=m, d=d) - exact) <= 2e-14 * abs(exact)


@pytest.mark.parametrize(
    ("x", "m", "d", "value"), [(0, 2, -2, 2), (3, 3, 0, 0), (1, 0, 1, math.inf)]
)
def test_deviance_has_these_values_at_the_edges(x: float, m: float, d: float, value: float) -> None:
    assert one(deviance("x", "m", "d"), x=x, m=m, d=d) == value


@given(x=st.integers(1, 10**12), y=st.integers(1, 10**12))
def test_log_ratios_agree_with_sixty_digits(x: int, y: int) -> None:
    exact = mpmath.log(mpmath.mpf(x) / y) / mpmath.log(10)
    assert abs(one(log_of_ratio("x", "y", "d", base=10), x=x, y=y, d=x - y) - exact) <= 4e-15 * abs(
        exact
    )


def test_log_ratios_have_these_values_at_the_edges() -> None:
    assert one(log_of_ratio("x", "y", "d"), x=0, y=2, d=-2) == -math.inf
    assert one(log_of_ratio("x", "y", "d"), x=2, y=0, d=2) == math.inf


def test_zero_times_log_zero_is_zero() -> None:
    assert one(xlogy("x", "y"), x=0, y=0) == 0


# Overlaps of two groupings against sets that are intersected one by one.

GOLD = ["a", "b", "c"]
CLUSTERS = ["1", "2"]
pairs = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=25)


def frames(gold: list[tuple[int, int]], system: list[tuple[int, int]]) -> list[pl.LazyFrame]:
    schema = {"item": pl.Int64, "gold": pl.String}
    first = pl.LazyFrame([(item, GOLD[i]) for item, i in gold], schema=schema, orient="row")
    schema = {"item": pl.Int64, "cluster": pl.String}
    rows = [(item, CLUSTERS[i % 2]) for item, i in system]
    return [first, pl.LazyFrame(rows, schema=schema, orient="row")]


def table(gold: pl.LazyFrame, system: pl.LazyFrame) -> pl.DataFrame:
    result = overlaps(gold, system, member="item", gold_group="gold", group="cluster")
    return result.collect().sort("gold", "cluster")


@given(pairs, pairs)
def test_overlaps_equal_the_intersections_of_sets(
    gold: list[tuple[int, int]], system: list[tuple[int, int]]
) -> None:
    classes = {name: {x for x, i in gold if GOLD[i] == name} for name in GOLD}
    clusters = {name: {x for x, i in system if CLUSTERS[i % 2] == name} for name in CLUSTERS}
    expected = [
        (c, k, len(classes[c] & clusters[k]), len(classes[c]), len(clusters[k]))
        for c in GOLD
        for k in CLUSTERS
        if classes[c] & clusters[k]
    ]
    assert table(*frames(gold, system)).rows() == expected


def test_a_lexicon_and_a_dictionary_have_these_overlaps() -> None:
    counts = pl.DataFrame({"n_ij": [7, 3], "n_i": [10, 3], "n_j": [7, 3]})
    values = counts.select(p=precision(), r=recall(), f=f_score())
    assert values.rows() == [(1.0, 0.7, 14 / 17), (1.0, 1.0, 1.0)]


def test_nulls_are_no_members() -> None:
    gold = pl.LazyFrame({"item": [1, None, 2], "gold": ["a", "a", None]})
    system = pl.LazyFrame({"item": [1, None], "cluster": ["1", "1"]})
    assert table(gold, system).rows() == [("a", "1", 1, 1, 1)]


def test_groupings_without_a_common_member_have_no_overlap() -> None:
    result = table(*frames([], [(1, 1)]))
    assert result.columns == ["gold", "cluster", "n_ij", "n_i", "n_j"]
    assert result.height == 0
    assert set(result.dtypes[2:]) == {pl.Int64}


def test_groups_need_distinct_names() -> None:
    with pytest.raises(ValueError, match="both group columns are named 'lemma'"):
        overlaps(pl.LazyFrame(), pl.LazyFrame(), member="form", gold_group="lemma", group="lemma")


# Numbers of columns: the number in a cell, or null if it has none.

BIG = 2**63
DAY = datetime.datetime(2024, 1, 31)
NO_NUMBERS = {
    "truth values": pl.Series([True, False]),
    "dates": pl.Series([DAY.date()]),
    "timestamps": pl.Series([DAY]),
    "times": pl.Series([datetime.time(1)]),
    "durations": pl.Series([datetime.timedelta(days=1)]),
    "nothing": pl.Series([None, None]),
}
WHOLE: dict[str, tuple[pl.Series, list[int | None]]] = {
    "decimals": (
        pl.Series(["3.50", "10.90", "10.00", "-2.00", "0.00"]).cast(pl.Decimal(12, 2)),
        [None, None, 10, -2, 0],
    ),
    "decimals of thousandths": (pl.Series(["1.000", "1.001"]).cast(pl.Decimal(9, 3)), [1, None]),
    "large decimals": (
        pl.Series([Decimal(BIG - 1), Decimal(BIG)], dtype=pl.Decimal(38, 0)), [BIG - 1, None],
    ),
    "floats": (
        pl.Series([6.0, 3.9, math.nan, math.inf, -math.inf, None, -0.0, 2.0**53 - 1, 2.0**53]),
        [6, None, None, None, None, None, 0, 2**53 - 1, None],
    ),
    "unsigned": (pl.Series([7, BIG - 1, BIG], dtype=pl.UInt64), [7, BIG - 1, None]),
    "128 bits": (pl.Series([-7, BIG], dtype=pl.Int128), [-7, None]),
    "texts": (
        pl.Series([" 12", "6.0", "10.00", "6.", "+6", "1e+05", "2E3", "-0.0", str(BIG - 1)]),
        [12, 6, 10, 6, 6, 100_000, 2_000, 0, BIG - 1],
    ),
    # 1.000 means a thousand in half of the world, and 1 in the other half; 1234.000 is clear.
    "texts of thousands": (
        pl.Series(["1.000", "-12.000", "999.000", "0.000", "1234.000"]),
        [None, None, None, 0, 1234],
    ),
    "texts without a whole number": (
        pl.Series(["3.5", "1,5", "1e-1", "1e16", "nan", "inf", ".", "", "e5", None, str(BIG),
                   "9007199254740993.5", "true", "2024-01-31", "1_000"]),
        [None] * 15,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WHOLE)
def test_whole_numbers_are_read_from_columns(case: str) -> None:
    values, expected = WHOLE[case]
    assert read_by(whole_number, values) == expected


@pytest.mark.parametrize("case", NO_NUMBERS)
@pytest.mark.parametrize("parse", [whole_number, number])
def test_values_that_are_no_numbers_are_null(parse: Any, case: str) -> None:
    values = NO_NUMBERS[case]
    assert read_by(parse, values) == [None] * len(values)


def read_by(parse: Any, values: pl.Series) -> list[Any]:
    rows = pl.DataFrame({"x": values, "place": range(len(values))})
    return rows.select("place", parse("x", values.dtype)).get_column("x").to_list()


def test_numbers_are_read_from_columns() -> None:
    assert read_by(number, pl.Series(["3.50", None]).cast(pl.Decimal(9, 2))) == [3.5, None]
    assert read_by(number, pl.Series([" 0.5", "nan", "-inf", "x"])) == [0.5, None, -math.inf, None]
    assert read_by(number, pl.Series([3, None])) == [3.0, None]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series(["1", " No", "1.0", "0.00", "maybe", "2.0", "0.5", None]),
        pl.Series([1.0, 0.0, 1.0, 0.0, 3.0, 2.0, 0.5, None]),
        pl.Series(["1", "0", "1", "0", "3", "2", ".5", None]).cast(pl.Decimal(9, 2)),
    ],
)
def test_judgements_are_read_from_columns(values: pl.Series) -> None:
    result = pl.DataFrame({"x": values}).select(judgement("x")).to_series().to_list()
    assert result == [True, False, True, False, None, None, None, None]
