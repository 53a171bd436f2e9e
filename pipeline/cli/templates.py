"""``new`` and ``schema``: start an experiment, help an editor to write one."""

from __future__ import annotations

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.runner.config.experiment import Experiment
from pipeline.runner.store.storage import storage_at
from pipeline.stages.base import STAGES

_STARTERS = files("pipeline.cli") / "starters"


def new(
    family: Annotated[str, typer.Argument(help="collocations, clustering or lexicon")],
    folder: Annotated[Path, typer.Argument(help="Where to write it.")] = Path(),
) -> int:
    """Write a commented experiment to start from; never over a file that is there."""
    known = families()
    if family not in known:
        what, remedy = f"there is no family {family!r}", did_you_mean(family, known)
        raise ConfigError("new", [Problem("FAMILY", what, remedy)])
    contents = {each.name: each for each in known[family].iterdir()}
    there = [name for name in contents if (folder / name).exists()]
    if there:
        what = f"{', '.join(sorted(there))} is there already"
        raise ConfigError("new", [Problem(str(folder), what, "name another folder")])
    _write(folder, contents)
    print(f"lexassay run {folder / 'experiment.toml'}")
    return 0


def families() -> dict[str, Traversable]:
    """Return the folder of each family that an experiment can be started for."""
    return {each.name: each for each in _STARTERS.iterdir() if each.is_dir()}


def _write(folder: Path, contents: dict[str, Traversable]) -> None:
    storage = storage_at(folder, remedy="name another folder")
    with storage.guarded("new", ""):
        for name, starter in sorted(contents.items()):
            storage.write(name, starter.read_bytes())
            print(f"wrote {folder / name}")


def schema() -> int:
    """Print the JSON Schema of an experiment, for editors."""
    print(json.dumps(json_schema(), indent=2))
    return 0


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of an experiment, with every registered kind of stage."""
    whole = Experiment.model_json_schema()
    definitions = whole.setdefault("$defs", {})
    kinds = []
    for name in STAGES:
        options = STAGES.get(name).config.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= options.pop("$defs", {})
        options["properties"] = {"use": {"const": name}, **options["properties"]}
        options["required"] = ["use", *options.get("required", [])]
        definitions[name] = options
        kinds.append({"$ref": f"#/$defs/{name}"})
    whole["properties"]["stages"]["additionalProperties"] = {"anyOf": kinds}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
