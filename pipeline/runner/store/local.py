"""Results in a local folder, safe against crashes, full disks and concurrent processes."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

import polars as pl

from pipeline import errors
from pipeline.errors import StoreError, is_present
from pipeline.formats.compression import open_compressed
from pipeline.runner.store.interface import Entry, Storage, hidden_key, parquet_options

_CHUNK = 1 << 20
_CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR}
_PATIENCE = 0.2
"""Seconds to wait for a lock before reporting that another process has it."""
_PAUSE = 0.02
"""Seconds between two tries."""


def unpack(storage: Storage, key: str, path: Path, *, size: int | None = None) -> Path | None:
    """Return the path of a compressed file's text, unpacked if necessary.

    Parameters
    ----------
    storage, key : Storage, str
        Place of the unpacked text: in the folder of a stage, with which it is removed.
    path : Path
        The compressed file.
    size : int, optional
        Its size in bytes, if known; a text of another size is unpacked again.

    Returns
    -------
    Path or None
        None if the storage is not local or is full, or the file is damaged, which its reader
        reports.
    """
    if "://" in (place := storage.readable(key)):
        return None
    text = Path(place)
    if text.is_file() and size in {None, text.stat().st_size}:
        return text
    draft = text.with_name(f".staging-{uuid4().hex}")
    with suppress(OSError, EOFError, zlib.error):
        text.parent.mkdir(parents=True, exist_ok=True)
        with open_compressed(path) as opened, draft.open("wb") as file:
            shutil.copyfileobj(opened, file, _CHUNK)
        return draft.replace(text)
    draft.unlink(missing_ok=True)
    return None


@dataclass(frozen=True)
class LocalStorage:
    """The files below a folder; see `Storage` for what each verb promises."""

    root: Path
    remedy: str = "choose another folder with --runs DIR"
    """What to do where nothing can be written."""

    def write(self, key: str, content: bytes | pl.DataFrame, *, new: bool = False) -> None:
        """Write a file; unless it is a draft, by a temporary sibling, fsync and rename."""
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        if any(part.startswith(".") for part in key.split("/")[:-1]):
            _fill(path, content)
            return
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            _fill(temporary, content)
            sync(temporary)
            if new:
                _link(temporary, path)
            else:
                temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
        sync(path.parent)

    def publish(self, draft: str, name: str) -> str | None:
        """Rename a folder once all its files are on disk."""
        final = self.root / name
        for folder, _, files in os.walk(self.root / draft):
            for each in [*files, "."]:
                sync(Path(folder, each))
        aside = self._set_aside(name) if is_present(final) else None
        (self.root / draft).replace(final)
        sync(final.parent)
        return aside

    def _set_aside(self, name: str) -> str:
        """Rename a folder that cannot be used, so that nothing is overwritten."""
        number = 1
        while (self.root / (aside := f"{hidden_key(name, 'aside')}-{number}")).exists():
            number += 1
        (self.root / name).replace(self.root / aside)
        return aside

    def link(self, key: str, name: str) -> None:
        """Give a file a second name, or copy it where the file system has no links."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        _link(self.root / key, self.root / name)

    def move(self, key: str, name: str) -> None:
        """Rename a file, or a link rather than its target."""
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / key).rename(self.root / name)

    @contextmanager
    def lock(
        self, key: str, waiting: Callable[[], object], *, shared: bool = False
    ) -> Iterator[None]:
        """Hold a file's lock, which the system releases when the process ends."""
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        with path.open("a+b") as file:  # to read, too: over NFS a shared lock needs it
            if not _acquire(file, kind, within=_PATIENCE):
                waiting()
                _acquire(file, kind, within=math.inf)
            yield

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[Entry]:
        """Yield files and folders by name; nothing if the folder does not exist."""
        folder = self.root / prefix
        there = is_present(folder) and folder.is_dir()
        entries = sorted(os.scandir(folder), key=lambda each: each.name) if there else []
        for each in entries:
            if each.name <= after:
                continue
            key = f"{prefix}/{each.name}" if prefix else each.name
            try:
                linked = each.is_symlink()
                size = None if each.is_dir() else each.stat(follow_symlinks=not linked).st_size
            except FileNotFoundError:  # another process has just renamed it
                continue
            yield Entry(key, size, linked)

    def drafts(self, prefix: str) -> Iterator[Entry]:
        """Yield folders that are drafts."""
        yield from (each for each in self.list(prefix) if each.name.startswith(".staging-"))

    def open(self, key: str) -> BufferedIOBase:
        """Open a file to read its bytes."""
        return (self.root / key).open("rb")

    def location(self, key: str) -> str:
        """Return the path of a file."""
        return str(self.root / key)

    def readable(self, key: str) -> str:
        """Return the path of a file."""
        return str(self.root / key)

    def append(self, key: str, line: str) -> None:
        """Add a line to a file."""
        with (self.root / key).open("a", encoding="utf-8") as log:
            log.write(f"{line}\n")

    def remove(self, prefix: str) -> None:
        """Remove a file, or a folder with its content."""
        path = self.root / prefix
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.exists():
            path.unlink(missing_ok=True)

    @contextmanager
    def explain_errors(self, what: str, key: str) -> Iterator[None]:
        """Turn the errors of a disk into messages."""
        try:
            yield
        except (OSError, pl.exceptions.PolarsError) as error:
            own = errors.find_system_error(error)
            if own is None:
                raise
            text = _message(own, what, self.root / key, remedy=self.remedy)
            raise StoreError(text) from error


def _fill(path: Path, content: bytes | pl.DataFrame) -> None:
    if isinstance(content, bytes):
        path.write_bytes(content)
        return
    with errors.translate_write_errors():
        content.write_parquet(path, **parquet_options(content))


def sync(path: Path) -> None:
    """Sync a file, or the entries of a folder, to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _link(existing: Path, new: Path) -> None:
    try:
        os.link(existing, new)
    except OSError as error:
        if error.errno in errors.FULL | {errno.EEXIST}:
            raise
        with existing.open("rb") as source, new.open("xb") as target:
            shutil.copyfileobj(source, target)


def _acquire(file: BinaryIO, kind: int, *, within: float) -> bool:
    """Retry a lock for some seconds.

    Never by a call that waits in the system: a signal that comes just before it, or to another
    thread, would not end it, and Ctrl-C would do nothing until the lock is free.
    """
    until = time.monotonic() + within
    while True:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                return False
            time.sleep(_PAUSE)
        else:
            return True


def _message(error: OSError, what: str, folder: Path, *, remedy: str) -> str:
    number = errors.number(error)
    if number in errors.FULL:
        return (
            f"{what}: the disk is full or the file too large ({_room(folder)}). Finished work is"
            " kept: free some space and run the same command again."
        )
    if number in _CLOSED:
        return f"{what}: {folder} is not writable; {remedy}."
    return f"{what}: {error.filename or folder}: {errors.machine(error)}; {remedy}."


def _room(folder: Path) -> str:
    try:
        return f"{shutil.disk_usage(folder).free / 1e6:,.1f} MB free in {folder}"
    except OSError:
        return str(folder)
