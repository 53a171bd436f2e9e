"""From a TOML file to a project: the graph of its stages, validated, ordered and run dry."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl
from polars import selectors
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from pipeline import errors, memory
from pipeline.errors import ConfigError, Problem, SchemaViolation, did_you_mean
from pipeline.formats.base import reading
from pipeline.runner.config import (
    Experiment,
    SheetPlaces,
    name_settings,
    override,
    parse,
    read_toml,
    sheet_places,
)
from pipeline.runner.inputs import NEEDS_ROOT, AbsentFile, Places, SourceFile, data_root, find
from pipeline.runner.problems import UNKNOWN, problems_of, unknown_stage
from pipeline.runner.store.backends import pages_at, storage_at
from pipeline.runner.store.digest import FILES, FileCache, file_digest
from pipeline.runner.store.interface import Storage
from pipeline.stages.base import (
    FAULTS,
    STAGES,
    DocumentBounds,
    FilledSheets,
    Of,
    Outputs,
    SeedOptions,
    Source,
    Stage,
    StageConfig,
    StageReference,
    Tables,
    input_name,
)
from pipeline.stages.inputs import NoSuchColumn
from schemas import Faults, Table
from schemas.validate import check_columns

TITLE = "title"
"""Optional title of every stage."""
RUNS = Path("runs")
"""Default folder of results."""

Sources: TypeAlias = Mapping[str, Mapping[str, list[SourceFile]]]
"""Stage to option to the files found."""
Planned: TypeAlias = dict[str, dict[str, pl.LazyFrame]]
"""Stage to table to zero rows of it."""
Checker: TypeAlias = Callable[[Experiment], Sequence[Problem]]
"""Finds further errors, for example in the report's section."""


# The graph: options validated, references resolved, stages ordered


@dataclass(frozen=True)
class Reference:
    """A table of another stage that an option names."""

    stage: str
    table: str

    def __str__(self) -> str:
        return f"{self.stage}.{self.table}"


@dataclass(frozen=True)
class SheetFolder:
    """Completed sheets: the name of their folder, and their kind."""

    name: str
    kind: FilledSheets


@dataclass(frozen=True)
class Node:
    """A stage of an experiment, ready to run.

    Parameters
    ----------
    name : str
        Its name in the experiment.
    stage : Stage
        Its kind.
    config : StageConfig
        Its options, the seed filled in.
    inputs : mapping of str to Reference
        Option to the table it refers to; ``option.0``, ``option.1`` ... if it lists several.
    sources : mapping of str to Source
        Option to the files it reads.
    sheets : mapping of str to SheetFolder
        Option to the completed sheets that it reads.
    title : str
        Title of its section in the report; may be empty.
    """

    name: str
    stage: Stage
    config: StageConfig
    inputs: Mapping[str, Reference]
    sources: Mapping[str, Source]
    sheets: Mapping[str, SheetFolder] = field(default_factory=dict)
    title: str = ""

    def own_config(self) -> dict[str, Any]:
        """Return the options that are not inputs, for the fingerprint."""
        listed = {name.partition(".")[0] for name in self.inputs}
        inputs = listed | set(self.sources) | set(self.sheets)
        return self.config.model_dump(mode="json", exclude=inputs)


def build(experiment: Experiment) -> tuple[dict[str, Node], list[Problem]]:
    """Return the valid stages in topological order, and every error.

    Parameters
    ----------
    experiment : Experiment
        The experiment as read.
    """
    problems: list[Problem] = []
    kinds: dict[str, Stage] = {}
    for name, content in experiment.stages.items():
        try:
            kinds[name] = _stage_of(name, content)
        except ConfigError as error:
            problems += error.problems
    nodes: dict[str, Node] = {}
    for name, stage in kinds.items():
        content = experiment.stages[name]
        inputs, wrong = _references(name, stage, content, kinds, experiment.stages)
        try:
            config = _configure(name, stage, content, experiment.seed)
        except ConfigError as error:
            problems += [*error.problems, *wrong]
            continue
        problems += wrong
        if not wrong and None not in inputs.values():
            references = {option: each for option, each in inputs.items() if each}
            sources = {
                option: value
                for option in type(config).model_fields
                if isinstance(value := getattr(config, option), Source)
            }
            files = sources, _sheets(config)
            title = str(content.get(TITLE, "")).strip()
            nodes[name] = Node(name, stage, config, references, *files, title=title)
    problems += _check_agreement(nodes)
    try:
        return {name: nodes[name] for name in _order(nodes) if name in nodes}, problems
    except CycleError as error:
        ring = " -> ".join(reversed(error.args[1]))
        what = f"the stages refer to each other in a circle: {ring}"
        cycle = Problem("stages", what, "remove one of these references")
        return {}, [*problems, cycle]


def _check_agreement(nodes: Mapping[str, Node]) -> Iterator[Problem]:
    """Yield contradictions among the stages that a stage refers to."""
    for name, node in nodes.items():
        if node.stage.agree is None:
            continue
        referred = {
            place: StageReference(ref.stage, nodes[ref.stage].config)
            for place, ref in node.inputs.items()
            if ref.stage in nodes
        }
        for problem in node.stage.agree(node.config, referred):
            yield replace(problem, where=f"stages.{name}.{problem.where}")


def _order(nodes: Mapping[str, Node]) -> list[str]:
    """Return an order with every stage after those it depends on; as written, if possible."""
    edges = {name: [ref.stage for ref in node.inputs.values()] for name, node in nodes.items()}
    TopologicalSorter(edges).prepare()  # raises on a ring
    order: dict[str, None] = {}
    for name in nodes:
        path = [name]  # each depends on the next; no recursion, for chains of any length
        while path:
            before = next((each for each in edges.get(path[-1], ()) if each not in order), None)
            if before is None:
                order.setdefault(path.pop())
            else:
                path.append(before)
    return list(order)


def _stage_of(name: str, content: Mapping[str, Any]) -> Stage:
    where = f"stages.{name}"
    if not isinstance(content.get("use"), str):
        wrong = Problem(where, "use = ..., the kind of stage, is missing", did_you_mean("", STAGES))
        if near := difflib.get_close_matches("use", set(content) - {"use"}, n=1):
            wrong = Problem(f"{where}.{near[0]}", UNKNOWN, "did you mean use?")
        raise ConfigError(where, [wrong])
    try:
        return STAGES.get(content["use"])
    except KeyError as error:
        raise ConfigError(where, [Problem(f"{where}.use", error.args[0])]) from error


def _configure(name: str, stage: Stage, content: Mapping[str, Any], seed: str) -> StageConfig:
    if not isinstance(content.get(TITLE, ""), str):
        wrong = Problem(
            f"stages.{name}.{TITLE}", f"{content[TITLE]!r} is not text", 'title = "..."'
        )
        raise ConfigError(name, [wrong])
    options = {key: value for key, value in content.items() if key not in {"use", TITLE}}
    if issubclass(stage.config, SeedOptions):
        own = seed if options.get("seed", "") == "" else options["seed"]
        options["seed"] = str(own) if isinstance(own, int) else own
    try:
        return stage.config.model_validate(options)
    except ValidationError as error:
        where = f"stages.{name}"
        problems = problems_of(error, stage.config, options, prefix=where, also=[TITLE])
        raise ConfigError(name, problems) from error


def _sheets(config: StageConfig) -> dict[str, SheetFolder]:
    return {
        name: SheetFolder(folder, mark)
        for name, each in type(config).model_fields.items()
        for mark in each.metadata
        if isinstance(mark, FilledSheets) and (folder := getattr(config, name))
    }


def _references(
    name: str,
    stage: Stage,
    content: Mapping[str, Any],
    kinds: Mapping[str, Stage],
    stages: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Reference | None], list[Problem]]:
    """Return the tables that a stage refers to, and the problems of invalid references."""
    references: dict[str, Reference | None] = {}
    problems: list[Problem] = []
    for option, each in stage.config.model_fields.items():
        mark = _reference_of(each)
        if mark is None:
            continue
        setting = content.get(option, each.default)
        if setting is None and mark.same_as:
            references |= _same_reference(option, mark, content, kinds, stages)
        for place, value in _names_in(option, setting):
            where, target = f"stages.{name}.{place}", value.partition(".")[0]
            if target not in stages:
                problems.append(unknown_stage(target, stages, where=where))
                continue
            try:
                references[place] = resolve(value, mark.schema, kinds)
            except ValueError as error:
                remedy = _alternatives(stage, option, value, kinds)
                problems.append(Problem(where, str(error), remedy))
    return references, problems


def _reference_of(option: FieldInfo) -> Of | None:
    """Return the mark of an option that refers to tables; None if it refers to none."""
    return next((mark for mark in option.metadata if isinstance(mark, Of)), None)


def _same_reference(
    option: str,
    mark: Of,
    content: Mapping[str, Any],
    kinds: Mapping[str, Stage],
    stages: Mapping[str, Mapping[str, Any]],
) -> dict[str, Reference | None]:
    """Return the table that the option refers to in the stage of the sibling option, if any.

    Mistakes there are reported for that stage.
    """
    there = str(content.get(mark.same_as)).partition(".")[0]
    field = kinds[there].config.model_fields.get(option) if there in kinds else None
    setting = stages[there].get(option) if field is not None and _reference_of(field) else None
    if not isinstance(setting, str) or setting.partition(".")[0] not in kinds:
        return {}
    try:
        return {option: resolve(setting, mark.schema, kinds)}
    except ValueError:
        return {}


def _alternatives(stage: Stage, option: str, value: str, kinds: Mapping[str, Stage]) -> str:
    """Say what to do with the tables, and name stages of the same verb that accept them."""
    target, _, table = value.partition(".")
    outputs = kinds[target].outputs if target in kinds else {}
    tables = [outputs[each] for each in ([table] if table else outputs) if each in outputs]
    verb, names = stage.name.partition(".")[0], []
    for name in STAGES if tables else ():
        field = STAGES.get(name).config.model_fields.get(option)
        mark = None if field is None or name.partition(".")[0] != verb else _reference_of(field)
        if mark is not None and any(issubclass(each, mark.schema) for each in tables):
            names.append(name)
    others = sorted(set(names) - {stage.name})
    remedies = [each.instead() for each in tables if each.instead()]
    remedies += [f"{', '.join(others)} would accept it"] if others else []
    return "; ".join(remedies)


def _names_in(option: str, value: Any) -> list[tuple[str, str]]:
    """Return the references of an option with their places; pydantic reports other types."""
    if isinstance(value, list | tuple):
        return [(input_name(option, i), e) for i, e in enumerate(value) if isinstance(e, str)]
    return [(option, value)] if isinstance(value, str) else []


def resolve(reference: str, schema: type[Table], kinds: Mapping[str, Stage]) -> Reference | None:
    """Return the table of a reference ``stage`` or ``stage.table``.

    Parameters
    ----------
    reference : str
        As in the experiment. A bare stage means its first table of the required schema.
    schema : type of Table
        The required schema; subclasses are accepted.
    kinds : mapping of str to Stage
        The stages whose kind is known.

    Returns
    -------
    Reference or None
        None if the stage is of an unknown kind.

    Raises
    ------
    ValueError
        If the stage has no such table, or none of that schema.
    """
    stage, _, table = reference.partition(".")
    if stage not in kinds:
        return None
    outputs = kinds[stage].outputs
    if table and table not in outputs:
        raise ValueError(f"stage {stage!r} has no table {table!r}; {did_you_mean(table, outputs)}")
    choice = [table] if table else list(outputs)
    fitting = [each for each in choice if issubclass(outputs[each], schema)]
    if not fitting:
        offered = ", ".join(f"{each} ({outputs[each].__name__})" for each in choice)
        raise ValueError(f"{reference!r} gives {offered}, but {schema.__name__} is needed here")
    return Reference(stage, fitting[0])


# The dry run on zero rows finds wrong columns and types before any data are read


def dry_run(nodes: Mapping[str, Node], files: Sources) -> tuple[Planned, list[Problem]]:
    """Run every stage on zero rows and check its tables against their schemas.

    Parameters
    ----------
    nodes : mapping of str to Node
        The stages in topological order.
    files : mapping of str to mapping
        Stage to option to the files found.

    Returns
    -------
    planned : dict of str to dict
        The tables of every stage, without rows.
    problems : list of Problem
        Empty if all stages fit together. Stages that depend on a wrong one are skipped.
    """
    problems: list[Problem] = []
    outputs: Planned = {}
    for name, node in nodes.items():
        if any(reference.stage not in outputs for reference in node.inputs.values()):
            continue
        if any(option not in files.get(name, {}) for option in node.sources):
            continue
        where = f"stages.{name}"
        try:
            for label, tables in _inputs(node, outputs, files.get(name, {})):
                with _name_file(label):
                    outputs[name] = _run_dry(node, tables)
        except ConfigError as error:
            problems += [problem.within(where) for problem in error.problems]
        except SchemaViolation as error:
            problems.append(Problem(where, str(error)))
        except pl.exceptions.PolarsError as error:
            what = f"cannot be computed: {errors.query(error)}"
            problems.append(Problem(where, what, "check its conditions and formulas"))
    return outputs, problems


@contextmanager
def _name_file(label: str) -> Iterator[None]:
    """Name the file that lacks a column."""
    try:
        yield
    except NoSuchColumn as error:
        wrong = [replace(each, what=f"{each.what} ({label})") for each in error.problems]
        raise NoSuchColumn(error.source, wrong) from error


def _inputs(
    node: Node,
    outputs: Mapping[str, Mapping[str, pl.LazyFrame]],
    files: Mapping[str, list[SourceFile]],
) -> Iterator[tuple[str, Tables]]:
    """Yield the zero-row inputs, once per distinct header of the files, with the file."""
    tables = {option: outputs[ref.stage][ref.table] for option, ref in node.inputs.items()}
    tables |= {option: folder.kind.entries.zero_rows() for option, folder in node.sheets.items()}
    if not node.sources:
        yield f"table {', '.join(map(str, node.inputs.values()))}", tables
        return
    headers = {option: _headers(own) for option, own in files.items()}
    for index in range(max(len(each) for each in headers.values())):
        pairs = {option: each[min(index, len(each) - 1)] for option, each in headers.items()}
        label = ", ".join(label for label, _ in pairs.values())
        yield label, tables | {option: header for option, (_, header) in pairs.items()}


def _headers(files: list[SourceFile]) -> list[tuple[str, pl.LazyFrame]]:
    """Return the different headers, each with the first file that has it."""
    schemas: dict[str, dict[str, pl.DataType]] = {}
    for file in files:
        schema = file.schema()
        if schema not in schemas.values():
            schemas[file.label] = schema
    return [(label, pl.LazyFrame(schema=schema)) for label, schema in schemas.items()]


def _run_dry(node: Node, tables: Tables) -> dict[str, pl.LazyFrame]:
    stage, counting = node.stage, node.stage.counting
    if counting is None:
        return _check_outputs(stage.run(node.config, tables), stage.outputs)
    carried = {name: pl.LazyFrame(schema=each) for name, each in counting.carry.items()}
    ran = stage.run(node.config, {**tables, **carried})
    raw = {name: ran[name].lazy().collect() for name in counting.raw}
    tallied = counting.tally(raw, DocumentBounds()) if counting.tally else {}
    own = {name: table for name, table in ran.items() if name not in {*counting.carry, *raw}}
    merged = _check_outputs({**own, **tallied}, counting.partials)
    merged = _check_outputs(counting.merge(node.config, merged), counting.partials)
    if counting.close:
        merged = _check_outputs(counting.close(merged), counting.partials)
    if counting.totals:
        merged |= _check_outputs(counting.totals(node.config, merged), counting.total_tables)
    return _check_outputs(counting.combine(node.config, merged), stage.outputs)


def _check_outputs(outputs: Outputs, models: Mapping[str, type[Table]]) -> dict[str, pl.LazyFrame]:
    """Check the planned outputs of a stage; return them without rows."""
    as_text = selectors.categorical().cast(pl.String)
    planned = {name: output.lazy().with_columns(as_text) for name, output in outputs.items()}
    expected = dict(models) | ({FAULTS: Faults} if FAULTS in planned else {})
    if set(planned) != set(expected):
        what = f"makes {sorted(planned)}, but declares {sorted(models)}"
        raise ConfigError("use", [Problem("use", what, "this is a bug in the stage")])
    for name, model in expected.items():
        check_columns(planned[name], model, name=f"table {name}")
    return {name: pl.LazyFrame(schema=plan.collect_schema()) for name, plan in planned.items()}


# A project: an experiment that can run


@dataclass(frozen=True)
class Project:
    """An experiment that can run; exists once its stages fit together and its files are found.

    Parameters
    ----------
    experiment : Experiment
        The content of the file with overrides.
    content : mapping
        The same as plain data, for provenance.
    nodes : mapping of str to Node
        The stages in topological order.
    files : mapping of str to mapping
        Stage to option to the files found.
    planned : mapping of str to mapping
        Stage to table, without rows.
    root : Path
        The folder of its results, or an address, for example ``s3://bucket/runs/pilot``.
    sheets : SheetPlaces
        The folders of the sheets that people fill in.
    text : str
        The file as written, for provenance.
    absent : mapping of str to tuple of Problem
        Stage to the paths without files, or that need the data root if none is given: only stored
        results can be used.
    file : Path
        The experiment's file, absolute; empty for a stored run.
    """

    experiment: Experiment
    content: Mapping[str, Any]
    nodes: Mapping[str, Node]
    files: Sources
    planned: Planned
    root: Path
    sheets: SheetPlaces
    text: str = ""
    absent: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    file: Path = Path()

    @property
    def storage(self) -> Storage:
        """The storage of its results."""
        return storage_at(self.root)

    @property
    def folder(self) -> Path:
        """The local folder for files that people open, for example the report."""
        return pages_at(self.root)

    @property
    def pages(self) -> Storage:
        """The storage of the report and the tables of a sweep."""
        return storage_at(self.folder)

    def absent_files(self) -> list[Problem]:
        """Return the paths without files, each once, but not those that need the data root."""
        every = dict.fromkeys(each for group in self.absent.values() for each in group)
        return [each for each in every if NEEDS_ROOT not in each.what]

    def files_of(self, node: Node) -> dict[str, list[SourceFile]]:
        """Return the files that a stage reads, and the sheets that exist now."""
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
    stored: bool = False,
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
        Finds further errors.
    stored : bool
        Accept paths without files: stored results can still be read.

    Raises
    ------
    ConfigError
        With every error in the file.
    DataError
        If an input file is empty or unreadable.
    """
    original = read_toml(path)
    content = override(original, settings or {})
    experiment, problems = parse(content)
    varied = experiment.sweep.paths if experiment and experiment.sweep else ()
    own = [each for each in settings or {} if each not in varied]
    if experiment is None:
        raise ConfigError(str(path), name_settings(problems, original, own))
    nodes, wrong = build(experiment)
    problems += wrong
    origins = {
        name: each if isinstance(each, str) else each.source
        for name, each in experiment.data.items()
    }
    places = Places(path.parent, data_root(data), origins)
    files: dict[str, dict[str, list[SourceFile]]] = {name: {} for name in nodes}
    absent: dict[str, tuple[Problem, ...]] = {}
    for name, node in nodes.items():
        for option, source in node.sources.items():
            try:
                files[name][option] = find(source, places, where=f"stages.{name}.{option}")
            except AbsentFile as error:
                absent[name] = (*absent.get(name, ()), *error.problems)
            except ConfigError as error:
                problems += error.problems
    root = runs / experiment.name
    problems += _check_digests(experiment, files, places, root)
    with memory.with_limit(experiment.run.memory):
        planned, misfits = dry_run(nodes, files)
    problems += misfits
    problems += also(experiment) if also else ()
    if problems or not stored:
        problems += [each for group in absent.values() for each in group]
    if problems:
        raise ConfigError(str(path), name_settings(problems, original, own))
    text = path.read_text(encoding="utf-8-sig")
    sheets = sheet_places(path, runs=runs, name=experiment.name, folder=experiment.sheets)
    file = path.absolute()
    return Project(experiment, content, nodes, files, planned, root, sheets, text, absent, file)


def _check_digests(
    experiment: Experiment, files: Sources, places: Places, root: Path
) -> Iterator[Problem]:
    """Yield the public data whose content is not that of their SHA-256 in the experiment."""
    paths = {file.path for sources in files.values() for each in sources.values() for file in each}
    for name, entry in experiment.data.items():
        if isinstance(entry, str) or places.data is None or places.data / name not in paths:
            continue
        path = places.data / name
        with reading(path):
            digest = _file_cache(root).of(path)
        if digest != entry.sha256:
            what = f"{path} has other content: its SHA-256 is {digest}, not {entry.sha256}"
            source = f" from its source ({entry.source})" if entry.source else ""
            yield Problem(f'data."{name}"', what, f"get the file{source}, or correct sha256")


@cache  # the points of a sweep read the same files
def _file_cache(root: Path) -> FileCache[str]:
    return FileCache(storage_at(root), FILES, file_digest)
