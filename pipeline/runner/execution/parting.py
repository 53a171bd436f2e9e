"""Large files of a corpus as parts, so that several workers can read one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pipeline.errors import DataError
from pipeline.formats.corpora.file_parts import FilePart
from pipeline.formats.reading import reading
from pipeline.runner.config.budget import Budget
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.store.digest import canonical, file_digest, text_digest
from pipeline.runner.store.remembered import Remembered
from pipeline.runner.store.verbs import Storage

_PARTS = TypeAdapter(list[FilePart])
_NAME = 16
"""Hexadecimal digits of the name under which parts are remembered."""


def in_parts(
    storage: Storage, files: tuple[SourceFile, ...], budget: Budget
) -> Sequence[tuple[SourceFile, ...]]:
    """Return what shards read in place of a group of files: the parts of one that is large.

    Parameters
    ----------
    storage : Storage
        Where it is remembered how a file was cut.
    files : tuple of SourceFile
        The group.
    budget : Budget
        How large a shard is.

    Raises
    ------
    DataError
        If the file is no longer what its digest says.
    """
    file, *others = files
    divide = file.format.divide
    if others or divide is None:
        return [files]
    with reading(file.path):
        size = file.path.stat().st_size
    if size <= budget.least:
        return [files]

    def find(path: Path) -> Any:
        division = divide(path, file.options, budget.part(size))
        parts = [asdict(part) for part in division.parts]
        return {"digest": division.digest or file_digest(path), "parts": parts}

    asked = [file.format.name, file.options.model_dump(mode="json"), budget.part(size)]
    key = f".parts-{text_digest(canonical(asked))[:_NAME]}.json"
    remembered = Remembered(storage, key, find)
    with reading(file.path):
        found = remembered.of(file.path)
    if found["digest"] != file.digest:
        raise DataError(f"{file.label} changed while it was read; nothing was written, run again")
    remembered.keep()
    parts = _PARTS.validate_python(found["parts"])
    return [(replace(file, part=part, digest=part.digest),) for part in parts] or [files]
