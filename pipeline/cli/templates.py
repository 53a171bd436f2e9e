"""``new`` and ``schema``: start an experiment, help an editor to write one."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any

import typer

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.runner.config.experiment import Experiment
from pipeline.runner.config.graph import TITLE
from pipeline.runner.store.storage import storage_at
from pipeline.stages.base import STAGES

_STARTERS = files("pipeline.cli") / "starters"


def new(
    family: Annotated[
        str,
        typer.Argument(help="corpus, collocations, clustering or lexicon; asked for if not given"),
    ] = "",
    folder: Annotated[Path, typer.Argument(help="Where to write it.")] = Path(),
    given: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE", help="A file of yours, looked into; can be given again."
        ),
    ] = None,
) -> int:
    """Write a commented experiment to start from; never over a file that is there.

    With files of yours it is about these: a corpus; a table of candidates; a gold standard and then
    systems; dictionaries and then a lexicon. Columns, attributes and relations are filled in.
    """
    known = families()
    family = family or _asked(known)
    if family not in known:
        what, remedy = f"there is no family {family!r}", did_you_mean(family, known)
        raise ConfigError("new", [Problem("FAMILY", what, remedy)])
    contents = _own(family, given, folder) if given else _started(known[family])
    there = [name for name in contents if (folder / name).exists()]
    if there:
        what = f"{', '.join(sorted(there))} is there already"
        raise ConfigError("new", [Problem(str(folder), what, "name another folder")])
    _write(folder, contents)
    print(f"lexassay run {folder / 'experiment.toml'}")
    return 0


def _asked(known: Iterable[str]) -> str:
    """Ask which family it is to be, where somebody can answer."""
    if not sys.stdin.isatty():
        raise ConfigError(
            "new", [Problem("FAMILY", "is not given", f"name one of {', '.join(known)}")]
        )
    return str(typer.prompt(f"What is to be evaluated? {', '.join(known)}")).strip()


def _own(family: str, files: Sequence[Path], folder: Path) -> dict[str, bytes]:
    """Return an experiment on somebody's own files."""
    from pipeline.recipes.starting import starting

    return {"experiment.toml": starting(family, files, folder).encode()}


def _started(starter: Traversable) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in starter.iterdir()}


def families() -> dict[str, Traversable]:
    """Return the folder of each family that an experiment can be started for."""
    found = {each.name: each for each in _STARTERS.iterdir() if each.is_dir()}
    return dict(sorted(found.items()))


def _write(folder: Path, contents: Mapping[str, bytes]) -> None:
    storage = storage_at(folder, remedy="name another folder")
    with storage.guarded("new", ""):
        for name, starter in sorted(contents.items()):
            storage.write(name, starter)
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
        own = {"use": {"const": name}, TITLE: {"type": "string"}}
        options["properties"] = {**own, **options["properties"]}
        options["required"] = ["use", *options.get("required", [])]
        definitions[name] = options
        kinds.append({"$ref": f"#/$defs/{name}"})
    whole["properties"]["stages"]["additionalProperties"] = {"anyOf": kinds}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **whole}
