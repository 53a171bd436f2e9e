"""Korn and Graubard's limits from strata: known answers, laws, coverage over a grid of designs."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import (
    pair_limits,
    set_limits,
    stratified_estimate,
    stratified_interval,
    stratified_sets,
)
from pipeline.kernels.survey.study import study
from pipeline.kernels.survey.tables import pair_estimates

Counts = tuple[list[int], list[int], list[int]]
OPTIONS: dict[str, Any] = {"confidence": 0.95, "replicates": 200, "seed": "s"}


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    size = draw(st.lists(st.integers(1, 30), min_size=1, max_size=5))
    n = [draw(st.integers(0, each)) for each in size]
    return size, n, [draw(st.integers(0, each)) for each in n]


def test_twenty_strata_do_not_pull_the_limits_to_one_half() -> None:
    table = [[100] * 20], [[5] * 20], [[1] * 10 + [0] * 10]
    lower, upper = stratified_interval(*table, **OPTIONS)
    assert (lower[0].round(3), upper[0].round(3)) == (0.048, 0.179)
    pulled, _ = stratified_interval(*table, **OPTIONS, method="predictive")
    assert pulled[0] == pytest.approx(0.1)  # the estimate itself


@given(counts())
def test_the_estimate_and_its_variance_are_cochrans(table: Counts) -> None:
    size, n, _ = table
    found = stratified_sets(*table)
    p, variance = stratified_estimate(*table)
    assert float(found.estimate) == pytest.approx(float(p), nan_ok=True)
    if all(each != 1 for each, members in zip(n, size, strict=True) if members > 1):
        assert float(found.variance) == pytest.approx(float(variance), abs=1e-12, nan_ok=True)


@given(counts())
def test_limits_hold_the_estimate_and_are_it_where_all_is_known(table: Counts) -> None:
    size, n, k = table
    lower, upper = (float(each) for each in set_limits(*table, confidence=0.95))
    estimate = float(stratified_sets(*table).estimate)
    if any(each == 0 for each in n):
        assert np.isnan([lower, upper, estimate]).all()
        return
    assert 0 <= lower <= estimate + 1e-12
    assert estimate - 1e-12 <= upper <= 1
    if n == size:
        assert lower == upper == pytest.approx(sum(k) / sum(size))


@given(counts())
def test_to_call_false_what_was_true_turns_the_limits_round(table: Counts) -> None:
    size, n, k = table
    turned = (size, n, [draws - hits for draws, hits in zip(n, k, strict=True)])
    (lower, upper), (other_lower, other_upper) = (
        [float(each) for each in set_limits(*each, confidence=0.9)] for each in (table, turned)
    )
    assert [other_lower, other_upper] == pytest.approx([1 - upper, 1 - lower], nan_ok=True)


def test_strata_of_one_chance_are_one_simple_sample() -> None:
    parts = set_limits([50, 50], [10, 10], [3, 3], confidence=0.95)
    whole = set_limits([100], [20], [6], confidence=0.95)
    assert np.allclose(parts, whole, atol=0.01)


@pytest.mark.parametrize("strata", [2, 5, 10, 20])
@pytest.mark.parametrize("draws", [3, 10, 50])
@pytest.mark.parametrize("precision", [0.02, 0.1, 0.3, 0.5])
def test_the_level_is_held(strata: int, draws: int, precision: float) -> None:
    true, samples = round(100 * precision), 2000
    k = np.random.default_rng(strata).hypergeometric(true, 100 - true, draws, (samples, strata))
    lower, upper = set_limits(np.full_like(k, 100), np.full_like(k, draws), k, confidence=0.95)
    held = int(((lower <= precision) & (precision <= upper)).sum())
    assert held >= 0.92 * samples  # 4 standard errors below .94


def test_a_difference_is_that_of_a_design_with_these_chances() -> None:
    """The same draws, one candidate after the other, through the general estimator."""
    ids = [f"c{each:02}" for each in range(40)]
    ranks = pl.DataFrame({
        "measure": ["a"] * 40 + ["b"] * 40, "id": [*ids, *reversed(ids)],
        "rank": [*range(1, 41)] * 2,
    })  # fmt: skip
    # D1 is c00..c19, D2 c20..c39; strata: even and odd numbers, drawn 4 of 10 and 5 of 10
    drawn = [*ids[0:8:2], *ids[1:11:2], *ids[20:28:2], *ids[21:31:2]]
    tp = [True, True, True, False, True, True, False, False, False] + [True] + [False] * 8
    stratum = {each: str(number % 2) for number, each in enumerate(ids)}
    draws = pl.DataFrame({"id": drawn, "tp": tp}).with_columns(
        pi=pl.when(pl.col("id").replace_strict(stratum) == "0").then(0.4).otherwise(0.5),
        stratum=pl.col("id").replace_strict(stratum),
    )
    every = pl.DataFrame({"id": ids, "stratum": list(stratum.values())})
    one = pair_estimates(study(ranks, draws, candidates=every), pairs=[("a", "b")], at=[20])
    sets = [stratified_sets([10, 10], [4, 5], hits) for hits in ([3, 2], [1, 0])]
    limits = [float(each) for each in pair_limits(*sets, confidence=0.95)]
    assert one.select("lower", "upper").row(0) == pytest.approx(limits)
