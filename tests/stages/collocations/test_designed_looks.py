"""A designed sample that is looked at several times: each question has its own levels."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.sequential import spent_levels
from pipeline.kernels.survey.design import inclusion
from pipeline.kernels.survey.study import study
from pipeline.kernels.survey.tables import list_estimates
from tests.stages.collocations.test_looks import ALL, LOOKS, RANKS, RATES, SHARES, SIZE, drawn
from tests.stages.run_stage import run_stage

CUTS = {"cuts": [40, 100], "seed": "s", "every": 0}
STEPS = [60, 90, 120]
PREDICTED = RANKS.filter(measure="a").select(
    "id", prediction=1.0 - pl.col("rank").cast(pl.Float64) / (SIZE + 1)
)


def designed(size: int, **config: Any) -> dict[str, pl.DataFrame]:
    """Draw the steps up to a size."""
    steps = [step for step in STEPS if step < size]
    options = {"cuts": [40, 100], "size": size, "steps": steps, "seed": "s"} | config
    tables = {"pilot": config["pilot"]} if "pilot" in config else {}
    return run_stage(
        "sample.design", options | {name: name for name in tables}, ranks=RANKS, **tables
    )


def evaluated(made: dict[str, pl.DataFrame], **config: Any) -> dict[str, pl.DataFrame]:
    tables = {name: config.pop(name) for name in ("predictions",) if name in config}
    judgements = ALL.join(made["sample"], on="id", how="semi")
    return run_stage(
        "evaluate.designed", CUTS | {"looks": STEPS} | config, ranks=RANKS, judgements=judgements,
        sample=made["sample"], inclusion=made["inclusion"], **tables,
    )  # fmt: skip


def by_hand(
    inclusion_table: pl.DataFrame, coefficient: pl.Expr, v: pl.Expr | None = None
) -> list[float]:
    """Return the levels of one question: a loop over its members."""
    a = RANKS.pivot(on="measure", index="id", values="rank").join(inclusion_table, on="id")
    a = a.join(PREDICTED, on="id").with_columns(a=coefficient, v=pl.lit(1.0) if v is None else v)
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


def listed(name: str, n: int) -> pl.Expr:
    return (pl.col(name) <= n).cast(pl.Float64)


def test_the_plan_of_each_question_follows_from_the_design() -> None:
    made = designed(90)
    found = evaluated(made)
    looks = found["looks"]
    assert looks["question"].n_unique() == 3 * 2 + 3 * 2 + 1
    assert looks.filter("now")["look"].unique().to_list() == [2]
    expected = {
        "a at 40": listed("a", 40),
        "a - b at 100": listed("a", 100) - listed("b", 100),
        "baseline": pl.lit(1.0),
    }
    for question, coefficient in expected.items():
        levels = looks.filter(question=question)["level"].to_list()
        assert levels == pytest.approx(by_hand(made["inclusion"], coefficient))
    assert looks.filter(look=3)["level"].n_unique() > 3
    assert looks.filter(look=1)["level"].n_unique() == 1  # nothing comes before


def test_each_interval_has_the_level_of_its_question() -> None:
    made = designed(120)
    found = evaluated(made)
    draws = ALL.join(made["sample"], on="id")
    given = study(RANKS, draws, candidates=made["inclusion"])
    now = found["looks"].filter("now")
    for question, measure, n in (("a at 40", "a", 40), ("c at 100", "c", 100)):
        level = now.filter(question=question)["level"].item()
        table = list_estimates(given, at=[n], confidence=1 - level).filter(measure=measure)
        row = found["cuts"].filter(measure=measure, n=n)
        assert row["lower"].item() == pytest.approx(table["lower"].item())
    base = found["baseline"]["confidence"].item()
    assert base == pytest.approx(1 - now.filter(question="baseline")["level"].item())


def test_a_test_excludes_zero_where_its_interval_does() -> None:
    found = evaluated(designed(120), correction="bonferroni", cuts=[100], pairs=[("a", "b")])
    row = found["differences"].row(0, named=True)
    assert row["significant"] == (row["lower"] > 0 or row["upper"] < 0)
    assert row["p_adjusted"] > row["p_value"]


def test_what_judges_say_weighs_the_residuals() -> None:
    made = designed(90)
    found = evaluated(made, predictions=PREDICTED, assist="predictions")
    p = pl.col("prediction")
    levels = by_hand(made["inclusion"], listed("b", 100), (p * (1 - p)).clip(0.01))
    assert found["looks"].filter(question="b at 100")["level"].to_list() == pytest.approx(levels)


def test_a_simple_sample_has_one_plan() -> None:
    sample = drawn(rate=0.15)
    found = run_stage(
        "evaluate.designed", CUTS | {"looks": LOOKS}, ranks=RANKS, judgements=ALL, sample=sample
    )
    plan = spent_levels(SHARES, (1 - RATES) / RATES, alpha=0.05)
    for look, level in enumerate(plan, start=1):
        # 60 / 400 is not quite .15 as numbers go, and sums are rounded
        assert found["looks"].filter(look=look)["level"].to_list() == pytest.approx([level] * 13)


def test_what_was_judged_before_counts_as_labels() -> None:
    pilot = ALL.join(drawn(size=30, seed="pilot"), on="id", how="semi")
    made = run_stage(
        "sample.design", {"cuts": [40, 100], "size": 60, "seed": "s", "pilot": "pilot"},
        ranks=RANKS, pilot=pilot,
    )  # fmt: skip
    found = evaluated(made, looks=[90, 150])
    assert found["looks"].filter("now")["labels"].unique().to_list() == [90]
    with pytest.raises(ConfigError, match="a sample of 90 is none of the declared looks"):
        evaluated(made, looks=[60, 120])
    before = evaluated(made, looks=[30, 90])["looks"].filter(look=1)
    assert before["level"].null_count() == before.height  # nothing was drawn by this design yet


def test_a_stratified_sample_grows_in_proportion() -> None:
    made = run_stage(
        "sample.stratified", {"boundaries": [60], "sizes": [40, 60], "seed": "s"}, ranks=RANKS
    )
    found = run_stage(
        "evaluate.designed", CUTS | {"looks": [50, 100]}, ranks=RANKS, judgements=ALL,
        sample=made["sample"], inclusion=made["strata"],
    )  # fmt: skip
    looks = found["looks"]
    assert looks.filter("now")["labels"].unique().to_list() == [100]
    chances = made["sample"].select("stratum", "pi").unique()
    listed_100 = RANKS.filter(measure="a").filter(pl.col("rank") <= 100)
    pi = made["strata"].join(listed_100, on="id").join(chances, on="stratum")["pi"]
    assert len(pi) == 100
    variances = [float(((whole - pi) / pi).sum()) for whole in (2, 1)]
    expected = spent_levels([0.5, 1.0], variances, alpha=0.05)
    assert looks.filter(question="a at 100")["level"].to_list() == pytest.approx(expected.tolist())


def test_bands_and_windows_have_levels_too() -> None:
    made = designed(90)
    options = {"band": "simultaneous", "replicates": 300, "window": 50}
    planned, plain = evaluated(made, **options), evaluated(made, looks=[90], **options)
    for name, side in (("bands", "band"), ("difference_bands", "band")):
        narrow, wide = (
            (each[name][f"upper_{side}"] - each[name][f"lower_{side}"]).mean()
            for each in (plain, planned)
        )
        assert narrow < wide
    assert planned["local"]["upper"].mean() > plain["local"]["upper"].mean()
    assert plain["looks"]["level"].to_list() == pytest.approx([0.05] * 13)


def test_without_looks_nothing_changes() -> None:
    made = designed(90)
    once, plain = evaluated(made), evaluated(made, looks=[])
    assert plain["looks"].is_empty()
    assert plain["baseline"]["confidence"].item() == 0.95
    assert once["cuts"].drop("lower", "upper").equals(plain["cuts"].drop("lower", "upper"))
