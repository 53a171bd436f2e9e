"""Savings for lists and pairs: who is in a set, against a plain count."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.machine.judges import by_judge, judge_tables
from pipeline.kernels.machine.savings import saving_tables

SIZE = 400
RNG = np.random.default_rng(6)
IDS = [f"x{i:03}" for i in range(SIZE)]
TP = RNG.random(SIZE) < 0.3
PI = np.where(np.arange(SIZE) < 20, 1.0, RNG.uniform(0.3, 0.9, SIZE))
GOOD = np.clip(TP * 0.6 + RNG.random(SIZE) * 0.4, 0, 1)
PREDICTIONS = pl.DataFrame({
    "category": "TP", "judge": ["a"] * SIZE + ["b"] * SIZE, "id": IDS * 2,
    "prediction": [*GOOD, *RNG.random(SIZE)],
})  # fmt: skip
RANKS = pl.DataFrame({
    "measure": ["mi"] * SIZE + ["t"] * SIZE, "id": IDS * 2,
    "rank": [*range(1, SIZE + 1), *(RNG.permutation(SIZE) + 1)],
})  # fmt: skip
DRAWN = np.flatnonzero(RNG.random(SIZE) < PI)
DRAWS = pl.DataFrame(
    {"category": "TP", "id": [IDS[i] for i in DRAWN], "tp": TP[DRAWN], "pi": PI[DRAWN]}
)


def test_judges_side_by_side() -> None:
    found = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[200, 400], pairs=[("mi", "t")])
    lists = found["savings"]
    assert lists.select("judge", "measure", "n").rows() == [
        (judge, measure, n) for judge in "ab" for measure in ("mi", "t") for n in (200, 400)
    ]
    assert lists.filter(judge="a")["labels_saved"].min() > 0.4
    assert lists.filter(judge="b")["labels_saved"].max() < 0.1
    assert (lists["rho2_lower"] > 0).to_list() == [True] * 4 + [False] * 4
    assert found["pair_savings"].select("judge", "n").rows() == [
        ("a", 200), ("a", 400), ("b", 200), ("b", 400),
    ]  # fmt: skip


def test_the_draws_are_those_of_the_list() -> None:
    found = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[100, 200], pairs=[("mi", "t")])
    ranks = {name: RANKS.filter(measure=name)["rank"].to_numpy() for name in ("mi", "t")}
    for name, n, drawn in found["savings"].filter(judge="a").select(
        "measure", "n", "n_judged"
    ).iter_rows():  # fmt: skip
        assert drawn == (ranks[name][DRAWN] <= n).sum()
    only = [(ranks["mi"][DRAWN] <= n) != (ranks["t"][DRAWN] <= n) for n in (100, 200)]
    assert found["pair_savings"].filter(judge="a")["n_judged"].to_list() == [
        each.sum() for each in only
    ]


def test_a_whole_list_has_the_correlation_of_the_judge() -> None:
    near = judge_tables(PREDICTIONS, DRAWS)["judges"].filter(judge="a")
    whole = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[SIZE])["savings"].filter(judge="a")
    assert whole["rho2"].to_list() == pytest.approx([near["rho2"].item()] * 2)


def test_the_same_lists_have_no_difference_to_save_labels_for() -> None:
    found = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[SIZE], pairs=[("mi", "t")])
    assert found["pair_savings"].select("n_judged", "labels_saved").rows() == [(0, None)] * 2


def test_draws_without_a_prediction_are_left_out_and_counted() -> None:
    some = PREDICTIONS.filter(pl.col("id").is_in(IDS[:300]))
    each = next(iter(by_judge(some, DRAWS)))
    assert each.predicted == 300
    assert each.draws.height + each.unpredicted == len(DRAWN)
    assert each.draws.height == (DRAWN < 300).sum()


def test_a_category_that_nobody_judged_has_its_rows() -> None:
    other = PREDICTIONS.with_columns(category=pl.lit("svc"))
    near = judge_tables(other, DRAWS)
    assert near["judges"].select("n_predicted", "n_judged", "kappa").rows() == [(400, 0, None)] * 2
    assert near["calibration"].is_empty()
    assert saving_tables(other, DRAWS, RANKS, at=[SIZE])["savings"]["labels_saved"].is_null().all()
