from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from pipeline.kernels.statistics.binomial_intervals import (
    clopper_pearson,
    jeffreys,
    wilson,
    wilson_corrected,
)
from pipeline.kernels.statistics.finite_population import hypergeometric
from pipeline.kernels.statistics.intervals import INTERVALS, Interval, Limits, interval_columns


@pytest.mark.parametrize("method", [clopper_pearson, wilson, wilson_corrected, jeffreys])
def test_registered_methods_are_those_of_their_name(method: Any) -> None:
    found = INTERVALS.get(method.__name__)([3, 0], [9, 4], confidence=0.9, population=[9, 9])
    expected = method([3, 0], [9, 4], confidence=0.9)
    assert [x.tolist() for x in found] == [x.tolist() for x in expected]


def test_finite_methods_need_the_population() -> None:
    found = INTERVALS.get("hypergeometric")(4, 10, population=100)
    assert tuple(map(float, found)) == (0.14, 0.72)
    for each in filter(lambda each: each.finite, map(INTERVALS.get, INTERVALS)):
        with pytest.raises(ValueError, match="size of the population"):
            each(4, 10)


def test_columns_of_a_finite_method() -> None:
    frame = pl.DataFrame({"k": [4, 4, 56, 4], "n": [10, 10, 200, 10], "S": [100, 10, 1000, 100]})
    result = interval_columns(
        frame, k="k", n="n", population="S", method="hypergeometric", confidence=0.95
    )
    lower, upper = hypergeometric(frame["k"], frame["n"], population=frame["S"])
    assert (result["lower"].to_list(), result["upper"].to_list()) == (
        lower.tolist(), upper.tolist(),
    )  # fmt: skip


@pytest.mark.parametrize("method", sorted(INTERVALS))
def test_empty_table_of_every_method(method: str) -> None:
    empty = pl.DataFrame(schema={"k": pl.Int64, "n": pl.Int64, "S": pl.Int64})
    result = interval_columns(empty, k="k", n="n", population="S", method=method, confidence=0.95)
    assert result.schema == {**empty.schema, "lower": pl.Float64, "upper": pl.Float64}


def add(frame: pl.DataFrame, method: str = "clopper_pearson") -> pl.DataFrame:
    return interval_columns(frame, k="k", n="n", method=method, confidence=0.95)


def test_columns_keep_the_order_of_the_rows() -> None:
    frame = pl.DataFrame({"k": [5, 0, 5, 2, 5], "n": [10, 0, 10, 4, 9], "x": list("abcde")})
    result = add(frame)
    lower, upper = clopper_pearson(frame["k"], frame["n"])
    assert result.drop("lower", "upper").equals(frame)
    assert (result["lower"].to_list(), result["upper"].to_list()) == (
        lower.tolist(), upper.tolist(),
    )  # fmt: skip


def test_each_distinct_pair_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def spy(k: npt.ArrayLike, n: npt.ArrayLike, *, confidence: float) -> Limits:
        asked.extend(zip(np.asarray(k).tolist(), np.asarray(n).tolist(), strict=True))
        return clopper_pearson(k, n, confidence=confidence)

    known = {"clopper_pearson": Interval("clopper_pearson", spy, reference="")}
    monkeypatch.setattr("pipeline.kernels.statistics.intervals.INTERVALS", known)
    add(pl.DataFrame({"k": [1, 2, 1, 1], "n": [5, 5, 5, 6]}))
    assert sorted(asked) == [(1, 5), (1, 6), (2, 5)]


def test_empty_table() -> None:
    result = add(pl.DataFrame(schema={"k": pl.Int64, "n": pl.Int64}))
    assert result.schema == {
        "k": pl.Int64, "n": pl.Int64, "lower": pl.Float64, "upper": pl.Float64,
    }  # fmt: skip
    assert result.is_empty()


def test_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'wald'.*clopper_pearson"):
        add(pl.DataFrame({"k": [1], "n": [2]}), method="wald")
