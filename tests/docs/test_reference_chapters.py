"""The reference of stages and views is that of the registries."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pipeline.report.view import VIEWS
from pipeline.stages.base import STAGES

DOCS = Path(__file__).parents[2] / "docs"
# Tests register stages and views of their own: the chapters are about those of the project.
OWN = {name for name in STAGES if STAGES.get(name).run.__module__.startswith("pipeline.")}


@pytest.mark.parametrize(
    "file", ["stages.md", "report.md", "evaluation.md", "clustering.md", "runs.md"]
)
def test_up_to_date(file: str) -> None:
    found = importlib.util.spec_from_file_location("update", DOCS / "update_reference.py")
    assert found is not None
    assert found.loader is not None
    update = importlib.util.module_from_spec(found)
    found.loader.exec_module(update)
    text = (DOCS / file).read_text(encoding="utf-8")
    assert text == update.updated(file, text), "run: python docs/update_reference.py"


def test_every_option_says_what_it_is() -> None:
    silent = [
        f"{name}.{option}"
        for name in OWN
        for option, field in STAGES.get(name).config.model_fields.items()
        if not field.description
    ]
    silent += [
        f"{name}.{option}"
        for name in VIEWS
        for option, field in VIEWS.get(name).options.model_fields.items()
        if not field.description
    ]
    assert silent == []
