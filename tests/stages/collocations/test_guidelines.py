"""Guidelines of labels: of labels that there are, and handed on to who delivers the sheets."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from pipeline.stages.base import STAGES, Sheets
from pipeline.stages.collocations.sheets import SheetAnnotation

OPTIONS: dict[str, Any] = {
    "candidates": "c", "sample": "s", "folder": "f", "labels": ("SVC", "free"),
}  # fmt: skip


def delivered(**options: Any) -> Sheets:
    stage = STAGES.get("sheet.annotation")
    sheets = stage.delivery(stage.config.model_validate(OPTIONS | options))
    assert isinstance(sheets, Sheets)
    return sheets


def test_guidelines_go_with_the_sheets() -> None:
    assert delivered().guidelines == {}
    said = {"free": "All else.", "SVC": "A light verb."}
    assert delivered(guidelines=said).guidelines == said


@pytest.mark.parametrize(
    ("guidelines", "said"),
    [
        ({"SVG": "A light verb."}, "there is no label 'SVG'; did you mean SVC?"),
        ({"svc": "A light verb."}, "there is no label 'svc'; did you mean SVC?"),
        ({"free": "All else.", "idiom": "x"}, "there is no label 'idiom'; valid: SVC, free"),
        ({"SVC": " \n"}, "the guideline of 'SVC' is blank"),
        ({"SVC": "x" * 10_001}, "has 10,001 characters, more than 10,000"),
    ],
)
def test_guidelines_that_nobody_could_use(guidelines: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError) as error:
        SheetAnnotation.model_validate(OPTIONS | {"guidelines": guidelines})
    (wrong,) = error.value.errors()
    assert wrong["loc"] == ("guidelines",)
    assert said in wrong["msg"]


def test_wrong_labels_are_told_alone() -> None:
    with pytest.raises(ValidationError) as error:
        SheetAnnotation.model_validate(OPTIONS | {"labels": (), "guidelines": {"SVC": "x"}})
    assert [wrong["loc"] for wrong in error.value.errors()] == [("labels",)]
