"""Large files of a corpus as parts, so that several workers can read one file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from pipeline import spill
from pipeline.errors import DataError
from pipeline.formats.corpora.file_parts import Division, FilePart
from pipeline.formats.reading import reading
from pipeline.runner.config.budget import Budget, text_bytes
from pipeline.runner.config.sources import SourceFile
from pipeline.runner.store.digest import canonical, file_digest, text_digest
from pipeline.runner.store.remembered import Remembered
from pipeline.runner.store.storage import folder_at
from pipeline.runner.store.unpacking import unpacked
from pipeline.runner.store.verbs import Storage

_PARTS = TypeAdapter(list[FilePart])
_NAME = 16
"""Hexadecimal digits of the name under which parts, and the text of a file, are kept."""


def in_parts(
    storage: Storage, files: tuple[SourceFile, ...], budget: Budget, folder: str
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
    folder : str
        The key below which the text goes of a packed file that has to be unpacked for its parts.

    Raises
    ------
    DataError
        If the file is no longer what its digest says.
    """
    file, *others = files
    if others or file.format.divide is None:
        return [files]
    with reading(file.path):
        size = text_bytes(file)
    if size <= budget.least:
        return [files]
    text = f"{folder}/text-{file.digest[:_NAME]}"
    aside = folder_at(storage, f"{folder}/.spill-{uuid4().hex}")  # goes with the stage's, if killed
    with spill.within(aside):
        found = _remembered(storage, file, budget, size, text)
    parts = _PARTS.validate_python(found["parts"])
    if parts and found["unpacked"]:
        place = unpacked(storage, text, file.path, size=parts[-1].range.end)
        parts = [replace(part, text=str(place)) for part in parts if place]
        file = replace(file, seen=None)  # by which it is not read
    return [(replace(file, part=part, digest=part.digest),) for part in parts] or [files]


def _remembered(
    storage: Storage, file: SourceFile, budget: Budget, size: int, text: str
) -> dict[str, Any]:
    """Return how a file is cut, which is known from before or found now."""
    several = budget.workers > 1 or budget.memory is not None

    def find(path: Path) -> dict[str, Any]:
        division = _divided(file, path, budget.part(size))
        place = None
        if not division.parts and several and division.unpack:
            place = unpacked(storage, text, path)
            division = _divided(file, place, budget.part(size)) if place else division
        parts = [asdict(part) for part in division.parts]
        digest = file_digest(path) if place else division.digest or file_digest(path)
        return {"digest": digest, "parts": parts, "unpacked": bool(place)}

    asked = [file.format.name, file.options.model_dump(mode="json"), budget.part(size), several]
    key = f".parts-{text_digest(canonical(asked))[:_NAME]}.json"
    remembered = Remembered(storage, key, find)
    with reading(file.path):
        found = remembered.of(file.path)
    if found["digest"] != file.digest:
        raise DataError(f"{file.label} changed while it was read; nothing was written, run again")
    remembered.keep()
    return found


def _divided(file: SourceFile, path: Path, size: int) -> Division:
    """Return the division of a file, or of its text."""
    division: Division = file.format.divide(path, file.options, size)  # type: ignore[misc]
    return division
