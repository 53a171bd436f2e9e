"""Estimates from any design as a stage: the special cases are what the other stages say."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from schemas import Judgements
from tests.stages.run_stage import run_stage

BITS = np.random.default_rng(5)
SIZE = 300
IDS = [f"x{i:03}" for i in range(SIZE)]
QUALITY = BITS.normal(size=SIZE)
TRUE = BITS.random(SIZE) < 1 / (1 + np.exp(1 - 2 * QUALITY))
SCORES = pl.DataFrame({
    "id": IDS, "a": QUALITY + BITS.normal(size=SIZE), "b": QUALITY + 2 * BITS.normal(size=SIZE),
    "c": BITS.normal(size=SIZE),
})  # fmt: skip
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
ALL = pl.DataFrame({"category": "TP", "id": IDS, "tp": TRUE}, schema=Judgements.columns())
CUTS = {"cuts": [40, 100], "seed": "s", "every": 0}


def designed(sample: pl.DataFrame, **config: Any) -> dict[str, pl.DataFrame]:
    """Evaluate by the judgements of those drawn."""
    tables = {name: config.pop(name) for name in ("inclusion", "predictions") if name in config}
    judgements = config.pop("judgements", ALL.join(sample, on="id", how="semi"))
    ranks = config.pop("ranks", RANKS)
    return run_stage(
        "evaluate.designed", CUTS | config, ranks=ranks, judgements=judgements, sample=sample,
        **tables,
    )  # fmt: skip


def simple(size: int, **config: Any) -> pl.DataFrame:
    candidates = SCORES.select("id")
    return run_stage("sample.random", {"size": size, "seed": "s"} | config, candidates=candidates)[
        "sample"
    ]


def drawn(size: int = 90, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage(
        "sample.design", {"cuts": [40, 100], "size": size, "seed": "s"} | config, ranks=RANKS
    )


def test_full_annotation_is_exact() -> None:
    found = designed(simple(SIZE), window=30, band="simultaneous")
    exact = run_stage(
        "evaluate.precision", {"cuts": [40, 100], "window": 30}, ranks=RANKS, judgements=ALL
    )
    key = ["measure", "n"]
    both = found["cuts"].join(exact["cuts"], on=key, suffix="_exact")
    assert both.height == 6
    for name in ("precision", "lower", "upper"):
        assert both[name].to_list() == pytest.approx(both["precision_exact"].to_list())
    assert found["baseline"]["precision"].item() == pytest.approx(TRUE.mean())
    local = found["local"].join(exact["local"], on=key, suffix="_exact")
    assert local.height == exact["local"].height
    assert local["precision"].to_list() == pytest.approx(local["precision_exact"].to_list())
    bands = found["bands"]
    assert bands["lower_band"].to_list() == pytest.approx(bands["upper_band"].to_list())
    assert set(found["differences"]["p_value"]) == {0.0}


def test_a_simple_sample_has_the_estimates_and_the_tests_of_the_exact_methods() -> None:
    sample = simple(120)
    found = designed(sample)
    options = {"ranks": RANKS, "judgements": ALL, "sample": sample}
    exact = run_stage("evaluate.precision", {"cuts": [40, 100]}, **options)["cuts"]
    for name in ("precision", "n_sampled", "k_sampled"):
        assert found["cuts"][name].to_list() == pytest.approx(exact[name].to_list())
    tests = run_stage("evaluate.comparison", {"cuts": [40, 100], "every": 0}, **options)["cuts"]
    key = ["measure_1", "measure_2", "n"]
    both = found["differences"].join(tests, on=key, suffix="_exact")
    assert both["p_fisher"].to_list() == pytest.approx(both["p_value_exact"].to_list())
    assert both["difference"].to_list() == pytest.approx(both["difference_exact"].to_list())
    assert (
        both.select("n_1", "k_1", "n_2", "k_2").rows()
        == tests.select("n_1", "k_1", "n_2", "k_2").rows()
    )


def test_a_stratified_sample_has_the_estimates_of_strata() -> None:
    made = run_stage(
        "sample.stratified", {"boundaries": [60], "sizes": [40, 60], "seed": "s"}, ranks=RANKS
    )
    found = designed(made["sample"], inclusion=made["strata"])
    strata = run_stage(
        "evaluate.stratified", CUTS, ranks=RANKS, judgements=ALL, sample=made["sample"],
        strata=made["strata"],
    )  # fmt: skip
    exact = strata["cuts"]
    assert found["cuts"]["precision"].to_list() == pytest.approx(exact["precision"].to_list())
    # lists of 40 lie in the first stratum alone, where all chances are equal
    assert found["differences"].filter(n=40)["p_fisher"].is_not_null().all()
    assert found["differences"].filter(n=100)["p_fisher"].is_null().all()


def test_a_designed_sample_weighs_draws_by_their_chances() -> None:
    made = drawn()
    found = designed(made["sample"], inclusion=made["inclusion"])
    ranked = RANKS.filter(measure="a").filter(pl.col("rank") <= 40)
    rows = made["sample"].join(ranked, on="id").join(ALL, on="id")
    assert not rows["certain"].any()
    weights = 1 / rows["pi"]
    by_hand = (weights * rows["tp"].cast(pl.Float64)).sum() / weights.sum()
    got = found["cuts"].filter(measure="a", n=40)
    assert got["precision"].item() == pytest.approx(by_hand)
    assert got["n_sampled"].item() == rows.height
    assert found["differences"]["p_fisher"].is_null().all()


@pytest.mark.long
def test_estimates_are_right_on_average() -> None:
    truth = RANKS.join(ALL, on="id").filter(pl.col("rank") <= 40).group_by("measure").agg(
        pl.col("tp").mean()
    ).sort("measure")["tp"]  # fmt: skip
    totals = np.zeros(3)
    for number in range(60):
        made = drawn(60, seed=f"s{number}")
        found = designed(made["sample"], inclusion=made["inclusion"], cuts=[40])
        totals += found["cuts"]["precision"].to_numpy()
    assert totals / 60 == pytest.approx(truth.to_numpy(), abs=0.04)


def test_along_the_lists_as_far_as_everybody_could_be_drawn() -> None:
    made = drawn(floor=0.0, baseline=False)
    found = designed(made["sample"], inclusion=made["inclusion"], every=10)
    assert found["baseline"].is_empty()
    assert found["precision"]["n"].max() == 100
    with pytest.raises(ConfigError, match=r"could not be drawn.*a at 200"):
        designed(made["sample"], inclusion=made["inclusion"], cuts=[40, 200])


def test_the_best_at_each_cut_by_all_pairs_alone() -> None:
    made = drawn(150)
    found = designed(made["sample"], inclusion=made["inclusion"])
    assert found["best"].filter("best")["n"].to_list() == [40, 100]
    pairs = designed(made["sample"], inclusion=made["inclusion"], pairs=[("a", "c")])
    assert pairs["best"].is_empty()
    assert pairs["differences"].height == 2


def test_bands_hold_the_limits_of_each_n() -> None:
    made = drawn(150)
    found = designed(made["sample"], inclusion=made["inclusion"], band="simultaneous", every=20)
    both = found["precision"].join(found["bands"], on=["category", "measure", "n"])
    assert both.height == 3 * 4
    assert (both["lower_band"] <= both["lower"]).all()
    assert (both["upper_band"] >= both["upper"]).all()
    apart = found["difference_bands"].join(
        found["differences"], on=["category", "measure_1", "measure_2", "n"]
    )
    assert (apart["lower_band"] <= apart["lower"]).all()
    assert set(found["difference_bands"]["n"]) == set(range(40, 101))


def test_scores_and_judges_make_limits_narrower() -> None:
    sample = simple(150)
    perfect = pl.DataFrame({"id": IDS, "prediction": TRUE.astype(float)})

    def width(**config: Any) -> float:
        cuts = designed(sample, cuts=[200], **config)["cuts"]
        return float((cuts["upper"] - cuts["lower"]).mean())  # type: ignore[arg-type]  # a number

    alone = width()
    assert width(assist="scores") < alone
    assert width(predictions=perfect, assist="predictions") < 0.5 * alone
    assert width(predictions=perfect) < 0.5 * alone
    assert width(predictions=perfect, assist="none") == alone


def test_judges_by_name_and_category() -> None:
    sample = simple(100)
    rows = [
        {"category": "TP", "judge": judge, "id": name, "prediction": p}
        for judge, p in (("x", 0.5), ("y", 0.7))
        for name in IDS
    ]
    both = pl.DataFrame(rows)
    assert designed(sample, predictions=both, judge="x")["cuts"].height == 6
    with pytest.raises(ConfigError, match="there is no judge 'z'"):
        designed(sample, predictions=both, judge="z")
    with pytest.raises(ConfigError, match="there are 2 judges: x, y"):
        designed(sample, predictions=both, assist="predictions")
    with pytest.raises(ConfigError, match="1 of 300 candidates have no probability by x"):
        designed(sample, predictions=both.filter(pl.col("id") != "x007"))
    with pytest.raises(ConfigError, match="predicts candidates twice, such as x007"):
        designed(sample, predictions=pl.concat([both, both.filter(id="x007")]))
    with pytest.raises(ConfigError, match="has no column .prediction. of numbers"):
        designed(sample, predictions=both.drop("prediction"))


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"assist": "stacked"}, "needs predictions"),
        ({"judge": "x"}, "goes with predictions"),
        ({"band_range": [1, 5]}, "band_range goes with"),
        ({"band": "simultaneous", "band_range": [5, 1]}, "first and last n"),
        ({"cuts": []}, "at least 1"),
    ],
)
def test_options_that_do_not_go_together(config: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        designed(simple(10), **config)


def test_samples_that_are_refused() -> None:
    with pytest.raises(ConfigError, match="could be drawn more than once"):
        designed(simple(100, replacement=True))
    made = drawn()
    with pytest.raises(ConfigError, match="chances differ"):
        designed(made["sample"])
    other = drawn(150)
    with pytest.raises(ConfigError, match="90 of 90 draws have another chance there"):
        designed(made["sample"], inclusion=other["inclusion"])
    with pytest.raises(ConfigError, match="has no column stratum"):
        designed(made["sample"], inclusion=other["inclusion"].drop("stratum"))
    with pytest.raises(ConfigError, match="210 of 300 ranked candidates are not there"):
        designed(made["sample"], inclusion=made["sample"])
    few = run_stage(
        "sample.random", {"size": 20, "seed": "s"}, candidates=SCORES.select("id").head(100)
    )["sample"]
    with pytest.raises(ConfigError, match="drawn from 100 candidates, and 300 are ranked"):
        designed(few)


def test_nothing_judged_and_nothing_ranked() -> None:
    made = drawn()
    found = designed(made["sample"], inclusion=made["inclusion"], judgements=ALL.clear())
    assert all(table.is_empty() for table in found.values())
    undecided = ALL.with_columns(tp=pl.lit(None, pl.Boolean))
    found = designed(made["sample"], inclusion=made["inclusion"], judgements=undecided)
    assert found["cuts"].select("precision", "lower", "upper").unique().rows() == [(None, 0.0, 1.0)]
    nothing = {"ranks": RANKS.clear(), "judgements": ALL.clear()}
    assert all(table.is_empty() for table in designed(made["sample"], **nothing).values())


def test_what_nobody_judged_and_was_certain_leaves_the_worst_case() -> None:
    made = drawn(280)
    assert made["sample"]["certain"].any()
    certain = made["sample"].filter("certain")["id"]
    judgements = ALL.filter(~pl.col("id").is_in(certain.implode()))
    found = designed(made["sample"], inclusion=made["inclusion"], judgements=judgements)
    row = found["cuts"].filter(measure="a", n=40)
    assert row["precision"].item() is None
    assert 0 <= row["lower"].item() < row["upper"].item() <= 1
    assert row["unjudged"].item() > 0


def test_a_pool_is_evaluated_down_to_its_depth() -> None:
    pooled = run_stage("score.pool", {"depth": 50, "measures": ["a", "b"]}, ranks=RANKS)["ranks"]
    made = run_stage("sample.design", {"cuts": [40], "size": 30, "seed": "s"}, ranks=pooled)
    found = designed(made["sample"], inclusion=made["inclusion"], ranks=pooled, cuts=[40, 100])
    assert set(found["cuts"]["n"]) == {40}
    assert found["baseline"]["n_candidates"].item() == pooled["id"].n_unique()
