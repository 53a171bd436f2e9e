from __future__ import annotations

from collections.abc import Iterable
from math import comb, fsum

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.intervals import INTERVALS, clopper_pearson, interval_columns

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCE = st.sampled_from([0.5, 0.9, 0.95, 0.99, 0.999])


def binomial_sum(values: Iterable[int], n: int, p: float) -> float:
    return fsum(comb(n, x) * p**x * (1 - p) ** (n - x) for x in values)


@pytest.mark.parametrize(("k", "n", "lower", "upper"), [
    (81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617),
    (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776),
])  # fmt: skip
def test_published_limits(k: int, n: int, lower: float, upper: float) -> None:
    """Newcombe 1998, Two-sided confidence intervals for the single proportion, table I."""
    assert [round(float(limit), 4) for limit in clopper_pearson(k, n)] == [lower, upper]


def test_by_hand_without_successes() -> None:
    # P(X = 0 | u) = (1 - u)^n = 0.025
    lower, upper = clopper_pearson([0, 3], [3, 3])
    limit = 1 - 0.025 ** (1 / 3)
    assert lower == pytest.approx([0, 1 - limit], rel=1e-14, abs=0)
    assert upper == pytest.approx([limit, 1], rel=1e-14, abs=0)


@given(COUNTS, CONFIDENCE)
def test_limits_leave_half_of_alpha_in_each_tail(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    lower, upper = (float(limit) for limit in clopper_pearson(k, n, confidence=level))
    if k > 0:
        assert binomial_sum(range(k, n + 1), n, lower) == pytest.approx(
            (1 - level) / 2, rel=1e-10, abs=0
        )
    if k < n:
        assert binomial_sum(range(k + 1), n, upper) == pytest.approx(
            (1 - level) / 2, rel=1e-10, abs=0
        )


@given(COUNTS, CONFIDENCE)
def test_interval_holds_the_estimate_and_mirrors(counts: tuple[int, int], level: float) -> None:
    k, n = counts
    lower, upper = clopper_pearson([k, n - k], [n, n], confidence=level)
    assert 0 <= lower[0] <= k / n <= upper[0] <= 1
    assert lower[0] == pytest.approx(1 - upper[1], abs=1e-14)


def test_limits_grow_with_successes_and_width_with_confidence() -> None:
    lower, upper = clopper_pearson(np.arange(51), 50)
    assert np.all(np.diff(lower) > 0)
    assert np.all(np.diff(upper) > 0)
    wider = clopper_pearson(np.arange(51), 50, confidence=0.99)
    assert np.all((wider[0] <= lower) & (wider[1] >= upper))


def test_nothing_sampled_says_nothing() -> None:
    lower, upper = clopper_pearson([0], [0])
    assert (lower.tolist(), upper.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize(("k", "n"), [(3, 2), (-1, 2)])
def test_impossible_counts_are_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"in 1 rows, such as k = {k}, n = {n}"):
        clopper_pearson([0, k], [0, n])


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95, float("nan")])
def test_impossible_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        clopper_pearson(1, 2, confidence=confidence)


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

    def spy(k: object, n: object, *, confidence: float) -> object:
        asked.extend(zip(np.asarray(k).tolist(), np.asarray(n).tolist(), strict=True))
        return clopper_pearson(k, n, confidence=confidence)  # type: ignore[arg-type]

    monkeypatch.setattr("pipeline.kernels.intervals.INTERVALS", {"clopper_pearson": spy})
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


def test_registry_is_frozen() -> None:
    with pytest.raises(TypeError):
        INTERVALS["wald"] = clopper_pearson  # type: ignore[index]
