"""The work that a stage gives to people: what is asked of whom, where the answers go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pipeline.formats.decisions import database
from pipeline.runner.config.project import Project
from pipeline.stages.base import Sheets


@dataclass(frozen=True)
class Work:
    """The work of a stage that lays out sheets; exists as long as its pages are served.

    Parameters
    ----------
    project : Project
        The experiment.
    stage : str
        The stage with the sheets.
    kind : str
        annotation: a label for each candidate; keying: the forms of each lemma.
    title, instructions : str
        What the page says above the cards, and what the annotator should know.
    labels : tuple of str
        What can be chosen, in the order of the keys; none where forms are keyed in.
    annotators : tuple of str
        Who is asked.
    folder : Path
        Where the sheets lie, and the decisions.
    guidelines : mapping of str to str
        Label to when it is given.
    categories : mapping of str to sequence of str
        Category to the labels that stand for it; none if nothing joins what comes back.
    keys : mapping of str to str
        Label to the key that gives it, where it is not the first letter.
    """

    project: Project
    stage: str
    kind: Literal["annotation", "keying"]
    title: str
    instructions: str
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    folder: Path
    guidelines: Mapping[str, str] = field(default_factory=dict)
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keys: Mapping[str, str] = field(default_factory=dict)

    @property
    def wanted(self) -> Sheets:
        """What the stage's sheets look like."""
        node = self.project.nodes[self.stage]
        found = node.stage.delivery(node.config)
        if not isinstance(found, Sheets):
            raise TypeError(f"stage {self.stage} lays out no sheets")
        return found

    @property
    def database(self) -> Path:
        """The file of the decisions."""
        return self.folder / database.NAME
