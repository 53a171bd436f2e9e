"""Write files of corpora, read them as the runner does, and say what was refused."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pipeline.errors import DataError
from pipeline.formats.base import Skipped, format_of


def write(path: Path, content: str | bytes) -> Path:
    """Write a file; gzipped if its name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.name.endswith(".gz") else raw)
    return path


def scan(path: Path, *, name: str | None = None, **options: Any) -> pl.LazyFrame:
    """Return the plan of a file."""
    found = format_of(path.name, name=name)
    return found.scan(path, found.options.model_validate(options))


def read(path: Path, *, name: str | None = None, **options: Any) -> pl.DataFrame:
    """Check a file, then read it."""
    found = format_of(path.name, name=name)
    given = found.options.model_validate(options)
    found.check(path, given)
    return found.scan(path, given).collect()


def skips(path: Path, *, name: str | None = None, **options: Any) -> list[Skipped]:
    """Return what the lenient reader leaves out."""
    found = format_of(path.name, name=name)
    return list(found.check(path, found.options.model_validate(options | {"lenient": True})))


def refusal(path: Path, *, name: str | None = None, **options: Any) -> str:
    """Return the message with which the strict reader refuses a file."""
    found = format_of(path.name, name=name)
    with pytest.raises(DataError) as error:
        found.check(path, found.options.model_validate(options))
    return str(error.value)
