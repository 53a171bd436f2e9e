"""The dry run: what a stage would make, checked before there is any data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.errors import ConfigError
from pipeline.runner.graph import Node, dry_run
from pipeline.stages.base import Outputs, Stage, StageConfig
from schemas import Judgements

WHOLE = Judgements.zero_rows()


def problems(made: Outputs) -> list[str]:
    """Return what is said of a stage that makes these tables, and declares Judgements."""
    stage: Stage = Stage(
        "own.stage", lambda *_: made, config=StageConfig, outputs={"judgements": Judgements}
    )
    node = Node("own", stage, StageConfig(), {}, {})
    return list(map(str, dry_run({"own": node}, {})[1]))


def test_what_was_declared() -> None:
    assert problems({"judgements": WHOLE}) == []


def test_other_tables_than_declared() -> None:
    (said,) = problems({"judgement": WHOLE})
    assert said == (
        "stages.own.use: makes ['judgement'], but declares ['judgements'];"
        " this is a defect of the stage"
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (WHOLE.drop("tp"), "column tp: missing"),
        (WHOLE.with_columns(tp=pl.lit("yes")), "column tp: "),
        (WHOLE.with_columns(pl.col("nothing")), "nothing"),
    ],
)
def test_columns_that_do_not_fit(made: pl.LazyFrame, said: str) -> None:
    (found,) = problems({"judgements": made})
    assert found.startswith("stages.own: ")
    assert said in found


def test_a_condition_that_compares_text_with_a_number(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("a b c\n")
    (tmp_path / "x.toml").write_text("""
name = "x"
[stages.pairs]
use = "extract.pairs"
corpus = "t.txt"
left = { label = "{form}", where = "form > 3" }
right = { label = "{form}" }
""")
    with pytest.raises(ConfigError, match="text cannot be compared with numbers"):
        lx.check(tmp_path / "x.toml", runs=tmp_path / "runs")
