"""What is said of options that are wrong: the place as it stands in the file, the nearest names."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.runner.problems import problems_of


class Strict(BaseModel):
    """No unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Labels(Strict):
    """A column and some of its labels."""

    column: str
    labels: tuple[str, ...]


class Options(Strict):
    """One field of each kind that stages have."""

    measures: tuple[str, ...] = ()
    window: Labels | None = None
    positions: tuple[Labels, ...] = ()
    categories: dict[str, str | Labels] = {}
    over: dict[str, list[Any] | Labels] = {}
    rate: int | Labels | None = None


def said(content: dict[str, Any]) -> list[str]:
    with pytest.raises(ValidationError) as error:
        Options.model_validate(content)
    return list(map(str, problems_of(error.value, Options, content, prefix="stages.x")))


WHOLE = {"column": "TP", "labels": ["a"]}
WRONG = {**WHOLE, "lable": 1}


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ({"window": WRONG}, "window.lable"),
        ({"positions": [WHOLE, WRONG]}, "positions.1.lable"),
        ({"categories": {"TP": WRONG}}, "categories.TP.lable"),
        ({"categories": {"column": WRONG}}, "categories.column.lable"),
        ({"over": {"a.b": WRONG}}, "over.a.b.lable"),
        ({"rate": WRONG}, "rate.lable"),
    ],
)
def test_an_unknown_key_wherever_it_stands(content: dict[str, Any], where: str) -> None:
    assert said(content) == [f"stages.x.{where}: unknown key; did you mean labels?"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ({"measures": ["mi", 3]}, "measures.1: should be text (found 3)"),
        ({"measures": 3}, "measures: should be a list (found 3)"),
        ({"categories": {"TP": 3}}, "categories.TP: should be text (found 3)"),
        ({"categories": {"TP": {"column": "TP"}}}, "categories.TP.labels: is required but absent"),
        ({"over": {"n": 3}}, "over.n: should be a list (found 3)"),
        ({"over": {"n": {"column": "n"}}}, "over.n.labels: is required but absent"),
        (
            {"positions": [WHOLE, {**WHOLE, "labels": ["a", 2]}]},
            "positions.1.labels.1: should be text (found 2)",
        ),
    ],
)
def test_a_value_of_the_wrong_type(content: dict[str, Any], problem: str) -> None:
    assert said(content) == [f"stages.x.{problem}"]


def test_all_mistakes_at_once() -> None:
    found = said({"categories": {"A": WRONG, "B": 3}, "measure": ["mi"]})
    assert found == [
        "stages.x.categories.A.lable: unknown key; did you mean labels?",
        "stages.x.measure: unknown key; did you mean measures?",
        "stages.x.categories.B: should be text (found 3)",
    ]
