"""The average precision of rankings from samples of several kinds."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from pipeline.errors import ConfigError
from tests.stages.run_stage import run_stage

USE = "evaluate.average_precision"
IDS = [f"x{i}" for i in range(10)]
SCORES = pl.DataFrame({"id": IDS, "a": [float(-i) for i in range(10)], "b": [1.0] * 10})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]
TP = [True, False, False, True, False, True, False, True, False, True]
ALL = pl.DataFrame({"category": "TP", "id": IDS, "tp": TP})
DRAWN = [0, 2, 3, 5, 6, 8, 9]
SAMPLE = pl.DataFrame({
    "id": [IDS[i] for i in DRAWN], "multiplicity": 1, "position": range(1, 8),
})  # fmt: skip


def found(**given: Any) -> pl.DataFrame:
    config = given.pop("config", {"measures": ["a"]})
    return run_stage(USE, config, **({"ranks": RANKS, "judgements": ALL} | given))[
        "average_precision"
    ]


def test_a_simple_sample_has_the_published_value() -> None:
    row = found(sample=SAMPLE).row(0, named=True)
    assert row["average_precision"] == pytest.approx(0.7243053, abs=5e-8)
    assert (row["n_candidates"], row["n_sampled"], row["k_sampled"]) == (10, 7, 4)


def test_all_candidates_judged() -> None:
    row = found().row(0, named=True)
    exact = (1 + 2 / 4 + 3 / 6 + 4 / 8 + 5 / 10) / 5
    values = [row[name] for name in ("average_precision", "lower", "upper")]
    assert values == pytest.approx([exact] * 3)
    assert found(config={})["measure"].to_list() == ["a", "b"]


def test_chances_of_a_designed_sample() -> None:
    chances = [1.0, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25]
    designed = SAMPLE.with_columns(pi=pl.Series(chances), stratum=pl.lit("all"))
    row = found(sample=designed).row(0, named=True)
    assert row["unequal"]
    assert row["average_precision"] != pytest.approx(0.7243, abs=1e-3)
    same = SAMPLE.with_columns(pi=pl.lit(0.7))
    assert found(sample=same).rows()[0] == pytest.approx(found(sample=SAMPLE).rows()[0])


def test_a_candidate_that_was_drawn_twice_counts_once() -> None:
    again = SAMPLE.with_columns(multiplicity=pl.lit(2))
    assert found(sample=again).equals(found(sample=SAMPLE))


def test_what_is_no_sample_for_it() -> None:
    with pytest.raises(ConfigError, match="no column 'multiplicity', but id"):
        found(sample=SAMPLE.select("id"))
    with pytest.raises(ConfigError, match="different strata had different chances"):
        found(sample=SAMPLE.with_columns(stratum=pl.lit("top")))
    with pytest.raises(ConfigError, match="the rankings are pooled"):
        found(ranks=RANKS.with_columns(pool_depth=pl.lit(3)))
    with pytest.raises(ConfigError, match="none of the 1 candidates drawn is ranked, such as y"):
        found(sample=pl.DataFrame({"id": ["y"], "multiplicity": [1], "position": [1]}))


def test_nothing_at_all() -> None:
    assert found(ranks=RANKS.clear(), judgements=ALL.clear(), config={}).is_empty()
    assert found(judgements=ALL.clear()).is_empty()
