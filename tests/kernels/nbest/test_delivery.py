"""The delivered list of a combination, and the precision of its unjudged part."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.nbest.combination import (
    Evidence,
    evidence,
    list_by_refit,
    unjudged_precision,
)
from pipeline.kernels.statistics.intervals import INTERVALS

TP = st.sampled_from([None, True, False])


def refit_of(labels: list[bool | None]) -> pl.DataFrame:
    size = len(labels)
    return pl.DataFrame(
        {
            "id": [f"x{i:02}" for i in range(size)], "probability": np.linspace(1, 0, size),
            "refit_rank": np.arange(1, size + 1), "tp": labels,
        },
        schema_overrides={"tp": pl.Boolean},
    )  # fmt: skip


@given(st.lists(TP, max_size=12), st.integers(1, 15))
def test_the_list_has_true_positives_then_open_candidates(
    labels: list[bool | None], n: int
) -> None:
    true = [f"x{i:02}" for i, tp in enumerate(labels) if tp]
    open_ = [f"x{i:02}" for i, tp in enumerate(labels) if tp is None]
    listed = list_by_refit(refit_of(labels), n)
    assert listed["id"].to_list() == [*true, *open_][:n]
    assert listed["rank"].to_list() == list(range(1, listed.height + 1))


DRAWN = st.tuples(st.sampled_from([0, 0, 0, 1, 2]), st.sampled_from([None, True, False]))


@given(st.lists(DRAWN, min_size=1, max_size=14), st.integers(1, 5))
def test_the_evidence_agrees_with_a_walk_down_the_list(
    rows: list[tuple[int, bool | None]], unjudged: int
) -> None:
    """A judged draw has a judgement; the walk ends at the last of so many without one."""
    rows = [(times, bool(tp) if times else tp) for times, tp in rows]
    if sum(tp is None for _, tp in rows) < unjudged:
        return
    n = k = distinct = others = depth = open_ = 0
    for times, tp in rows:
        depth += 1
        open_ += tp is None
        n, k, distinct = n + times, k + times * bool(tp), distinct + (times > 0)
        others += bool(tp) and not times
        if open_ == unjudged:
            break
    table = pl.DataFrame(rows, schema={"multiplicity": pl.Int64, "tp": pl.Boolean}, orient="row")
    assert evidence(table, unjudged) == (unjudged, depth, n, k, distinct, others)


def test_without_other_judgements_the_precision_is_the_share() -> None:
    result = Evidence(180, 200, n_sampled=20, k_sampled=13, n_distinct=20, k_others=0)
    lower, upper = INTERVALS.get("clopper_pearson")([13], [20], confidence=0.9)
    expected = (0.65, float(lower[0]), float(upper[0]))
    assert unjudged_precision(result, confidence=0.9) == pytest.approx(expected)


def test_judgements_outside_the_sample_are_subtracted() -> None:
    """Of 180 others, 0.65 * 180 = 117 are true; 60 of these are known, so 57 of 100 remain."""
    result = Evidence(100, 200, n_sampled=20, k_sampled=13, n_distinct=20, k_others=60)
    assert unjudged_precision(result, confidence=0.9)[0] == pytest.approx(0.57)


@pytest.mark.parametrize(("k_others", "expected"), [(180, 0.0), (0, 1.0)])
def test_the_precision_stays_a_proportion(k_others: int, expected: float) -> None:
    result = Evidence(10, 200, n_sampled=20, k_sampled=13, n_distinct=20, k_others=k_others)
    assert unjudged_precision(result, confidence=0.9) == (expected,) * 3


def test_without_draws_the_precision_is_unknown() -> None:
    assert unjudged_precision(Evidence(9, 9, 0, 0, 0, 0), confidence=0.95) == (None, 0.0, 1.0)


def test_the_judged_draws_estimate_the_others() -> None:
    """Over many samples of a fixed list, the mean error is 0 and the limits hold."""
    rng = np.random.default_rng(1)
    truth = rng.random(300) < np.linspace(0.9, 0.1, 300)
    errors, covered = [], []
    for _ in range(300):
        is_drawn = np.zeros(300, bool)
        is_drawn[rng.choice(300, 60, replace=False)] = True
        further = ~is_drawn & (
            np.arange(300) < 40
        )  # the best were also judged, outside of the sample
        judgements = [
            bool(tp) if is_judged else None
            for tp, is_judged in zip(truth, is_drawn | further, strict=True)
        ]
        table = pl.DataFrame({"multiplicity": is_drawn.astype(int), "tp": judgements})
        result = evidence(table, 80)
        estimate, lower, upper = unjudged_precision(result, confidence=0.95)
        remaining = truth[: result.depth][~(is_drawn | further)[: result.depth]].mean()
        assert estimate is not None
        errors.append(estimate - remaining)
        covered.append(lower <= remaining <= upper)
    assert abs(np.mean(errors)) < 0.03
    assert np.mean(covered) >= 0.93
