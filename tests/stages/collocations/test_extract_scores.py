"""Scores that another program computed."""

from __future__ import annotations

import math

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from pipeline.stages.base import STAGES
from tests.stages.run_stage import faults, run_stage

PAIRS = pl.DataFrame(
    {
        "w1": ["a", "b", "c"],
        "w2": ["x", "y", "z"],
        "MI": ["0.5", "", "-inf"],
        "p": ["0.1", "0", "1"],
    }
)
NAMES = {"l1": "w1", "l2": "w2"}


def test_scores_are_read_and_undefined_ones_are_null() -> None:
    made = run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "MI"}}, path=PAIRS)
    assert made["scores"].sort("l1").select("l1", "l2", "mi").rows() == [
        ("a", "x", 0.5), ("b", "y", None), ("c", "z", -math.inf),
    ]  # fmt: skip


def test_the_lowest_comes_first_where_it_is_said() -> None:
    config = {"columns": NAMES, "scores": {"p": "p"}, "ascending": ["p"]}
    made = run_stage("extract.scores", config, path=PAIRS)["scores"]
    ranks = run_stage("score.rank", {"seed": "s"}, scores=made)["ranks"]
    first = ranks.sort("rank").join(made, on="id", maintain_order="left")["l1"]
    assert first.to_list() == ["b", "a", "c"]


def test_the_order_of_the_file_is_a_measure() -> None:
    made = run_stage("extract.scores", {"columns": NAMES, "order": "theirs"}, path=PAIRS)["scores"]
    ranks = run_stage("score.rank", {"seed": "s"}, scores=made)["ranks"]
    assert ranks["measure"].unique().to_list() == ["theirs"]
    first = ranks.sort("rank").join(made, on="id", maintain_order="left")["l1"]
    assert first.to_list() == ["a", "b", "c"]


def test_what_is_no_number_is_a_fault() -> None:
    wrong = PAIRS.with_columns(MI=pl.Series(["0,5", "1", "x"]), w1=pl.Series(["a", None, "c"]))
    made = run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "MI"}}, path=wrong)
    assert faults(made) == [(2, "MI", "0,5"), (3, "w1", None), (4, "MI", "x")]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "name columns of scores"),
        ({"scores": {"l1": "MI"}}, "l1 cannot name a measure"),
        ({"scores": {"mi": "MI"}, "order": "mi"}, "mi cannot name a measure"),
        ({"scores": {"mi": "MI"}, "ascending": ["p"]}, "ascending: p is none of the scores"),
    ],
)
def test_options_that_say_nothing_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        STAGES.get("extract.scores").config.model_validate({"path": "a.tsv", **options})


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"scores\.mi"):
        run_stage("extract.scores", {"columns": NAMES, "scores": {"mi": "mi"}}, path=PAIRS)


def test_judged_candidates_are_a_sample() -> None:
    judged = pl.DataFrame(
        {
            "category": ["TP", "TP", "F", "TP"],
            "id": ["b", "c", "c", "zz"],
            "tp": [True, None, False, True],
        }
    )
    candidates = pl.DataFrame({"id": ["a", "b", "c"]})
    made = run_stage("sample.judged", {}, candidates=candidates, judgements=judged)["sample"]
    assert made.rows() == [("b", 1, 1, 2 / 3, "all"), ("c", 1, 2, 2 / 3, "all")]
