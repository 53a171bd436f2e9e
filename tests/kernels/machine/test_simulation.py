"""Simulated machines err as often as they are told to, and always alike."""

from __future__ import annotations

import polars as pl
import pytest

from pipeline.kernels.machine.savings import simulated

TRUTH = pl.LazyFrame(
    {"category": "TP", "id": [f"x{i}" for i in range(8000)], "tp": [i % 4 == 0 for i in range(8000)]}
)  # fmt: skip


def said(**how: object) -> pl.DataFrame:
    options = {"judge": "m", "sensitivity": 0.8, "specificity": 0.95, "seed": "s"} | how
    made = simulated(TRUTH, **options)  # type: ignore[arg-type]  # options of several types
    return made.join(TRUTH, on=["category", "id"]).sort("id").collect()


@pytest.mark.parametrize("labels", [True, False])
def test_sensitivity_and_specificity(labels: bool) -> None:
    made = said(labels=labels)
    positive = made["prediction"] >= 0.5
    assert positive.filter(made["tp"]).mean() == pytest.approx(0.8, abs=0.03)
    assert (~positive).filter(~made["tp"]).mean() == pytest.approx(0.95, abs=0.01)
    assert (made["prediction"].n_unique() == 2) is labels


def test_the_label_is_the_probability_from_one_half_on() -> None:
    labels, chances = said()["prediction"], said(labels=False)["prediction"]
    assert (labels == (chances >= 0.5).cast(pl.Float64)).all()


def test_extremes() -> None:
    made = said(sensitivity=1.0, specificity=0.0, labels=False)
    assert made["prediction"].to_list() == [1.0] * 8000


def test_seed_and_name_make_other_errors() -> None:
    assert said().equals(said())
    assert not said(seed="t")["prediction"].equals(said()["prediction"])
    assert not said(judge="n")["prediction"].equals(said()["prediction"])
