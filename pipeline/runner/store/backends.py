"""The storage of a place, and operations that all storages share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from pipeline.errors import StoreError
from pipeline.runner.store.cloud import CloudStorage, address_of
from pipeline.runner.store.interface import Entry, Storage, hidden_key
from pipeline.runner.store.local import LocalStorage


def storage_at(root: Path, *, remedy: str = "") -> Storage:
    """Return the storage with this root, local or on an object store.

    Parameters
    ----------
    root : Path
        A folder, or an address, for example ``s3://bucket/runs``.
    remedy : str
        Remedy if nothing can be written; by default to choose another --runs.
    """
    address = address_of(root)
    if address is not None:
        return CloudStorage(address, remedy) if remedy else CloudStorage(address)
    return LocalStorage(root, remedy) if remedy else LocalStorage(root)


def folder_at(storage: Storage, key: str) -> Path | None:
    """Return the local folder of a key; None on an object store."""
    return Path(storage.location(key)) if isinstance(storage, LocalStorage) else None


def pages_at(root: Path) -> Path:
    """Return the local folder for files that people open.

    It is the folder of the results, unless these are on an object store.

    Examples
    --------
    >>> pages_at(Path("s3://words/runs/pilot")).as_posix()
    'runs/s3/words/runs/pilot'
    """
    address = address_of(root)
    return Path("runs", address.scheme, address.bucket, address.prefix) if address else root


def require_local(root: Path, what: str) -> None:
    """Refuse an address where a command needs results in a folder.

    Raises
    ------
    StoreError
        If it is on an object store.

    Examples
    --------
    >>> require_local(Path("runs"), "annotate")
    """
    if address := address_of(root):
        remedy = "give a local folder with --runs"
        raise StoreError(f"{what}: {address.text()} is on an object store; {remedy}")


def below(storage: Storage, prefix: str) -> Iterator[Entry]:
    """Yield every file below a key."""
    for entry in storage.list(prefix):
        if entry.size is None:
            yield from below(storage, entry.key)
        else:
            yield entry


def digest_of(storage: Storage, key: str) -> str:
    """Return the SHA-256 of a file's bytes."""
    return size_and_digest(storage, key)[1]


def scan_tables(storage: Storage, keys: Sequence[str]) -> pl.LazyFrame:
    """Return the query of Parquet files; brackets in their names are no pattern."""
    return pl.scan_parquet([storage.readable(key) for key in keys], glob=False)


def size_and_digest(storage: Storage, key: str) -> tuple[int, str]:
    """Return how many bytes a file has, and their SHA-256."""
    with storage.open(key) as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return opened.tell(), digest


@contextmanager
def new_draft(storage: Storage, name: str) -> Iterator[str]:
    """Yield the key of an empty draft of a name; unpublished drafts are removed."""
    draft = hidden_key(name, "staging")
    storage.remove(draft)
    try:
        yield draft
    finally:
        storage.remove(draft)
