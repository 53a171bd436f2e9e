"""The plan of a run: which stages have to run, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from pipeline.formats.base import FORMATS
from pipeline.runner.fingerprint import (
    Digests,
    Ingredients,
    differences,
    fingerprint,
    ingredients,
    of_counts,
)
from pipeline.runner.graph import Node, Project
from pipeline.runner.inputs import SourceFile
from pipeline.runner.store import artefacts, history
from pipeline.runner.store.artefacts import Manifest
from pipeline.runner.store.interface import Storage
from pipeline.stages.base import late_options

NEVER = "it has never run"
COUNTED = "its counts are done"

State: TypeAlias = Literal["done", "run", "unknown"]


@dataclass(frozen=True)
class Step:
    """A planned stage with its inspected inputs.

    Parameters
    ----------
    node : Node
        The stage.
    state : str
        "done": a result exists; "run": it has to run; "unknown": depends on the results of an
        earlier stage.
    reasons : tuple of str
        Why it has to run.
    ingredients : Ingredients or None
        Dependencies of its result, if known.
    manifest : Manifest or None
        The existing result.
    sources : mapping of str to tuple of SourceFile
        Option to its files, with their digests.
    damage : str
        What is wrong with a result that exists, but cannot be used.
    """

    node: Node
    state: State
    reasons: tuple[str, ...] = ()
    ingredients: Ingredients | None = None
    manifest: Manifest | None = None
    sources: Mapping[str, tuple[SourceFile, ...]] = field(default_factory=dict)
    damage: str = ""

    @property
    def fingerprint(self) -> str:
        """The fingerprint, empty where unknown."""
        return fingerprint(self.ingredients) if self.ingredients else ""

    @property
    def counts(self) -> Ingredients | None:
        """The dependencies of its counts; None if unknown or if it does not count."""
        if self.ingredients is None or self.node.stage.counting is None:
            return None
        return of_counts(self.ingredients, late_options(self.node.stage.config))

    @property
    def fingerprints(self) -> set[str]:
        """Those of its result and of its counts."""
        return {fingerprint(parts) for parts in (self.ingredients, self.counts) if parts}


def plan(project: Project, digests: Digests, discarded: Collection[str] = ()) -> Iterator[Step]:
    """Yield every stage in order, with what a run would do with it.

    Parameters
    ----------
    project : Project
        The experiment.
    digests : Digests
        Of the input files and the code.
    discarded : collection of str
        Stages that are done even if the files of their tables are gone.
    """
    manifests: dict[str, Manifest] = {}
    for name, node in project.nodes.items():
        waiting = sorted({ref.stage for ref in node.inputs.values()} - set(manifests))
        if waiting:
            yield Step(node, "unknown", (f"depends on the results of {', '.join(waiting)}",))
            continue
        step = step_of(project, node, manifests, digests, discarded)
        if step.manifest:
            manifests[name] = step.manifest
        yield step


def step_of(
    project: Project,
    node: Node,
    manifests: Mapping[str, Manifest],
    digests: Digests,
    discarded: Collection[str] = (),
) -> Step:
    """Return the plan of a stage whose inputs exist; reads its result, see `plan`."""
    if node.name in project.absent:
        return _stored_step(project, node, manifests, digests)
    sources = {  # at this moment
        option: tuple(file.as_it_is(digests.of) for file in files)
        for option, files in project.files_of(node).items()
    }
    parts = _ingredients(node, manifests, sources, digests)
    mark = fingerprint(parts)
    manifest = artefacts.find(
        project.storage, node.name, mark, thorough=True, files=node.name not in discarded
    )
    if manifest:
        return Step(node, "done", (), parts, manifest, sources)
    damage = artefacts.damage_message(project.storage, node.name, mark) or ""
    step = Step(node, "run", (), parts, None, sources, damage)
    texts = [f"its result is damaged: {damage}"] if damage else _reasons(project, node.name, parts)
    return replace(step, reasons=(*texts, *_reasons_of_counts(project, step)))


def _stored_step(
    project: Project, node: Node, manifests: Mapping[str, Manifest], digests: Digests
) -> Step:
    """Return the stored result of a stage whose files are absent, else why it must run.

    The files are assumed to be those of the run that made the result.
    """
    damage = ""
    for key in history.fingerprints_of(project.storage, node.name, _paths(project, node)):
        manifest = artefacts.find(project.storage, node.name, key)
        if manifest is None:
            wrong = artefacts.damage_message(project.storage, node.name, key)
            damage = damage or wrong or ""
            continue
        files = {option: manifest.ingredients["inputs"].get(option) for option in node.sources}
        readers = {name for each in files.values() if each for name in each["format"]}
        if not readers <= set(FORMATS):
            continue
        parts = ingredients(
            node,
            inputs=_input_digests(node, manifests),
            files=files,
            readers={FORMATS.place(name) for name in readers},
            digests=digests,
        )
        if fingerprint(parts) == key:
            return Step(node, "done", (), parts, manifest)
    reasons = tuple(each.what for each in project.absent[node.name])
    return Step(node, "run", reasons, damage=damage)


def _paths(project: Project, node: Node) -> dict[str, Any]:
    """Return the options with the files of a stage, as in the records of runs."""
    return {option: project.content["stages"][node.name].get(option) for option in node.sources}


def _input_digests(node: Node, manifests: Mapping[str, Manifest]) -> dict[str, str]:
    return {
        option: manifests[reference.stage].tables[reference.table].digest
        for option, reference in node.inputs.items()
    }


def _ingredients(
    node: Node,
    manifests: Mapping[str, Manifest],
    sources: Mapping[str, Sequence[SourceFile]],
    digests: Digests,
) -> Ingredients:
    """Return what the result of a stage depends on."""
    inputs = _input_digests(node, manifests)
    files: dict[str, Any] = {}
    readers: set[str] = set()
    for option, group in sources.items():
        files[option] = {
            "format": [file.format.name for file in group],
            "options": [file.options.model_dump(mode="json") for file in group],
            "files": [file.digest for file in group],
        }
        readers |= {FORMATS.place(file.format.name) for file in group}
    return ingredients(node, inputs=inputs, files=files, readers=readers, digests=digests)


def _reasons(project: Project, name: str, parts: Ingredients) -> list[str]:
    artefact = _former(project.storage, name)
    if artefact is None:
        return [NEVER]
    return differences(artefact.ingredients, parts) or ["its result is missing"]


def _former(storage: Storage, name: str) -> Manifest | None:
    """Return the result to compare with: of the last run, or else the newest one."""
    last = history.last_fingerprint(storage, name)
    # Reading all manifests is slow if there are many, above all on an object store.
    artefact = artefacts.read(storage, artefacts.folder_of(name, last)) if last else None
    if artefact is not None and artefact.fingerprint == last:
        return artefact
    others = artefacts.artefacts(storage, name)
    return next((each for each in others if each.fingerprint == last), next(iter(others), None))


def _reasons_of_counts(project: Project, step: Step) -> Iterator[str]:
    """Yield whether the stage has counts from a run with other options."""
    if step.counts is None:
        return
    place, mark = artefacts.counts_of(step.node.name), fingerprint(step.counts)
    if artefacts.find(project.storage, place, mark, thorough=True):
        yield COUNTED
    elif damaged := artefacts.damage_message(project.storage, place, mark):
        yield f"its counts are damaged: {damaged}"
