"""Input files: found by the paths of an experiment, grouped for a memory budget, and read."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from os import environ
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, TypeAlias

import polars as pl
from polars.io.plugins import register_io_source
from pydantic import BeforeValidator, Field, ValidationError

from pipeline import memory
from pipeline.errors import (
    CHECK,
    ConfigError,
    DataError,
    Problem,
    did_you_mean,
    is_present,
    machine,
    no_file,
)
from pipeline.formats import content
from pipeline.formats.annotation_log import NAME as LOG_NAME
from pipeline.formats.annotation_rows import (
    DecisionOptions,
    current_options,
    first_answers,
    sheet_answers,
    transfer_rows,
)
from pipeline.formats.base import (
    FILE,
    Batch,
    Format,
    FormatOptions,
    SkippedPart,
    format_of,
    reading,
)
from pipeline.formats.compression import RATIO, is_compressed
from pipeline.formats.corpora.blocks import block_size
from pipeline.formats.corpora.splitting import FilePart
from pipeline.formats.spreadsheets import list_sheets
from pipeline.formats.unicode import normalise_column
from pipeline.memory import format_bytes
from pipeline.runner.problems import problems_of
from pipeline.runner.store import cloud
from pipeline.runner.store.cloud import Address, address_of
from pipeline.runner.store.digest import Stamp, file_digest, is_fresh, stamp_of
from pipeline.stages.base import LexiconSource, Source, WordSource
from pipeline.stages.inputs import counted_answers

_LOG = logging.getLogger(__name__)
"""What takes long before a run begins; without handlers, Python writes it to standard error."""
DATA = "data:"
"""Prefix of a path below the data root."""
DATA_VARIABLE = "LEXASSAY_DATA"
"""Environment variable that names the data root."""
LEAST = 1 << 20
"""Bytes of a file that are not worth a shard of their own."""
LIBRARIES = 230 << 20
"""Bytes that a process takes with the libraries when it has done a small task: measured."""
LIBRARIES_VARIABLE = "LEXASSAY_LIBRARIES"
"""Environment variable with other such bytes: for another machine, and for tests of buckets."""
MANY = 12_000_000
"""Largest number of raw rows in limited memory; more would gain little."""
MOST = 64_000_000
"""Raw rows in unlimited memory: about 2 GB of `pipeline.memory.DEFAULT_MEMORY`."""
_GLOB = "*?["
_LONGEST = 80
"""Characters of a path that a message shows."""
NEEDS_ROOT = f"needs the data root: give --data DIR or set {DATA_VARIABLE}"
_NEARBY = 1000
"""Names of a folder that are compared with that of an absent file."""
_PAUSE = 5.0
"""Seconds between two messages of a search for files."""
_ROW = 400
"""Bytes that a row of a partial table may take while it is merged."""
_RAW = 96
"""Bytes per raw row until it is counted, including derived rows."""
_SPREAD = 16
"""Bytes that the counts of a byte of text may take, if hardly anything occurs twice."""
_SCANS = 50
"""Tables of a source that are read at the same time; of more, small ones are read in turn."""
_TOGETHER = 16
"""Files are read together if so many of them fit into a block."""
_UNITS = {"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}
ANSWERS = {"annotation_decisions": "label", "keying_decisions": "forms"}
"""Format of a log of decisions to the column of its answers."""


# The files of a source


class AbsentFile(ConfigError):
    """A path has no file, or begins at the data root and none is given."""


@dataclass(frozen=True)
class Places:
    """Where an experiment's paths begin.

    Parameters
    ----------
    folder : Path
        The folder of the experiment's file.
    data : Path or None
        The data root, if one is known.
    origins : mapping of str to str
        Path below the data root to its source.
    """

    folder: Path
    data: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceFile:
    """One file of a source: its name in the experiment, location and reader.

    Its digest is empty until a stage that reads it is about to run; `last_stamp` is the stamp
    before the digest was computed, kept if it reveals every later change. With a `part` it is that
    part of the file, and the digest is that of its bytes. A `remote` file is on an object store;
    its path is that of a copy on the machine where the run was started. Attributes of other files
    of its source that it lacks are `absent`: no token has a value.
    """

    label: str
    path: Path
    format: Format
    options: FormatOptions
    digest: str = ""
    part: FilePart | None = None
    last_stamp: Stamp | None = None
    remote: cloud.Remote | None = None
    absent: tuple[str, ...] = ()

    def here(self) -> SourceFile:
        """Return it as a file of this machine: a remote file as its local copy.

        Raises
        ------
        DataError
            If it cannot be fetched from the object store.
        """
        if self.remote is None or self.path.is_file():
            return self
        try:
            return replace(self, path=self.remote.local_copy(), last_stamp=None)
        except OSError as error:
            raise DataError(f"{self.label}: {machine(error)}") from error

    def scan(self) -> pl.LazyFrame:
        """Return its lazy query, with the columns file and line; reads at most the header."""
        plan = self.format.scan(self.path, self.options)
        if self.format.kind == "table" and self.options.normalise != "none":
            plan = plan.with_columns(normalise_column(pl.col(pl.String)))
        return plan.select(pl.lit(self.label).alias("file"), pl.all(), *self._nothing(self.absent))

    def schema(self) -> dict[str, pl.DataType]:
        """Return its columns; DataError if the header cannot be read."""
        own: Mapping[str, pl.DataType]
        if self.format.columns is not None:
            own = self.format.columns(self.path, self.options)
        else:
            with reading(self.path):
                own = self.format.scan(self.path, self.options).collect_schema()
        if "file" in own:
            what = "a column has the reserved name file"
            raise DataError(f"{self.path}: {what}\nRename it.")
        return {"file": pl.String(), **own, **dict.fromkeys(self.absent, pl.String())}

    def batches(self, columns: Collection[str], size: int) -> Iterator[Batch]:
        """Yield its tokens in batches, with those of the columns that it has, checked."""
        names, further = self._split(columns)
        for batch in self._read(names, size):
            labelled = batch.tokens.select(pl.lit(self.label).alias("file"), pl.all(), *further)
            yield replace(batch, tokens=labelled)

    def with_others(self, files: Sequence[SourceFile], columns: Collection[str]) -> Batch | None:
        """Return the tokens of files that begin with this one, as of `batches`, if possible."""
        names, further = self._split(columns)
        together = self.format.read_together
        batch = together and together([each.path for each in files], self.options, names)
        if batch is None:
            return None
        labels = pl.Series("file", [each.label for each in files])
        label = labels.gather(batch.tokens.get_column(FILE))
        return replace(batch, tokens=batch.tokens.select(label, pl.exclude(FILE), *further))

    def is_like(self, other: SourceFile) -> bool:
        """Return whether it is read in the same way as another file."""
        return (self.format, self.options, self.absent) == (
            other.format, other.options, other.absent,
        )  # fmt: skip

    def is_small(self, size: int) -> bool:
        """Return whether many files as large as this one fit into so many bytes of text."""
        if self.part or self.format.read_together is None or is_compressed(self.path):
            return False
        with reading(self.path):
            return self.path.stat().st_size * _TOGETHER <= size

    def _split(self, columns: Collection[str]) -> tuple[list[str], list[pl.Expr]]:
        """Return the columns that it has, and expressions for those that it lacks."""
        known = {"file", *self.absent}
        names = [name for name in self.schema() if name in columns and name not in known]
        return names, self._nothing(name for name in self.absent if name in columns)

    def _nothing(self, names: Iterable[str]) -> list[pl.Expr]:
        return [pl.lit(None, pl.String()).alias(name) for name in names]

    def _read(self, columns: list[str], size: int) -> Iterator[Batch]:
        if self.part and self.format.read_part:
            return self.format.read_part(self.path, self.options, columns, size, self.part)
        if self.format.read is None:
            raise TypeError(f"format {self.format.name} reads no corpus")
        return self.format.read(self.path, self.options, columns, size)

    def stamp(self) -> Stamp | None:
        """Return the file's stamp; None if it does not depend on the content."""
        if self.format.digest is not None:
            return None
        with reading(self.path):
            return stamp_of(self.path)

    def as_it_is(self, of_file: Callable[[Path], str]) -> SourceFile:
        """Return it with its digest, see `content`."""
        stamp = self.stamp()
        last_stamp = None if stamp is None or is_fresh(stamp) else stamp
        return replace(self, digest=self.content(of_file), last_stamp=last_stamp)

    def is_what(self, stamp: Stamp | None) -> bool:
        """Return whether its content, under this stamp of now, is still that of its digest."""
        if stamp is not None and stamp == self.last_stamp:
            return True
        return self.content(file_digest) == self.digest

    def content(self, of_file: Callable[[Path], str]) -> str:
        """Return the digest of its content, by a function of files unless the format has one."""
        if self.format.digest is not None:
            return self.format.digest(self.path, self.options)
        with reading(self.path):
            return self.part.content(self.path) if self.part else of_file(self.path)

    def check(self) -> Sequence[SkippedPart]:
        """Read it; return skipped places, or raise DataError for unreadable ones."""
        return self.format.check(self.path, self.options)


def read_batches(
    files: Sequence[SourceFile], columns: Collection[str], size: int
) -> Iterator[tuple[Sequence[SourceFile], Batch]]:
    """Yield the tokens of a corpus in batches with their files; many small files are read at once.

    Parameters
    ----------
    files : sequence of SourceFile
        Its files.
    columns : collection of str
        Requested columns; all columns of each file if there are none.
    size : int
        Bytes to read at a time.
    """
    group: list[SourceFile] = []
    total = 0
    for file in files:
        small = bool(columns) and file.is_small(size)
        own = text_bytes(file) if small else 0
        if group and (not small or total + own > size or not file.is_like(group[0])):
            yield from _read_together(group, columns, size)
            group, total = [], 0
        if small:
            group.append(file)
            total += own
        else:
            yield from _read_alone((file,), columns or set(file.schema()), size)
    if group:
        yield from _read_together(group, columns, size)


def _read_together(
    files: Sequence[SourceFile], columns: Collection[str], size: int
) -> Iterator[tuple[Sequence[SourceFile], Batch]]:
    """Yield the tokens of small files: all at once, or those of each half, or of each file."""
    if len(files) == 1:
        yield from _read_alone(files, columns, size)
    elif batch := files[0].with_others(files, columns):
        yield files, batch
    else:
        middle = len(files) // 2
        yield from _read_together(files[:middle], columns, size)
        yield from _read_together(files[middle:], columns, size)


def _read_alone(
    files: Sequence[SourceFile], columns: Collection[str], size: int
) -> Iterator[tuple[Sequence[SourceFile], Batch]]:
    return ((files, batch) for batch in files[0].batches(columns, size))


def sheet_files(folder: Path, kind: str = "annotation_sheet") -> list[SourceFile]:
    """Return the completed sheets of a folder, by name, then its present decisions.

    A missing folder has none.

    Parameters
    ----------
    folder : Path
        Folder of the sheets.
    kind : str
        Their format.
    """
    sheet = format_of("", name=kind)
    files = [SourceFile(path.name, path, sheet, FormatOptions()) for path in list_sheets(folder)]
    database = folder / LOG_NAME
    if is_present(database) and database.is_file():
        log = format_of("", name=kind.replace("_sheet", "_decisions"))
        files.append(SourceFile(database.name, database, log, current_options(database)))
    return files


def data_root(folder: Path | None) -> Path | None:
    """Return the given data root, or that of the environment."""
    value = environ.get(DATA_VARIABLE)
    return folder or (Path(value) if value else None)


def find(source: Source, places: Places, *, where: str) -> list[SourceFile]:
    """Return the files of a source, each once, as given; of a glob or folder in order of names.

    Parameters
    ----------
    source : Source
        The option.
    places : Places
        Where paths begin.
    where : str
        Dotted path of the option, for messages.

    Raises
    ------
    AbsentFile
        If files or the data root are all that is missing.
    ConfigError
        For an unknown format, or unknown options of the reader.
    """
    problems: list[Problem] = []
    absent: list[Problem] = []
    files: list[SourceFile] = []
    readers: Readers = {}
    for location in source.path:
        if "\0" in location:
            what = "no file name has the character U+0000"
            problems.append(Problem(where, f"{_shorten(location)}: {what}", "correct the path"))
            continue
        try:
            if address := address_of(location):
                files += _remote(location, address, source, places, where)
                continue
            expanded = _expand(location, places, where)
            files += [
                SourceFile(label, path, *_reader(path, source, where, readers))
                for label, path in expanded
            ]
        except AbsentFile as error:
            absent += error.problems
        except ConfigError as error:
            problems += error.problems
        except (ValueError, NotImplementedError) as error:  # of a format, or of a glob
            problems.append(Problem(where, str(error)))
        except OSError as error:
            problems.append(Problem(where, f"{_shorten(location)}: {machine(error)}"))
    if problems:
        raise ConfigError(where, [*absent, *problems])
    if absent:
        raise AbsentFile(where, absent)
    once = {each.path.absolute(): each for each in files}  # patterns may overlap
    return _with_absent([*once.values()]) if len(once) > 1 else [*once.values()]


def _with_absent(files: list[SourceFile]) -> list[SourceFile]:
    """Note for each file the optional attributes that it lacks and others have."""
    own = [
        frozenset(each.format.optional(each.path, each.options) if each.format.optional else ())
        for each in files
    ]
    every = frozenset[str]().union(*own)
    return [
        replace(each, absent=tuple(sorted(every.difference(each.schema()))))
        if each.format.optional and has < every
        else each
        for each, has in zip(files, own, strict=True)
    ]


Readers: TypeAlias = dict[str, tuple[Format, FormatOptions]]
"""The reader and its options for names with the same extensions: a folder may have many files."""


def _reader(path: Path, source: Source, where: str, known: Readers) -> tuple[Format, FormatOptions]:
    _, dot, rest = path.name.partition(".")
    extensions = dot + rest or path.name
    if reader := known.get(extensions):
        return reader
    format_ = _format(path, source)
    try:
        own = {"normalise": "none"} if isinstance(source, LexiconSource) else {}
        options = format_.options.model_validate(own | source.options)
    except ValidationError as error:
        problems = problems_of(
            error, format_.options, source.options, prefix=where, also=("path", "format")
        )
        raise ConfigError(where, problems) from error
    known[extensions] = format_, options
    return format_, options


def _format(path: Path, source: Source) -> Format:
    """Return the format of a file; else ValueError with the format that its lines suggest."""
    try:
        return format_of(path.name, name=source.format, kind=source.kind)
    except ValueError as error:
        if isinstance(source, WordSource) and source.format is None:
            return format_of(path.name, name="word_list")
        is_unknown = source.format is None and source.kind == "table"
        name = content.table_format(path) if is_unknown else None
        hint = f'; its lines look like {name}: set format = "{name}"' if name else ""
        raise ValueError(f"{path}: {error}{hint}") from error


def _expand(location: str, places: Places, where: str) -> list[tuple[str, Path]]:
    base, relative = places.folder, location
    if location.startswith(DATA):
        relative = location.removeprefix(DATA).lstrip("/")
        if places.data is None:
            raise _absent(location, places, where, NEEDS_ROOT)
        base = places.data
    target = base / relative
    if target.is_file():
        return [(location, target)]
    paths = search_files(target, "*") if target.is_dir() else _glob(base, relative)
    files = [(_label(location, each), each) for each in paths if each.is_file()]
    if not files:
        if target.is_dir():
            raise _absent(location, places, where, "the folder has no files")
        if any(mark in relative for mark in _GLOB):
            raise _absent(location, places, where, "no file matches")
        what, remedy = no_file(target)
        if target.exists():
            raise ConfigError("source", [Problem(where, f"{_shorten(location)}: {what}", remedy)])
        raise _absent(location, places, where, what)
    return files


def _remote(
    location: str, address: Address, source: Source, places: Places, where: str
) -> Iterator[SourceFile]:
    """Yield the files on an object store, with local copies."""
    if not (objects := cloud.find_objects(address)):
        raise _absent(location, places, where, "the store has no such object")
    for remote in objects:
        path = remote.local_copy()
        alone = len(objects) == 1 and location.endswith(f"/{path.name}")
        label = location if alone else _label(location, path)
        reader = _reader(path, source, where, {})
        yield SourceFile(label, path, *reader, remote=remote)


def _glob(base: Path, relative: str) -> list[Path]:
    if not any(mark in relative for mark in _GLOB):
        return []
    anchor = Path(relative).anchor
    return search_files(Path(anchor) if anchor else base, relative.removeprefix(anchor))


def search_files(folder: Path, pattern: str) -> list[Path]:
    """Return the paths in a folder that match a pattern, sorted; a long search says so.

    As in a shell, the pattern must name hidden files and folders: ``.*`` or ``.cache/*.txt``.

    Parameters
    ----------
    folder : Path
        The folder.
    pattern : str
        As pathlib reads patterns.
    """
    paths: list[Path] = []
    place = (folder / pattern).as_posix()
    with _say_every(_PAUSE, lambda: f"{place}: still searching folders, {len(paths):,} found"):
        most, start = _count_hidden(Path(pattern)), len(folder.as_posix()) if folder.parts else 0
        for path in folder.glob(pattern):
            may_be_hidden = "/." in f"/{path.as_posix()[start:]}"  # of 100,000 paths, most are not
            if not may_be_hidden or _count_hidden(path.relative_to(folder)) <= most:
                paths.append(path)
    return sorted(paths)


def _count_hidden(path: Path) -> int:
    return sum(part.startswith(".") and part != ".." for part in path.parts)


@contextmanager
def _say_every(seconds: float, text: Callable[[], str]) -> Iterator[None]:
    """Write a line to the log again and again: a pattern may search the whole disk."""
    end = Event()

    def say() -> None:
        while not end.wait(seconds):
            _LOG.warning("%s", text())

    thread = Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


def _label(location: str, path: Path) -> str:
    """Return a label for a file from the given path and its name, without local paths."""
    return f"{location} ({path.name})"


def _absent(location: str, places: Places, where: str, what: str) -> AbsentFile:
    origin = places.origins.get(location.removeprefix(DATA), "")
    base = places.data if location.startswith(DATA) else places.folder
    relative = location.removeprefix(DATA).lstrip("/") if location.startswith(DATA) else location
    local = _files_nearby(base, relative) if base else ""
    check = "check the address" if address_of(location) else local
    remedy = "; ".join(filter(None, [check, f"source: {origin}" if origin else ""]))
    return AbsentFile("source", [Problem(where, f"{_shorten(location)}: {what}", remedy)])


def _files_nearby(base: Path, relative: str) -> str:
    """Return the folder where a relative path ends, and names there that are like the next one."""
    target = base / relative
    folder = next((each for each in target.parents if each.is_dir()), None)
    if folder is None:
        return CHECK
    name = target.relative_to(folder).parts[0]
    names: list[str] = []
    with suppress(OSError):
        names = [each.name for each in islice(folder.iterdir(), _NEARBY)]
    near = did_you_mean(name, names, instead="this folder has")
    place = "" if Path(relative).is_absolute() else f", in {folder.resolve()}"
    return f"{CHECK}{place}; {near if names else 'this folder is empty'}"


def _shorten(location: str) -> str:
    """Return a path as a message shows it: no longer than a line, no control characters."""
    short = location if len(location) <= _LONGEST else f"{location[:_LONGEST]}..."
    return short if short.isprintable() else repr(short)


# The memory budget of a task, and the size of shards and buckets that follows


def _parse_bytes(value: object) -> object:
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?B)\s*", value, re.IGNORECASE)
    if not match:
        raise ValueError(f"{value!r} is not an amount of memory, for example 500MB or 2GB")
    return int(float(match[1]) * _UNITS[match[2].upper()])


_Text = Annotated[str, Field(pattern=r"^\s*\d+(\.\d+)?\s*[KMGTkmgt]?[Bb]\s*$")]
"""The text in the JSON Schema, for editors."""
Bytes: TypeAlias = Annotated[int, BeforeValidator(_parse_bytes, json_schema_input_type=int | _Text)]
"""A whole number of bytes, or text: 2GB (1 GB = 2^30 bytes)."""


def libraries(processes: int) -> int:
    """Return the memory of processes before any counting.

    Examples
    --------
    >>> libraries(0)
    0
    """
    return processes * int(environ.get(LIBRARIES_VARIABLE, LIBRARIES))


def least(processes: int) -> int:
    """Return the least memory that processes need."""
    return libraries(processes) + LEAST


def memory_refusal(memory: int, workers: int, processes: int) -> str:
    """Return why a limit is too low, with the lowest possible one; empty if it is not.

    Examples
    --------
    >>> memory_refusal(1 << 40, workers=2, processes=3)
    ''
    """
    enough = least(processes)
    if memory >= enough:
        return ""
    each = f"a process needs about {format_bytes(libraries(1))} for the libraries alone"
    among = f", and there are {processes:,} processes, {workers:,} of them workers"
    many = among if processes > 1 else ""
    fewer = ", or fewer workers" if workers > 1 else ""
    limit, minimum = format_bytes(memory), -(-enough // _UNITS["MB"])
    return f"{limit} is not enough: {each}{many}; give {minimum}MB or more{fewer}"


@dataclass(frozen=True)
class Budget:
    """Memory and parallelism of one task; never changes a result.

    Parameters
    ----------
    memory : int or None
        Bytes; None for no limit.
    shard : int
        Bytes of input per shard.
    workers : int
        Number of workers.
    divisible : bool
        Whether files larger than a shard are cut.
    libraries : int
        Bytes of the libraries, which the memory of the tasks is without.
    """

    memory: int | None = None
    shard: int = 64 << 20
    workers: int = 1
    divisible: bool = False
    libraries: int = 0

    def limit(self) -> AbstractContextManager[None]:
        """Return the memory limit of a task, whose messages name that of the experiment."""
        return memory.with_limit(self.memory, beside=(self.workers, self.libraries))

    def per_worker(self, workers: int, processes: int) -> Budget:
        """Return the share of each worker of the memory that the libraries leave.

        Parameters
        ----------
        workers : int
            Number of workers that share it.
        processes : int
            Number of processes with the libraries: the workers and the main one.
        """
        if self.memory is None:
            return self
        overhead = libraries(processes)
        rest = max(self.memory, least(processes)) - overhead
        return replace(self, memory=rest // workers, libraries=overhead)

    def part(self, size: int) -> int:
        """Return the size of the parts of a file in bytes, with as many parts for each worker.

        Examples
        --------
        >>> Budget(workers=2).part(180 << 20) >> 20  # in four parts
        45
        """
        number = -(-size // self.least)
        return -(-size // (-(-number // self.workers) * self.workers))

    @property
    def least(self) -> int:
        """Bytes up to which a file is never cut."""
        return max(self.shard, LEAST)

    @property
    def block(self) -> int:
        """Bytes of a corpus to read at a time."""
        return block_size(self.memory)

    @property
    def tokens(self) -> int:
        """Maximum number of tokens that a stage is given at a time."""
        return max(1_000, self.block // 32)

    @property
    def rows(self) -> int | None:
        """Rows of partial tables in memory; further rows go to disk."""
        return None if self.memory is None else max(1_000, self.memory // (2 * _ROW))

    @property
    def merged(self) -> int | None:
        """Distinct rows of a bucket to add up at once; more are divided first."""
        return None if self.memory is None else max(1_000, self.memory // _ROW)

    @property
    def raw(self) -> int:
        """Raw rows in memory, see `pipeline.stages.base.Counting`; more are counted."""
        if self.memory is None:
            return MOST
        return min(MANY, max(1_000, self.memory // (4 * _RAW)))

    def buckets(self, files: Iterable[SourceFile], *, weight: int = 1) -> int:
        """Return the number of buckets into which the counts of these files must be divided.

        Parameters
        ----------
        files : iterable of SourceFile
            What is counted.
        weight : int
            Memory of a row, relative to a row of pairs.
        """
        if self.memory is None:
            return 1
        return max(1, -(-sum(map(text_bytes, files)) * _SPREAD * weight // self.memory))


def group_files(files: Sequence[SourceFile], size: int) -> list[tuple[SourceFile, ...]]:
    """Return the files in groups of about `size` bytes, in order; large files separately."""
    groups: list[tuple[SourceFile, ...]] = []
    group: list[SourceFile] = []
    total = 0
    for file in files:
        own = text_bytes(file)
        if group and total + own > size:
            groups.append(tuple(group))
            group, total = [], 0
        group.append(file)
        total += own
    return [*groups, tuple(group)] if group else groups


def text_bytes(file: SourceFile) -> int:
    """Return the approximate number of bytes of text in a file."""
    return file.path.stat().st_size * (RATIO if is_compressed(file.path) else 1)


# The rows of the sheets of a folder, and of the decisions beside them


def entries(files: Sequence[SourceFile]) -> pl.LazyFrame:
    """Return the rows of all files, concatenated.

    For a sheet imported into a log of decisions, only answers that are new in it count; answers in
    conflict do not, see `pipeline.runner.conflicts`.

    Parameters
    ----------
    files : sequence of SourceFile
        One or more.
    """
    logged = any(isinstance(file.options, DecisionOptions) for file in files)
    scans = [file.scan() for file in files]
    rows = pl.concat(scans, how="diagonal") if logged else _union(files, _align(files, scans))
    for file in files:
        if isinstance(file.options, DecisionOptions):
            rows = counted_answers(
                rows,
                sheet_answers(file.path, file.options),
                first_answers(file.path, file.options),
                log=file.label,
                answer=ANSWERS[file.format.name],
            )
    return rows


def _union(files: Sequence[SourceFile], scans: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Return the rows of all files; the small ones of very many are read one after the other.

    The streaming engine of Polars 2.1 starts all sources at once, each in a thread, and waits for
    ever with more than 512.
    """
    if len(files) <= _SCANS:
        return pl.concat(scans)
    size = max(block_size(None), sum(map(text_bytes, files)) // _SCANS)
    rest = iter(scans)
    groups = [[next(rest) for _ in group] for group in group_files(files, size)]
    return pl.concat([_read_in_turn(group) if group[1:] else group[0] for group in groups])


def _read_in_turn(scans: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
    """Return the rows of some queries as one source."""

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        rest = most
        for scan in scans:
            if rest == 0:
                return
            roots = [] if predicate is None else predicate.meta.root_names()
            rows = (scan if columns is None else scan.select({*columns, *roots})).collect()
            rows = rows if rest is None else rows.head(rest)
            rest = None if rest is None else rest - rows.height
            table = rows if predicate is None else rows.filter(predicate)
            yield table if columns is None else table.select(columns)

    return register_io_source(read, schema=scans[0].collect_schema(), is_pure=True)


def _align(files: Sequence[SourceFile], scans: Sequence[pl.LazyFrame]) -> list[pl.LazyFrame]:
    """Give all files the order of columns of the first.

    Raises
    ------
    DataError
        If their columns differ: a file without a column would be taken for one without values.
    """
    names = scans[0].collect_schema().names() if len(scans) > 1 else []
    for file, scan in zip(files[1:], scans[1:], strict=True):
        own = scan.collect_schema().names()
        parts = {
            "lacks": [name for name in names if name not in own],
            "also has": [name for name in own if name not in names],
        }
        texts = [f"{verb} {', '.join(map(repr, some))}" for verb, some in parts.items() if some]
        if texts:
            raise DataError(
                f"{file.label}: its columns differ from those of {files[0].label}: it "
                f"{' and '.join(texts)}\nGive all files the same columns."
            )
    return [scan.select(names) for scan in scans] if names else [*scans]


def transfers(files: Sequence[SourceFile]) -> pl.DataFrame:
    """Return the cards that the coordinator gave to others, by the logs among the files.

    Returns
    -------
    DataFrame
        file, line, annotator, id, instead_of, see `pipeline.formats.annotation_rows.transfer_rows`.
    """
    nothing = dict.fromkeys(("file", "annotator", "id", "instead_of"), pl.String) | {
        "line": pl.Int64
    }
    return pl.concat(
        [
            pl.DataFrame(schema=nothing),
            *(
                transfer_rows(file.path, file.options).with_columns(file=pl.lit(file.label))
                for file in files
                if isinstance(file.options, DecisionOptions)
            ),
        ],
        how="diagonal",
    )
