"""Folders that are written anew whole, such as the report; what people put into them stays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import chain, count
from pathlib import PurePosixPath

from pipeline.runner.store.storage import digest_of, drafted
from pipeline.runner.store.verbs import Entry, Storage, beside

_WRITTEN = ".written.json"
"""Key to the digest of each file of ours."""


def write_folder(storage: Storage, name: str, files: Mapping[str, bytes]) -> list[str]:
    """Replace all that we wrote below a name, whole or not at all, one process at a time.

    Parameters
    ----------
    storage : Storage
        Where.
    name : str
        What all keys begin with.
    files : mapping of str to bytes
        The rest of each key, to content.

    Returns
    -------
    list of str
        Files of people, or files of ours that they changed, that stand beside a new one now.
    """
    with storage.lock(f".{name}.lock", lambda: None), drafted(storage, name) as draft:
        for key, content in files.items():
            storage.write(f"{draft}/{key}", content)
        digests = {key: hashlib.sha256(content).hexdigest() for key, content in files.items()}
        storage.write(f"{draft}/{_WRITTEN}", json.dumps(digests).encode())
        storage.publish(draft, name)
        renamed: list[str] = []
        for entry in list(storage.list()):
            if entry.name.startswith(f"{beside(name, 'aside')}-"):
                renamed += retire(storage, entry.key, name)
        return renamed


def retire(storage: Storage, former: str, name: str) -> list[str]:
    """Remove a folder, after what people put into it has a place in another.

    Parameters
    ----------
    storage : Storage
        Where both lie.
    former : str
        The folder that goes.
    name : str
        The one that stays.

    Returns
    -------
    list of str
        What was given another name, since there is a file of its name already.
    """
    renamed = move_out(storage, former, name)
    storage.remove(former)
    return renamed


def move_out(storage: Storage, former: str, name: str) -> list[str]:
    """Move what people put into a folder, or changed in it, to another; see `retire`."""
    renamed = []
    taken = set(_written(storage, name) or {})
    # Those that keep their names first, so that none of these is given away.
    for key in sorted(_theirs(storage, former, name), key=lambda key: (key in taken, key)):
        source, target = f"{former}/{key}", _free(storage, name, key)
        storage.move(source, f"{name}/{target}")
        if target != key:
            renamed.append(target)
    return renamed


def _theirs(storage: Storage, former: str, name: str) -> Iterator[str]:
    """Yield the keys of files that we did not write, or not as they are."""
    written, new = _written(storage, former), _written(storage, name) or {}
    tops = {key.partition("/")[0] for key in new}
    for entry in _files(storage, former):
        key = entry.key.removeprefix(f"{former}/")
        if written is None:  # it was made when no list was kept
            ours = key.partition("/")[0] in tops
        else:
            ours = (
                key in written and not entry.link and written[key] == digest_of(storage, entry.key)
            )
        if not ours and key != _WRITTEN:
            yield key


def _files(storage: Storage, prefix: str) -> Iterator[Entry]:
    """Yield files, and links whatever they lead to: what lies behind them is elsewhere."""
    for entry in storage.list(prefix):
        if entry.size is None and not entry.link:
            yield from _files(storage, entry.key)
        else:
            yield entry


def _written(storage: Storage, name: str) -> dict[str, str] | None:
    try:
        with storage.open(f"{name}/{_WRITTEN}") as opened:
            content = json.loads(opened.read())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def _free(storage: Storage, name: str, key: str) -> str:
    """Return a key that is free: the key itself, or one that says that it was kept."""
    taken = {entry.key.removeprefix(f"{name}/") for entry in _files(storage, name)}
    path = PurePosixPath(key)
    others = (str(path.with_name(f"{path.stem}.kept-{n}{path.suffix}")) for n in count(1))
    return next(each for each in chain([key], others) if each not in taken)
