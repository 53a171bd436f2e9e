"""What was found in files, kept between runs: only a cache, which may be lost or damaged."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from pipeline.runner.store.digest import text_digest
from pipeline.runner.store.verbs import Storage

_FRESH = 2.0
"""Seconds in which a file could change again without a new modification time."""

Value = TypeVar("Value")
Stamp: TypeAlias = tuple[int, int, int, int]
"""Size, times of modification and of change, inode."""


def stamp_of(path: Path) -> Stamp:
    """Return what a file cannot keep when it is written to, unless it `is_fresh`."""
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def is_fresh(stamp: Stamp) -> bool:
    """Return whether a file is so new that it could change and keep its stamp."""
    return time.time() - max(stamp[1:3]) / 1e9 <= _FRESH


def was_written(before: Stamp | None, after: Stamp | None) -> bool:
    """Return whether a file was written to between two stamps; a new name or owner is no such."""
    return before is not None and after is not None and before[:2] != after[:2]


class Remembered(Generic[Value]):
    """What is found in a file by reading it, remembered while its stamp stays the same.

    What was found in a file that has only just changed is not kept. A cache that is not, byte
    for byte, what was written by the same code is forgotten.

    Parameters
    ----------
    storage, key : Storage, str
        Where it is kept.
    find : callable
        path -> what is found: anything that JSON can hold.
    mark : str
        What finds it; another mark forgets everything.
    """

    def __init__(
        self, storage: Storage, key: str, find: Callable[[Path], Value], mark: str = ""
    ) -> None:
        self._storage, self._key, self._find, self._mark = storage, key, find, mark
        self._known: dict[str, tuple[Stamp, Value]] = {}
        self._new = False
        with suppress(OSError, ValueError), storage.open(key) as opened:
            digest, _, body = opened.read().decode().partition("\n")
            self._known = json.loads(body) if digest == text_digest(mark + body) else {}

    def of(self, path: Path) -> Value:
        """Return what is found in a file."""
        name, stamp = str(path.absolute()), stamp_of(path)
        remembered = self._known.get(name)
        if remembered and tuple(remembered[0]) == stamp:
            return remembered[1]
        value = self._find(path)
        if not is_fresh(stamp):
            self._known[name] = (stamp, value)
            self._new = True
        return value

    def keep(self) -> None:
        """Write down what is new; a cache that cannot be written is no loss."""
        if self._new:
            body = json.dumps(self._known)
            with suppress(OSError):
                content = f"{text_digest(self._mark + body)}\n{body}"
                self._storage.write(self._key, content.encode())
