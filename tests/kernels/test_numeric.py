"""What measures share against 60-digit values."""

from __future__ import annotations

import math

import mpmath
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.numeric import (
    deviance,
    f_score,
    log_of_ratio,
    overlaps,
    precision,
    recall,
    xlogy,
)

mpmath.mp.dps = 60


def one(expression: pl.Expr, **values: float) -> float:
    return pl.DataFrame({k: [float(v)] for k, v in values.items()}).select(expression).item()


@given(x=st.integers(1, 10**9), d=st.integers(-(10**9), 10**9))
def test_deviance(x: int, d: int) -> None:
    m = x - d
    if m <= 0:
        return
    exact = x * mpmath.log(mpmath.mpf(x) / m) + m - x
    assert abs(one(deviance("x", "m", "d"), x=x, m=m, d=d) - exact) <= 2e-14 * abs(exact)


@pytest.mark.parametrize(
    ("x", "m", "d", "value"), [(0, 2, -2, 2), (3, 3, 0, 0), (1, 0, 1, math.inf)]
)
def test_deviance_at_the_edges(x: float, m: float, d: float, value: float) -> None:
    assert one(deviance("x", "m", "d"), x=x, m=m, d=d) == value


@given(x=st.integers(1, 10**12), y=st.integers(1, 10**12))
def test_log_ratio(x: int, y: int) -> None:
    exact = mpmath.log(mpmath.mpf(x) / y) / mpmath.log(10)
    assert abs(one(log_of_ratio("x", "y", "d", base=10), x=x, y=y, d=x - y) - exact) <= 4e-15 * abs(
        exact
    )


def test_log_ratio_at_the_edges() -> None:
    assert one(log_of_ratio("x", "y", "d"), x=0, y=2, d=-2) == -math.inf
    assert one(log_of_ratio("x", "y", "d"), x=2, y=0, d=2) == math.inf


def test_zero_log_zero() -> None:
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
    made = overlaps(gold, system, member="item", gold_group="gold", group="cluster")
    return made.collect().sort("gold", "cluster")


@given(pairs, pairs)
def test_equals_the_intersections_of_sets(
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


def test_a_lexicon_and_a_dictionary() -> None:
    counts = pl.DataFrame({"n_ij": [7, 3], "n_i": [10, 3], "n_j": [7, 3]})
    got = counts.select(p=precision(), r=recall(), f=f_score())
    assert got.rows() == [(1.0, 0.7, 14 / 17), (1.0, 1.0, 1.0)]


def test_nulls_are_no_members() -> None:
    gold = pl.LazyFrame({"item": [1, None, 2], "gold": ["a", "a", None]})
    system = pl.LazyFrame({"item": [1, None], "cluster": ["1", "1"]})
    assert table(gold, system).rows() == [("a", "1", 1, 1, 1)]


def test_nothing_in_common() -> None:
    made = table(*frames([], [(1, 1)]))
    assert made.columns == ["gold", "cluster", "n_ij", "n_i", "n_j"]
    assert made.height == 0
    assert set(made.dtypes[2:]) == {pl.Int64}


def test_groups_need_two_names() -> None:
    with pytest.raises(ValueError, match="both columns of groups are named 'lemma'"):
        overlaps(pl.LazyFrame(), pl.LazyFrame(), member="form", gold_group="lemma", group="lemma")
