"""Experiments that readme and documentation show are valid, whole or in part; their Python compiles."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pipeline.cli.run import json_schema
from pipeline.stages.base import STAGES

ROOT = Path(__file__).parents[2]
TEXTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "data" / "README.md",
    *sorted(ROOT.glob("docs/**/*.md")),
]
FENCE = re.compile(r"^(`{3,})(?:\{code-block\} *)?(toml|python)\n(.*?)^\1 *$", re.M | re.S)
CAPTION = re.compile(r"\A(?::\w[\w-]*:[^\n]*\n)+")
SECTIONS = {"stages", "report", "run", "sweep", "remarks"}


def shown(language: str) -> Iterator[tuple[str, str]]:
    """Yield every block in a language, and the page and line it stands at."""
    for path in TEXTS:
        text = path.read_text(encoding="utf-8")
        for block in FENCE.finditer(text):
            line = text.count("\n", 0, block.start()) + 1
            if block[2] == language and ":caption: Snakefile" not in block[3]:
                yield f"{path.relative_to(ROOT)}:{line}", CAPTION.sub("", block[3])


TABLES = {place: block for place, block in shown("toml") if re.search(r"^\[", block, re.M)}
EXPERIMENTS = {
    place: block for place, block in TABLES.items() if SECTIONS & set(tomllib.loads(block))
}
PYTHON = dict(shown("python"))


def whole(fragment: dict[str, Any]) -> dict[str, Any]:
    """Return an experiment that has what a fragment shows."""
    stub = {"use": "score.rank", "scores": "scores"}
    return {"name": "shown", "stages": {"stub": stub}, **fragment}


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json_schema())


@pytest.mark.parametrize("place", EXPERIMENTS)
def test_an_experiment_is_valid(place: str, schema: jsonschema.Draft202012Validator) -> None:
    experiment = whole(tomllib.loads(EXPERIMENTS[place]))
    schema.validate(experiment)
    for options in experiment["stages"].values():
        given = {name: value for name, value in options.items() if name != "use"}
        STAGES.get(options["use"]).config.model_validate(given)


@pytest.mark.parametrize("place", PYTHON)
def test_python_compiles(place: str) -> None:
    compile(PYTHON[place], place, "exec")


def test_there_are_some() -> None:
    assert len(EXPERIMENTS) > 20
    assert len(PYTHON) > 10


def test_a_mistake_in_a_fragment_is_found() -> None:
    fragment = {"stages": {"s": {"use": "sample.random", "candidates": "c", "rat": 0.1}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(json_schema()).validate(whole(fragment))
