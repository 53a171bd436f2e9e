"""Samples by stratum, pools, and estimates from pools."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from tests.stages.run_stage import run_stage

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [False] * 5})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def by_rank(**config: Any) -> dict[str, pl.DataFrame]:
    options = {"measures": ["a"], "boundaries": [2], "sizes": [2, 3], "seed": "s"}
    return run_stage("sample.stratified", options | config, ranks=RANKS)


def by_score(scores: pl.DataFrame = SCORES, **config: Any) -> dict[str, pl.DataFrame]:
    options = {"column": "a", "boundaries": [3, 6], "rates": [1.0, 0.0, 0.5], "seed": "s"}
    return run_stage("sample.stratified", options | config, scores=scores)


def test_strata_by_rank_have_sizes() -> None:
    tables = by_rank()
    assert tables["sizes"].rows() == [("1-2", 2, 2), ("3-8", 6, 3)]
    assert tables["sample"]["stratum"].to_list() == ["1-2"] * 2 + ["3-8"] * 3
    assert tables["strata"].height == 8


def test_a_larger_sample_contains_the_smaller_one() -> None:
    small, large = by_rank()["sample"], by_rank(sizes=[2, 5])["sample"]
    assert set(small["id"]) < set(large["id"])


def test_strata_use_the_best_rank_under_any_measure() -> None:
    both = by_rank(measures=[])["strata"]
    assert both.filter(stratum="1-2")["id"].to_list() == ["x0", "x1", "x6", "x7"]


def test_strata_by_score_have_rates() -> None:
    table = by_score()["sizes"]
    assert table.rows() == [("[-inf, 3)", 2, 2), ("[3, 6)", 3, 0), ("[6, inf)", 3, 2)]


def test_candidates_without_a_score_have_a_separate_rate() -> None:
    some = SCORES.with_columns(a=pl.when(pl.col("a") > 2).then("a"))
    assert by_score(some)["sizes"].row(-1) == ("undefined", 2, 0)
    more = by_score(some, rates=[1.0, 0.0, 0.5, 1.0])["sizes"]
    assert more.row(-1) == ("undefined", 2, 2)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"sizes": [2]}, "1 boundaries make 2 strata, but there are 1 sizes"),
        ({"rates": [0.1, 0.1]}, "either sizes or rates"),
        ({"sizes": [], "rates": [0.1, 1.1]}, "rates must lie between 0 and 1"),
        ({"column": "a"}, "column = NAME requires scores"),
        ({"boundaries": [2.5]}, "whole numbers >= 1"),
        ({"boundaries": [0]}, "whole numbers >= 1"),
    ],
)
def test_invalid_options_are_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        by_rank(**config)


def test_invalid_boundaries_and_columns_are_refused() -> None:
    with pytest.raises(ConfigError, match="must ascend"):
        by_rank(boundaries=[3, 2], sizes=[1, 1, 1])
    with pytest.raises(ConfigError, match="no column 'c'"):
        by_score(column="c")
    with pytest.raises(ConfigError, match="measures: 'aa' has not been ranked; did you mean a"):
        by_rank(measures=["aa"])


def test_without_ranks_all_tables_are_empty() -> None:
    options = {"boundaries": [2], "sizes": [1, 1]}
    tables = run_stage("sample.stratified", options, ranks=RANKS.clear())
    assert [table.height for table in tables.values()] == [0, 0, 0]


def pool(depth: int = 2) -> dict[str, pl.DataFrame]:
    return run_stage("score.pool", {"depth": depth}, ranks=RANKS)


def test_a_pool_contains_only_its_lists() -> None:
    tables = pool()
    assert sorted(tables["candidates"]["id"]) == ["x0", "x1", "x6", "x7"]
    assert tables["ranks"].group_by("measure").len().sort("measure").rows() == [("a", 2), ("b", 2)]


def test_precision_of_a_pool_states_its_depth() -> None:
    tables = run_stage("evaluate.precision", {}, ranks=pool()["ranks"], judgements=VERDICTS)
    full = run_stage("evaluate.precision", {}, ranks=RANKS, judgements=VERDICTS)
    for name in ("precision", "n_sampled", "k_sampled", "lower"):
        assert tables["precision"][name].to_list() == (
            full["precision"].filter(pl.col("n") <= 2)[name].to_list()
        )
    base = tables["baseline"].row(0, named=True)
    assert (base["pool"], base["n_candidates"], base["precision"]) == (2, 4, 0.5)
    assert full["baseline"]["pool"].item() is None


def test_comparisons_within_a_pool_equal_those_of_the_whole() -> None:
    config = {"cuts": [1, 3, 7]}
    small = run_stage("evaluate.comparison", config, ranks=pool(5)["ranks"], judgements=VERDICTS)
    whole = run_stage("evaluate.comparison", config, ranks=RANKS, judgements=VERDICTS)
    expected = whole["comparison"].filter(pl.col("n") <= 5)
    assert small["comparison"].equals(expected)
    assert small["cuts"]["n"].to_list() == [1, 3]


def test_the_pool_is_the_same_for_some_of_its_measures() -> None:
    ranks = pool(3)["ranks"]
    tables = {"ranks": ranks, "judgements": VERDICTS}
    every = run_stage("evaluate.comparison", {"cuts": [2]}, **tables)["baseline"]
    one = run_stage("evaluate.comparison", {"cuts": [2], "measures": ["a"]}, **tables)["baseline"]
    assert one.equals(every.filter(measure="a"))
    assert one.filter(n=3)["difference"].item() == 0.5  # 3 of 3 within the pool of 6, 3 of 6
    options = {"where": "b > 6", "interval": "hypergeometric"}
    filtered = {**tables, "subset": SCORES}
    every = run_stage("evaluate.subset", options, **filtered)["subsets"]
    one = run_stage("evaluate.subset", options | {"measures": ["a"]}, **filtered)["subsets"]
    assert one.equals(every)
    assert one["n"].item() == 2


def test_a_larger_sample_is_reduced_to_the_pool() -> None:
    draws = ["x0", "x3", "x4", "x7"]
    sample = pl.DataFrame({"id": draws, "multiplicity": 1, "position": range(1, 5)})
    tables = run_stage(
        "evaluate.precision", {"interval": "hypergeometric", "cuts": [2]},
        ranks=pool(2)["ranks"], judgements=VERDICTS, sample=sample,
    )  # fmt: skip
    base = tables["baseline"].row(0, named=True)
    assert (base["n_candidates"], base["n_drawn"], base["n_sampled"], base["k_sampled"]) == (
        4,
        2,
        2,
        1,
    )
    assert tables["cuts"].filter(measure="a")["recall"].item() == 1.0


def test_a_sample_of_other_candidates_is_refused() -> None:
    sample = pl.DataFrame({"id": ["q1", "q2"], "multiplicity": 1, "position": [1, 2]})
    with pytest.raises(
        ConfigError, match="none of the 2 drawn candidates is ranked, for example q1"
    ):
        run_stage("evaluate.precision", {}, ranks=RANKS, judgements=VERDICTS, sample=sample)


@pytest.mark.parametrize("whole", [True, False])
def test_strata_may_be_those_of_the_pool_or_of_the_whole(whole: bool) -> None:
    ranks = pool(3)["ranks"]
    options = {"measures": ["a"], "boundaries": [2], "sizes": [2, 6], "seed": "s"}
    tables = run_stage("sample.stratified", options, ranks=RANKS if whole else ranks)
    assert tables["strata"].height == (8 if whole else 6)
    outputs = run_stage(
        "evaluate.designed", {"cuts": [2, 3], "every": 1, "seed": "s"},
        ranks=ranks, judgements=VERDICTS, sample=tables["sample"], inclusion=tables["strata"],
    )  # fmt: skip
    assert outputs["precision"]["precision"].to_list() == [1, 1, 1, 0, 0, 0]
    assert outputs["differences"].select("n", "size", "difference").rows() == [(2, 2, 1), (3, 3, 1)]


def test_an_empty_stratum_keeps_its_size() -> None:
    # best ranks 1, 1, 2, 4, 5, 6: no best rank is 3
    scores = {"a": [6.0, 5, 4, 3, 2, 1], "b": [4.0, 6, 5, 3, 2, 1]}
    ranks = run_stage(
        "score.rank", {"seed": "s"}, scores=pl.DataFrame({"id": list("uvwxyz"), **scores})
    )["ranks"]
    options = {"boundaries": [1, 2, 3], "sizes": [2, 1, 0, 3], "seed": "s"}
    table = run_stage("sample.stratified", options, ranks=ranks)["sizes"]
    assert table.rows() == [("1-1", 2, 2), ("2-2", 1, 1), ("4-6", 3, 3)]
    rates = {"boundaries": [1, 2, 3], "rates": [1.0, 1.0, 0.0, 0.5], "seed": "s"}
    table = run_stage("sample.stratified", rates, ranks=ranks)["sizes"]
    assert table["n_drawn"].to_list() == [2, 1, 2]
