"""The dry run: the outputs of a stage are checked before there is any data."""

from __future__ import annotations

import hashlib
from pathlib import Path

import polars as pl
import pytest

import pipeline as lx
from pipeline.cli.run import json_schema
from pipeline.errors import ConfigError
from pipeline.runner.config import Experiment
from pipeline.runner.graph import Node, Project, build, dry_run
from pipeline.stages.base import Outputs, Stage, StageConfig
from schemas import Judgements

WHOLE = Judgements.zero_rows()


def problems(outputs: Outputs) -> list[str]:
    """Return the problems of a stage with these outputs that declares Judgements."""
    stage: Stage = Stage(
        "own.stage", lambda *_: outputs, config=StageConfig, outputs={"judgements": Judgements}
    )
    node = Node("own", stage, StageConfig(), {}, {})
    return list(map(str, dry_run({"own": node}, {})[1]))


def test_declared_outputs_have_no_problem() -> None:
    assert problems({"judgements": WHOLE}) == []


def test_undeclared_tables_are_reported() -> None:
    (problem,) = problems({"judgement": WHOLE})
    assert problem == (
        "stages.own.use: makes ['judgement'], but declares ['judgements'];"
        " this is a bug in the stage"
    )


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (WHOLE.drop("tp"), "column tp: missing"),
        (WHOLE.with_columns(tp=pl.lit("yes")), "column tp: "),
        (WHOLE.with_columns(pl.col("nothing")), "nothing"),
    ],
)
def test_columns_that_do_not_match_are_reported(frame: pl.LazyFrame, message: str) -> None:
    (error,) = problems({"judgements": frame})
    assert error.startswith("stages.own: ")
    assert message in error


def test_a_condition_that_compares_text_with_a_number_is_refused(tmp_path: Path) -> None:
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


def test_a_chain_of_stages_may_have_any_length() -> None:
    """Each stage reads the one before it twice; the file has them in reverse order."""
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


def test_the_title_of_a_stage_is_not_one_of_its_options() -> None:
    titled, plain = (build(each)[0]["a"] for each in (one(title=" For people "), one()))
    assert (titled.title, plain.title) == ("For people", "")
    assert titled.own_config() == plain.own_config()
    assert "title" in json_schema()["$defs"]["extract.table"]["properties"]


def test_a_misspelt_title_is_reported_with_a_suggestion() -> None:
    _, (wrong,) = build(one(titel="For people"))
    assert "did you mean title?" in wrong.remedy


@pytest.mark.parametrize("title", [7, True, ["a"], {"a": "b"}])
def test_a_title_must_be_text(title: object) -> None:
    nodes, (wrong,) = build(one(title=title))
    assert not nodes
    assert wrong.where == "stages.a.title"
    assert f"{title!r} is not text" in wrong.what


# An omitted option that takes its value from the stage of a sibling option.

ANNOTATION_STAGES = {
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
def test_labels_are_inherited_from_the_stage_of_annotations(
    changes: dict[str, dict[str, object]], expected: str | None
) -> None:
    """Errors in the other stage are reported only there."""
    stages = {name: own | changes.get(name, {}) for name, own in ANNOTATION_STAGES.items()}
    nodes, problems = build(Experiment.model_validate({"name": "x", "stages": stages}))
    own = nodes["agreement"].inputs if "agreement" in nodes else {}
    result = own.get("labels")
    assert (None if result is None else f"{result.stage}.{result.table}") == expected
    assert bool(problems) == (expected is None)
    assert not [each for each in problems if each.where == "stages.agreement.labels"]


# Public data with digests

DATA = """
name = "x"
[data."sub/pairs.tsv"]
source = "https://example.org/pairs"
sha256 = "{digest}"
[stages.candidates]
use = "extract.table"
path = "{path}"
"""


@pytest.fixture
def folder_data(tmp_path: Path) -> Path:
    (tmp_path / "data/sub").mkdir(parents=True)
    row = "a\tb\t1\t2\t3\t99\n"
    (tmp_path / "data/sub/pairs.tsv").write_text(f"l1\tl2\tf\tf1\tf2\tN\n{row}")
    return tmp_path


def checked_data(folder: Path, digest: str, path: str = "data:sub/pairs.tsv") -> Project:
    (folder / "x.toml").write_text(DATA.format(digest=digest, path=path))
    return lx.check(folder / "x.toml", runs=folder / "runs", data=folder / "data")


@pytest.mark.parametrize("path", ["data:sub/pairs.tsv", "data:sub/*.tsv", "data:sub"])
def test_public_data_with_other_content_are_refused(folder_data: Path, path: str) -> None:
    file = folder_data / "data/sub/pairs.tsv"
    right = hashlib.sha256(file.read_bytes()).hexdigest()
    assert checked_data(folder_data, right, path).nodes
    assert not (folder_data / "runs").exists()
    file.write_text(file.read_text() + "c\td\t1\t2\t3\t99\n")
    now = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(ConfigError) as refused:
        checked_data(folder_data, right, path)
    message = f"has other content: its SHA-256 is {now}, not {right}; get the file from its source"
    assert f'data."sub/pairs.tsv": {file} {message} (https://example.org/pairs), or' in str(
        refused.value
    )
    with pytest.raises(ConfigError, match="has other content"):
        lx.run(folder_data / "x.toml", runs=folder_data / "runs", data=folder_data / "data")


def test_an_invalid_digest_of_public_data_is_refused(folder_data: Path) -> None:
    with pytest.raises(ConfigError, match=r"data\.sub/pairs\.tsv\.sha256: should be 64 digits"):
        checked_data(folder_data, "abc")


def test_public_data_that_no_stage_reads_are_not_checked(folder_data: Path) -> None:
    (folder_data / "own.tsv").write_bytes((folder_data / "data/sub/pairs.tsv").read_bytes())
    assert checked_data(folder_data, "0" * 64, "own.tsv").nodes
