"""Drafts of what will lie on an object store: files of this machine, gone with their process.

A draft counts for nothing before it is published, so it costs the store no request. A part that
lies on the store already is named, not fetched: publishing copies it there.
"""

from __future__ import annotations

import os
from functools import cache

from pipeline.runner.store.cloud import cache as cached
from pipeline.runner.store.cloud.address import Address
from pipeline.runner.store.digest import text_digest
from pipeline.runner.store.local import LocalStorage

_MARK = ".staging-"
_ROOM = "drafts"


def is_draft(key: str) -> bool:
    """Return whether a key lies in a draft, or is one.

    Examples
    --------
    >>> is_draft("scores/.staging-3f2a/table/part"), is_draft("scores/.partial-3f2a/shard")
    (True, False)
    """
    return any(part.startswith(_MARK) for part in key.split("/"))


class Drafts:
    """The drafts of one process for one place.

    Parameters
    ----------
    files : LocalStorage
        Where their files lie.
    """

    def __init__(self, files: LocalStorage) -> None:
        self.files = files
        self.references: dict[str, str] = {}
        """Key in a draft to the key on the store that it stands for."""

    def remove(self, prefix: str) -> None:
        """Remove a draft, or a part of it."""
        gone = [key for key in self.references if f"{key}/".startswith(f"{prefix}/")]
        for key in gone:
            del self.references[key]
        self.files.remove(prefix)

    def referred(self, draft: str) -> dict[str, str]:
        """Return the keys in a draft that stand for others, without the draft's own name."""
        return {
            key.removeprefix(f"{draft}/"): source
            for key, source in self.references.items()
            if key.startswith(f"{draft}/")
        }


@cache
def drafts_of(address: Address) -> Drafts:
    """Return this process's drafts for a place; those of processes that ended are removed."""
    room = LocalStorage(cached.folder() / _ROOM)
    for entry in room.list():
        if entry.name.isdecimal() and _is_gone(int(entry.name)):
            room.remove(entry.key)
    return Drafts(LocalStorage(room.root / str(os.getpid()) / text_digest(address.text())[:16]))


def _is_gone(process: int) -> bool:
    try:
        os.kill(process, 0)  # asks whether it is there, and does nothing to it
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False
