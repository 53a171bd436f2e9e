"""A filter's output against the n-best lists of its size."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.kernels.statistics.binomial_intervals import clopper_pearson
from tests.stages.run_stage import run_stage

IDS = [f"x{i}" for i in range(8)]
SCORES = pl.DataFrame({"id": IDS, "a": [8.0, 7, 6, 5, 4, 3, 2, 1], "b": [1.0, 2, 3, 4, 5, 6, 7, 8]})
VERDICTS = pl.DataFrame({"category": "TP", "id": IDS, "tp": [True] * 3 + [False] * 5})
RANKS = run_stage("score.rank", {"seed": "s"}, scores=SCORES)["ranks"]


def evaluate(subset: pl.DataFrame = SCORES, **config: Any) -> dict[str, pl.DataFrame]:
    tables = {"ranks": RANKS, "judgements": VERDICTS, "subset": subset}
    return run_stage("evaluate.subset", config, **tables)


def test_precision_of_the_set() -> None:
    made = evaluate(where="a > 4 AND b < 4", name="rare")
    row = made["subsets"].row(0, named=True)
    assert (row["subset"], row["n"], row["precision"], row["recall"]) == ("rare", 3, 1.0, 1.0)
    lower, upper = clopper_pearson(3, 3)
    assert (row["lower"], row["upper"]) == (pytest.approx(float(lower)), float(upper))


def test_against_the_lists_of_its_size() -> None:
    made = evaluate(where="a > 5", alpha=0.25)["comparison"]
    rows = made.select("measure", "n", "size", "n_1", "k_1", "k_2", "difference").rows()
    assert rows == [("a", 3, 0, 0, 0, 0, 0.0), ("b", 3, 3, 3, 3, 0, 1.0)]
    assert made["p_value"].to_list() == [None, pytest.approx(0.1)]
    assert made["p_adjusted"].to_list() == [None, pytest.approx(0.1)]  # one test in the family
    assert made["significant"].to_list() == [False, True]


def test_finite_interval_of_a_set_that_is_known() -> None:
    row = evaluate(where="a > 4", interval="hypergeometric")["subsets"].row(0, named=True)
    assert (row["lower"], row["upper"]) == (0.75, 0.75)


def test_members_that_are_no_candidates_do_not_count() -> None:
    made = evaluate(pl.DataFrame({"id": ["x0", "x0", "stranger"]}))
    assert made["subsets"].select("n", "n_sampled", "k_sampled").row(0) == (1, 1, 1)


def test_an_empty_set() -> None:
    made = evaluate(where="a > 99")
    assert made["subsets"].select("n", "precision", "lower", "upper").row(0) == (0, None, 0.0, 1.0)
    assert made["comparison"].height == 0


def test_wrong_options() -> None:
    with pytest.raises(ValidationError, match="is not a Polars SQL condition"):
        evaluate(where="a >")
    with pytest.raises(ConfigError, match="no column 'c'"):
        evaluate(where="c > 1")
    with pytest.raises(ConfigError, match="'a' is a measure already"):
        evaluate(name="a")


def test_a_pool_has_no_lists_beyond_its_depth() -> None:
    ranks = run_stage("score.pool", {"depth": 3}, ranks=RANKS)["ranks"]
    tables = {"ranks": ranks, "judgements": VERDICTS, "subset": SCORES}
    made = run_stage("evaluate.subset", {"where": "a > 5"}, **tables)["comparison"]
    assert made.equals(evaluate(where="a > 5")["comparison"])
    with pytest.raises(ConfigError, match="has 6 members, but the pool has lists of 3 only"):
        run_stage("evaluate.subset", {}, **tables)
