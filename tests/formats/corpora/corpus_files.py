"""Write files of corpora, read them as the runner does, and say what was refused."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import strategies as st

from pipeline.errors import DataError
from pipeline.formats.base import Batch, Format, Skipped, format_of


def write(path: Path, content: str | bytes) -> Path:
    """Write a file; gzipped if its name says so."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.name.endswith(".gz") else raw)
    return path


def scan(path: Path, *, name: str | None = None, **options: Any) -> pl.LazyFrame:
    """Return the query of a file."""
    found = format_of(path.name, name=name)
    return found.scan(path, found.options.model_validate(options))


SIZES = (1, 200, 1 << 23)
"""Bytes of a block: a sentence at a time, a few, all."""
ONE_SIZE = st.sampled_from([[size] for size in SIZES])
"""One of them, for files that are drawn: a block costs the same however small it is."""
_LONG = 1 << 16


def read(
    path: Path, *, name: str | None = None, sizes: Sequence[int] = SIZES, **options: Any
) -> pl.DataFrame:
    """Check a file, then read it; in batches, too, which must not change anything."""
    found = format_of(path.name, name=name)
    given = found.options.model_validate(options)
    skipped = found.check(path, given)
    tokens = found.scan(path, given).collect()
    if found.kind == "corpus":
        for size in sizes:
            batches = list(in_batches(path, given, found, size))
            assert pl.concat([each.tokens for each in batches]).equals(tokens), size
            assert [skip for each in batches for skip in each.skipped] == list(skipped), size
            assert _whole_sentences(batches), size
    return tokens


def in_batches(path: Path, options: Any, found: Format, size: int) -> Iterator[Batch]:
    """Read a file as the runner does; a long one not byte by byte."""
    columns = found.scan(path, options).collect_schema().names()
    assert found.read is not None
    small = size if path.stat().st_size < _LONG else max(size, 1 << 20)
    return found.read(path, options, columns, small)


def _whole_sentences(batches: list[Batch]) -> bool:
    seen = [set(each.tokens["sentence"]) for each in batches]
    return sum(map(len, seen)) == len(set().union(*seen))


def skips(path: Path, *, name: str | None = None, **options: Any) -> list[Skipped]:
    """Return what the lenient reader leaves out."""
    found = format_of(path.name, name=name)
    return list(found.check(path, found.options.model_validate(options | {"lenient": True})))


def refusal(
    path: Path, *, name: str | None = None, sizes: Sequence[int] = SIZES, **options: Any
) -> str:
    """Return the message with which the strict reader refuses a file."""
    found = format_of(path.name, name=name)
    given = found.options.model_validate(options)
    with pytest.raises(DataError) as error:
        found.check(path, given)
    if found.kind == "corpus":
        for size in sizes:
            with pytest.raises(DataError) as again:
                list(in_batches(path, given, found, size))
            assert str(again.value) == str(error.value), size
    return str(error.value)
