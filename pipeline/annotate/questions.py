"""The stages whose questions the answers of a sheet decide, and all that these rest on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pipeline.annotate.work import Work
from pipeline.runner.config.graph import Node
from pipeline.runner.config.project import Project

EVALUATING = (
    "evaluate.precision",
    "evaluate.designed",
    "evaluate.comparison",
    "evaluate.stratified",
)
"""The kinds of stages with limits of declared questions."""


@dataclass(frozen=True)
class Asked:
    """What the answers of a sheet decide.

    Parameters
    ----------
    project : Project
        The experiment without all that the questions do not rest on, and without the stages that
        answer them; missing labels are not waited for.
    joins : tuple of str
        The stages that read the sheet's folder.
    stages : tuple of Node
        The stages that answer the questions, in the order of the experiment.
    settings : mapping
        What was changed in it.
    """

    project: Project
    joins: tuple[str, ...]
    stages: tuple[Node, ...]
    settings: Mapping[str, Any]


def asked(work: Work, root: Path) -> Asked:
    """Return the questions of a sheet, to be answered from what is judged so far.

    Parameters
    ----------
    work : Work
        The sheet.
    root : Path
        The folder of what is made meanwhile; the project's own results stay as they are.
    """
    nodes = work.project.nodes
    folder = getattr(nodes[work.stage].config, "folder", None)
    joins = tuple(
        name
        for name, node in nodes.items()
        if node.stage.name == "join.sheets"
        and any(each.name == folder for each in node.sheets.values())
    )
    stages = tuple(
        node
        for node in nodes.values()
        if node.stage.name in EVALUATING
        and "judgements" in node.inputs
        and node.inputs["judgements"].stage in joins
    )
    needed = _rests_on(nodes, (ref.stage for node in stages for ref in node.inputs.values()))
    partial = {
        name: replace(node, config=node.config.model_copy(update={"partial": True}))
        if name in joins
        else node
        for name, node in nodes.items()
        if name in needed
    }
    settings = {f"stages.{name}.partial": True for name in joins}
    return Asked(replace(work.project, nodes=partial, root=root), joins, stages, settings)


def _rests_on(nodes: Mapping[str, Node], first: Iterable[str]) -> set[str]:
    found: set[str] = set()
    todo = list(first)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += [ref.stage for ref in nodes[name].inputs.values()]
    return found
