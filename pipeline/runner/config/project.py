"""An experiment made ready: file read, overrides applied, graph built and run dry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from pipeline import room
from pipeline.errors import ConfigError, Problem
from pipeline.runner.config.dry_run import Planned, dry_run
from pipeline.runner.config.experiment import Experiment, override, parse, read_toml
from pipeline.runner.config.graph import Node, build
from pipeline.runner.config.sheet_places import SheetPlaces, sheet_places
from pipeline.runner.config.sources import Places, SourceFile, data_root, find
from pipeline.runner.store.storage import pages_at, storage_at
from pipeline.runner.store.verbs import Storage

RUNS = Path("runs")
"""Where results go if nothing else is said."""

Checker: TypeAlias = Callable[[Experiment], Sequence[Problem]]
"""Finds further mistakes, such as those of the report's section."""


@dataclass(frozen=True)
class Project:
    """An experiment that can run; exists once its stages fit together and its files are found.

    Parameters
    ----------
    experiment : Experiment
        What the file says, overrides applied.
    content : mapping
        The same as plain data, for provenance.
    nodes : mapping of str to Node
        The stages in topological order.
    files : mapping of str to mapping
        Stage to option to the files found.
    planned : mapping of str to mapping
        Stage to table to what it will be, without rows.
    root : Path
        The folder of its results, or an address such as ``s3://bucket/runs/pilot``.
    sheets : SheetPlaces
        The folders of the sheets that people fill in.
    text : str
        The file as written, for provenance.
    """

    experiment: Experiment
    content: Mapping[str, Any]
    nodes: Mapping[str, Node]
    files: Mapping[str, Mapping[str, list[SourceFile]]]
    planned: Planned
    root: Path
    sheets: SheetPlaces
    text: str = ""

    @property
    def storage(self) -> Storage:
        """What holds its results."""
        return storage_at(self.root)

    @property
    def folder(self) -> Path:
        """The folder of this machine for what people open, such as the report."""
        return pages_at(self.root)

    @property
    def pages(self) -> Storage:
        """What holds the report and the tables of a sweep."""
        return storage_at(self.folder)

    def files_of(self, node: Node) -> dict[str, list[SourceFile]]:
        """Return the files that a stage reads, and the sheets that there are at this moment."""
        filled = {
            option: self.sheets.files(folder.name, folder.kind.format)
            for option, folder in node.sheets.items()
        }
        return {**self.files[node.name], **filled}


def load(
    path: Path,
    *,
    runs: Path,
    data: Path | None = None,
    settings: Mapping[str, Any] | None = None,
    also: Checker | None = None,
) -> Project:
    """Read an experiment and check all of it before any data is read.

    Parameters
    ----------
    path : Path
        The TOML file.
    runs : Path
        Folder of all results.
    data : Path, optional
        The data root; the environment's if not given.
    settings : mapping, optional
        Dotted path to the value that replaces the file's.
    also : callable, optional
        Finds further mistakes.

    Raises
    ------
    ConfigError
        With every mistake in the file.
    DataError
        If an input file is empty or unreadable.
    """
    content = override(read_toml(path), settings or {})
    experiment, problems = parse(content)
    if experiment is None:
        raise ConfigError(str(path), problems)
    nodes, wrong = build(experiment)
    problems += wrong
    places = Places(path.parent, data_root(data), experiment.data)
    files = _files(nodes, places, problems)
    with room.limited(experiment.run.memory):
        planned, misfits = dry_run(nodes, files)
    problems += misfits
    problems += also(experiment) if also else ()
    if problems:
        raise ConfigError(str(path), problems)
    text = path.read_text(encoding="utf-8-sig")
    sheets = sheet_places(path, runs=runs, name=experiment.name, written=experiment.sheets)
    root = runs / experiment.name
    return Project(experiment, content, nodes, files, planned, root, sheets, text)


def _files(
    nodes: Mapping[str, Node], places: Places, problems: list[Problem]
) -> dict[str, dict[str, list[SourceFile]]]:
    files: dict[str, dict[str, list[SourceFile]]] = {}
    for name, node in nodes.items():
        files[name] = {}
        for option, source in node.sources.items():
            try:
                files[name][option] = find(source, places, where=f"stages.{name}.{option}")
            except ConfigError as error:
                problems += error.problems
    return files
