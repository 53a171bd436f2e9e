"""The manifest of an artefact: written last, it vouches for what lies beside it, and for itself."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from pipeline.runner.store.sealed import unsealed
from pipeline.runner.store.storage import digest_of
from pipeline.runner.store.verbs import MANIFEST, Storage

NAME = MANIFEST


class Record(BaseModel):
    """Base of what is kept as JSON."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)


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


class Manifest(Record):
    """What a stage made, from what, and when; exists when all else of the artefact does."""

    stage: str
    use: str
    fingerprint: str
    ingredients: dict[str, dict[str, Any]]
    tables: dict[str, TableRecord]
    created: str
    seconds: float
    skipped: int = 0
    skipped_examples: tuple[str, ...] = ()

    def digests(self) -> dict[str, str]:
        """Return the digest of each table."""
        return {name: table.digest for name, table in self.tables.items()}

    def keys(self, folder: str, table: str) -> tuple[str, ...]:
        """Return the keys of a table's parts."""
        return tuple(f"{folder}/{part.file}" for part in self.tables[table].parts)


def now() -> str:
    """Return the time, as records have it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def read(storage: Storage, folder: str) -> Manifest | None:
    """Return the manifest of an artefact; None if it has none that can be read."""
    try:
        with storage.open(f"{folder}/{NAME}") as opened:
            return unsealed(opened.read(), Manifest)
    except (OSError, ValueError):
        return None


def damage(storage: Storage, folder: str, manifest: Manifest, *, thorough: bool) -> list[str]:
    """Return what is wrong with the files that a manifest vouches for.

    Parameters
    ----------
    storage, folder : Storage, str
        Where they lie.
    manifest : Manifest
        What it says of them.
    thorough : bool
        Whether to read them all and compare digests, or sizes alone.
    """
    wrong: list[str] = []
    for name, table in manifest.tables.items():
        sizes = {entry.key: entry.size for entry in storage.list(f"{folder}/{name}")}
        for part in table.parts:
            key = f"{folder}/{part.file}"
            size = sizes.get(key)
            if size is None:
                wrong.append(f"{part.file} is gone")
            elif size != part.bytes:
                wrong.append(f"{part.file} has {size:,} bytes, not {part.bytes:,}")
            elif thorough and _digest(storage, key) != part.sha256:
                wrong.append(f"{part.file} has other content than was written")
    return wrong


def _digest(storage: Storage, key: str) -> str:
    """Return the digest of a file; none of one that is no longer there, or cannot be read."""
    try:
        return digest_of(storage, key)
    except OSError:
        return ""
