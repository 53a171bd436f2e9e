"""What a stage declares to deliver: an object of its own, or, as before, the name of a format."""

from __future__ import annotations

from typing import Annotated, Literal

import pytest

from pipeline.stages.base import (
    STAGES,
    Delivery,
    NBestList,
    Of,
    Outputs,
    Sheets,
    Stage,
    StageConfig,
    Tables,
    stage,
)
from schemas import Identified


class Handed(StageConfig):
    """Hand candidates out."""

    candidates: Annotated[str, Of(Identified)]
    folder: str = "desk"
    kind: Literal["xlsx", "csv"] = "csv"
    labels: tuple[str, ...] = ("yes", "no")


def nothing(_config: Handed, tables: Tables) -> Outputs:
    return tables


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("list", NBestList("desk", "csv")),
        ("annotation_sheet", Sheets("desk", "csv", "annotation_sheet", labels=("yes", "no"))),
    ],
)
def test_name_of_a_format(given: str, found: Delivery, monkeypatch: pytest.MonkeyPatch) -> None:
    registered: list[Stage] = []
    monkeypatch.setattr(STAGES, "add", lambda _name, made, _module: registered.append(made))
    stage("hand.out", config=Handed, outputs={"sheet": Identified}, delivers=given)(nothing)
    assert registered[0].delivery(Handed(candidates="a")) == found


def test_stages_of_the_project() -> None:
    giving = {name for name in STAGES if STAGES.get(name).delivers}
    assert {"sheet.annotation", "sheet.keying", "sheet.list"} <= giving
