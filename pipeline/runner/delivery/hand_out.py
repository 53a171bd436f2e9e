"""Give to people what a stage made for them, or say what would be given."""

from __future__ import annotations

from pipeline.runner.config.graph import Node
from pipeline.runner.config.project import Project
from pipeline.runner.delivery.lists import deliver_list
from pipeline.runner.delivery.sheets import deliver_sheets
from pipeline.runner.store.manifest import Manifest
from pipeline.stages.base import Sheets


def hand_out(project: Project, node: Node, made: Manifest, *, write: bool) -> list[str]:
    """Write the sheets or the list of a stage, and say so.

    Parameters
    ----------
    project : Project
        The experiment.
    node : Node
        The stage.
    made : Manifest
        Its artefact.
    write : bool
        Whether to write anything. What-ifs do not: people would be asked for labels of them.

    Returns
    -------
    list of str
        A line for each new file.
    """
    wanted = node.stage.delivery(node.config)
    if wanted is None:
        return []
    if isinstance(wanted, Sheets):
        new = deliver_sheets(project, made, wanted, write=write)
    else:
        new = deliver_list(project, made, wanted, write=write)
    if write:
        return [f"wrote {each}" for each in new]
    return [f"would write {each}; --deliver writes it" for each in new]
