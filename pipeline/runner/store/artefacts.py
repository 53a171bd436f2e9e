"""The content-addressed store of an experiment, ``<stage>/<fingerprint>/``, and its manifests."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from pipeline.errors import StageFailed, StoreError
from pipeline.runner.events import Listener, emit
from pipeline.runner.store.backends import scan_tables
from pipeline.runner.store.digest import (
    Stamp,
    canonical,
    file_digest,
    is_fresh,
    stamp_of,
    text_digest,
)
from pipeline.runner.store.interface import MANIFEST, Storage

NAME = MANIFEST
LOCK = ".lock"
COUNTS = "counts"
"""Folder of the counts of a stage, among its results."""
_DIGITS = 24
"""Hexadecimal digits of a fingerprint in a folder's name; the manifest has them all."""
_WAITING = "another run is working on it; waiting"
_SEAL = "sha256 of the rest"
_READABLE = 1 << 20
"""Characters of a record with line ends."""
R = TypeVar("R", bound=BaseModel)


# Checksummed records: JSON with a digest of the rest


def add_checksum(record: BaseModel) -> bytes:
    """Return the record as JSON, with its digest."""
    body = record.model_dump(mode="json")
    text = canonical(body)
    # Line ends are for people; to write them takes long where there are very many inputs.
    indent = 1 if len(text) < _READABLE else None
    whole = {**body, _SEAL: text_digest(text)}
    return json.dumps(whole, indent=indent, ensure_ascii=False).encode()


def read_checksummed(content: bytes, model: type[R]) -> R:
    """Return the record that `add_checksum` gave.

    Raises
    ------
    ValueError
        If it differs from the record written, even by one byte.
    """
    body = json.loads(content)
    seal = body.pop(_SEAL, None) if isinstance(body, dict) else None
    if seal is None or seal != text_digest(canonical(body)):
        raise ValueError("the record was changed after it was written")
    return model.model_validate(body)


# The manifest of an artefact, which is written last


class Record(BaseModel):
    """Base of records stored as JSON."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


FORMAT = 1
"""Format of stored records: one higher whenever a field is added or changes its meaning."""


class StoredRecord(Record):
    """Base of records that later versions of lexassay read.

    Parameters
    ----------
    format : int
        `FORMAT` when it was written.
    lexassay : str
        The version of lexassay that wrote it; empty before 1.0.
    """

    format: int = Field(default=FORMAT, ge=1, le=FORMAT)
    lexassay: str = ""


def require_known_format(content: bytes, place: str) -> None:
    """Refuse a record that a later version wrote, which is not damage.

    Parameters
    ----------
    content : bytes
        JSON that could not be read as a record.
    place : str
        Where it is stored.

    Raises
    ------
    StoreError
        If its format is a later one.

    Examples
    --------
    >>> require_known_format(b'{"format": 1}', "history/a.json")
    >>> try:
    ...     require_known_format(b'{"format": 2, "lexassay": "1.4.0"}', "history/a.json")
    ... except StoreError as error:
    ...     print(str(error).partition(":")[0])
    history/a.json was written by lexassay 1.4.0 in a format that this version cannot read
    """
    try:
        body = json.loads(content)
    except ValueError:
        return
    number = body.get("format") if isinstance(body, dict) else None
    if isinstance(number, int) and number > FORMAT:
        raise StoreError(
            f"{place} was written by lexassay {body.get('lexassay', '')} in a format that this"
            " version cannot read: upgrade lexassay, or name another folder with --runs"
        )


class Part(Record):
    """One Parquet file of a table."""

    file: str
    bytes: int
    sha256: str
    rows: int


class TableRecord(Record):
    """One table of an artefact."""

    model: str
    digest: str
    rows: int
    parts: tuple[Part, ...]


class InputRecord(Record):
    """Input that readers skipped and replaced."""

    skipped: int = 0
    skipped_sentences: int = 0
    skipped_tokens: int = 0
    skipped_examples: tuple[str, ...] = ()
    replaced: dict[str, int] = {}
    filled: tuple[str, ...] | None = None
    """Attributes of the corpus that are read, and have a value; None: none has been read."""

    def input_record(self) -> dict[str, Any]:
        """Return only these fields."""
        return {name: getattr(self, name) for name in InputRecord.model_fields}


class Manifest(StoredRecord, InputRecord):
    """Outputs, inputs and time of a stage; written after everything else of the artefact."""

    stage: str
    use: str
    fingerprint: str
    ingredients: dict[str, dict[str, Any]]
    tables: dict[str, TableRecord]
    created: str
    seconds: float

    def digests(self) -> dict[str, str]:
        """Return the digest of each table."""
        return {name: table.digest for name, table in self.tables.items()}

    def keys(self, folder: str, table: str) -> tuple[str, ...]:
        """Return the keys of a table's parts."""
        return tuple(f"{folder}/{part.file}" for part in self.tables[table].parts)


def now() -> str:
    """Return the present time in the format of records."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read(storage: Storage, folder: str) -> Manifest | None:
    """Return the manifest of an artefact; None if it has no readable one.

    Raises
    ------
    StoreError
        If a later version wrote it.
    """
    key, content = f"{folder}/{NAME}", b""
    try:
        with storage.open(key) as opened:
            content = opened.read()
        return read_checksummed(content, Manifest)
    except (OSError, ValueError):
        require_known_format(content, storage.location(key))
        return None


def damage(
    storage: Storage,
    folder: str,
    manifest: Manifest,
    *,
    thorough: bool,
    tables: Collection[str] | None = None,
) -> list[str]:
    """Return what is wrong with the files of a manifest.

    Parameters
    ----------
    storage, folder : Storage, str
        Storage, and key of the folder.
    manifest : Manifest
        Their manifest.
    thorough : bool
        Compare digests of all files, or only sizes.
    tables : collection of str, optional
        The tables whose files are compared; all by default.
    """
    wrong: list[str] = []
    for name in manifest.tables if tables is None else tables:
        table = manifest.tables[name]
        sizes = {entry.key: entry.size for entry in storage.list(f"{folder}/{name}")}
        for part in table.parts:
            key = f"{folder}/{part.file}"
            size = sizes.get(key)
            if size is None:
                wrong.append(f"{part.file} is missing")
            elif size != part.bytes:
                wrong.append(f"{part.file} has {size:,} bytes, not {part.bytes:,}")
            elif thorough and _digest(storage, key) != part.sha256:
                wrong.append(f"the content of {part.file} has changed")
    return wrong


def _digest(storage: Storage, key: str) -> str:
    """Return the digest of a table's file; none if it is gone or cannot be read.

    A file that was not written to since this process last read it is not read again.
    """
    try:
        path = Path(storage.readable(key))
        stamp = stamp_of(path)
        return file_digest(path) if is_fresh(stamp) else _known_digest(path, stamp)
    except OSError:
        return ""


@lru_cache(maxsize=10_000)
def _known_digest(path: Path, _stamp: Stamp) -> str:
    return file_digest(path)


# Artefacts: found, read and locked


def folder_of(stage: str, fingerprint: str) -> str:
    """Return the key of a stage's artefact, existing or not."""
    return f"{stage}/{fingerprint[:_DIGITS]}"


def counts_of(stage: str) -> str:
    """Return the key of a stage for its counts, which are artefacts, too.

    Examples
    --------
    >>> folder_of(counts_of("candidates"), 64 * "a")
    'candidates/counts/aaaaaaaaaaaaaaaaaaaaaaaa'
    """
    return f"{stage}/{COUNTS}"


def find(
    storage: Storage, stage: str, fingerprint: str, *, thorough: bool = False, files: bool = True
) -> Manifest | None:
    """Return the manifest of a whole artefact; None if there is none.

    Parameters
    ----------
    storage : Storage
        Storage of the experiment's results.
    stage : str
        Name of the stage.
    fingerprint : str
        Its fingerprint.
    thorough : bool
        Compare the content of every file, or only sizes.
    files : bool
        Require its files; without them its tables may have been discarded.
    """
    folder = folder_of(stage, fingerprint)
    artefact = read(storage, folder)
    if artefact is None or artefact.fingerprint != fingerprint:
        return None
    if not files:
        return artefact
    return None if damage(storage, folder, artefact, thorough=thorough) else artefact


def discard(storage: Storage, manifest: Manifest) -> None:
    """Delete the tables of an artefact; its manifest stays, so that later stages are reused."""
    for table in manifest.tables:
        storage.remove(f"{folder_of(manifest.stage, manifest.fingerprint)}/{table}")


def damage_message(storage: Storage, stage: str, fingerprint: str) -> str | None:
    """Return what is wrong with an existing artefact that cannot be used."""
    folder = folder_of(stage, fingerprint)
    if not any(storage.list(folder)):  # and not all folders of the stage, which may be very many
        return None
    name = folder.removeprefix(f"{stage}/")
    artefact = read(storage, folder)
    if artefact is None:
        return f"{name} has no readable {NAME}"
    if artefact.fingerprint != fingerprint:
        return f"its {NAME} belongs to another result"
    wrong = damage(storage, folder, artefact, thorough=True)
    return "; ".join(wrong[:3]) if wrong else None


def find_stored(storage: Storage, stage: str, fingerprint: str) -> Manifest | None:
    """Return the manifest of a result whose tables were not removed; `scan` verifies them."""
    manifest = find(storage, stage, fingerprint, files=False)
    folder = folder_of(stage, fingerprint)
    there = manifest and any(any(storage.list(f"{folder}/{table}")) for table in manifest.tables)
    return manifest if there else None


def scan(storage: Storage, manifest: Manifest, table: str) -> pl.LazyFrame:
    """Return the query of a table of an artefact after comparing its files with their digests.

    Raises
    ------
    StoreError
        If a file is missing, or its content has changed.
    """
    folder = folder_of(manifest.stage, manifest.fingerprint)
    if wrong := damage(storage, folder, manifest, thorough=True, tables=[table]):
        raise damage_error(storage, manifest.stage, manifest.fingerprint, wrong[0])
    return scan_tables(storage, manifest.keys(folder, table))


def damage_error(storage: Storage, stage: str, fingerprint: str, what: str) -> StoreError:
    """Return the error for a damaged result."""
    place = storage.location(folder_of(stage, fingerprint))
    return StoreError(
        f"the results of stage {stage} in {place} are damaged: {what}; run again to restore them"
    )


def artefacts(storage: Storage, stage: str) -> list[Manifest]:
    """Return every whole artefact of a stage, the newest first."""
    whole = [each for entry in storage.list(stage) if (each := read(storage, entry.key))]
    return sorted(whole, key=lambda each: each.created, reverse=True)


@contextmanager
def report_damage(storage: Storage, manifests: Iterable[Manifest]) -> Iterator[None]:
    """Report that unreadable results are damaged, and where they are.

    Raises
    ------
    StoreError
        If the error within was caused by damaged results.
    """
    try:
        yield
    except (OSError, pl.exceptions.PolarsError, StageFailed) as error:
        for each in manifests:
            folder = folder_of(each.stage, each.fingerprint)
            if wrong := damage(storage, folder, each, thorough=True):
                raise damage_error(storage, each.stage, each.fingerprint, wrong[0]) from error
        raise


@contextmanager
def in_use(
    storage: Storage, listeners: Sequence[Listener], *, alone: bool = False
) -> Iterator[None]:
    """Lock an experiment's results, shared with other runs or exclusively.

    Garbage collection must not remove results that a run is using.
    """
    with ExitStack() as stack:
        with storage.explain_errors("the run", ""):
            waiting = partial(emit, listeners, "message", text=_WAITING)
            stack.enter_context(storage.lock(LOCK, waiting, shared=not alone))
        yield


@contextmanager
def lock_stage(
    storage: Storage, stage: str, listeners: Sequence[Listener], *, shared: bool = False
) -> Iterator[None]:
    """Hold the lock of a stage; wait, with a message, while another process has it.

    Tasks of a stage share it: a run waits for them, and they wait for a run.
    """
    with ExitStack() as stack:
        with storage.explain_errors(f"stage {stage}", stage):
            waiting = partial(emit, listeners, "message", stage, text=_WAITING)
            stack.enter_context(storage.lock(f"{stage}/{LOCK}", waiting, shared=shared))
        yield
