"""The order of stages."""

from __future__ import annotations

import pytest

from pipeline.cli.run import json_schema
from pipeline.runner.config import Experiment
from pipeline.runner.graph import build

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
    assert f"{title!r} is no text" in wrong.what
