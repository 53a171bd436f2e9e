from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.sample_size import (
    expected_width,
    outcomes,
    size_for_width,
    smallest,
    width_table,
)
from pipeline.kernels.statistics.intervals import INTERVALS


def slow_outcomes(
    n: int, candidates: int, size: int, true: int, *, replacement: bool
) -> dict[tuple[int, int], float]:
    """Draw every possible sample; the list holds the first candidates, the TPs first of all."""
    everyone = range(candidates)
    samples = product(everyone, repeat=size) if replacement else combinations(everyone, size)
    seen = Counter((sum(x < n for x in s), sum(x < true for x in s)) for s in samples)
    return {outcome: times / seen.total() for outcome, times in seen.items()}


@given(st.data(), st.booleans())
def test_outcomes_agree_with_all_samples(data: st.DataObject, replacement: bool) -> None:
    candidates = data.draw(st.integers(1, 6))
    n = data.draw(st.integers(1, candidates))
    true = data.draw(st.integers(0, n))
    size = data.draw(st.integers(0, 4 if replacement else candidates))
    found = outcomes(
        n=n, candidates=candidates, size=size, precision=true / n, replacement=replacement
    )
    table = {(int(a), int(b)): float(p) for a, b, p in zip(*found, strict=True)}
    expected = slow_outcomes(n, candidates, size, true, replacement=replacement)
    assert table == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("method", sorted(INTERVALS))
def test_expected_width_by_hand(method: str) -> None:
    # 1 of 2 in a list of 2 from 4, two draws: n^ = 0, 1, 2 with 1/6, 4/6, 1/6
    found = expected_width(n=2, candidates=4, size=2, precision=0.5, method=method)
    limits = INTERVALS.get(method)([0, 0, 1, 1], [0, 1, 1, 2], population=[2] * 4)
    chances = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
    lower, upper = (sum(c * x for c, x in zip(chances, side, strict=True)) for side in limits)
    assert found["n_sampled"] == pytest.approx(1.0)
    assert found["empty"] == pytest.approx(1 / 6)
    assert (found["lower"], found["upper"]) == pytest.approx((lower, upper))
    assert found["width"] == pytest.approx(upper - lower)
    held = sum(c for c, a, b in zip(chances, *limits, strict=True) if a <= 0.5 <= b)
    assert found["coverage"] == pytest.approx(held)


@pytest.mark.parametrize("precision", [0.05, 0.27, 0.6])
def test_coverage_of_the_exact_intervals_is_kept(precision: float) -> None:
    for method in ("clopper_pearson", "hypergeometric"):
        found = expected_width(n=200, candidates=1000, size=150, precision=precision, method=method)
        assert found["coverage"] >= 0.95
    narrow = expected_width(
        n=200, candidates=1000, size=150, precision=precision, method="jeffreys"
    )
    assert narrow["width"] < found["width"] + 0.02
    assert found["n_sampled"] == pytest.approx(30, rel=1e-9)


def test_full_annotation() -> None:
    full: dict[str, Any] = {"n": 50, "candidates": 80, "size": 80, "precision": 0.5}
    assert expected_width(**full, method="hypergeometric")["width"] == 0.0
    assert expected_width(**full)["width"] > 0.2
    nothing = expected_width(n=50, candidates=80, size=0, precision=0.5)
    assert (nothing["width"], nothing["empty"]) == (1.0, 1.0)


@pytest.mark.parametrize("method", ["clopper_pearson", "hypergeometric"])
def test_size_is_the_smallest_that_is_narrow_enough(method: str) -> None:
    setting: dict[str, Any] = {"n": 100, "candidates": 400, "precision": 0.3, "method": method}
    size = size_for_width(width=0.25, **setting)
    assert size is not None
    widths = [expected_width(size=s, **setting)["width"] for s in (size - 1, size)]
    assert widths[1] <= 0.25 < widths[0]


def test_size_with_replacement_is_the_smallest_too() -> None:
    setting: dict[str, Any] = {"n": 100, "candidates": 400, "precision": 0.3, "replacement": True}
    size = size_for_width(width=0.25, **setting)
    assert size is not None
    widths = [expected_width(size=s, **setting)["width"] for s in (size - 1, size)]
    assert widths[1] <= 0.25 < widths[0]
    assert size != size_for_width(width=0.25, n=100, candidates=400, precision=0.3)


def test_unreachable_width() -> None:
    assert size_for_width(width=0.05, n=100, candidates=400, precision=0.3) is None
    full = size_for_width(
        width=0.001, n=100, candidates=400, precision=0.3, method="hypergeometric"
    )
    assert full is not None
    assert full > 390


@given(st.integers(1, 50), st.integers(0, 60), st.integers(0, 60))
def test_smallest(least: int, more: int, threshold: int) -> None:
    most = least + more
    expected = next((x for x in range(least, most + 1) if x >= threshold), None)
    assert smallest(lambda size: size >= threshold, least, most) == expected
    assert smallest(lambda size: size > 0, 5, 4) is None


def test_table_of_widths() -> None:
    table = width_table(sizes=[50, 100], list_sizes=[100, 300], precisions=[0.2], candidates=1000)
    assert table.select("size", "n").rows() == [(50, 100), (50, 300), (100, 100), (100, 300)]
    row = expected_width(n=300, candidates=1000, size=50, precision=0.2)
    assert table.row(1, named=True) == {"size": 50, "rate": 0.05, "n": 300, "precision": 0.2, **row}
    assert isinstance(table, pl.DataFrame)


@pytest.mark.parametrize(("change", "message"), [
    ({"n": 0}, "list of 0 from 100"), ({"n": 101}, "list of 101"), ({"size": 101}, "sample of 101"),
    ({"size": -1}, "sample of -1"), ({"precision": 30}, "precision is a proportion"),
    ({"method": "wald"}, "unknown interval 'wald'"),
])  # fmt: skip
def test_mistakes_are_refused(change: dict[str, object], message: str) -> None:
    given: dict[str, Any] = {"n": 10, "candidates": 100, "size": 20, "precision": 0.5, **change}
    with pytest.raises(ValueError, match=message):
        expected_width(**given)
    with pytest.raises(ValueError, match="width is a proportion"):
        size_for_width(width=10, n=10, candidates=100, precision=0.5)
