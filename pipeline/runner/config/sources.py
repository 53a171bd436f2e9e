"""From the paths of an experiment to files on this machine."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import environ
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from pipeline.causes import machine
from pipeline.errors import ConfigError, DataError, Problem
from pipeline.formats.base import Batch, Format, FormatOptions, Skipped, format_of
from pipeline.formats.corpora.file_parts import FilePart
from pipeline.formats.decisions import database as decisions
from pipeline.formats.decisions.reading import pinned
from pipeline.formats.reading import reading
from pipeline.formats.sheets import listing
from pipeline.runner.config.problems import problems_of
from pipeline.runner.store.cloud import inputs
from pipeline.runner.store.cloud.address import Address, address_of
from pipeline.runner.store.digest import file_digest
from pipeline.runner.store.remembered import Stamp, is_fresh, stamp_of
from pipeline.stages.base import Source

DATA = "data:"
"""Prefix of a path below the data root."""
_LONGEST = 80
"""Characters of a path that a message shows."""
VARIABLE = "LEXASSAY_DATA"
"""Environment variable that names the data root."""


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
        Path below the data root to where it can be had.
    """

    folder: Path
    data: Path | None = None
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SourceFile:
    """One file of a source: how the experiment calls it, where it is, how it is read.

    Its digest is empty until a stage that reads it is about to run; what it was `seen` by before
    the digest was found is kept if it tells every later change. With a `part` it is that part of
    the file, and the digest is that of its bytes. What lies on an object store is `remote`, and its
    path that of a copy on the machine where the run was started.
    """

    label: str
    path: Path
    format: Format
    options: FormatOptions
    digest: str = ""
    part: FilePart | None = None
    seen: Stamp | None = None
    remote: inputs.Remote | None = None

    def here(self) -> SourceFile:
        """Return it as a file of this machine: without the copy of a remote one, with its own.

        Raises
        ------
        DataError
            If the object store does not give it.
        """
        if self.remote is None or self.path.is_file():
            return self
        try:
            return replace(self, path=self.remote.fetched(), seen=None)
        except OSError as error:
            raise DataError(f"{self.label}: {machine(error)}") from error

    def scan(self) -> pl.LazyFrame:
        """Return its plan, with the columns file and line; reads the header at most."""
        plan = self.format.scan(self.path, self.options)
        return plan.select(pl.lit(self.label).alias("file"), pl.all())

    def schema(self) -> pl.Schema:
        """Return the columns that it has; DataError where not even the header can be read."""
        with reading(self.path):
            own = self.format.scan(self.path, self.options).collect_schema()
        if "file" in own:
            what = "a column is called file, which is a name of the reader's own"
            raise DataError(f"{self.path}: {what}\nRename it.")
        return pl.Schema({"file": pl.String(), **own})

    def batches(self, columns: Collection[str], size: int) -> Iterator[Batch]:
        """Yield its tokens in batches, with those of the columns that it has, checked."""
        wanted = [name for name in self.schema() if name in columns and name != "file"]
        for batch in self._read(wanted, size):
            labelled = batch.tokens.select(pl.lit(self.label).alias("file"), pl.all())
            yield Batch(labelled, batch.skipped)

    def _read(self, columns: list[str], size: int) -> Iterator[Batch]:
        if self.part and self.format.read_part:
            return self.format.read_part(self.path, self.options, columns, size, self.part)
        if self.format.read is None:
            raise TypeError(f"format {self.format.name} reads no corpus")
        return self.format.read(self.path, self.options, columns, size)

    def stamp(self) -> Stamp | None:
        """Return the file's stamp; None where it tells nothing of its content."""
        if self.format.digest is not None:
            return None
        with reading(self.path):
            return stamp_of(self.path)

    def as_it_is(self, of_file: Callable[[Path], str]) -> SourceFile:
        """Return it with its digest, see `content`."""
        stamp = self.stamp()
        seen = None if stamp is None or is_fresh(stamp) else stamp
        return replace(self, digest=self.content(of_file), seen=seen)

    def is_what(self, stamp: Stamp | None) -> bool:
        """Return whether its content, under this stamp of now, is still that of its digest."""
        if stamp is not None and stamp == self.seen:
            return True
        return self.content(file_digest) == self.digest

    def content(self, of_file: Callable[[Path], str]) -> str:
        """Return the digest of its content, by a function of files unless the format has one."""
        if self.format.digest is not None:
            return self.format.digest(self.path, self.options)
        with reading(self.path):
            return self.part.content(self.path) if self.part else of_file(self.path)

    def check(self) -> Sequence[Skipped]:
        """Read it; raise DataError for what cannot be read, or return what is left out."""
        return self.format.check(self.path, self.options)


def sheet_files(folder: Path, kind: str = "annotation_sheet") -> list[SourceFile]:
    """Return the filled sheets of a folder, by name, then its decisions, as they are now.

    An absent folder has none.

    Parameters
    ----------
    folder : Path
        Where they are.
    kind : str
        Their format.
    """
    sheet = format_of("", name=kind)
    files = [SourceFile(path.name, path, sheet, FormatOptions()) for path in listing(folder)]
    database = folder / decisions.NAME
    if database.is_file():
        log = format_of("", name=kind.replace("_sheet", "_decisions"))
        files.append(SourceFile(database.name, database, log, pinned(database)))
    return files


def data_root(given: Path | None) -> Path | None:
    """Return the data root: the one given, else the one of the environment."""
    named = environ.get(VARIABLE)
    return given or (Path(named) if named else None)


def find(source: Source, places: Places, *, where: str) -> list[SourceFile]:
    """Return the files of a source, in the order given; a glob or folder in order of names.

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
    ConfigError
        For a path without a file, an unknown format, or unknown options of the reader.
    """
    problems: list[Problem] = []
    files: list[SourceFile] = []
    for written in source.path:
        try:
            if address := address_of(written):
                files += _remote(written, address, source, places, where)
                continue
            expanded = _expand(written, places, where)
            files += [_file(label, path, source, where) for label, path in expanded]
        except ConfigError as error:
            problems += error.problems
        except (ValueError, NotImplementedError) as error:  # of a format, or of a glob
            problems.append(Problem(where, str(error)))
        except OSError as error:
            problems.append(Problem(where, f"{_shown(written)}: {machine(error)}"))
    if problems:
        raise ConfigError(where, problems)
    return files


def _file(label: str, path: Path, source: Source, where: str) -> SourceFile:
    format_ = format_of(path.name, name=source.format, kind=source.kind)
    try:
        options = format_.options.model_validate(source.options)
    except ValidationError as error:
        problems = problems_of(
            error, format_.options, source.options, prefix=where, also=("path", "format")
        )
        raise ConfigError(where, problems) from error
    return SourceFile(label, path, format_, options)


def _expand(written: str, places: Places, where: str) -> list[tuple[str, Path]]:
    base, relative = places.folder, written
    if written.startswith(DATA):
        relative = written.removeprefix(DATA).lstrip("/")
        if places.data is None:
            what = f"needs the data root: give --data DIR or set {VARIABLE}"
            raise _absent(written, places, where, what)
        base = places.data
    target = base / relative
    if target.is_file():
        return [(written, target)]
    paths = sorted(target.iterdir()) if target.is_dir() else _glob(base, relative)
    files = [(_label(written, each), each) for each in paths if each.is_file()]
    if not files:
        what = (
            "the folder has no files"
            if target.is_dir()
            else f"there is no file {_shown(written)!r}"
        )
        raise _absent(written, places, where, what)
    return files


def _remote(
    written: str, address: Address, source: Source, places: Places, where: str
) -> Iterator[SourceFile]:
    """Yield what lies on an object store, with copies on this machine."""
    if not (found := inputs.found(address)):
        raise _absent(written, places, where, "nothing of that name is on the store")
    for remote in found:
        path = remote.fetched()
        alone = len(found) == 1 and written.endswith(f"/{path.name}")
        label = written if alone else _label(written, path)
        yield replace(_file(label, path, source, where), remote=remote)


def _glob(base: Path, relative: str) -> list[Path]:
    if not any(mark in relative for mark in "*?["):
        return []
    anchor = Path(relative).anchor
    root = Path(anchor) if anchor else base
    return sorted(root.glob(relative.removeprefix(anchor)))


def _label(written: str, path: Path) -> str:
    """Name a found file by what was written and its own name: never by this machine's path."""
    return f"{written} ({path.name})"


def _absent(written: str, places: Places, where: str, what: str) -> ConfigError:
    origin = places.origins.get(written.removeprefix(DATA), "")
    base = places.data if written.startswith(DATA) else places.folder
    looked = f"looked in {base}" if base and not address_of(written) else ""
    remedy = "; ".join(filter(None, [looked, f"where it can be had: {origin}" if origin else ""]))
    return ConfigError("source", [Problem(where, f"{_shown(written)}: {what}", remedy)])


def _shown(written: str) -> str:
    """Return a path as a message shows it: no longer than a line, no control characters."""
    short = written if len(written) <= _LONGEST else f"{written[:_LONGEST]}..."
    return short if short.isprintable() else repr(short)
