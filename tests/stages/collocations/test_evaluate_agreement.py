"""From annotations to agreement and the list of disagreements."""

from __future__ import annotations

import polars as pl
import pytest
from pydantic import ValidationError

from pipeline.errors import ConfigError
from tests.stages.run_stage import run_stage

GIVEN = pl.DataFrame({
    "id": ["x", "y", "z"] * 2, "annotator": ["ann"] * 3 + ["bob"] * 3,
    "label": ["svc", "no", "fig", "svc", "no", "svc"], "note": None,
}, schema_overrides={"note": pl.String})  # fmt: skip
CONFIG = {"seed": "s", "categories": {"TP": ["svc", "fig"]}, "replicates": 50}


def test_agreement_and_disagreements() -> None:
    made = run_stage("evaluate.agreement", CONFIG, annotations=GIVEN)
    kappa = made["agreement"].filter(coefficient="cohen_kappa", method="analytic")
    assert kappa.select("category", "items", "estimate").rows() == [
        ("*", 3, pytest.approx(0.5)), ("TP", 3, 1.0),
    ]  # fmt: skip
    assert made["disagreements"].rows() == [("z", "ann", "fig"), ("z", "bob", "svc")]


def test_nothing_annotated_yet() -> None:
    made = run_stage("evaluate.agreement", CONFIG, annotations=GIVEN.clear())
    assert made["agreement"]["items"].unique().to_list() == [0]
    assert made["disagreements"].is_empty()


def test_reserved_name_is_refused() -> None:
    with pytest.raises(ValidationError, match="stands for the labels themselves"):
        run_stage("evaluate.agreement", {"categories": {"*": ["svc"]}}, annotations=GIVEN)


def test_one_annotator_or_a_label_that_nobody_gave() -> None:
    alone = GIVEN.filter(pl.col("annotator") == GIVEN["annotator"][0])
    with pytest.raises(ConfigError, match="one annotator only"):
        run_stage("evaluate.agreement", CONFIG, annotations=alone)
    wrong = CONFIG | {"categories": {"SVC": ["scv"]}}
    with pytest.raises(ConfigError, match="nobody gave the label scv"):
        run_stage("evaluate.agreement", wrong, annotations=GIVEN)
