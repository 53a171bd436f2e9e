"""The content-addressed store: ``<experiment>/<stage>/<fingerprint>/``."""

from __future__ import annotations

import fcntl
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl
from filelock import FileLock, Timeout

from pipeline.runner.events import Listener, tell
from pipeline.runner.store import files as disk
from pipeline.runner.store import manifest
from pipeline.runner.store.digest import file_digest
from pipeline.runner.store.manifest import Manifest

_DIGITS = 24
"""Hexadecimal digits of a fingerprint in a folder's name; the manifest has them all."""
_WAITING = "another run is at work on it; waiting"
_FRESH = 2.0
"""Seconds in which a file could change again without a new modification time."""


def folder_of(root: Path, stage: str, fingerprint: str) -> Path:
    """Return where the artefact of a stage lies, or would lie."""
    return root / stage / fingerprint[:_DIGITS]


def find(root: Path, stage: str, fingerprint: str, *, thorough: bool = False) -> Manifest | None:
    """Return the manifest of a whole artefact; None if there is none.

    Parameters
    ----------
    root : Path
        The experiment's folder.
    stage : str
        Name of the stage.
    fingerprint : str
        What it rests on.
    thorough : bool
        Whether to compare the content of every file, or sizes alone.
    """
    folder = folder_of(root, stage, fingerprint)
    found = manifest.read(folder)
    if found is None or found.fingerprint != fingerprint:
        return None
    return None if manifest.damage(folder, found, thorough=thorough) else found


def complaint(root: Path, stage: str, fingerprint: str) -> str | None:
    """Return what is wrong with an artefact that is there but cannot be used."""
    folder = folder_of(root, stage, fingerprint)
    if not folder.exists():
        return None
    found = manifest.read(folder)
    if found is None:
        return f"{folder.name} has no readable {manifest.NAME}"
    if found.fingerprint != fingerprint:
        return f"its {manifest.NAME} is of another result"
    wrong = manifest.damage(folder, found, thorough=True)
    return "; ".join(wrong[:3]) if wrong else None


def scan(root: Path, found: Manifest, table: str) -> pl.LazyFrame:
    """Return the plan of a table of an artefact."""
    folder = folder_of(root, found.stage, found.fingerprint)
    return pl.scan_parquet(found.paths(folder, table))


def artefacts(root: Path, stage: str) -> list[Manifest]:
    """Return every whole artefact of a stage, the newest first."""
    folders = (root / stage).glob("*") if (root / stage).is_dir() else []
    found = [each for folder in folders if (each := manifest.read(folder))]
    return sorted(found, key=lambda each: each.created, reverse=True)


@contextmanager
def in_use(root: Path, listeners: Sequence[Listener], *, alone: bool = False) -> Iterator[None]:
    """Hold an experiment's folder, together with other runs or alone.

    A process that removes what is not needed must not do so under the hands of a run.
    """
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with disk.guarded("the run", root):
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / ".lock").open("ab")
    with lock:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(listeners, "message", text=_WAITING)
            fcntl.flock(lock, kind)
        yield


@contextmanager
def locked(root: Path, stage: str, listeners: Sequence[Listener]) -> Iterator[None]:
    """Hold the lock of a stage's folder; wait, and say so, while another process has it."""
    folder = root / stage
    with disk.guarded(f"stage {stage}", folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / ".lock")
        try:
            lock.acquire(timeout=0.2)
        except Timeout:
            tell(listeners, "message", stage, text=_WAITING)
            lock.acquire()
    try:
        yield
    finally:
        lock.release()


class FileDigests:
    """Digests of input files, remembered while size and modification time stay the same."""

    def __init__(self, cache: Path) -> None:
        self._cache = cache
        self._known: dict[str, tuple[list[int], str]] = {}
        try:
            self._known = {k: (v[0], v[1]) for k, v in json.loads(cache.read_bytes()).items()}
        except (OSError, ValueError, LookupError, AttributeError, TypeError):
            self._known = {}

    def of(self, path: Path) -> str:
        """Return the SHA-256 of a file's content."""
        found = path.stat()
        stamp = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
        known = self._known.get(str(path.resolve()))
        if known and known[0] == stamp:
            return known[1]
        digest = file_digest(path)
        if time.time() - max(found.st_mtime, found.st_ctime) > _FRESH:
            self._known[str(path.resolve())] = (stamp, digest)
        return digest

    def keep(self) -> None:
        """Write down what is known; a cache that cannot be written is no loss."""
        try:
            disk.write_file(self._cache, json.dumps(self._known).encode())
        except OSError:
            return
