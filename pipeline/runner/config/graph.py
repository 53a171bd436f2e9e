"""The graph of stages: options validated, references resolved, in an order that works."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from pipeline.errors import ConfigError, Problem, did_you_mean
from pipeline.runner.config.experiment import Experiment
from pipeline.runner.config.problems import UNKNOWN, problems_of
from pipeline.stages.base import (
    STAGES,
    FilledSheets,
    Of,
    Referred,
    Seeded,
    Source,
    Stage,
    StageConfig,
    place_of,
)
from schemas import Table

TITLE = "title"
"""What every stage may say beside its options: what people call it."""


@dataclass(frozen=True)
class Reference:
    """A table of another stage that an option names; exists as a part of a node."""

    stage: str
    table: str

    def __str__(self) -> str:
        return f"{self.stage}.{self.table}"


@dataclass(frozen=True)
class SheetFolder:
    """Filled sheets: the name of their folder, and what kind they are."""

    name: str
    kind: FilledSheets


@dataclass(frozen=True)
class Node:
    """A stage of an experiment, ready to run; exists as long as the project.

    Parameters
    ----------
    name : str
        Its name in the experiment.
    stage : Stage
        What it does.
    config : StageConfig
        Its options, the seed filled in.
    inputs : mapping of str to Reference
        Option to the table it refers to; ``option.0``, ``option.1`` ... if it lists several.
    sources : mapping of str to Source
        Option to the files it reads.
    sheets : mapping of str to SheetFolder
        Option to the filled sheets that it reads.
    title : str
        What its section of the report is called; empty if it is not said.
    """

    name: str
    stage: Stage
    config: StageConfig
    inputs: Mapping[str, Reference]
    sources: Mapping[str, Source]
    sheets: Mapping[str, SheetFolder] = field(default_factory=dict)
    title: str = ""

    def own_config(self) -> dict[str, Any]:
        """Return the options that are not inputs: what enters the fingerprint."""
        listed = {name.partition(".")[0] for name in self.inputs}
        inputs = listed | set(self.sources) | set(self.sheets)
        return self.config.model_dump(mode="json", exclude=inputs)


def build(experiment: Experiment) -> tuple[dict[str, Node], list[Problem]]:
    """Return the stages that are right, in topological order, and every mistake.

    Parameters
    ----------
    experiment : Experiment
        The experiment as read.
    """
    problems: list[Problem] = []
    kinds: dict[str, Stage] = {}
    for name, content in experiment.stages.items():
        try:
            kinds[name] = _kind(name, content)
        except ConfigError as error:
            problems += error.problems
    nodes: dict[str, Node] = {}
    for name, stage in kinds.items():
        content = experiment.stages[name]
        inputs, wrong = _references(name, stage, content, kinds, set(experiment.stages))
        try:
            config = _configure(name, stage, content, experiment.seed)
        except ConfigError as error:
            problems += [*error.problems, *wrong]
            continue
        problems += wrong
        if not wrong and None not in inputs.values():
            references = {option: each for option, each in inputs.items() if each}
            files = _sources(config), _sheets(config)
            title = str(content.get(TITLE, "")).strip()
            nodes[name] = Node(name, stage, config, references, *files, title=title)
    problems += _disagreements(nodes)
    try:
        return {name: nodes[name] for name in _order(nodes) if name in nodes}, problems
    except CycleError as error:
        ring = " -> ".join(reversed(error.args[1]))
        return {}, [
            *problems,
            Problem("stages", f"the stages refer to each other in a ring: {ring}"),
        ]


def _disagreements(nodes: Mapping[str, Node]) -> Iterator[Problem]:
    """Yield what does not go together in the stages that a stage refers to."""
    for name, node in nodes.items():
        if node.stage.agree is None:
            continue
        referred = {
            place: Referred(ref.stage, nodes[ref.stage].config)
            for place, ref in node.inputs.items()
            if ref.stage in nodes
        }
        for problem in node.stage.agree(node.config, referred):
            yield replace(problem, where=f"stages.{name}.{problem.where}")


def _order(nodes: Mapping[str, Node]) -> list[str]:
    """Return an order in which every stage follows those it rests on; as written, if it can."""
    edges = {name: [ref.stage for ref in node.inputs.values()] for name, node in nodes.items()}
    TopologicalSorter(edges).prepare()  # raises on a ring
    order: dict[str, None] = {}
    for name in nodes:
        path = [name]  # each rests on the one that follows; no recursion, for chains of any length
        while path:
            before = next((each for each in edges.get(path[-1], ()) if each not in order), None)
            if before is None:
                order.setdefault(path.pop())
            else:
                path.append(before)
    return list(order)


def _kind(name: str, content: Mapping[str, Any]) -> Stage:
    where = f"stages.{name}"
    if not isinstance(content.get("use"), str):
        what = "has no use = ..., the kind of stage"
        if near := difflib.get_close_matches("use", set(content) - {"use"}, n=1):
            wrong = Problem(f"{where}.{near[0]}", UNKNOWN, "did you mean use?")
            raise ConfigError(where, [wrong])
        raise ConfigError(where, [Problem(where, what, did_you_mean("", STAGES))])
    try:
        return STAGES.get(content["use"])
    except KeyError as error:
        raise ConfigError(where, [Problem(f"{where}.use", error.args[0])]) from error


def _configure(name: str, stage: Stage, content: Mapping[str, Any], seed: str) -> StageConfig:
    if not isinstance(content.get(TITLE, ""), str):
        wrong = Problem(f"stages.{name}.{TITLE}", f"{content[TITLE]!r} is no text", 'title = "..."')
        raise ConfigError(name, [wrong])
    options = {key: value for key, value in content.items() if key not in {"use", TITLE}}
    if issubclass(stage.config, Seeded):
        own = seed if options.get("seed", "") == "" else options["seed"]
        options["seed"] = str(own) if isinstance(own, int) else own
    try:
        return stage.config.model_validate(options)
    except ValidationError as error:
        where = f"stages.{name}"
        problems = problems_of(error, stage.config, options, prefix=where, also=[TITLE])
        raise ConfigError(name, problems) from error


def _sources(config: StageConfig) -> dict[str, Source]:
    values = {name: getattr(config, name) for name in type(config).model_fields}
    return {name: value for name, value in values.items() if isinstance(value, Source)}


def _sheets(config: StageConfig) -> dict[str, SheetFolder]:
    fields = type(config).model_fields.items()
    marked = {
        name: mark
        for name, each in fields
        for mark in each.metadata
        if isinstance(mark, FilledSheets)
    }
    return {
        name: SheetFolder(folder, mark)
        for name, mark in marked.items()
        if (folder := getattr(config, name))
    }


def _references(
    name: str,
    stage: Stage,
    content: Mapping[str, Any],
    kinds: Mapping[str, Stage],
    known: set[str],
) -> tuple[dict[str, Reference | None], list[Problem]]:
    """Return the tables that a stage refers to, and the references that lead nowhere."""
    references: dict[str, Reference | None] = {}
    problems: list[Problem] = []
    for option, each in stage.config.model_fields.items():
        wanted = _wanted(each)
        if wanted is None:
            continue
        for place, value in _written(option, content.get(option, each.default)):
            try:
                references[place] = resolve(value, wanted, kinds, known)
            except ValueError as error:
                remedy = _takers(stage, option, value, kinds)
                problems.append(Problem(f"stages.{name}.{place}", str(error), remedy))
    return references, problems


def _wanted(option: FieldInfo) -> type[Table] | None:
    """Return the schema of the table that an option refers to; None if it refers to none."""
    return next((mark.schema for mark in option.metadata if isinstance(mark, Of)), None)


def _takers(stage: Stage, option: str, value: str, kinds: Mapping[str, Stage]) -> str:
    """Name the other stages of the same verb whose option takes what was given."""
    given, _, table = value.partition(".")
    outputs = kinds[given].outputs if given in kinds else {}
    tables = [outputs[each] for each in ([table] if table else outputs) if each in outputs]
    verb, found = stage.name.partition(".")[0], []
    for name in STAGES if tables else ():
        field = STAGES.get(name).config.model_fields.get(option)
        wanted = None if field is None or name.partition(".")[0] != verb else _wanted(field)
        if wanted is not None and any(issubclass(each, wanted) for each in tables):
            found.append(name)
    others = sorted(set(found) - {stage.name})
    return f"{', '.join(others)} would take it" if others else ""


def _written(option: str, value: Any) -> list[tuple[str, str]]:
    """Return what an option refers to, each with its place; what is no text is pydantic's."""
    if isinstance(value, list | tuple):
        return [(place_of(option, i), e) for i, e in enumerate(value) if isinstance(e, str)]
    return [(option, value)] if isinstance(value, str) else []


def resolve(
    written: str, wanted: type[Table], kinds: Mapping[str, Stage], known: set[str]
) -> Reference | None:
    """Return the table that ``stage`` or ``stage.table`` stands for.

    Parameters
    ----------
    written : str
        As in the experiment. A bare stage stands for its first table of the wanted schema.
    wanted : type of Table
        The schema that is asked for; a subclass will do.
    kinds : mapping of str to Stage
        The stages whose kind is known.
    known : set of str
        The names of all stages, also of those with mistakes.

    Returns
    -------
    Reference or None
        None if the stage exists but is of an unknown kind.

    Raises
    ------
    ValueError
        If there is no such stage or table, or none of that schema.
    """
    stage, _, table = written.partition(".")
    if stage not in known:
        raise ValueError(f"there is no stage {stage!r}; {did_you_mean(stage, known)}")
    if stage not in kinds:
        return None
    outputs = kinds[stage].outputs
    if table and table not in outputs:
        raise ValueError(f"stage {stage!r} has no table {table!r}; {did_you_mean(table, outputs)}")
    choice = [table] if table else list(outputs)
    fitting = [each for each in choice if issubclass(outputs[each], wanted)]
    if not fitting:
        offered = ", ".join(f"{each} ({outputs[each].__name__})" for each in choice)
        raise ValueError(f"{written!r} gives {offered}, but {wanted.__name__} is needed here")
    return Reference(stage, fitting[0])
