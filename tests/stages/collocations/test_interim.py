"""Limits and tests that hold at every size of a simple sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import scipy
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.differences import difference_limits
from pipeline.kernels.statistics.intervals import clopper_pearson
from pipeline.kernels.statistics.sequential import (
    anytime_p_values,
    confidence_sequence,
    obrien_fleming,
    spent_levels,
)
from schemas import Judgements
from tests.stages.run_stage import run_stage

# A simple sample with several looks: declared looks, their levels, their tests

BITS = np.random.default_rng(11)
SIZE_LOOKS = 400
IDS = [f"x{i:03}" for i in range(SIZE_LOOKS)]
QUALITY = BITS.normal(size=SIZE_LOOKS)
TRUE = BITS.random(SIZE_LOOKS) < 1 / (1 + np.exp(1 - 2 * QUALITY))
SCORES = pl.DataFrame({
    "id": IDS, "a": QUALITY + 0.5 * BITS.normal(size=SIZE_LOOKS), "b": BITS.normal(size=SIZE_LOOKS),
    "c": QUALITY + 2 * BITS.normal(size=SIZE_LOOKS),
})  # fmt: skip
RANKS_LOOKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
ALL_LOOKS = pl.DataFrame({"category": "TP", "id": IDS, "tp": TRUE}, schema=Judgements.columns())
LOOKS = [0.05, 0.1, 0.15, 0.2]
SHARES = [0.25, 0.5, 0.75, 1.0]
RATES = np.array(LOOKS)


def drawn_looks(**config: Any) -> pl.DataFrame:
    candidates = SCORES.select("id")
    return run_stage("sample.random", {"seed": "s"} | config, candidates=candidates)["sample"]


def evaluated_looks(
    use: str, sample: pl.DataFrame | None = None, **config: Any
) -> dict[str, pl.DataFrame]:
    """Evaluate by the judgements of the drawn candidates; by all without a sample."""
    inputs = {} if sample is None else {"sample": sample}
    judgements = ALL_LOOKS if sample is None else ALL_LOOKS.join(sample, on="id", how="semi")
    options = {"cuts": [100, 200]} | config
    return run_stage(use, options, ranks=RANKS_LOOKS, judgements=judgements, **inputs)


def test_a_sample_that_grows_over_four_runs_spends_alpha() -> None:
    levels = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05)
    items: list[str] = []
    for number, rate in enumerate(LOOKS):
        sample = drawn_looks(rate=rate)
        assert sample["id"].to_list()[: len(items)] == items
        items = sample["id"].to_list()
        tables = evaluated_looks("evaluate.precision", sample, looks=LOOKS)
        looks = tables["looks"]
        assert looks["question"].unique().to_list() == ["all"]
        assert looks["labels"].to_list() == [20, 40, 60, 80]
        assert looks["share"].to_list() == SHARES
        assert looks["level"].to_list() == pytest.approx(levels.tolist())
        assert looks["now"].to_list() == [place == number for place in range(4)]
        assert tables["baseline"]["confidence"].item() == pytest.approx(1 - levels[number])
        row = tables["cuts"].row(0, named=True)
        limits = clopper_pearson(row["k_sampled"], row["n_sampled"], confidence=1 - levels[number])
        assert (row["lower"], row["upper"]) == pytest.approx(tuple(map(float, limits)))


@pytest.mark.parametrize("spending", ["obrien_fleming", "pocock"])
@pytest.mark.long
def test_all_looks_together_have_an_error_of_alpha(spending: str) -> None:
    tables = evaluated_looks(
        "evaluate.precision", drawn_looks(rate=0.05), looks=LOOKS, spending=spending
    )
    bounds = tables["looks"]["z"].to_numpy()
    walk = np.random.default_rng(3).normal(size=(400_000, 4))
    information = RATES / (1 - RATES)
    steps = np.sqrt(np.diff(information, prepend=0.0))
    z = np.cumsum(walk * steps, axis=1) / np.sqrt(information)
    crossed = (np.abs(z) >= bounds).any(axis=1).mean()
    assert crossed == pytest.approx(0.05, abs=0.0015)  # four standard errors


def test_a_single_look_does_not_change_the_limits() -> None:
    sample = drawn_looks(rate=0.1)
    tables = evaluated_looks("evaluate.precision", sample)
    once = evaluated_looks("evaluate.precision", sample, looks=[0.1])
    assert tables["looks"].is_empty()
    assert once["looks"].height == 1
    assert once["looks"]["level"].item() == pytest.approx(0.05)
    for name in ("precision", "local", "recall"):
        assert tables[name].select("lower", "upper").to_numpy() == pytest.approx(
            once[name].select("lower", "upper").to_numpy()
        )


def test_an_undeclared_size_is_refused() -> None:
    for use in ("evaluate.precision", "evaluate.comparison", "evaluate.designed"):
        with pytest.raises(ConfigError, match=r"sample of 48 is not .* 20, 40, 60, 80 labels"):
            evaluated_looks(use, drawn_looks(size=48), looks=LOOKS, **seeded_looks(use))
    with pytest.raises(ConfigError, match="a sample of 400 is not a"):
        evaluated_looks("evaluate.precision", looks=LOOKS)


def seeded_looks(use: str) -> dict[str, Any]:
    return {"seed": "s", "every": 0} if use == "evaluate.designed" else {}


@pytest.mark.parametrize(
    ("looks", "message"),
    [
        ([0.1, 50], "0.1 is a rate and 50 a number"),
        ([0.2, 0.1], "looks must ascend, not 0.2, 0.1"),
        ([0.1, 0.1], "looks must ascend"),
        ([0, 0.1], "looks must be positive rates"),
        ([20, 30.5], "whole numbers"),
    ],
)
def test_looks_must_be_ascending_rates_or_labels(looks: list[float], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        evaluated_looks("evaluate.precision", looks=looks)


def test_options_without_effect_are_refused() -> None:
    with pytest.raises(ValidationError, match="omit looks"):
        evaluated_looks("evaluate.precision", looks=LOOKS, anytime=True)
    with pytest.raises(ValidationError, match="spending requires looks"):
        evaluated_looks("evaluate.precision", spending="pocock")


def test_rates_that_give_the_same_labels_are_refused() -> None:
    with pytest.raises(ConfigError, match="for 400 candidates, these looks have 20, 20 labels"):
        evaluated_looks("evaluate.precision", drawn_looks(size=20), looks=[0.05, 0.0501])
    with pytest.raises(ConfigError, match="for 400 candidates"):
        evaluated_looks("evaluate.precision", drawn_looks(size=20), looks=[20, 500])


def test_a_last_look_at_all_candidates_is_exact() -> None:
    options: dict[str, Any] = {"looks": [0.25, 0.5, 1.0], "interval": "hypergeometric"}
    tables = evaluated_looks("evaluate.precision", drawn_looks(rate=0.5), **options)
    levels = tables["looks"]["level"].to_list()
    plan = spent_levels([0.5, 1.0], [3.0, 1.0], alpha=0.05)  # ends before
    assert levels[:2] == pytest.approx(plan.tolist())
    assert levels[2] is None
    whole = evaluated_looks("evaluate.precision", **options)
    assert whole["looks"]["now"].to_list() == [False, False, True]
    assert (whole["precision"]["lower"] == whole["precision"]["upper"]).all()


def test_clopper_pearson_is_not_exact_after_full_annotation() -> None:
    tables = evaluated_looks("evaluate.precision", looks=[0.25, 0.5, 1.0])
    plan = spent_levels([0.25, 0.5, 1.0], [4.0, 2.0, 1.0], alpha=0.05)
    assert tables["looks"]["level"].to_list() == pytest.approx(plan.tolist())
    assert tables["baseline"]["confidence"].item() == pytest.approx(1 - plan[2])


def test_draws_with_replacement_have_no_correction_for_the_population() -> None:
    sample = drawn_looks(size=80, replacement=True)
    tables = evaluated_looks("evaluate.precision", sample, looks=[40, 80])
    plan = spent_levels([0.5, 1.0], [2.0, 1.0], alpha=0.05)
    assert tables["looks"]["level"].to_list() == pytest.approx(plan.tolist())


def test_very_small_levels_have_a_minimum() -> None:
    tables = evaluated_looks("evaluate.precision", drawn_looks(size=2), looks=[2, 300])
    assert tables["looks"]["level"][0] == pytest.approx(1e-12)
    assert tables["baseline"]["confidence"].item() < 1


def test_a_band_has_the_level_of_its_look() -> None:
    options = {"band": "simultaneous", "replicates": 500, "seed": "s"}
    tables = evaluated_looks("evaluate.precision", drawn_looks(rate=0.15), looks=LOOKS, **options)
    level = np.diff(obrien_fleming(SHARES, 0.05), prepend=0.0)[2]
    alone = evaluated_looks(
        "evaluate.precision", drawn_looks(rate=0.15), confidence=1 - level, **options
    )
    assert tables["bands"].equals(alone["bands"])


@pytest.mark.long
def test_tests_of_a_look_have_its_level() -> None:
    sample = drawn_looks(rate=0.15)
    tables = evaluated_looks("evaluate.comparison", sample, looks=LOOKS)
    level = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05)[2]
    for name in ("comparison", "baseline"):
        tests = tables[name]
        expected = (tests["p_value"] < level).fill_null(value=False)
        assert tests["significant"].to_list() == expected.to_list()
        assert tests["significant"].any()
    plain = evaluated_looks("evaluate.comparison", sample)
    assert tables["comparison"].drop("significant").equals(plain["comparison"].drop("significant"))


@pytest.mark.parametrize(
    "spending", [pytest.param("obrien_fleming", marks=pytest.mark.long), "pocock"]
)
def test_each_test_of_a_family_spends_its_part_of_alpha(spending: str) -> None:
    rates = np.array([0.15, 0.3, 0.45, 0.6])
    sample = drawn_looks(rate=0.45)
    options = {"looks": rates.tolist(), "spending": spending}
    table = evaluated_looks("evaluate.comparison", sample, correction="bonferroni", **options)[
        "cuts"
    ]
    family = table["p_value"].count()
    plan = spent_levels(SHARES, (1 - rates) / rates, alpha=0.05 / family, spending=spending)
    level = plan[2]
    assert family == 6
    expected = (table["p_value"] < level).fill_null(value=False)
    assert table["significant"].to_list() == expected.to_list()
    assert expected.any()
    assert not expected.all()


@pytest.mark.long
def test_holm_tests_the_next_with_the_remaining_alpha() -> None:
    sample = drawn_looks(rate=0.2)
    table = evaluated_looks("evaluate.comparison", sample, looks=LOOKS)["cuts"].sort("p_value")
    rejected, p = [], table["p_value"].to_list()
    for place, value in enumerate(p):
        share = 0.05 / (len(p) - place)
        level = spent_levels(SHARES, (1 - RATES) / RATES, alpha=share)[3]
        if value >= level:
            break
        rejected.append(value)
    assert table.filter("significant")["p_value"].to_list() == rejected
    assert 0 < len(rejected) < len(p)


@pytest.mark.parametrize(
    "spending", [pytest.param("obrien_fleming", marks=pytest.mark.long), "pocock"]
)
def test_limits_of_differences_have_the_level_of_their_look(spending: str) -> None:
    sample = drawn_looks(rate=0.15)
    options = {"looks": LOOKS, "spending": spending}
    table = evaluated_looks("evaluate.comparison", sample, **options)["differences"]
    level = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05, spending=spending)[2]
    alone = evaluated_looks("evaluate.comparison", sample, confidence=1 - level)["differences"]
    assert table.height == 3 * 2 * 2
    assert table["confidence"].to_list() == pytest.approx([1 - level] * table.height)
    for name in ("lower", "upper", "p_value", "p_margin"):
        assert table[name].to_list() == pytest.approx(alone[name].to_list())


@pytest.mark.long
def test_limits_of_differences_agree_with_adjusted_tests() -> None:
    sample = drawn_looks(rate=0.45)
    options = {"looks": [0.15, 0.3, 0.45, 0.6], "correction": "bonferroni", "margin": 0.02}
    table = evaluated_looks("evaluate.comparison", sample, **options)["differences"]
    for rows in table.partition_by("population"):
        family = evaluated_looks(
            "evaluate.comparison", sample, confidence=1 - 0.05 / rows.height, **options
        )["differences"].filter(population=rows["population"][0])
        outside = (family["lower"] > 0.02) | (family["upper"] < -0.02)
        assert outside.to_list() == (rows["p_margin_adjusted"] < 0.05).to_list()
        assert 0 < outside.sum() < rows.height


@pytest.mark.long
def test_differences_beyond_the_candidates_are_adjusted_like_tests() -> None:
    tables = evaluated_looks("evaluate.comparison", drawn_looks(rate=0.2), looks=LOOKS)
    rows = tables["differences"].filter(population="super")
    assert rows["p_adjusted"].to_list() == pytest.approx(tables["cuts"]["p_adjusted"].to_list())
    assert (rows["p_adjusted"] > rows["p_value"]).any()


@pytest.mark.long
def test_a_last_look_is_exact_only_for_these_candidates() -> None:
    options: dict[str, Any] = {"looks": [0.25, 0.5, 1.0]}
    half = evaluated_looks("evaluate.comparison", drawn_looks(rate=0.5), **options)["differences"]
    levels = {
        "finite": spent_levels([0.5, 1.0], [3.0, 1.0], alpha=0.05)[1],  # ends before
        "super": spent_levels([0.25, 0.5, 1.0], [4.0, 2.0, 1.0], alpha=0.05)[1],
    }
    for population, level in levels.items():
        mine = half.filter(population=population)["confidence"].to_list()
        assert mine == pytest.approx([1 - level] * 6)
    whole = evaluated_looks("evaluate.comparison", **options)["differences"]
    known, beyond = (whole.filter(population=each) for each in ("finite", "super"))
    assert known["lower"].to_list() == pytest.approx(known["difference"].to_list())
    assert known["upper"].to_list() == pytest.approx(known["difference"].to_list())
    assert (beyond["upper"] - beyond["lower"]).min() > 0.05


@pytest.mark.parametrize("population", ["finite", "super"])
@pytest.mark.long
def test_limits_over_all_looks_miss_in_at_most_alpha(population: str) -> None:
    rates, runs, size, positives = np.array([0.15, 0.3, 0.45, 0.6]), 4000, 80, (36, 20)
    finite, method = (True, "hypergeometric") if population == "finite" else (False, "wilson")
    levels = spent_levels(SHARES, (1 - rates) / rates, alpha=0.05)
    random = np.random.default_rng(5)
    # of 400 candidates the first 80 are D1, the next 80 are D2; all in random order
    order = np.argsort(random.random((runs, SIZE_LOOKS)), axis=1)
    member = [order < size, (order >= size) & (order < 2 * size)]
    if finite:
        label = (order < positives[0]) | ((order >= size) & (order < size + positives[1]))
    else:
        share = np.where(member[0], positives[0], positives[1]) / size
        label = random.random((runs, SIZE_LOOKS)) < share
    truth = (positives[0] - positives[1]) / size
    missed = dict.fromkeys(["once", "looks"], np.zeros(runs, dtype=bool))
    for rate, level in zip(rates, levels, strict=True):
        drawn_now = slice(0, int(rate * SIZE_LOOKS))
        counts = [
            part[:, drawn_now].sum(axis=1)
            for each in member for part in (each & label, each)
        ]  # fmt: skip
        for name, alpha in (("once", 0.05), ("looks", level)):
            lower, upper = difference_limits(
                *counts, size=size, list_size=size, method=method, confidence=1 - alpha
            )
            missed[name] = missed[name] | (lower > truth + 1e-9) | (upper < truth - 1e-9)
    assert missed["looks"].mean() <= 0.05 < missed["once"].mean()


@pytest.mark.long
def test_one_sided_tests_have_an_error_below_alpha() -> None:
    for spending in ("obrien_fleming", "pocock"):
        levels = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05, spending=spending)
        information = RATES / (1 - RATES)
        steps = np.sqrt(np.diff(information, prepend=0.0))
        walk = np.cumsum(np.random.default_rng(4).normal(size=(400_000, 4)) * steps, axis=1)
        z = walk / np.sqrt(information)
        assert (z > -scipy.special.ndtri(levels)).any(axis=1).mean() < 0.0505


def test_looks_require_judgements() -> None:
    none = ALL_LOOKS.clear()
    tables = run_stage(
        "evaluate.precision",
        {"looks": LOOKS},
        ranks=RANKS_LOOKS,
        judgements=none,
        sample=drawn_looks(rate=0.1),
    )
    assert tables["looks"].is_empty()
    empty = run_stage(
        "evaluate.comparison", {"looks": LOOKS}, ranks=RANKS_LOOKS.clear(), judgements=none,
        sample=drawn_looks(rate=0.1).clear(),
    )  # fmt: skip
    assert empty["looks"].is_empty()


def evaluate_one_list(members: int, draws: int, hits: int) -> dict[str, pl.DataFrame]:
    """Evaluate one list of all candidates, some of whose first draws are true positives."""
    ids = [f"y{i:04}" for i in range(members)]
    scores = pl.DataFrame({"id": ids, "a": np.arange(members, dtype=float)})
    ranks = run_stage("score.rank", {"seed": "s"}, scores=scores)["ranks"]
    sample = run_stage("sample.random", {"seed": "t", "size": draws}, candidates=scores)["sample"]
    tp = [place < hits for place in range(draws)]
    judgements = pl.DataFrame(
        {"category": "TP", "id": sample["id"], "tp": tp}, schema=Judgements.columns()
    )
    options = {"anytime": True, "cuts": [members]}
    return run_stage(
        "evaluate.precision", options, ranks=ranks, judgements=judgements, sample=sample
    )


@pytest.mark.parametrize(
    ("members", "draws", "hits", "limits"),
    [(100, 10, 2, (2, 62)), (500, 50, 15, (70, 253)), (1000, 100, 24, (128, 385))],
)
def test_limits_equal_the_published_ones(
    members: int, draws: int, hits: int, limits: tuple[int, int]
) -> None:
    tables = evaluate_one_list(members, draws, hits)
    row = tables["cuts"].row(0, named=True)
    assert (round(members * row["lower"]), round(members * row["upper"])) == limits
    base = tables["baseline"].row(0, named=True)
    assert base["interval"] == "confidence_sequence"
    assert base["confidence"] == pytest.approx(0.95)
    assert tables["looks"].is_empty()


def test_several_questions_divide_alpha() -> None:
    tables = evaluated_looks(
        "evaluate.precision", drawn_looks(size=60), anytime=True, cuts=[100, 200, 9999]
    )
    assert tables["baseline"]["confidence"].item() == pytest.approx(1 - 0.05 / 6)
    row = tables["cuts"].row(0, named=True)
    limits = confidence_sequence(
        row["k_sampled"], row["n_sampled"], population=100, confidence=1 - 0.05 / 6
    )
    assert (row["lower"], row["upper"]) == tuple(map(float, limits))


@pytest.mark.long
def test_designed_estimates_have_the_same_limits() -> None:
    sample = drawn_looks(size=60)
    options = {"anytime": True, "window": 40, "seed": "s", "every": 0}
    exact = evaluated_looks("evaluate.precision", sample, anytime=True)
    tables = evaluated_looks("evaluate.designed", sample, **options)
    for name in ("cuts", "baseline"):
        for side, wider in (("lower", pl.min_horizontal), ("upper", pl.max_horizontal)):
            expected = exact[name].select(wider(side, "precision")).to_series()
            assert tables[name][side].to_list() == pytest.approx(expected.to_list())
    tests = evaluated_looks("evaluate.comparison", sample, anytime=True, correction="bonferroni")[
        "cuts"
    ]
    ours = tables["differences"]
    assert ours["p_value"].to_list() == pytest.approx(tests["p_value"].to_list())
    outside = (ours["lower"] > 0) | (ours["upper"] < 0)
    assert outside.to_list() == ours["significant"].to_list()
    assert tables["local"].height == 3 * (SIZE_LOOKS - 39)


def test_tests_are_valid_for_two_sets_at_any_size() -> None:
    sample = drawn_looks(size=320)
    tables = evaluated_looks("evaluate.comparison", sample, anytime=True)
    row = tables["cuts"].filter(measure_1="a", measure_2="b", n=100).row(0, named=True)
    p = anytime_p_values(
        row["k_1"], row["n_1"], row["k_2"], row["n_2"], populations=(row["size"], row["size"])
    )
    assert row["p_value"] == pytest.approx(float(p))
    assert row["significant"]
    against = tables["baseline_cuts"].filter(measure="a", n=100).row(0, named=True)
    p = anytime_p_values(
        against["k_1"], against["n_1"], against["k_2"], against["n_2"],
        populations=(100, SIZE_LOOKS - 100),
    )  # fmt: skip
    assert against["p_value"] == pytest.approx(float(p))
    assert tables["best"].filter("best").height == 2


@pytest.mark.long
def test_differences_equal_those_of_a_designed_sample() -> None:
    sample = drawn_looks(size=160)
    options = {"anytime": True, "correction": "bonferroni"}
    tables = evaluated_looks("evaluate.comparison", sample, **options)
    ours, cuts = tables["differences"], tables["cuts"]
    theirs = evaluated_looks("evaluate.designed", sample, **options | {"seed": "s", "every": 0})
    for side in ("difference", "lower", "upper", "p_value", "p_adjusted"):
        assert ours[side].to_list() == pytest.approx(theirs["differences"][side].to_list())
    assert set(ours["population"]) == {"finite"}
    assert set(ours["interval"]) == {"confidence_sequence"}
    assert ours["confidence"].to_list() == pytest.approx([1 - 0.05 / 6] * 6)
    outside = (ours["lower"] > 0) | (ours["upper"] < 0)
    assert outside.to_list() == cuts["significant"].to_list()
    assert 0 < outside.sum() < 6
    # at a margin of 0 the test of the margin is that of the difference
    assert ours["p_margin"].to_list() == pytest.approx(ours["p_value"].to_list(), rel=1e-6)
    wide = evaluated_looks("evaluate.comparison", sample, **options, margin=0.1)["differences"]
    assert (wide["p_margin"] >= ours["p_margin"]).all()


def evaluate(sample: pl.DataFrame, some: pl.DataFrame, use: str = "evaluate.precision") -> Any:
    judgements = ALL_LOOKS.join(some, on="id", how="semi")
    options = {"anytime": True, "cuts": [100]} | (
        {"seed": "s"} if use == "evaluate.designed" else {}
    )
    return run_stage(use, options, ranks=RANKS_LOOKS, judgements=judgements, sample=sample)


def test_the_first_draws_may_be_judged_first() -> None:
    sample = drawn_looks(size=60)
    first = evaluate(sample, sample.head(20))["cuts"]
    assert first.select("lower", "upper").equals(
        evaluate(drawn_looks(size=20), drawn_looks(size=20))["cuts"].select("lower", "upper")
    )


@pytest.mark.parametrize("use", ["evaluate.precision", "evaluate.comparison", "evaluate.designed"])
def test_judgements_after_a_gap_are_refused(use: str) -> None:
    sample = drawn_looks(size=60)
    gap, late = sample["id"][10], sample["id"][11]
    with pytest.raises(
        ConfigError, match=rf"49 of 59 judged draws \(TP\) come after .*{gap}.* for example {late}"
    ):
        evaluate(sample, sample.filter(pl.col("id") != gap), use)


def test_unsuitable_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="there is no sample"):
        evaluated_looks("evaluate.precision", anytime=True)
    with pytest.raises(ConfigError, match="with replacement"):
        evaluated_looks("evaluate.comparison", drawn_looks(size=60, replacement=True), anytime=True)
    tables = run_stage(
        "sample.design", {"cuts": [100, 200], "size": 90, "seed": "s"}, ranks=RANKS_LOOKS
    )
    designed = {"anytime": True, "seed": "s", "inclusion": "inclusion", "cuts": [100]}
    with pytest.raises(ConfigError, match=r"inclusion probabilities differ, from 0\.\d+ to"):
        run_stage(
            "evaluate.designed", designed, ranks=RANKS_LOOKS, judgements=ALL_LOOKS, sample=tables["sample"],
            inclusion=tables["inclusion"],
        )  # fmt: skip


@pytest.mark.parametrize(
    ("use", "options", "message"),
    [
        ("evaluate.precision", {"interval": "wilson"}, "omit interval"),
        ("evaluate.precision", {"recall": True}, "omit recall"),
        ("evaluate.precision", {"band": "simultaneous"}, "omit band"),
        ("evaluate.comparison", {"test": "boschloo"}, "its own two-sided test"),
        ("evaluate.comparison", {"alternative": "greater"}, "two-sided"),
        ("evaluate.comparison", {"population": "super"}, "only for the finite population"),
        ("evaluate.comparison", {"population": "both"}, 'use population = "finite"'),
        ("evaluate.comparison", {"difference_interval": "wilson"}, "its own limits"),
        ("evaluate.comparison", {"equivalence": 0.1}, "equivalence cannot be combined"),
        ("evaluate.comparison", {"clusters": "c"}, "clusters cannot be combined"),
        ("evaluate.designed", {"assist": "scores"}, "does not allow predictions"),
    ],
)
def test_methods_without_anytime_limits_are_refused(
    use: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        evaluated_looks(use, drawn_looks(size=60), anytime=True, **seeded_looks(use), **options)
