"""Limits and tests that hold at every size of a simple sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.sequential import anytime_p_values, confidence_sequence
from schemas import Judgements
from tests.stages.collocations.test_looks import ALL, RANKS, SIZE, drawn, evaluated, seeded
from tests.stages.run_stage import run_stage


def of_one_list(members: int, draws: int, hits: int) -> dict[str, pl.DataFrame]:
    """Evaluate one list of all candidates, of whose first draws some are true positives."""
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
def test_the_limits_that_are_published(
    members: int, draws: int, hits: int, limits: tuple[int, int]
) -> None:
    found = of_one_list(members, draws, hits)
    row = found["cuts"].row(0, named=True)
    assert (round(members * row["lower"]), round(members * row["upper"])) == limits
    base = found["baseline"].row(0, named=True)
    assert base["interval"] == "confidence_sequence"
    assert base["confidence"] == pytest.approx(0.95)
    assert found["looks"].is_empty()


def test_several_questions_divide_alpha() -> None:
    found = evaluated("evaluate.precision", drawn(size=60), anytime=True, cuts=[100, 200, 9999])
    assert found["baseline"]["confidence"].item() == pytest.approx(1 - 0.05 / 6)
    row = found["cuts"].row(0, named=True)
    limits = confidence_sequence(
        row["k_sampled"], row["n_sampled"], population=100, confidence=1 - 0.05 / 6
    )
    assert (row["lower"], row["upper"]) == tuple(map(float, limits))


def test_designed_estimates_have_the_same_limits() -> None:
    sample = drawn(size=60)
    options = {"anytime": True, "window": 40, "seed": "s", "every": 0}
    exact = evaluated("evaluate.precision", sample, anytime=True)
    found = evaluated("evaluate.designed", sample, **options)
    for name in ("cuts", "baseline"):
        for side, wider in (("lower", pl.min_horizontal), ("upper", pl.max_horizontal)):
            expected = exact[name].select(wider(side, "precision")).to_series()
            assert found[name][side].to_list() == pytest.approx(expected.to_list())
    tests = evaluated("evaluate.comparison", sample, anytime=True, correction="bonferroni")["cuts"]
    ours = found["differences"]
    assert ours["p_value"].to_list() == pytest.approx(tests["p_value"].to_list())
    outside = (ours["lower"] > 0) | (ours["upper"] < 0)
    assert outside.to_list() == ours["significant"].to_list()
    assert found["local"].height == 3 * (SIZE - 39)


def test_tests_are_of_the_two_sets_at_any_size() -> None:
    sample = drawn(size=320)
    found = evaluated("evaluate.comparison", sample, anytime=True)
    row = found["cuts"].filter(measure_1="a", measure_2="b", n=100).row(0, named=True)
    p = anytime_p_values(
        row["k_1"], row["n_1"], row["k_2"], row["n_2"], populations=(row["size"], row["size"])
    )
    assert row["p_value"] == pytest.approx(float(p))
    assert row["significant"]
    against = found["baseline_cuts"].filter(measure="a", n=100).row(0, named=True)
    p = anytime_p_values(
        against["k_1"], against["n_1"], against["k_2"], against["n_2"],
        populations=(100, SIZE - 100),
    )  # fmt: skip
    assert against["p_value"] == pytest.approx(float(p))
    assert found["best"].filter("best").height == 2


def test_differences_of_a_comparison_are_those_of_a_designed_sample() -> None:
    sample = drawn(size=160)
    options = {"anytime": True, "correction": "bonferroni"}
    made = evaluated("evaluate.comparison", sample, **options)
    ours, cuts = made["differences"], made["cuts"]
    theirs = evaluated("evaluate.designed", sample, **options | {"seed": "s", "every": 0})
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
    wide = evaluated("evaluate.comparison", sample, **options, margin=0.1)["differences"]
    assert (wide["p_margin"] >= ours["p_margin"]).all()


def judged(sample: pl.DataFrame, some: pl.DataFrame, use: str = "evaluate.precision") -> Any:
    judgements = ALL.join(some, on="id", how="semi")
    options = {"anytime": True, "cuts": [100]} | (
        {"seed": "s"} if use == "evaluate.designed" else {}
    )
    return run_stage(use, options, ranks=RANKS, judgements=judgements, sample=sample)


def test_the_first_draws_may_be_judged_alone() -> None:
    sample = drawn(size=60)
    first = judged(sample, sample.head(20))["cuts"]
    assert first.select("lower", "upper").equals(
        judged(drawn(size=20), drawn(size=20))["cuts"].select("lower", "upper")
    )


@pytest.mark.parametrize("use", ["evaluate.precision", "evaluate.comparison", "evaluate.designed"])
def test_judgements_after_a_gap_are_refused(use: str) -> None:
    sample = drawn(size=60)
    gap, late = sample["id"][10], sample["id"][11]
    with pytest.raises(
        ConfigError, match=rf"49 of 59 judged draws \(TP\) come after .*{gap}.* such as {late}"
    ):
        judged(sample, sample.filter(pl.col("id") != gap), use)


def test_other_samples_are_refused() -> None:
    with pytest.raises(ConfigError, match="there is no sample"):
        evaluated("evaluate.precision", anytime=True)
    with pytest.raises(ConfigError, match="drawn again"):
        evaluated("evaluate.comparison", drawn(size=60, replacement=True), anytime=True)
    made = run_stage("sample.design", {"cuts": [100, 200], "size": 90, "seed": "s"}, ranks=RANKS)
    designed = {"anytime": True, "seed": "s", "inclusion": "inclusion", "cuts": [100]}
    with pytest.raises(ConfigError, match=r"chances differ, from 0\.\d+ to"):
        run_stage(
            "evaluate.designed", designed, ranks=RANKS, judgements=ALL, sample=made["sample"],
            inclusion=made["inclusion"],
        )  # fmt: skip


@pytest.mark.parametrize(
    ("use", "options", "said"),
    [
        ("evaluate.precision", {"interval": "wilson"}, "leave out interval"),
        ("evaluate.precision", {"recall": True}, "leave out recall"),
        ("evaluate.precision", {"band": "simultaneous"}, "leave out band"),
        ("evaluate.comparison", {"test": "boschloo"}, "a test of its own"),
        ("evaluate.comparison", {"alternative": "greater"}, "two-sided"),
        ("evaluate.comparison", {"population": "super"}, "no population beyond them"),
        ("evaluate.comparison", {"population": "both"}, 'take population = "finite"'),
        ("evaluate.comparison", {"difference_interval": "wilson"}, "limits of its own"),
        ("evaluate.comparison", {"equivalence": 0.1}, "equivalence is for one look"),
        ("evaluate.comparison", {"clusters": "c"}, "clusters are for one look"),
        ("evaluate.designed", {"assist": "scores"}, "no predictions"),
    ],
)
def test_what_has_no_such_limits_is_refused(use: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        evaluated(use, drawn(size=60), anytime=True, **seeded(use), **options)
