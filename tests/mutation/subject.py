"""Subjects of mutation: small valid experiments, their files, and independent counts."""

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
"""Evidence that all rows are present: a count, a sum, a set of rows."""

RUN = ("run", "x.toml", "--no-report")


@dataclass(frozen=True)
class Subject:
    """A small experiment in a folder, with the command that runs it.

    Parameters
    ----------
    name, kind : str
        Its name and its kind.
    files : mapping of str to bytes
        The files of the folder, including the experiment ``x.toml``.
    targets : mapping of str to mutation
        Patterns of paths of the mutated files, with their mutations.
    before : tuple of list of str
        Commands that are run in the folder before the mutation.
    prepare : callable, optional
        Simulates the work of people after these commands.
    expected : callable, optional
        Counts the files independently; None if the count is unclear.
    observed : callable, optional
        Counts the results of the program.
    command : tuple of str
        The command that is run after the mutation.
    word : callable, optional
        Mutates the command instead of a file.
    weight : int
        Its relative frequency among the subjects.
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
        """Write the unchanged files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
