"""What is mutated: a small valid experiment, its files, and what of it can be counted otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeAlias

from tests.mutation.mutations import MutationByteMutations

Kind: TypeAlias = Literal[
    "tables",
    "corpora",
    "clusters",
    "lexicons",
    "sheets",
    "experiments",
    "results",
    "commands",
    "odd files",
]
Counted: TypeAlias = Any
"""Whatever tells that all rows are there: a count, a sum, a set of rows."""

RUN = ("run", "x.toml", "--no-report")


@dataclass(frozen=True)
class Subject:
    """A small experiment in a folder, with the command that runs it.

    Parameters
    ----------
    name, kind : str
        What it is called, and what it is one of.
    files : mapping of str to bytes
        The files of the folder, the experiment ``x.toml`` among them.
    targets : mapping of str to mutation
        The files that are mutated, and how; patterns of paths, for files that a run makes.
    before : tuple of list of str
        Commands that are run in the folder before anything is mutated.
    prepare : callable, optional
        Does what people do, after these commands.
    expected : callable, optional
        Counts the files in a way of its own; None where it cannot tell.
    observed : callable, optional
        Counts what the program made of them.
    command : tuple of str
        What is run after the mutation.
    word : callable, optional
        Mutates the command instead of a file.
    weight : int
        How often it is chosen, against the others.
    """

    name: str
    kind: Kind
    files: Mapping[str, bytes]
    targets: Mapping[str, MutationByteMutations] = field(default_factory=dict)
    before: tuple[tuple[str, ...], ...] = ()
    prepare: Callable[[Path], None] | None = None
    expected: Callable[[Path], Counted | None] | None = None
    observed: Callable[[Path], Counted] | None = None
    command: tuple[str, ...] = RUN
    word: Callable[[Random, list[str]], list[str]] | None = None
    weight: int = 1

    def build(self, folder: Path) -> None:
        """Write the files as they are before anything is mutated."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
