from __future__ import annotations

from itertools import combinations, product
from math import sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import (
    strata_by_rank,
    stratified,
    stratified_estimate,
    stratified_interval,
    stratified_precision,
)
from schemas import StratifiedPrecision
from tests.kernels.nbest.rank_frames import judged_of, krenn, name, ranks_of
from tests.valid import valid

OPTIONS: dict[str, Any] = {
    "confidence": 0.95,
    "replicates": 400,
    "seed": "s",
    "method": "bootstrap",
}


@st.composite
def lists(draw: st.DrawFn) -> list[tuple[int, int, int]]:
    rows = []
    for _ in range(draw(st.integers(1, 4))):
        size = draw(st.integers(0, 30))
        n = draw(st.integers(0, size))
        rows.append((size, n, draw(st.integers(0, n))))
    return rows


def slow_estimate(rows: list[tuple[int, int, int]]) -> tuple[float, float]:
    """The formulas of the specification, one stratum after the other."""
    total = sum(size for size, _, _ in rows)
    p = variance = 0.0
    for size, n, k in rows:
        if size == 0:
            continue
        if n == 0:
            return float("nan"), float("nan")
        weight, share, rate = size / total, n / size, k / n
        p += weight * rate
        if n == size:
            continue
        variance += weight**2 * (1 - share) * rate * (1 - rate) / (n - 1) if n > 1 else float("nan")
    return (p, variance) if total else (float("nan"), float("nan"))


def columns(rows: list[tuple[int, int, int]]) -> list[list[int]]:
    return [list(column) for column in zip(*rows, strict=True)]


def test_by_hand() -> None:
    # 1/4 of the list in a stratum with 2 of 4 draws true, 3/4 with 1 of 6
    p, variance = stratified_estimate([10, 30], [4, 6], [2, 1])
    assert float(p) == pytest.approx(0.25 * 0.5 + 0.75 / 6)
    first = 0.25**2 * 0.6 * 0.25 / 3
    assert float(variance) == pytest.approx(first + 0.75**2 * 0.8 * (5 / 36) / 5)


@given(lists())
def test_agrees_with_the_formulas(rows: list[tuple[int, int, int]]) -> None:
    found = tuple(map(float, stratified_estimate(*columns(rows))))
    assert found == pytest.approx(slow_estimate(rows), rel=1e-12, abs=1e-15, nan_ok=True)


def test_estimate_and_variance_are_unbiased() -> None:
    # every stratified sample of 2 of 4 and 3 of 5, with 1 and 3 true positives
    strata = [[True, False, False, False], [True, True, True, False, False]]
    samples = product(combinations(strata[0], 2), combinations(strata[1], 3))
    counts = np.array([[sum(first), sum(second)] for first, second in samples])
    p, variance = stratified_estimate([[4, 5]] * len(counts), [[2, 3]] * len(counts), counts)
    assert p.mean() == pytest.approx(4 / 9)
    assert variance.mean() == pytest.approx(p.var())


def test_unsampled_strata_of_the_list_leave_it_unknown() -> None:
    p, variance = stratified_estimate(
        [[5, 5], [5, 0], [0, 0]], [[2, 0], [2, 0], [0, 0]], [[1, 0]] * 2 + [[0, 0]]
    )
    assert np.isnan(p).tolist() == np.isnan(variance).tolist() == [True, False, True]
    p, variance = stratified_estimate([5, 5], [1, 5], [1, 2])  # one draw has no variance
    assert float(p) == pytest.approx(0.7)
    assert np.isnan(variance)
    assert float(stratified_estimate([1, 5], [1, 5], [1, 2])[1]) == 0.0  # all known


def test_impossible_counts() -> None:
    for counts in (([5], [6], [1]), ([5], [2], [3]), ([5], [2], [-1])):
        with pytest.raises(ValueError, match="k <= n <= size"):
            stratified_estimate(*counts)


def test_bootstrap_has_the_variance_of_the_estimate() -> None:
    row = ([[40, 160, 100]], [[20, 40, 30]], [[12, 10, 3]])
    p, variance = (float(x[0]) for x in stratified_estimate(*row))
    lower, upper = stratified_interval(
        *row, confidence=0.6827, replicates=20_000, seed="s", method="bootstrap"
    )
    assert lower[0] == pytest.approx(p - sqrt(variance), abs=0.05 * sqrt(variance) + 0.005)
    assert upper[0] == pytest.approx(p + sqrt(variance), abs=0.05 * sqrt(variance) + 0.005)


def test_limits_belong_to_their_row() -> None:
    rows = ([[10, 30], [8, 8], [9, 0]], [[5, 10], [8, 8], [4, 0]], [[4, 2], [3, 3], [2, 0]])
    together = stratified_interval(*rows, **OPTIONS)
    for i in range(3):
        alone = stratified_interval(*([side[i]] for side in rows), **OPTIONS)
        assert [x[0] for x in alone] == [x[i] for x in together]
    assert together[0][1] == together[1][1] == 6 / 16  # all known
    other = stratified_interval(*rows, **OPTIONS | {"seed": "t"})
    assert other[0][0] != together[0][0]


def test_unknown_and_no_rows() -> None:
    lower, upper = stratified_interval([[5, 5]], [[2, 0]], [[1, 0]], **OPTIONS)
    assert np.isnan(lower).all()
    assert np.isnan(upper).all()
    empty = np.zeros((0, 2), dtype=np.int64)
    assert stratified_interval(empty, empty, empty, **OPTIONS)[0].shape == (0,)
    with pytest.raises(ValueError, match="out of range"):
        stratified_interval(empty, empty, empty, confidence=1, replicates=9, seed="s")


def table(
    ranks: pl.DataFrame, judged: pl.DataFrame, strata: pl.DataFrame, at: list[int]
) -> pl.DataFrame:
    found = stratified_precision(ranks, judged, strata, at=at, **OPTIONS)
    return valid(found, StratifiedPrecision)


def test_lists_of_every_measure() -> None:
    ranks = ranks_of({"x": [4.0, 3.0, 2.0, 1.0], "y": [1.0, 2.0, 3.0, 4.0]})
    judged = judged_of({"TP": [(True, 1), (False, 1), None, (True, 1)], "no": [(None, 1)] * 4})
    strata = pl.DataFrame({"id": [name(i) for i in range(4)], "stratum": ["a", "b", "b", "b"]})
    found = table(ranks, judged, strata, [3, 4, 9])
    assert found.select("category", "measure", "n", "precision", "n_sampled", "k_sampled").rows() == [
        ("TP", "x", 3, 1 / 3, 2, 1), ("TP", "x", 4, 0.25 + 0.75 / 2, 3, 2),
        ("TP", "y", 3, 0.5, 2, 1), ("TP", "y", 4, 0.25 + 0.75 / 2, 3, 2),
        ("no", "x", 3, None, 0, 0), ("no", "x", 4, None, 0, 0),
        ("no", "y", 3, None, 0, 0), ("no", "y", 4, None, 0, 0),
    ]  # fmt: skip
    assert found["strata"].to_list() == [2, 2, 1, 2] * 2
    assert found["strata_unsampled"].to_list() == [0, 0, 0, 0, 2, 2, 1, 2]
    shuffled = table(
        ranks.sample(fraction=1, shuffle=True, seed=1), judged.reverse(), strata.reverse(), [4, 3]
    )
    assert shuffled.equals(found)


def test_candidates_without_a_stratum_are_refused() -> None:
    ranks = ranks_of({"x": [4.0, 3.0]})
    strata = pl.DataFrame({"id": [name(0)], "stratum": ["a"]})
    with pytest.raises(ValueError, match="1 candidates have no stratum, such as c00001"):
        table(ranks, judged_of({"TP": [(True, 1)]}), strata, [1])


def test_nothing() -> None:
    ranks = ranks_of({"x": [4.0, 3.0]})
    strata = strata_by_rank(ranks, measures=["x"], boundaries=[1])
    assert table(ranks, judged_of({}), strata, [1]).is_empty()


def test_krenn_estimate_is_near_the_truth_and_narrower() -> None:
    ranks, judged = krenn()
    strata = strata_by_rank(ranks, measures=["t_score"], boundaries=[100, 500, 2000])
    names = strata["stratum"].unique().sort().to_list()
    sample = stratified(strata, sizes=dict(zip(names, [60, 100, 150, 150], strict=True)), seed="s")
    draws = judged.join(sample.select("id"), on="id", how="semi")
    found = table(
        ranks.filter(pl.col("measure") == "t_score"), draws, strata, [100, 500, 2000, 5102]
    )
    truth = [0.38, 0.302, 0.2195, 566 / 5102]
    held = [a <= t <= b for a, t, b in zip(found["lower"], truth, found["upper"], strict=True)]
    assert sum(held) >= 3
    assert (found["upper"] - found["lower"])[0] < 0.17
