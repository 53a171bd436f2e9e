"""An experiment: the typed content of its TOML file, and the folders of its sheets."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from os import cpu_count
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator

from pipeline import errors
from pipeline.allocator import LARGEST_EXPERIMENT
from pipeline.config_model import OptionModel
from pipeline.engine import ENGINES
from pipeline.errors import ConfigError, Problem
from pipeline.expressions import expression
from pipeline.formats.spreadsheets import list_sheets
from pipeline.registry import NameIn
from pipeline.release import with_current_names
from pipeline.remarks.base import Thresholds
from pipeline.runner.inputs import Budget, Bytes, SourceFile, memory_refusal, sheet_files
from pipeline.runner.problems import UNKNOWN, problems_of, unknown_stage
from pipeline.runner.store.history import FOLDER, LAST_GOOD, REPORT, SWEEP

SHEETS = "sheets"
_STAGE = re.compile(r"\w[\w-]*")
_TAKEN = (FOLDER, REPORT, LAST_GOOD, SWEEP)
"""Folders beside those of the stages."""
MOST_POINTS = 10_000
"""The most combinations of a sweep."""
NAME, POINT = "name", "point"
"""The name of a point in ``[[sweep.points]]``, and the column with it in stacked tables."""
_OPTION = 3
"""Words of the path of an option: stages.STAGE.OPTION."""
_TOML_LINE = re.compile(r"\(at line (\d+), ")
_UNCLOSED = (r" character '\n'", "Unterminated string", """Expected "'\"""")
"""Errors of the TOML parser about text without its last quotation mark."""
_DECIMAL_COMMA = re.compile(r"=\s*[+-]?\d+,\d")
_DEEPEST = 50
_MOST = 1 << 63
"""Whole numbers of TOML are smaller."""
_TOO_DEEP = f"lists or tables are nested more than {_DEEPEST} levels deep"


class Options(OptionModel):
    """Base of the sections of an experiment: frozen, no unknown keys."""


class RunOptions(Options):
    """``[run]``: how to run; never changes a result."""

    engine: Annotated[str, NameIn(ENGINES)] = "local"
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
        is_explicit = "shard" in self.model_fields_set  # it costs more than it saves two workers
        return Budget(self.memory, self.shard, workers, is_explicit).per_worker(workers, processes)


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


@dataclass(frozen=True)
class Point:
    """One combination of a sweep.

    Parameters
    ----------
    settings : mapping of str to value
        Dotted path to the value, for the experiment.
    name : str
        The name of its ``[[sweep.points]]``; empty if the sweep has none.
    together : mapping of str to value
        Path to the label of each setting of ``[[sweep.points]]``, those of other points too: the
        value or its name, None if this point does not set it.
    over : mapping of str to value
        Path to the label of each setting of ``[sweep.over]``.
    """

    settings: Mapping[str, Any]
    name: str = ""
    together: Mapping[str, Any] = field(default_factory=dict)
    over: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that a stacked table has for it, with their values."""
        point = {POINT: self.name} if self.name else {}
        return {**point, **self.together, **self.over}

    def __str__(self) -> str:
        names = [self.name] if self.name else []
        of_over = [f"{path.rpartition('.')[2]}={label}" for path, label in self.over.items()]
        return ", ".join([*names, *of_over])


class Sweep(Options):
    """``[sweep]``: run every combination of the settings."""

    over: dict[str, Annotated[list[Any], Field(min_length=1)] | Range] = Field(default_factory=dict)
    """Values of each option, by its dotted path; ``{ name = "all", value = [...] }`` names one."""
    points: tuple[dict[str, Any], ...] = ()
    """``[[sweep.points]]``: settings that belong together, with a ``name``."""
    skip: str = ""
    """Combinations to omit, in Polars SQL on the settings: "span = 1 AND point = 'EWT'"."""
    collect: tuple[str, ...]
    """Tables to stack over all points: "stage", "stage.table" or "findings"."""
    where: str = ""
    """Rows to keep, in Polars SQL: "n IN (500, 1000)"; all if empty."""
    discard: tuple[str, ...] = ()
    """Stages whose tables are deleted as soon as no other point needs them."""
    report: bool = True
    """Write a page on all points beside the stacked tables."""

    @field_validator("where", "skip")
    @classmethod
    def _parses(cls, where: str) -> str:
        if where:
            expression(where)
        return where

    @field_validator("collect")
    @classmethod
    def _some_table(cls, collect: tuple[str, ...]) -> tuple[str, ...]:
        if not collect:
            raise ValueError('names no table; write at least one, such as collect = ["sampled"]')
        return collect

    @field_validator("over", mode="before")
    @classmethod
    def _paths_of_over(cls, over: Any) -> Any:
        for path, value in over.items() if isinstance(over, dict) else ():
            if isinstance(value, dict) and any(isinstance(v, list | dict) for v in value.values()):
                _check_path(path, value)
        return over

    @field_validator("over")
    @classmethod
    def _values_of_over(cls, over: dict[str, list[Any] | Range]) -> dict[str, list[Any] | Range]:
        for path, values in over.items():
            _check_path(path)
            if isinstance(values, list):
                _check_names(path, values)
                texts = [_identity(_value(each)) for each in values]
                if twice := _first_twice(texts):
                    value = _label(values[texts.index(twice)])
                    raise ValueError(f"{path}: the value {value!r} is listed twice; remove one")
        return over

    @field_validator("points")
    @classmethod
    def _names_and_paths(cls, points: tuple[dict[str, Any], ...]) -> tuple[dict[str, Any], ...]:
        for number, each in enumerate(points, start=1):
            name = each.get(NAME)
            if not isinstance(name, str) or not name.strip():
                raise ValueError(f'point {number} has no name; give it one: name = "..."')
            if len(each) == 1:
                raise ValueError(f'point {name!r} sets nothing; add "stages.STAGE.OPTION" = ...')
            for path in each.keys() - {NAME}:
                _check_path(path, each[path])
        if twice := _first_twice([each[NAME] for each in points]):
            raise ValueError(f"two points have the name {twice!r}; rename one")
        for path in dict.fromkeys(path for each in points for path in each if path != NAME):
            _check_names(path, [each[path] for each in points if path in each])
        texts = [
            _identity({path: _value(each[path]) for path in each if path != NAME})
            for each in points
        ]
        if twice := _first_twice(texts):
            names = [
                repr(each[NAME]) for each, text in zip(points, texts, strict=True) if text == twice
            ]
            raise ValueError(f"the points {' and '.join(names)} have the same values; remove one")
        return points

    @model_validator(mode="after")
    def _fits(self) -> Sweep:
        if not self.over and not self.points:
            what = "has no settings"
            raise ValueError(f"{what}; add [sweep.over] or [[sweep.points]]")
        for one in self._together():
            for other in self.over:
                if one == other or one.startswith(f"{other}.") or other.startswith(f"{one}."):
                    raise ValueError(
                        f"{one} is set both in points and in over ({other}); remove one of them"
                    )
        if self.combined > MOST_POINTS:
            what = f"{self.combined:,} combinations are more than {MOST_POINTS:,}"
            raise ValueError(f"{what}: divide them among several experiments")
        if self.skip:
            known = self._short_names()
            unknown = sorted(set(expression(self.skip).meta.root_names()) - set(known))
            if unknown:
                what = f"skip: no setting {', '.join(unknown)}"
                raise ValueError(f"{what}; {errors.did_you_mean(unknown[0], known)}")
        return self

    @property
    def combined(self) -> int:
        """Number of combinations, with those that ``skip`` omits."""
        values = self.over.values()
        each = prod(each.count if isinstance(each, Range) else len(each) for each in values)
        return each * max(1, len(self.points))

    @property
    def paths(self) -> list[str]:
        """The dotted paths of all settings."""
        return [*self._together(), *self.over]

    def combinations(self) -> list[Point]:
        """Return every combination that is not omitted, the last setting varying fastest.

        Raises
        ------
        ConfigError
            If ``skip`` omits all combinations, or does not fit the types of the settings.
        """
        values = [
            [each.start + step for step in range(each.count)] if isinstance(each, Range) else each
            for each in self.over.values()
        ]
        together = self._together()
        points = []
        for point in self.points or ({},):
            own = {path: value for path, value in point.items() if path != NAME}
            labels = {path: _label(own[path]) if path in own else None for path in together}
            for combination in product(*values):
                over = dict(zip(self.over, combination, strict=True))
                settings = {path: _value(value) for path, value in {**own, **over}.items()}
                of_over = {path: _label(value) for path, value in over.items()}
                points.append(Point(settings, point.get(NAME, ""), labels, of_over))
        return self._without_omitted(points) if self.skip else points

    def _without_omitted(self, points: list[Point]) -> list[Point]:
        """Return the points that do not satisfy ``skip``."""
        rows = [{path: column_label(v) for path, v in each.columns.items()} for each in points]
        try:
            frame = pl.DataFrame(rows, infer_schema_length=None)
            table = frame.select(
                pl.col(path).alias(short) for short, path in self._short_names().items()
            )
            omitted = table.select(expression(self.skip)).to_series()
            if omitted.dtype != pl.Boolean:
                raise TypeError("its value is not true or false")
            rest = [each for each, is_out in zip(points, omitted, strict=True) if not is_out]
        except (pl.exceptions.PolarsError, TypeError) as error:
            what = f"{self.skip!r} cannot be a condition on the settings: {errors.query(error)}"
            remedy = "compare numbers with numbers, texts with texts"
            raise ConfigError("sweep", [Problem("sweep.skip", what, remedy)]) from error
        if not rest:
            what = f"{self.skip!r} omits all {len(points):,} combinations"
            raise ConfigError("sweep", [Problem("sweep.skip", what, "narrow the condition")])
        return rest

    def _together(self) -> list[str]:
        """Return the paths of the settings in ``points``."""
        return list(dict.fromkeys(path for each in self.points for path in each if path != NAME))

    def _short_names(self) -> dict[str, str]:
        """Return the names of settings in ``skip``: their paths, and last words that are unique."""
        paths = [*([POINT] if self.points else []), *self.paths]
        last = [path.rpartition(".")[2] for path in paths]
        short = {
            word: path for word, path in zip(last, paths, strict=True) if last.count(word) == 1
        }
        return {**short, **{path: path for path in paths}}


def column_label(value: Any) -> Any:
    """Return a label for a column of a table: lists and tables as JSON.

    Examples
    --------
    >>> column_label(["mi"]), column_label(0.5)
    ('["mi"]', 0.5)
    """
    return json.dumps(value, default=str) if isinstance(value, list | dict) else value


def _check_path(path: str, value: Any = None) -> None:
    """Refuse the path of a setting that is not quoted, or that leads to the sweep itself."""
    if path == SWEEP or path.startswith(f"{SWEEP}."):
        raise ValueError(f"{path}: a sweep cannot change its own section")
    if "." in path or not isinstance(value, dict) or not value or _is_named(value):
        return
    whole = [path]
    while isinstance(value, dict) and value and (path != "stages" or len(whole) < _OPTION):
        whole.append(next(iter(value)))
        value = value[whole[-1]]
    key = ".".join(whole)
    raise ValueError(f'{key} needs quotation marks: write "{key}" = ...')


def _is_named(value: Any) -> bool:
    """Return whether it is ``{ name = "...", value = ... }``."""
    return isinstance(value, dict) and value.keys() == {NAME, "value"}


def _value(entry: Any) -> Any:
    return entry["value"] if _is_named(entry) else entry


def _label(entry: Any) -> Any:
    return entry[NAME] if _is_named(entry) else entry


def _check_names(path: str, values: Sequence[Any]) -> None:
    """Refuse names of some values only, names that are not text, and names that stand twice."""
    names = [_label(each) for each in values if _is_named(each)]
    if wrong := [each for each in names if not isinstance(each, str) or not each.strip()]:
        raise ValueError(f'{path}: {wrong[0]!r} cannot name a value; write name = "..."')
    if names and len(names) < len(values):
        what = f"{path}: {len(names)} of {len(values)} values have names"
        raise ValueError(f"{what}; give all of them names, or none")
    different = {_identity(each): _label(each) for each in values if _is_named(each)}
    if twice := _first_twice(list(different.values())):
        raise ValueError(f"{path}: two values have the name {twice!r}; rename one")


def _identity(value: Any) -> str:
    """Return a text that is the same for equal values: for 1 and 1.0, not for 1 and true."""
    if isinstance(value, dict):
        pairs = (f"{json.dumps(key)}:{_identity(each)}" for key, each in sorted(value.items()))
        return f"{{{','.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_identity, value))}]"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(float(value)) if is_number else json.dumps(value, default=str)


def _first_twice(texts: Sequence[str]) -> str | None:
    return next((text for text, count in Counter(texts).items() if count > 1), None)


class DataFile(Options):
    """``[data."FILE"]``: a file of public data."""

    source: str = ""
    """Where it comes from."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of its content, as ``sha256sum FILE`` prints it."""


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
    data: dict[str, str | DataFile] = Field(default_factory=dict)
    """Public data: path below the data root to its source, or ``[data."FILE"]``."""
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
        If it is absent, no regular file, larger than any experiment, not UTF-8 or not TOML; the
        message has line and column.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a device may have no end
            raise ConfigError(str(path), [Problem("file", *errors.no_file(path))])
        with path.open("rb") as file:
            raw = file.read(LARGEST_EXPERIMENT + 1)
        if len(raw) > LARGEST_EXPERIMENT:
            what = f"is larger than {LARGEST_EXPERIMENT >> 20} MB, and no experiment is"
            raise ConfigError(str(path), [Problem("file", what, errors.CHECK)])
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
        problem = Problem("file", f"not TOML: {error}", _toml_remedy(str(error), text))
        raise ConfigError(str(path), [problem]) from error
    except RecursionError as error:
        raise ConfigError(str(path), [Problem("file", _TOO_DEEP)]) from error
    except (OSError, ValueError) as error:
        what, remedy = str(error), ""
        if isinstance(error, OSError):
            what, remedy = errors.machine(error), "give the TOML file of an experiment"
        problem = Problem("file", f"cannot be read: {what}", remedy)
        raise ConfigError(str(path), [problem]) from error


def _toml_remedy(error: str, text: str) -> str:
    r"""Return what to do about an error of the TOML parser; empty if its message is enough.

    Parameters
    ----------
    error : str
        The message, with the number of the line unless the text ends too early.
    text : str
        The file.

    Examples
    --------
    >>> _toml_remedy("Illegal character '\\n' (at line 1, column 5)", 'a = "b')
    'close the quotation mark'
    """
    place = _TOML_LINE.search(error)
    line = text.split("\n")[int(place[1]) - 1] if place else ""
    if "\\" in line and any(each in error for each in ("Unescaped", "hex", *_UNCLOSED)):
        return "write text with a backslash in single quotes: 'C:\\texts'"
    if any(each in error for each in _UNCLOSED):
        return "close the quotation mark"
    return "write decimal numbers with a point: 0.5" if _DECIMAL_COMMA.search(line) else ""


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


def name_settings(
    problems: Iterable[Problem], content: Mapping[str, Any], settings: Iterable[str]
) -> list[Problem]:
    """Return the problems of an experiment, those of settings at the option --set.

    Parameters
    ----------
    problems : iterable of Problem
        The problems.
    content : mapping
        The experiment as read, without the settings.
    settings : iterable of str
        The dotted paths.

    Examples
    --------
    >>> problem = Problem("sample", "unknown key", "did you mean name?")
    >>> content = {"stages": {"sample": {"size": 9}}}
    >>> print(*name_settings([problem], content, ["sample.size"]))
    --set sample.size: unknown key; did you mean stages.sample.size?
    """
    paths = list(settings)
    return [_name_setting(each, content, paths) for each in problems]


def _name_setting(problem: Problem, content: Mapping[str, Any], paths: Sequence[str]) -> Problem:
    where, stages = problem.where, content.get("stages")
    for path in paths:
        first = path.partition(".")[0]
        if where == first and where not in content and problem.what == UNKNOWN:
            is_stage = isinstance(stages, Mapping) and first in stages
            remedy = f"did you mean stages.{path}?" if is_stage else problem.remedy
            return Problem(f"--set {path}", UNKNOWN, remedy)
        if where == path or where.startswith(f"{path}."):
            return replace(problem, where=f"--set {where}")
    return problem


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
    content = with_current_names(content)
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


def sheet_places(config: Path, *, runs: Path, name: str, folder: str = "") -> SheetPlaces:
    """Return the folders of an experiment's sheets.

    Parameters
    ----------
    config : Path
        The experiment's file.
    runs : Path
        The folder of all results.
    name : str
        The experiment's name.
    folder : str
        The experiment's own path, relative to its file.

    Examples
    --------
    >>> sheet_places(Path("work/pilot.toml"), runs=Path("runs"), name="pilot").own.as_posix()
    'work/sheets/pilot'
    """
    here = config.parent
    own = here / (folder or f"{SHEETS}/{name}")
    # The version before wrote to `sheets` in the working folder, mostly that of the results or
    # that of the experiment's file or the one above it, and with --runs to `sheets` in there.
    folders = (runs, runs.parent, here, here.absolute().parent)
    former = {(each / SHEETS).resolve(): each / SHEETS for each in folders}
    former.pop(own.resolve(), None)
    return SheetPlaces(own, tuple(former.values()))
