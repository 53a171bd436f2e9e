"""The dry run: what a stage would make, checked before there is any data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.run import json_schema
from pipeline.errors import ConfigError
from pipeline.runner.config import Experiment
from pipeline.runner.graph import Node, build, dry_run
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
        " this is a bug in the stage"
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


# The order of stages.

LONG = 2_000


def test_a_chain_of_any_length() -> None:
    """Each stage rests on the one before it twice; the file has them the other way round."""
    merged = {"use": "extract.merge", "min_frequency": 1}
    stages = {
        f"s{i}": merged | {"first": f"s{i - 1}", "second": f"s{i - 1}"} for i in range(LONG, 0, -1)
    }
    stages["s0"] = {"use": "extract.table", "path": "a.tsv"}
    nodes, problems = build(Experiment.model_validate({"name": "x", "stages": stages}))
    assert not problems
    assert list(nodes) == [f"s{i}" for i in range(LONG + 1)]


def one(**options: object) -> Experiment:
    stage = {"use": "extract.table", "path": "a.tsv", **options}
    return Experiment.model_validate({"name": "x", "stages": {"a": stage}})


def test_a_stage_may_have_a_title_which_is_none_of_its_options() -> None:
    titled, plain = (build(each)[0]["a"] for each in (one(title=" For people "), one()))
    assert (titled.title, plain.title) == ("For people", "")
    assert titled.own_config() == plain.own_config()
    assert "title" in json_schema()["$defs"]["extract.table"]["properties"]


def test_a_misspelt_title_is_asked_after() -> None:
    _, (wrong,) = build(one(titel="For people"))
    assert "did you mean title?" in wrong.remedy


@pytest.mark.parametrize("title", [7, True, ["a"], {"a": "b"}])
def test_a_title_is_a_text(title: object) -> None:
    nodes, (wrong,) = build(one(title=title))
    assert not nodes
    assert wrong.where == "stages.a.title"
    assert f"{title!r} is not text" in wrong.what


# An option that is omitted and takes its value from the stage of a sibling option.

ANNOTATED = {
    "candidates": {"use": "extract.table", "path": "a.tsv"},
    "sample": {"use": "sample.random", "candidates": "candidates", "size": 9},
    "sheet": {"use": "sheet.annotation", "candidates": "candidates", "sample": "sample",
              "folder": "f", "labels": ["s", "f"]},
    "other": {"use": "sheet.annotation", "candidates": "candidates", "sample": "sample",
              "folder": "g", "labels": ["s", "n"]},
    "both": {"use": "join.sheets", "sheet": "sheet", "folder": "f", "labels": "sheet",
             "categories": {"TP": ["s"]}},
    "agreement": {"use": "evaluate.agreement", "annotations": "both"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "sheet.labels"),
        ({"agreement": {"labels": "other.labels"}}, "other.labels"),
        ({"both": {"labels": "other"}}, "other.labels"),
        ({"both": {"use": "extract.table"}}, None),  # a stage without the option
        ({"both": {"labels": "nowhere"}}, None),
        ({"both": {"labels": "candidates"}}, None),
        ({"both": {"labels": 7}}, None),
        ({"agreement": {"annotations": "nowhere"}}, None),
        ({"agreement": {"annotations": ["both"]}}, None),
    ],
)
def test_labels_are_those_of_the_stage_that_made_the_annotations(
    changes: dict[str, dict[str, object]], expected: str | None
) -> None:
    """Mistakes in the other stage are reported there alone."""
    stages = {name: own | changes.get(name, {}) for name, own in ANNOTATED.items()}
    nodes, problems = build(Experiment.model_validate({"name": "x", "stages": stages}))
    own = nodes["agreement"].inputs if "agreement" in nodes else {}
    found = own.get("labels")
    assert (None if found is None else f"{found.stage}.{found.table}") == expected
    assert bool(problems) == (expected is None)
    assert not [each for each in problems if each.where == "stages.agreement.labels"]
