"""The key that secrets are made of: a small file beside the decisions, made once, never lost."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from itertools import count
from pathlib import Path

from pipeline import causes
from pipeline.errors import StoreError

NAME = "annotate.key"
"""What the file is called in the folder of the sheets."""
_SIZE = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make(path: Path) -> None:
    """Make a key of 32 random bytes that its owner alone can read; one that is there stays.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    if path.exists():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = _written(path)
        with suppress(FileExistsError):  # another server was quicker, and its key counts
            os.link(fresh, path)  # whole or not there, and never over a file
        fresh.unlink()
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {causes.machine(error)}") from error


def read(path: Path) -> bytes:
    """Return the key.

    Raises
    ------
    StoreError
        If it cannot be read, or is not of 32 bytes.
    """
    try:
        key = path.read_bytes()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {causes.machine(error)}") from error
    if len(key) != _SIZE:
        what = f"is no key: {len(key)} bytes, and {_SIZE} are expected"
        remedy = "Put back the copy of it, or move it elsewhere: then all links change."
        raise StoreError(f"{path}: {what}\n{remedy}")
    return key


def renew(path: Path) -> Path:
    """Put a new key in the place of the old one, and return where the old one lies now.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    try:
        kept = _kept(path)
        _written(path).replace(path)
    except OSError as error:
        raise StoreError(f"{path}: cannot be renewed: {causes.machine(error)}") from error
    return kept


def warning(path: Path) -> str | None:
    """Return what is to be said of who can read the key; None if only its owner can."""
    if os.name != "posix" or not path.stat().st_mode & _OTHERS:
        return None
    what = "others on this machine can read it, and so make every link themselves"
    return f"{path}: {what}\nTake it from them: chmod 600 {path}, then renew the links."


def state(path: Path) -> tuple[int, int]:
    """Return what changes when another key is put in its place."""
    try:
        found = path.stat()
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {causes.machine(error)}") from error
    return found.st_ino, found.st_mtime_ns


def _written(path: Path) -> Path:
    """Return a new file beside it with a new key, on the disk."""
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(secrets.token_bytes(_SIZE))
        file.flush()
        os.fsync(file.fileno())
    return fresh


def _kept(path: Path) -> Path:
    """Return a second name of the key, the first that is free."""
    for number in count(1):
        kept = path.with_name(f"{path.name}.{number}")
        with suppress(FileExistsError):
            os.link(path, kept)
            return kept
    raise AssertionError  # pragma: no cover, numbers do not end
