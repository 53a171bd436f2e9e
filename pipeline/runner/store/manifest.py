"""The manifest of an artefact: written last, so that it vouches for what lies beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.runner.store.digest import file_digest

NAME = "manifest.json"


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

    def paths(self, folder: Path, table: str) -> list[Path]:
        """Return the files of a table."""
        return [folder / part.file for part in self.tables[table].parts]


def read(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; None if it has none that can be read."""
    try:
        return Manifest.model_validate_json((folder / NAME).read_bytes())
    except (OSError, ValidationError):
        return None


def damage(folder: Path, manifest: Manifest, *, thorough: bool) -> list[str]:
    """Return what is wrong with the files that a manifest vouches for.

    Parameters
    ----------
    folder : Path
        Where they lie.
    manifest : Manifest
        What it says of them.
    thorough : bool
        Whether to read them all and compare digests, or sizes alone.
    """
    wrong: list[str] = []
    for table in manifest.tables.values():
        for part in table.parts:
            path = folder / part.file
            if not path.is_file():
                wrong.append(f"{part.file} is gone")
            elif path.stat().st_size != part.bytes:
                wrong.append(f"{part.file} has {path.stat().st_size:,} bytes, not {part.bytes:,}")
            elif thorough and file_digest(path) != part.sha256:
                wrong.append(f"{part.file} has other content than was written")
    return wrong
