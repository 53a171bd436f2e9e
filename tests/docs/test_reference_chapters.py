"""The reference of stages and views is that of the registries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

from pipeline.cli.app import COMMANDS
from pipeline.config_model import descriptions
from pipeline.kernels.statistics.exact_tests import TESTS
from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES
from tests.docs.scripts import script

DOCS = Path(__file__).parents[2] / "docs"
LISTED: dict[str, Callable[[ModuleType], Iterable[str]]] = {
    "intervals": lambda update: update.own(INTERVALS),
    "tests": lambda update: update.own(TESTS),
    "commands": lambda _update: [f"lexassay {name}" for name in COMMANDS],
}
# Tests register stages and views of their own: the chapters are about those of the project.
OWN = {name for name in STAGES if STAGES.get(name).run.__module__.startswith("pipeline.")}


@pytest.fixture(scope="module")
def update() -> ModuleType:
    return script("update_reference")


@pytest.mark.parametrize(
    "file", ["stages.md", "report.md", "evaluation.md", "clustering.md", "runs.md"]
)
def test_up_to_date(file: str, update: ModuleType) -> None:
    text = (DOCS / file).read_text(encoding="utf-8")
    assert text == update.updated(file, text), "run: python docs/update_reference.py"


def test_a_stage_begins_with_a_verb(update: ModuleType) -> None:
    said = "stage 'count.hapaxes': its first word is none of extract, score, sample"
    with pytest.raises(ValueError, match=said):
        update.place("count.hapaxes")


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("intervals", "docs/evaluation.md"),
        ("tests", "docs/evaluation.md"),
        ("commands", "README.md"),
    ],
)
def test_lists_made_by_hand_are_whole(update: ModuleType, kind: str, place: str) -> None:
    text = (DOCS.parent / place).read_text(encoding="utf-8").partition("<!-- estimates")[0]
    missing = [name for name in LISTED[kind](update) if not re.search(rf"\b{name}\b", text)]
    assert missing == [], f"name it in {place}"


def silent_of(model: type[BaseModel]) -> set[str]:
    return model.model_fields.keys() - descriptions(model).keys()


def test_every_option_says_what_it_is() -> None:
    silent = [f"{name}.{option}" for name in OWN for option in silent_of(STAGES.get(name).config)]
    silent += [
        f"{name}.{option}" for name in VIEWS for option in silent_of(VIEWS.get(name).options)
    ]
    assert silent == []
