"""Labels saved: perfect, random and useless judges; correct values on average; parts."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from pipeline.kernels.machine import (
    by_judge,
    judge_tables,
    label_savings,
    saving_tables,
    simulate_predictions,
)
from pipeline.kernels.numeric import BoolArray, FloatArray
from pipeline.kernels.survey.limits import Weights, domain_weights

# Savings for lists and pairs: members of the sets, against a plain count.

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


def test_tables_have_a_row_for_each_judge() -> None:
    tables = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[200, 400], pairs=[("mi", "t")])
    lists = tables["savings"]
    assert lists.select("judge", "measure", "n").rows() == [
        (judge, measure, n) for judge in "ab" for measure in ("mi", "t") for n in (200, 400)
    ]
    assert lists.filter(judge="a")["labels_saved"].min() > 0.4
    assert lists.filter(judge="b")["labels_saved"].max() < 0.1
    assert (lists["rho2_lower"] > 0).to_list() == [True] * 4 + [False] * 4
    assert tables["pair_savings"].select("judge", "n").rows() == [
        ("a", 200), ("a", 400), ("b", 200), ("b", 400),
    ]  # fmt: skip


def test_savings_count_the_draws_of_the_list() -> None:
    tables = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[100, 200], pairs=[("mi", "t")])
    ranks = {name: RANKS.filter(measure=name)["rank"].to_numpy() for name in ("mi", "t")}
    for name, n, count in tables["savings"].filter(judge="a").select(
        "measure", "n", "n_judged"
    ).iter_rows():  # fmt: skip
        assert count == (ranks[name][DRAWN] <= n).sum()
    only = [(ranks["mi"][DRAWN] <= n) != (ranks["t"][DRAWN] <= n) for n in (100, 200)]
    assert tables["pair_savings"].filter(judge="a")["n_judged"].to_list() == [
        each.sum() for each in only
    ]


def test_the_whole_list_has_the_correlation_of_the_judge() -> None:
    near = judge_tables(PREDICTIONS, DRAWS)["judges"].filter(judge="a")
    whole = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[SIZE])["savings"].filter(judge="a")
    assert whole["rho2"].to_list() == pytest.approx([near["rho2"].item()] * 2)


def test_equal_lists_have_no_savings_for_their_difference() -> None:
    tables = saving_tables(PREDICTIONS, DRAWS, RANKS, at=[SIZE], pairs=[("mi", "t")])
    assert tables["pair_savings"].select("n_judged", "labels_saved").rows() == [(0, None)] * 2


def test_draws_without_a_prediction_are_omitted_and_counted() -> None:
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


def everybody(draws: int) -> BoolArray:
    return np.ones((1, 1, draws), dtype=np.bool_)


def labels(y: FloatArray, g: FloatArray, weights: Weights | None = None) -> float:
    fold = np.arange(len(y)) % 10
    resolved = weights or domain_weights(None, draws=len(y))
    return float(label_savings(y, g, everybody(len(y)), resolved, fold=fold).labels[0])


def test_a_perfect_judge_saves_all_labels() -> None:
    y = (np.random.default_rng(1).random(80) < 0.2).astype(float)
    assert labels(y, y) == pytest.approx(1.0)
    chances = domain_weights(np.random.default_rng(2).uniform(0.05, 0.9, 80), draws=80)
    assert labels(y, y, chances) == pytest.approx(1.0)


def test_constant_and_opposite_judges_save_nothing() -> None:
    y = np.array([0.0, 1.0] * 30)
    assert labels(y, np.full(60, 0.5)) == 0.0
    assert labels(y, 1 - y) == 0.0


def test_random_judges_save_nothing_on_average() -> None:
    """If the best weight came from the same sample, chance would save 1 / m = 1.7 %."""
    rng = np.random.default_rng(4)
    savings = [labels((rng.random(60) < 0.3).astype(float), rng.random(60)) for _ in range(600)]
    assert -0.03 < np.mean(savings) < 0.0


@pytest.mark.parametrize("noise", [0.3, 0.8])
def test_mean_savings_are_those_of_a_large_sample(noise: float) -> None:
    rng = np.random.default_rng(5)

    def draw_sample(size: int) -> tuple[FloatArray, FloatArray]:
        y = (rng.random(size) < 0.3).astype(float)
        return y, np.clip(y + noise * rng.normal(size=size), 0, 1)

    whole = np.corrcoef(*draw_sample(200_000))[0, 1] ** 2
    savings = [labels(*draw_sample(120)) for _ in range(400)]
    assert np.mean(savings) == pytest.approx(whole, abs=0.03)


def test_certain_draws_do_not_count() -> None:
    y = np.array([0.0, 1.0] * 40)
    g = np.where(np.arange(80) < 40, y, 1 - y)
    certain = domain_weights(np.where(np.arange(80) < 40, 0.5, 1.0), draws=80)
    assert labels(y, g, certain) == pytest.approx(1.0)


@pytest.mark.parametrize("y", [0.0, 1.0])
def test_constant_labels_have_no_savings(y: float) -> None:
    assert np.isnan(labels(np.full(60, y), np.linspace(0, 1, 60)))


def test_too_few_draws_have_no_savings() -> None:
    y = np.array([0.0, 1.0] * 15)
    assert labels(y, y) == pytest.approx(1.0)
    assert np.isnan(labels(y[:29], y[:29]))


def test_a_difference_needs_enough_on_both_sides() -> None:
    y = np.array([0.0, 1.0] * 40)
    members = np.zeros((1, 2, 80), dtype=np.bool_)
    members[0, 0, :40] = members[0, 1, 40:] = True
    fold, weights = np.arange(80) % 10, domain_weights(None, draws=80)
    assert label_savings(y, y, members, weights, fold=fold).labels[0] == pytest.approx(1.0)
    half = np.where(np.arange(80) < 40, y, 0.5)
    assert label_savings(y, half, members, weights, fold=fold).labels[0] == pytest.approx(
        0.5, abs=0.02
    )
    partly_certain = label_savings(
        y, half, members, weights, fold=fold, share=np.array([[1.0, 0.0]])
    )
    assert partly_certain.labels[0] == pytest.approx(1.0)
    members[0, 1, 60:] = False
    assert np.isnan(label_savings(y, y, members, weights, fold=fold).labels[0])


def test_savings_without_draws_are_undefined() -> None:
    none = np.zeros(0)
    savings = label_savings(
        none, none, everybody(0), domain_weights(None, draws=0), fold=np.zeros(0, np.int64)
    )
    assert np.isnan(savings.labels[0])


# Simulated machines err at the requested rates, and reproducibly.

TRUTH = pl.LazyFrame(
    {"category": "TP", "id": [f"x{i}" for i in range(8000)], "tp": [i % 4 == 0 for i in range(8000)]}
)  # fmt: skip


def simulate(**how: object) -> pl.DataFrame:
    options = {"judge": "m", "sensitivity": 0.8, "specificity": 0.95, "seed": "s"} | how
    predictions = simulate_predictions(TRUTH, **options)  # type: ignore[arg-type]  # options of several types
    return predictions.join(TRUTH, on=["category", "id"]).sort("id").collect()


@pytest.mark.parametrize("labels", [True, False])
def test_simulated_judges_have_their_sensitivity_and_specificity(labels: bool) -> None:
    predictions = simulate(labels=labels)
    positive = predictions["prediction"] >= 0.5
    assert positive.filter(predictions["tp"]).mean() == pytest.approx(0.8, abs=0.03)
    assert (~positive).filter(~predictions["tp"]).mean() == pytest.approx(0.95, abs=0.01)
    assert (predictions["prediction"].n_unique() == 2) is labels


def test_simulated_labels_are_probabilities_rounded_at_one_half() -> None:
    labels, chances = simulate()["prediction"], simulate(labels=False)["prediction"]
    assert (labels == (chances >= 0.5).cast(pl.Float64)).all()


def test_an_extreme_simulated_judge_is_always_positive() -> None:
    predictions = simulate(sensitivity=1.0, specificity=0.0, labels=False)
    assert predictions["prediction"].to_list() == [1.0] * 8000


def test_seed_and_name_change_the_simulated_errors() -> None:
    assert simulate().equals(simulate())
    assert not simulate(seed="t")["prediction"].equals(simulate()["prediction"])
    assert not simulate(judge="n")["prediction"].equals(simulate()["prediction"])
