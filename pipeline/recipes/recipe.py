"""An experiment made of a few options: its text, where it is kept, and its run."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from pipeline.api.results import Run
from pipeline.api.run import run
from pipeline.errors import ConfigError, Problem
from pipeline.recipes import cache
from pipeline.runner.events import Listener
from pipeline.runner.store.digest import canonical, text_digest
from pipeline.runner.store.storage import in_a_folder, storage_at

FOLDER = "experiments"
"""Where the experiments stand, in the folder of their results."""
_IN_A_NAME = 40
_IN_A_MARK = 10


@dataclass(frozen=True)
class Recipe:
    """An experiment before it is written.

    Parameters
    ----------
    kind : str
        What it does, in a word: the name of the command.
    about : str
        What it is about, for its name.
    stages : mapping of str to mapping
        Stage to options, as in the file; paths of this machine are `Path`.
    title : str
        Heading of the report.
    """

    kind: str
    about: str
    stages: Mapping[str, Mapping[str, Any]]
    title: str = ""

    @property
    def results(self) -> str:
        """What its results are filed under: the same for all that is asked of the same files."""
        paths = sorted({str(path.absolute()) for path in _paths(self.stages)})
        return f"{self.kind}-{text_digest(canonical(paths))[:_IN_A_MARK]}"

    @property
    def name(self) -> str:
        """The name of the experiment."""
        words = re.sub(r"[^A-Za-z0-9._-]+", "-", self.about)[:_IN_A_NAME].strip("-._")
        return "-".join(filter(None, [self.kind, words]))

    def content(self, folder: Path | None = None) -> dict[str, Any]:
        """Return the experiment as plain data.

        Parameters
        ----------
        folder : Path, optional
            Where its file is: paths are written from there. Whole paths if not given.
        """
        named = {"name": self.name, "title": self.title or self.name, "seed": "lexassay"}
        return {**named, "stages": _written(self.stages, folder)}

    def text(self, folder: Path | None = None) -> str:
        """Return the experiment as TOML."""
        return tomli_w.dumps(self.content(folder))


def save(recipe: Recipe, file: Path) -> None:
    """Write an experiment to a file, with paths from its folder; never over one that is there.

    Raises
    ------
    ConfigError
        If the file is there, or is not called .toml.
    StoreError
        If it cannot be written.
    """
    if file.suffix != ".toml":
        raise ConfigError("--save", [Problem(str(file), "is no .toml file", "name it so")])
    if file.exists():
        raise ConfigError("--save", [Problem(str(file), "is there already", "name another")])
    storage = storage_at(file.absolute().parent, remedy="name another file")
    with storage.guarded("--save", ""):
        storage.write(file.name, recipe.text(file.absolute().parent).encode())


def perform(
    recipe: Recipe,
    *,
    runs: Path | None = None,
    report: bool = False,
    listeners: Sequence[Listener] = (),
) -> Run:
    """Run an experiment; what was computed before is there at once.

    Parameters
    ----------
    recipe : Recipe
        The experiment.
    runs : Path, optional
        The folder of its results; a cache folder of the user if not given, where what has not been
        used for long goes away.
    report : bool
        Whether to write the report.
    listeners : sequence of callable
        Are told what happens.

    Raises
    ------
    LexassayError
        As `pipeline.api.run.run` does.
    """
    root = runs or cache.folder()
    in_a_folder(root, recipe.kind)
    content = recipe.content()
    mark = text_digest(canonical(content))[:_IN_A_MARK]
    key = f"{FOLDER}/{recipe.results}/{content['name']}-{mark}.toml"
    content["name"] = recipe.results
    storage = storage_at(root, remedy="name another folder by --runs")
    with storage.guarded(recipe.kind, ""):
        storage.write(key, tomli_w.dumps(content).encode())
        if runs is None:
            cache.tidy(root)
    try:
        return run(root / key, runs=root, report=report, listeners=listeners)
    except ConfigError as error:
        raise ConfigError(recipe.kind, error.problems) from error


def _paths(value: Any) -> Iterator[Path]:
    """Yield every path among the options."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _paths(each)


def _written(value: Any, folder: Path | None) -> Any:
    """Return options with paths as text, and without what is not given."""
    if isinstance(value, Mapping):
        items = ((key, _written(each, folder)) for key, each in value.items())
        return {key: each for key, each in items if each is not None}
    if isinstance(value, list | tuple):
        return [_written(each, folder) for each in value]
    if isinstance(value, Path):
        whole = value.absolute()
        return Path(os.path.relpath(whole, folder)).as_posix() if folder else whole.as_posix()
    return value
