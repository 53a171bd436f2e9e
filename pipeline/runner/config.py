"""An experiment: the typed content of its TOML file, and the folders of its sheets."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from os import cpu_count
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from pipeline import errors
from pipeline.config_model import Described
from pipeline.engine import ENGINES
from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.formats.spreadsheets import list_sheets
from pipeline.registry import Named
from pipeline.remarks.base import Thresholds
from pipeline.runner.inputs import Budget, Bytes, SourceFile, memory_refusal, sheet_files
from pipeline.runner.problems import problems_of, unknown_stage
from pipeline.runner.store.history import FOLDER, LAST_GOOD, REPORT, SWEEP

SHEETS = "sheets"
_STAGE = re.compile(r"\w[\w-]*")
_TAKEN = (FOLDER, REPORT, LAST_GOOD, SWEEP)
"""Folders beside those of the stages."""
MOST_POINTS = 10_000
"""The most combinations of a sweep."""
_DEEPEST = 50
_MOST = 1 << 63
"""Whole numbers of TOML are smaller."""
_TOO_DEEP = f"lists or tables are nested more than {_DEEPEST} levels deep"


class Options(Described):
    """Base of the sections of an experiment: frozen, no unknown keys."""


class RunOptions(Options):
    """``[run]``: how to run; never changes a result."""

    engine: Annotated[str, Named(ENGINES)] = "local"
    """Engine of tasks: "local" (one by one, with all cores), "processes" or "spark"."""
    workers: int | None = Field(default=None, ge=1)
    """Processes of the engine; one per core by default."""
    memory: Bytes | None = Field(default=None, ge=1 << 20)
    """Memory limit of all processes together, for example "2GB"; none by default, but 4GB for
    data that must be held as a whole."""
    shard: Bytes = Field(default=64 << 20, ge=1)
    """Size of a shard, for example "64MB"; smaller files are combined."""

    @field_validator("memory")
    @classmethod
    def _possible(cls, memory: int | None, options: ValidationInfo) -> int | None:
        if memory is not None and {"engine", "workers"} <= options.data.keys():
            counted = _processes(options.data["engine"], options.data["workers"])
            if why := memory_refusal(memory, *counted):
                raise ValueError(why)
        return memory

    @property
    def budget(self) -> Budget:
        """Memory and parallelism of one task."""
        workers, processes = _processes(self.engine, self.workers)
        cut = "shard" in self.model_fields_set  # it costs more than it saves two workers
        return Budget(self.memory, self.shard, workers, cut).shared(workers, processes)


def _processes(engine: str, workers: int | None) -> tuple[int, int]:
    """Return the number of workers, and of processes including the main one."""
    if engine == "local":
        return 1, 1
    number = workers or cpu_count() or 1
    return number, number + 1


class Range(Options):
    """``{ count = 3, start = 1 }`` means the whole numbers 1, 2, 3."""

    count: int = Field(ge=1)
    start: int = 1


class Sweep(Options):
    """``[sweep]``: run every combination of the settings."""

    over: dict[str, Annotated[list[Any], Field(min_length=1)] | Range] = Field(min_length=1)
    """Values of each option, by its dotted path."""
    collect: tuple[str, ...] = Field(min_length=1)
    """Tables to stack over all points: "stage", "stage.table" or "findings"."""
    where: str = ""
    """Rows to keep, in Polars SQL: "n IN (500, 1000)"; all if empty."""
    report: bool = True
    """Write a page on all points beside the stacked tables."""

    @field_validator("where")
    @classmethod
    def _parses(cls, where: str) -> str:
        if where:
            expression(where)
        return where

    @model_validator(mode="after")
    def _not_too_many(self) -> Sweep:
        if self.size > MOST_POINTS:
            what = f"{self.size:,} combinations are more than {MOST_POINTS:,}"
            raise ValueError(f"{what}: divide them among several experiments")
        return self

    @property
    def size(self) -> int:
        """Number of combinations."""
        values = self.over.values()
        return prod(each.count if isinstance(each, Range) else len(each) for each in values)

    def points(self) -> list[dict[str, Any]]:
        """Return every combination, the last setting varying fastest."""
        values = [
            [each.start + step for step in range(each.count)] if isinstance(each, Range) else each
            for each in self.over.values()
        ]
        return [dict(zip(self.over, combination, strict=True)) for combination in product(*values)]


class Experiment(Options):
    """An experiment file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    """Name of the experiment and of its results folder."""
    title: str = ""
    """Heading of the report."""
    description: str = ""
    """Description for the report."""
    seed: str = "lexassay"
    """Seed of all random draws."""
    sheets: str = ""
    """Folder of the sheets, relative to this file; defaults to ``sheets/NAME``."""
    data: dict[str, str] = Field(default_factory=dict)
    """Public data: path below the data root to its source."""
    stages: dict[str, dict[str, Any]] = Field(min_length=1)
    """The stages by name: ``use``, their options, and an optional ``title``."""
    report: dict[str, Any] = Field(default_factory=dict)
    """``[report]``: options of the report."""
    run: RunOptions = RunOptions()
    remarks: Thresholds = Field(default_factory=dict)
    """``[remarks]``: threshold of a check, by its name; false disables it."""
    sweep: Sweep | None = None

    @field_validator("seed", mode="before")
    @classmethod
    def _seed_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) and not isinstance(value, bool) else value

    @field_validator("stages")
    @classmethod
    def _names_of_folders(cls, stages: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        wrong = [name for name in stages if not _STAGE.fullmatch(name) or name in _TAKEN]
        if wrong:
            rule = f"use letters, digits, _ and -, but not {', '.join(_TAKEN)}"
            raise ValueError(f"{', '.join(map(repr, wrong))} cannot name a stage: {rule}")
        return stages


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    ConfigError
        If it is absent, not UTF-8 or not TOML; the message has line and column.
    """
    try:
        raw = path.read_bytes()
        text = raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        return _check_limits(tomllib.loads(text))
    except FileNotFoundError as error:
        folder = path.parent
        near = sorted(each.name for each in folder.glob("*.toml")) if folder.is_dir() else []
        remedy = f"this folder has {', '.join(near[:6])}" if near else "check the path"
        raise ConfigError(str(path), [Problem("file", "does not exist", remedy)]) from error
    except UnicodeDecodeError as error:
        raise ConfigError(str(path), [_not_utf8(raw, error.start)]) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(str(path), [Problem("file", f"not TOML: {error}")]) from error
    except RecursionError as error:
        raise ConfigError(str(path), [Problem("file", _TOO_DEEP)]) from error
    except (OSError, ValueError) as error:
        what, remedy = str(error), ""
        if isinstance(error, OSError):
            what, remedy = errors.machine(error), "give the TOML file of an experiment"
        problem = Problem("file", f"cannot be read: {what}", remedy)
        raise ConfigError(str(path), [problem]) from error


def _check_limits(content: dict[str, Any]) -> dict[str, Any]:
    """Return the content if no later step fails on its depth or its numbers.

    Raises
    ------
    RecursionError
        If it is nested too deeply.
    ValueError
        If a whole number is larger than TOML has them.
    """
    level: list[Any] = [content]
    for _ in range(_DEEPEST):
        values = [
            one
            for each in level
            for one in (each.values() if isinstance(each, dict) else each)
            if isinstance(one, dict | list | int)
        ]
        if wrong := [one for one in values if isinstance(one, int) and not -_MOST <= one < _MOST]:
            raise ValueError(f"{wrong[0]} exceeds 64 bits; give a smaller number")
        level = [one for one in values if isinstance(one, dict | list)]
        if not level:
            return content
    raise RecursionError(_TOO_DEEP)


def _not_utf8(raw: bytes, start: int) -> Problem:
    """Return the problem of the first byte that is not UTF-8, with its place."""
    start += len(codecs.BOM_UTF8) if raw.startswith(codecs.BOM_UTF8) else 0
    line = raw.count(b"\n", 0, start) + 1
    before = raw[raw.rfind(b"\n", 0, start) + 1 : start].decode("utf-8-sig")
    what = f"not UTF-8: byte {raw[start]:#04x} in line {line}, column {len(before) + 1}"
    return Problem("file", what, "save the file as UTF-8")


def override(content: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with the values at dotted paths replaced.

    Parameters
    ----------
    content : mapping
        The experiment as read.
    settings : mapping of str to value
        Dotted path to the new value.

    Raises
    ------
    ConfigError
        If a path leads through something that is not a table, or to an unknown stage.

    Examples
    --------
    >>> override({"stages": {"a": {"rate": 0.1}}}, {"stages.a.rate": 0.2})
    {'stages': {'a': {'rate': 0.2}}}
    """
    result = dict(content)
    for path, value in settings.items():
        *parents, last = path.split(".")
        place = result
        for depth, key in enumerate(parents):
            inner = place.get(key, {})
            if key not in place and parents[0] == "stages" and depth == 1:
                raise ConfigError("--set", [unknown_stage(key, place).within("stages")])
            if not isinstance(inner, dict):
                where = ".".join(parents[: depth + 1])
                raise ConfigError("--set", [Problem(path, f"{where}: is not a table")])
            place[key] = dict(inner)
            place = place[key]
        place[last] = value
    return result


def parse_setting(text: str, *, option: str = "--set") -> tuple[str, Any]:
    """Return path and value of ``path=value``; the value is read as TOML, else as text.

    Parameters
    ----------
    text : str
        The text of the option.
    option : str
        Name of the option, for messages.

    Examples
    --------
    >>> parse_setting("stages.sample.rate=0.2"), parse_setting("seed=abc")
    (('stages.sample.rate', 0.2), ('seed', 'abc'))
    """
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        what = f"{text!r} is not of the form path=value"
        example = "e.g. stages.sample.rate=0.2" if option == "--set" else "e.g. lenient=true"
        raise ConfigError(option, [Problem(text, what, example)])
    try:
        return path.strip(), _check_limits(tomllib.loads(f"value = {value}"))["value"]
    except tomllib.TOMLDecodeError:
        return path.strip(), value
    except (RecursionError, ValueError) as error:
        what = _TOO_DEEP if isinstance(error, RecursionError) else str(error)
        raise ConfigError(option, [Problem(path.strip(), what)]) from error


def parse(content: Mapping[str, Any]) -> tuple[Experiment | None, list[Problem]]:
    """Return the experiment and the problems in its own sections, not in its stages.

    A section with problems is replaced by its defaults, so that problems of the stages are found at
    once; None if the stages cannot be read.
    """
    try:
        return Experiment.model_validate(content), []
    except ValidationError as error:
        problems = problems_of(error, Experiment, content)
    wrong = {problem.where.partition(".")[0] for problem in problems}
    rest = {key: value for key, value in content.items() if key not in wrong}
    try:
        return Experiment.model_validate({"name": "unnamed", **rest}), problems
    except ValidationError:
        return None, problems


# Where the sheets of an experiment are, independent of the working folder


@dataclass(frozen=True)
class SheetPlaces:
    """The folders of an experiment's sheets.

    Parameters
    ----------
    own : Path
        Where sheets are written: a folder in it for each ``folder`` of a stage.
    former : tuple of Path
        Where earlier versions wrote them; sheets there count, too.
    """

    own: Path
    former: tuple[Path, ...] = ()

    def files(self, name: str, kind: str) -> list[SourceFile]:
        """Return the sheets of a stage's folder, those in former places last.

        Parameters
        ----------
        name : str
            The stage's ``folder``.
        kind : str
            The format of the sheets.
        """
        former = [
            replace(file, label=f"former place {number}: {file.label}")
            for number, folder in enumerate(self.former_folders(name), start=1)
            for file in sheet_files(folder, kind)
        ]
        return [*sheet_files(self.own / name, kind), *former]

    def former_folders(self, name: str) -> Iterator[Path]:
        """Yield the folders of former places that have sheets of a stage."""
        return (place / name for place in self.former if list_sheets(place / name))


def sheet_places(config: Path, *, runs: Path, name: str, written: str = "") -> SheetPlaces:
    """Return the folders of an experiment's sheets.

    Parameters
    ----------
    config : Path
        The experiment's file.
    runs : Path
        The folder of all results.
    name : str
        The experiment's name.
    written : str
        The experiment's own path, relative to its file.

    Examples
    --------
    >>> sheet_places(Path("work/pilot.toml"), runs=Path("runs"), name="pilot").own.as_posix()
    'work/sheets/pilot'
    """
    here = config.parent
    own = here / (written or f"{SHEETS}/{name}")
    # The version before wrote to `sheets` in the working folder, mostly that of the results or
    # that of the experiment's file or the one above it, and with --runs to `sheets` in there.
    folders = (runs, runs.parent, here, here.absolute().parent)
    former = {(each / SHEETS).resolve(): each / SHEETS for each in folders}
    former.pop(own.resolve(), None)
    return SheetPlaces(own, tuple(former.values()))
