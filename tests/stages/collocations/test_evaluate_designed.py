"""Estimates from any design as a stage: special cases equal the results of other stages."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError, DataError
from pipeline.kernels.statistics.sequential import spent_levels
from pipeline.kernels.survey.design import inclusion
from pipeline.kernels.survey.study import build_study
from pipeline.kernels.survey.tables import list_estimates
from pipeline.memory import with_limit
from schemas import Judgements
from tests.stages.collocations.test_interim import (
    ALL_LOOKS,
    LOOKS,
    RANKS_LOOKS,
    RATES,
    SHARES,
    SIZE_LOOKS,
    drawn_looks,
)
from tests.stages.run_stage import run_stage

# A designed sample with several looks: each question has its own levels

CUTS = {"cuts": [40, 100], "seed": "s", "every": 0}
STEPS = [60, 90, 120]
PREDICTIONS = RANKS_LOOKS.filter(measure="a").select(
    "id", prediction=1.0 - pl.col("rank").cast(pl.Float64) / (SIZE_LOOKS + 1)
)


def designed_looks(size: int, **config: Any) -> dict[str, pl.DataFrame]:
    """Draw the steps up to a size."""
    steps = [step for step in STEPS if step < size]
    options = {"cuts": [40, 100], "size": size, "steps": steps, "seed": "s"} | config
    tables = {"pilot": config["pilot"]} if "pilot" in config else {}
    return run_stage(
        "sample.design", options | {name: name for name in tables}, ranks=RANKS_LOOKS, **tables
    )


def evaluate_looks(outputs: dict[str, pl.DataFrame], **config: Any) -> dict[str, pl.DataFrame]:
    tables = {name: config.pop(name) for name in ("predictions",) if name in config}
    judgements = ALL_LOOKS.join(outputs["sample"], on="id", how="semi")
    return run_stage(
        "evaluate.designed", CUTS | {"looks": STEPS} | config, ranks=RANKS_LOOKS, judgements=judgements,
        sample=outputs["sample"], inclusion=outputs["inclusion"], **tables,
    )  # fmt: skip


def by_hand(
    inclusion_table: pl.DataFrame, coefficient: pl.Expr, v: pl.Expr | None = None
) -> list[float]:
    """Return the levels of one question, by a loop over its members."""
    a = RANKS_LOOKS.pivot(on="measure", index="id", values="rank").join(inclusion_table, on="id")
    a = a.join(PREDICTIONS, on="id").with_columns(a=coefficient, v=pl.lit(1.0) if v is None else v)
    x = inclusion_table["size_measure"].to_numpy()
    variances = []
    for size in STEPS:
        pi = dict(zip(inclusion_table["id"], inclusion(x, size=size), strict=True))
        variances.append(
            sum(
                row["a"] ** 2 * row["v"] * (1 - pi[row["id"]]) / pi[row["id"]]
                for row in a.iter_rows(named=True)
            )
        )
    return list(spent_levels([0.5, 0.75, 1.0], variances, alpha=0.05))


def in_list(name: str, n: int) -> pl.Expr:
    return (pl.col(name) <= n).cast(pl.Float64)


def test_the_plan_of_each_question_follows_from_the_design() -> None:
    tables = designed_looks(90)
    outputs = evaluate_looks(tables)
    looks = outputs["looks"]
    assert looks["question"].n_unique() == 3 * 2 + 3 * 2 + 1
    assert looks.filter("now")["look"].unique().to_list() == [2]
    expected = {
        "a at 40": in_list("a", 40),
        "a - b at 100": in_list("a", 100) - in_list("b", 100),
        "baseline": pl.lit(1.0),
    }
    for question, coefficient in expected.items():
        levels = looks.filter(question=question)["level"].to_list()
        assert levels == pytest.approx(by_hand(tables["inclusion"], coefficient))
    assert looks.filter(look=3)["level"].n_unique() > 3
    assert looks.filter(look=1)["level"].n_unique() == 1  # there is no earlier look


def test_each_interval_has_the_level_of_its_question() -> None:
    tables = designed_looks(120)
    outputs = evaluate_looks(tables)
    draws = ALL_LOOKS.join(tables["sample"], on="id")
    study = build_study(RANKS_LOOKS, draws, candidates=tables["inclusion"])
    now = outputs["looks"].filter("now")
    for question, measure, n in (("a at 40", "a", 40), ("c at 100", "c", 100)):
        level = now.filter(question=question)["level"].item()
        table = list_estimates(study, at=[n], confidence=1 - level).filter(measure=measure)
        row = outputs["cuts"].filter(measure=measure, n=n)
        assert row["lower"].item() == pytest.approx(table["lower"].item())
    base = outputs["baseline"]["confidence"].item()
    assert base == pytest.approx(1 - now.filter(question="baseline")["level"].item())


def test_a_test_is_significant_if_its_interval_excludes_0() -> None:
    tables = evaluate_looks(
        designed_looks(120), correction="bonferroni", cuts=[100], pairs=[("a", "b")]
    )
    row = tables["differences"].row(0, named=True)
    assert row["significant"] == (row["lower"] > 0 or row["upper"] < 0)
    assert row["p_adjusted"] > row["p_value"]


def test_predictions_weight_the_residuals() -> None:
    tables = designed_looks(90)
    outputs = evaluate_looks(tables, predictions=PREDICTIONS, assist="predictions")
    p = pl.col("prediction")
    levels = by_hand(tables["inclusion"], in_list("b", 100), (p * (1 - p)).clip(0.01))
    assert outputs["looks"].filter(question="b at 100")["level"].to_list() == pytest.approx(levels)


def test_all_questions_of_a_simple_sample_have_one_plan() -> None:
    sample = drawn_looks(rate=0.15)
    tables = run_stage(
        "evaluate.designed",
        CUTS | {"looks": LOOKS},
        ranks=RANKS_LOOKS,
        judgements=ALL_LOOKS,
        sample=sample,
    )
    plan = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05)
    for look, level in enumerate(plan, start=1):
        # 60 / 400 is not exactly .15 in floating point, and sums are rounded
        assert tables["looks"].filter(look=look)["level"].to_list() == pytest.approx([level] * 13)


def test_earlier_judgements_count_as_labels() -> None:
    pilot = ALL_LOOKS.join(drawn_looks(size=30, seed="pilot"), on="id", how="semi")
    tables = run_stage(
        "sample.design", {"cuts": [40, 100], "size": 60, "seed": "s", "pilot": "pilot"},
        ranks=RANKS_LOOKS, pilot=pilot,
    )  # fmt: skip
    outputs = evaluate_looks(tables, looks=[90, 150])
    assert outputs["looks"].filter("now")["labels"].unique().to_list() == [90]
    with pytest.raises(ConfigError, match="a sample of 90 is not a declared look"):
        evaluate_looks(tables, looks=[60, 120])
    before = evaluate_looks(tables, looks=[30, 90])["looks"].filter(look=1)
    assert before["level"].null_count() == before.height  # this design has not drawn any label yet


def test_a_stratified_sample_grows_in_proportion() -> None:
    tables = run_stage(
        "sample.stratified", {"boundaries": [60], "sizes": [40, 60], "seed": "s"}, ranks=RANKS_LOOKS
    )
    outputs = run_stage(
        "evaluate.designed", CUTS | {"looks": [50, 100]}, ranks=RANKS_LOOKS, judgements=ALL_LOOKS,
        sample=tables["sample"], inclusion=tables["strata"],
    )  # fmt: skip
    looks = outputs["looks"]
    assert looks.filter("now")["labels"].unique().to_list() == [100]
    chances = tables["sample"].select("stratum", "pi").unique()
    listed_100 = RANKS_LOOKS.filter(measure="a").filter(pl.col("rank") <= 100)
    pi = tables["strata"].join(listed_100, on="id").join(chances, on="stratum")["pi"]
    assert len(pi) == 100
    variances = [float(((whole - pi) / pi).sum()) for whole in (2, 1)]
    expected = spent_levels([0.5, 1.0], variances, alpha=0.05)
    assert looks.filter(question="a at 100")["level"].to_list() == pytest.approx(expected.tolist())


def test_bands_and_windows_have_levels() -> None:
    result = designed_looks(90)
    options = {"band": "simultaneous", "replicates": 300, "window": 50}
    planned, plain = (
        evaluate_looks(result, **options),
        evaluate_looks(result, looks=[90], **options),
    )
    for name, side in (("bands", "band"), ("difference_bands", "band")):
        narrow, wide = (
            (each[name][f"upper_{side}"] - each[name][f"lower_{side}"]).mean()
            for each in (plain, planned)
        )
        assert narrow < wide
    assert planned["local"]["upper"].mean() > plain["local"]["upper"].mean()
    assert plain["looks"]["level"].to_list() == pytest.approx([0.05] * 13)


def test_a_single_look_does_not_change_the_limits() -> None:
    result = designed_looks(90)
    once, plain = evaluate_looks(result), evaluate_looks(result, looks=[])
    assert plain["looks"].is_empty()
    assert plain["baseline"]["confidence"].item() == 0.95
    assert once["cuts"].drop("lower", "upper").equals(plain["cuts"].drop("lower", "upper"))


BITS = np.random.default_rng(5)
SIZE_EVALUATE_DESIGNED = 300
IDS = [f"x{i:03}" for i in range(SIZE_EVALUATE_DESIGNED)]
QUALITY = BITS.normal(size=SIZE_EVALUATE_DESIGNED)
TRUE = BITS.random(SIZE_EVALUATE_DESIGNED) < 1 / (1 + np.exp(1 - 2 * QUALITY))
SCORES = pl.DataFrame({
    "id": IDS, "a": QUALITY + BITS.normal(size=SIZE_EVALUATE_DESIGNED), "b": QUALITY + 2 * BITS.normal(size=SIZE_EVALUATE_DESIGNED),
    "c": BITS.normal(size=SIZE_EVALUATE_DESIGNED),
})  # fmt: skip
RANKS_EVALUATE_DESIGNED = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
ALL_EVALUATE_DESIGNED = pl.DataFrame(
    {"category": "TP", "id": IDS, "tp": TRUE}, schema=Judgements.columns()
)


TABLES = ("inclusion", "predictions", "phases", "groups", "clusters")


def evaluate_sample(sample: pl.DataFrame, **config: Any) -> dict[str, pl.DataFrame]:
    """Evaluate by the judgements of the drawn candidates."""
    tables = {
        name: config.pop(name) for name in TABLES if isinstance(config.get(name), pl.DataFrame)
    }
    judgements = config.pop("judgements", ALL_EVALUATE_DESIGNED.join(sample, on="id", how="semi"))
    ranks = config.pop("ranks", RANKS_EVALUATE_DESIGNED)
    return run_stage(
        "evaluate.designed", CUTS | config, ranks=ranks, judgements=judgements, sample=sample,
        **tables,
    )  # fmt: skip


def simple(size: int, **config: Any) -> pl.DataFrame:
    candidates = SCORES.select("id")
    return run_stage("sample.random", {"size": size, "seed": "s"} | config, candidates=candidates)[
        "sample"
    ]


def drawn_evaluate_designed(size: int = 90, **config: Any) -> dict[str, pl.DataFrame]:
    return run_stage(
        "sample.design",
        {"cuts": [40, 100], "size": size, "seed": "s"} | config,
        ranks=RANKS_EVALUATE_DESIGNED,
    )


def test_full_annotation_is_exact() -> None:
    tables = evaluate_sample(simple(SIZE_EVALUATE_DESIGNED), window=30, band="simultaneous")
    exact = run_stage(
        "evaluate.precision",
        {"cuts": [40, 100], "window": 30},
        ranks=RANKS_EVALUATE_DESIGNED,
        judgements=ALL_EVALUATE_DESIGNED,
    )
    key = ["measure", "n"]
    both = tables["cuts"].join(exact["cuts"], on=key, suffix="_exact")
    assert both.height == 6
    for name in ("precision", "lower", "upper"):
        assert both[name].to_list() == pytest.approx(both["precision_exact"].to_list())
    assert tables["baseline"]["precision"].item() == pytest.approx(TRUE.mean())
    local = tables["local"].join(exact["local"], on=key, suffix="_exact")
    assert local.height == exact["local"].height
    assert local["precision"].to_list() == pytest.approx(local["precision_exact"].to_list())
    bands = tables["bands"]
    assert bands["lower_band"].to_list() == pytest.approx(bands["upper_band"].to_list())
    assert set(tables["differences"]["p_value"]) == {0.0}


def test_a_simple_sample_equals_the_exact_methods() -> None:
    sample = simple(120)
    tables = evaluate_sample(sample)
    options = {
        "ranks": RANKS_EVALUATE_DESIGNED,
        "judgements": ALL_EVALUATE_DESIGNED,
        "sample": sample,
    }
    exact = run_stage("evaluate.precision", {"cuts": [40, 100]}, **options)["cuts"]
    for name in ("precision", "n_sampled", "k_sampled"):
        assert tables["cuts"][name].to_list() == pytest.approx(exact[name].to_list())
    tests = run_stage("evaluate.comparison", {"cuts": [40, 100], "every": 0}, **options)["cuts"]
    key = ["measure_1", "measure_2", "n"]
    both = tables["differences"].join(tests, on=key, suffix="_exact")
    assert both["p_fisher"].to_list() == pytest.approx(both["p_value_exact"].to_list())
    assert both["difference"].to_list() == pytest.approx(both["difference_exact"].to_list())
    assert (
        both.select("n_1", "k_1", "n_2", "k_2").rows()
        == tests.select("n_1", "k_1", "n_2", "k_2").rows()
    )


STRATA: dict[str, dict[str, Any]] = {
    "proportional": {"boundaries": [50, 150], "rates": [0.2, 0.2, 0.2]},
    "even": {"boundaries": [50, 150], "sizes": [20, 20, 20]},
    "top-heavy": {"boundaries": [60], "sizes": [50, 20]},
    "one draw": {"boundaries": [60, 90], "sizes": [30, 1, 20]},
    "no draw": {"boundaries": [60, 180], "sizes": [20, 20, 0]},
    "fully drawn": {"boundaries": [50, 150], "sizes": [500, 50, 10]},
    "undefined scores": {"column": "d", "boundaries": [0.0, 1.0], "rates": [0.1, 0.3, 0.5, 0.2]},
    "undefined, no draw": {"column": "d", "boundaries": [0.0], "rates": [0.1, 0.3]},
}


def cochran(
    members: set[str], draws: dict[str, bool], strata: dict[str, str]
) -> tuple[float, float, float, float]:
    """Return the stratified mean, its variance, and the extreme means of all members.

    The slow twin, stratum by stratum: weights are numbers of members, p_h the share of true
    positives among the judged members, and 1 - f_h the share of the stratum that is not judged.
    """
    mean = variance = 0.0
    hits = sum(draws.get(each, False) for each in members)
    misses = sum(not draws.get(each, True) for each in members)
    for name in {strata[each] for each in members}:
        whole = {each for each, stratum in strata.items() if stratum == name}
        own = [draws[each] for each in members & whole if each in draws]
        size, weight = len(members & whole), len(members & whole) / len(members)
        p = sum(own) / len(own) if own else np.nan
        mean += weight * p
        if len(own) == size:
            continue
        left = 1.0 - len(whole & draws.keys()) / len(whole)
        spread = p * (1.0 - p) / (len(own) - 1) if len(own) > 1 else np.nan
        variance += weight**2 * left * spread
    return mean, variance, hits / len(members), 1.0 - misses / len(members)


@pytest.mark.parametrize("judged", [1.0, 0.7], ids=["all judged", "some judged"])
@pytest.mark.parametrize("options", STRATA.values(), ids=STRATA)
def test_a_stratified_sample_has_the_estimates_of_strata(
    options: dict[str, Any], judged: float
) -> None:
    scores = SCORES.with_columns(d=pl.when(pl.col("a") > -1.5).then("a"))
    tables = {"scores": scores} if "column" in options else {"ranks": RANKS_EVALUATE_DESIGNED}
    outputs = run_stage("sample.stratified", options | {"seed": "s"}, **tables)
    sample = outputs["sample"]
    labels = ALL_EVALUATE_DESIGNED.join(sample, on="id", how="semi").sample(fraction=judged, seed=1)
    estimates = evaluate_sample(
        sample, inclusion=outputs["strata"], judgements=labels, cuts=[30, 60, 100, 300]
    )
    draws, strata = dict(labels.select("id", "tp").rows()), dict(outputs["strata"].rows())

    def best(measure: str, n: int) -> set[str]:
        return set(RANKS_EVALUATE_DESIGNED.filter(measure=measure).sort("rank")["id"].head(n))

    def near(value: float | None, expected: float) -> None:
        assert (np.nan if value is None else value) == pytest.approx(
            expected, rel=1e-12, abs=1e-12, nan_ok=True
        )

    for row in estimates["cuts"].iter_rows(named=True):
        mean, variance, least, most = cochran(best(row["measure"], row["n"]), draws, strata)
        near(row["precision"], mean)
        if not np.isnan(variance):  # one draw: the variance is that of the whole list
            near(row["variance"], variance)
        if np.isnan(mean):
            assert (row["lower"], row["upper"]) == pytest.approx((least, most))
    for row in estimates["differences"].filter(pl.col("n") < 300).iter_rows(named=True):
        lists = [best(row[f"measure_{side}"], row["n"]) for side in (1, 2)]
        sets = [lists[0] - lists[1], lists[1] - lists[0]]
        (first, v1, *_), (second, v2, *_) = (cochran(each, draws, strata) for each in sets)
        near(row["difference"], (first - second) * len(sets[0]) / row["n"])
        if not np.isnan(v1 + v2):
            near(row["variance"], (v1 + v2) * (len(sets[0]) / row["n"]) ** 2)
        assert (row["p_value"] is None) == np.isnan(first - second)


def test_within_a_stratum_fisher_tests_are_possible() -> None:
    options = {"boundaries": [60], "sizes": [40, 60], "seed": "s"}
    tables = run_stage("sample.stratified", options, ranks=RANKS_EVALUATE_DESIGNED)
    table = evaluate_sample(tables["sample"], inclusion=tables["strata"])["differences"]
    # lists of 40 are within the first stratum
    assert table.filter(n=40)["p_fisher"].is_not_null().all()
    assert table.filter(n=100)["p_fisher"].is_null().all()


def test_draws_are_weighted_by_inclusion_probabilities() -> None:
    tables = drawn_evaluate_designed()
    outputs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"])
    ranked = RANKS_EVALUATE_DESIGNED.filter(measure="a").filter(pl.col("rank") <= 40)
    rows = tables["sample"].join(ranked, on="id").join(ALL_EVALUATE_DESIGNED, on="id")
    assert not rows["certain"].any()
    weights = 1 / rows["pi"]
    by_hand = (weights * rows["tp"].cast(pl.Float64)).sum() / weights.sum()
    got = outputs["cuts"].filter(measure="a", n=40)
    assert got["precision"].item() == pytest.approx(by_hand)
    assert got["n_sampled"].item() == rows.height
    assert outputs["differences"]["p_fisher"].is_null().all()


@pytest.mark.long
def test_estimates_are_unbiased() -> None:
    truth = RANKS_EVALUATE_DESIGNED.join(ALL_EVALUATE_DESIGNED, on="id").filter(pl.col("rank") <= 40).group_by("measure").agg(
        pl.col("tp").mean()
    ).sort("measure")["tp"]  # fmt: skip
    totals = np.zeros(3)
    for number in range(60):
        tables = drawn_evaluate_designed(60, seed=f"s{number}")
        outputs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], cuts=[40])
        totals += outputs["cuts"]["precision"].to_numpy()
    assert totals / 60 == pytest.approx(truth.to_numpy(), abs=0.04)


def test_estimates_end_where_candidates_could_not_be_drawn() -> None:
    tables = drawn_evaluate_designed(floor=0.0, baseline=False)
    outputs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], every=10)
    assert outputs["baseline"].is_empty()
    assert outputs["precision"]["n"].max() == 100
    with pytest.raises(ConfigError, match=r"candidates with pi = 0.*a at 200"):
        evaluate_sample(tables["sample"], inclusion=tables["inclusion"], cuts=[40, 200])


def test_the_best_at_each_cut_requires_tests_of_all_pairs() -> None:
    tables = drawn_evaluate_designed(150)
    outputs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"])
    assert outputs["best"].filter("best")["n"].to_list() == [40, 100]
    pairs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], pairs=[("a", "c")])
    one = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], reference="b")
    compared = one["differences"].select("measure_1", "measure_2").unique()
    assert set(compared["measure_2"]) == {"b"}
    assert set(compared["measure_1"]) == {"a", "c"}
    assert pairs["best"].is_empty()
    assert pairs["differences"].height == 2


def test_bands_contain_the_limits_of_each_n() -> None:
    tables = drawn_evaluate_designed(150)
    outputs = evaluate_sample(
        tables["sample"], inclusion=tables["inclusion"], band="simultaneous", every=20
    )
    both = outputs["precision"].join(outputs["bands"], on=["category", "measure", "n"])
    assert both.height == 3 * 4
    assert (both["lower_band"] <= both["lower"]).all()
    assert (both["upper_band"] >= both["upper"]).all()
    apart = outputs["difference_bands"].join(
        outputs["differences"], on=["category", "measure_1", "measure_2", "n"]
    )
    assert (apart["lower_band"] <= apart["lower"]).all()
    assert set(outputs["difference_bands"]["n"]) == set(range(40, 101))


def test_scores_and_predictions_narrow_the_limits() -> None:
    sample = simple(150)
    perfect = pl.DataFrame({"id": IDS, "prediction": TRUE.astype(float)})

    def width(**config: Any) -> float:
        cuts = evaluate_sample(sample, cuts=[200], **config)["cuts"]
        return float((cuts["upper"] - cuts["lower"]).mean())  # type: ignore[arg-type]  # a number

    alone = width()
    assert width(assist="scores") < alone
    assert width(predictions=perfect, assist="predictions") < 0.5 * alone
    assert width(predictions=perfect) < 0.5 * alone
    assert width(predictions=perfect, assist="none") == alone


def test_judges_are_selected_by_name_and_category() -> None:
    sample = simple(100)
    rows = [
        {"category": "TP", "judge": judge, "id": name, "prediction": p}
        for judge, p in (("x", 0.5), ("y", 0.7))
        for name in IDS
    ]
    both = pl.DataFrame(rows)
    assert evaluate_sample(sample, predictions=both, judge="x")["cuts"].height == 6
    with pytest.raises(ConfigError, match="no judge 'z'"):
        evaluate_sample(sample, predictions=both, judge="z")
    with pytest.raises(ConfigError, match="there are 2 judges: x, y"):
        evaluate_sample(sample, predictions=both, assist="predictions")
    with pytest.raises(ConfigError, match="1 of 300 candidates have no probability from x"):
        evaluate_sample(sample, predictions=both.filter(pl.col("id") != "x007"))
    with pytest.raises(ConfigError, match="duplicate predictions, for example for x007; keep one"):
        evaluate_sample(sample, predictions=pl.concat([both, both.filter(id="x007")]))
    with pytest.raises(ConfigError, match="has no numeric column .prediction."):
        evaluate_sample(sample, predictions=both.drop("prediction"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"assist": "stacked"}, "requires predictions"),
        ({"judge": "x"}, "requires predictions"),
        ({"band_range": [1, 5]}, "band_range requires"),
        ({"band": "simultaneous", "band_range": [5, 1]}, r"write \[1, 5\]"),
        ({"cuts": []}, "at least 1"),
        ({"effects": ["word"]}, "effects and groups"),
        ({"effects": ["word"], "groups": "words"}, "require a model"),
    ],
)
def test_incompatible_options_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        evaluate_sample(simple(10), **config)


# Two phases: a simple pilot, then a sample that a model of the pilot's judgements designs

WORDS = pl.DataFrame({"id": IDS, "word": [f"w{i % 20}" for i in range(SIZE_EVALUATE_DESIGNED)]})


def design_second_phase(**config: Any) -> dict[str, pl.DataFrame]:
    pilot, judged = simple(60), ALL_EVALUATE_DESIGNED  # only draws of the pilot are counted
    options = {"cuts": [40, 100], "size": 40, "seed": "s", "pilot_sample": "pilot_sample"}
    return run_stage(
        "sample.design", options | config, ranks=RANKS_EVALUATE_DESIGNED, pilot=judged,
        pilot_sample=pilot, **({"groups": WORDS} if "effects" in config else {}),
    )  # fmt: skip


def test_two_phases_are_more_precise_than_a_certain_pilot() -> None:
    tables = design_second_phase(model=True, effects=["word"])
    phases = tables["phases"]
    assert phases.group_by("phase").agg(pl.sum("drawn")).sort("phase")["drawn"].to_list() == [
        60,
        40,
    ]
    assert phases.filter(phase=1)["pi"].unique().to_list() == [0.2]
    second = phases.filter(phase=2)
    assert (second.filter(pl.col("pi") < 1)["pi"].sum()) == pytest.approx(40)
    least = second.filter(pl.col("pi") < 1).sort("pi")["expected"]
    assert abs(least[0] - 0.5) > abs(least[-1] - 0.5)  # certain predictions are drawn less often
    options = {"assist": "scores", "effects": ["word"], "groups": WORDS}
    both = evaluate_sample(tables["sample"], phases=phases, **options)
    known = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], **options)
    assert both["cuts"]["n_sampled"].to_list() == known["cuts"]["n_sampled"].to_list()
    assert (both["cuts"]["variance"] < known["cuts"]["variance"]).mean() > 0.8
    assert both["cuts"]["certain"].sum() == 0
    assert both["differences"]["p_fisher"].is_null().all()
    truth = RANKS_EVALUATE_DESIGNED.join(ALL_EVALUATE_DESIGNED, on="id")
    for row in both["cuts"].iter_rows(named=True):
        mine = truth.filter(pl.col("rank") <= row["n"], measure=row["measure"])["tp"]
        assert row["lower"] <= mine.mean() <= row["upper"]


def test_phases_may_be_three_and_start_with_a_design() -> None:
    first = drawn_evaluate_designed(40)
    judged = ALL_EVALUATE_DESIGNED.join(first["sample"], on="id", how="semi")
    options = {"cuts": [40, 100], "size": 30, "seed": "s"}
    second = run_stage(
        "sample.design", options | {"pilot_sample": "p", "pilot_inclusion": "i"},
        ranks=RANKS_EVALUATE_DESIGNED, pilot=judged, pilot_sample=first["sample"],
        pilot_inclusion=first["phases"],
    )  # fmt: skip
    pi = second["phases"].filter(phase=1).sort("id")["pi"]
    assert pi.equals(first["inclusion"].sort("id")["pi"])
    judged = ALL_EVALUATE_DESIGNED.join(second["sample"], on="id", how="semi")
    third = run_stage(
        "sample.design", options, ranks=RANKS_EVALUATE_DESIGNED, pilot=judged,
        pilot_sample=second["sample"], pilot_inclusion=second["phases"],
    )  # fmt: skip
    assert third["phases"]["phase"].unique().sort().to_list() == [1, 2, 3]
    assert third["sample"].height == 100
    tables = evaluate_sample(third["sample"], phases=third["phases"])
    assert tables["baseline"]["n_sampled"].item() == 100
    with pytest.raises(ConfigError, match="30 of 100 draws are in no phase, and 0 draws of the"):
        evaluate_sample(third["sample"], phases=second["phases"])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"looks": [60, 100]}, "phases do not allow looks"),
        ({"inclusion": "other"}, "either inclusion or phases"),
    ],
)
def test_options_incompatible_with_phases_are_refused(config: dict[str, Any], message: str) -> None:
    tables = design_second_phase()
    with pytest.raises(ValidationError, match=message):
        evaluate_sample(tables["sample"], phases=tables["phases"], **config)


def test_unsuitable_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="could be drawn more than once"):
        evaluate_sample(simple(100, replacement=True))
    tables = drawn_evaluate_designed()
    with pytest.raises(ConfigError, match="inclusion probabilities differ"):
        evaluate_sample(tables["sample"])
    other = drawn_evaluate_designed(150)
    with pytest.raises(
        ConfigError, match="90 of 90 draws have a different inclusion probability there"
    ):
        evaluate_sample(tables["sample"], inclusion=other["inclusion"])
    with pytest.raises(ConfigError, match="has no column stratum"):
        evaluate_sample(tables["sample"], inclusion=other["inclusion"].drop("stratum"))
    with pytest.raises(ConfigError, match="210 of 300 ranked candidates are missing"):
        evaluate_sample(tables["sample"], inclusion=tables["sample"])
    few = run_stage(
        "sample.random", {"size": 20, "seed": "s"}, candidates=SCORES.select("id").head(100)
    )["sample"]
    with pytest.raises(ConfigError, match="drawn from 100 candidates, but 300 are ranked"):
        evaluate_sample(few)


def test_without_judgements_or_ranks_there_are_no_estimates() -> None:
    tables = drawn_evaluate_designed()
    outputs = evaluate_sample(
        tables["sample"], inclusion=tables["inclusion"], judgements=ALL_EVALUATE_DESIGNED.clear()
    )
    assert all(table.is_empty() for table in outputs.values())
    undecided = ALL_EVALUATE_DESIGNED.with_columns(tp=pl.lit(None, pl.Boolean))
    outputs = evaluate_sample(tables["sample"], inclusion=tables["inclusion"], judgements=undecided)
    assert outputs["cuts"].select("precision", "lower", "upper").unique().rows() == [
        (None, 0.0, 1.0)
    ]
    nothing = {
        "ranks": RANKS_EVALUATE_DESIGNED.clear(),
        "judgements": ALL_EVALUATE_DESIGNED.clear(),
    }
    assert all(table.is_empty() for table in evaluate_sample(tables["sample"], **nothing).values())


def test_unjudged_certain_draws_give_the_worst_case() -> None:
    tables = drawn_evaluate_designed(280)
    assert tables["sample"]["certain"].any()
    certain = tables["sample"].filter("certain")["id"]
    judgements = ALL_EVALUATE_DESIGNED.filter(~pl.col("id").is_in(certain.implode()))
    outputs = evaluate_sample(
        tables["sample"], inclusion=tables["inclusion"], judgements=judgements
    )
    row = outputs["cuts"].filter(measure="a", n=40)
    assert row["precision"].item() is None
    assert 0 <= row["lower"].item() < row["upper"].item() <= 1
    assert row["unjudged"].item() > 0


def test_a_pool_is_evaluated_down_to_its_depth() -> None:
    pooled = run_stage(
        "score.pool", {"depth": 50, "measures": ["a", "b"]}, ranks=RANKS_EVALUATE_DESIGNED
    )["ranks"]
    tables = run_stage("sample.design", {"cuts": [40], "size": 30, "seed": "s"}, ranks=pooled)
    outputs = evaluate_sample(
        tables["sample"], inclusion=tables["inclusion"], ranks=pooled, cuts=[40, 100]
    )
    assert set(outputs["cuts"]["n"]) == {40}
    assert outputs["baseline"]["n_candidates"].item() == pooled["id"].n_unique()


# Differences beyond the candidates

PAIRS_OF_WORDS = pl.DataFrame({
    "id": IDS, "l1": [f"n{place % 90}" for place in range(SIZE_EVALUATE_DESIGNED)],
    "l2": [f"v{place**2 % 43}" for place in range(SIZE_EVALUATE_DESIGNED)],
})  # fmt: skip


def test_differences_beyond_the_candidates_are_estimated() -> None:
    tables = drawn_evaluate_designed(120)
    plain = evaluate_sample(tables["sample"], inclusion=tables["inclusion"])
    assert plain["clustered"].is_empty()
    config = {"inclusion": tables["inclusion"], "correction": "holm", "margin": 0.05}
    outputs, same = (
        evaluate_sample(tables["sample"], clusters=PAIRS_OF_WORDS, **config),
        evaluate_sample(tables["sample"], **config),
    )
    for name in set(outputs) - {"clustered"}:
        assert outputs[name].equals(same[name]), name
    rows, here = outputs["clustered"], outputs["differences"]
    columns = ["measure_1", "measure_2", "n", "size", "n_1", "k_1", "n_2", "k_2", "difference"]
    assert rows.select(columns).equals(here.select(columns))
    assert set(rows["cluster"]) == {"l1, l2"}
    assert rows["correction"].unique().to_list() == ["holm"]
    assert (rows["p_adjusted"] >= rows["p_value"]).all()
    one = evaluate_sample(
        tables["sample"], inclusion=tables["inclusion"], clusters=PAIRS_OF_WORDS, cluster="l2"
    )["clustered"]
    assert set(one["cluster"]) == {"l2"}
    assert (rows["effective_clusters"] <= one["effective_clusters"]).all()
    assert one["clusters"].equals(rows["clusters_2"], check_names=False)


def test_a_simple_sample_may_have_clusters_of_two_columns() -> None:
    rows = evaluate_sample(simple(90), clusters=PAIRS_OF_WORDS)["clustered"]
    assert rows["standard_error"].null_count() == 0


@pytest.mark.parametrize(
    ("words", "config", "message"),
    [
        (PAIRS_OF_WORDS.drop("l1"), {}, r"(?s)cluster: .*no column 'l1'"),
        (PAIRS_OF_WORDS.tail(298), {}, "2 of 300 candidates have no l1, for example x000, x001"),
        (PAIRS_OF_WORDS, {"cluster": ["l2", "l2"]}, "cluster has 'l2' twice: name it once"),
        (PAIRS_OF_WORDS, {"cluster": []}, "at least 1 item"),
        (
            PAIRS_OF_WORDS,
            {"assist": "scores"},
            "clusters cannot be combined with predictions or phases",
        ),
        (PAIRS_OF_WORDS, {"looks": [60, 90]}, "clusters cannot be combined with interim analyses"),
        (PAIRS_OF_WORDS, {"anytime": True}, "clusters cannot be combined with interim analyses"),
    ],
)
def test_unsuitable_clusters_are_refused(
    words: pl.DataFrame, config: dict[str, Any], message: str
) -> None:
    with pytest.raises((ConfigError, ValidationError), match=message):
        evaluate_sample(simple(90), clusters=words, **config)


# Memory


@pytest.mark.parametrize("options", [{}, {"measures": ("a",)}, {"assist": "scores"}], ids=str)
def test_candidates_that_exceed_the_memory_are_refused(options: dict[str, Any]) -> None:
    result = designed_looks(60)
    measures = 1 if "measures" in options else RANKS_LOOKS["measure"].n_unique()
    message = (
        f"the estimates of {SIZE_LOOKS} candidates under {measures} measures? would need about"
    )
    with with_limit(1000), pytest.raises(DataError, match=f"(?s){message}.*memory ="):
        evaluate_looks(result, looks=[], **options)
