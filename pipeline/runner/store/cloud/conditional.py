"""Puts that overwrite nothing of others: the store refuses what its condition does not allow.

A new object needs no right: it can only take a place that is free. To replace one, the right (the
fence) is asked for after the version to be replaced was seen. Who had lost it by then stops; who
loses it afterwards names a version that the next holder has replaced, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from pipeline.runner.store.cloud.bucket import Bucket, Meta, Refused, Unanswered

Fence: TypeAlias = Callable[[], None]
"""Raises StoreError if the right to write was lost."""
_TRIES = 5


def put_new(bucket: Bucket, key: str, content: bytes | Path) -> bool:
    """Put an object where there is none; whether it is there now, by this or an earlier try."""
    for last in range(_TRIES):
        try:
            bucket.put(key, content)
        except Refused:
            return same(bucket, key, content)
        except Unanswered:
            if last == _TRIES - 1:
                raise
        else:
            return True
    raise AssertionError  # pragma: no cover  the loop has returned or raised


def put_fenced(bucket: Bucket, key: str, content: bytes | Path, fence: Fence) -> None:
    """Put an object, over another one if the right to do so is still there.

    Parameters
    ----------
    bucket, key : Bucket, str
        Where.
    content : bytes or Path
        The bytes, or the file of this machine that has them.
    fence : callable
        Raises if the right was lost.
    """
    if put_new(bucket, key, content):
        return
    for _ in range(_TRIES):
        seen = bucket.head(key)
        fence()
        if replaced(bucket, key, content, seen):
            return
    raise Unanswered(f"{key} changes again and again: another process writes it")


def replaced(bucket: Bucket, key: str, content: bytes | Path, seen: Meta | None) -> bool:
    """Put an object over a version; whether it is there now."""
    try:
        bucket.put(key, content, over=seen)
    except (Refused, Unanswered):
        return same(bucket, key, content)
    return True


def same(bucket: Bucket, key: str, content: bytes | Path) -> bool:
    """Return whether an object has these bytes: of a put whose answer was lost, it has."""
    mine = content if isinstance(content, bytes) else content.read_bytes()
    found = bucket.head(key)
    return found is not None and found.size == len(mine) and bucket.read(key)[0] == mine
