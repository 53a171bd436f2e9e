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
from pipeline.formats.base import Batch, Format, SkippedPart, format_of
from pipeline.formats.corpora.splitting import FilePart, Run
from pipeline.runner.store.digest import file_digest


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


def skips(path: Path, *, name: str | None = None, **options: Any) -> list[SkippedPart]:
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


# Read a file in parts, and compare all that is known of them with the file read as a whole.

SMALL, LARGE = 200, 1 << 20
"""Bytes or rows of a batch."""
FEW = 6
"""So many parts are read with batches of both sizes; of more, every second one with either."""
COLUMNS = ["line", "sentence", "doc", "paragraph", "position", "form"]


def parts_of(path: Path, size: int, *, name: str | None = None, **options: Any) -> list[FilePart]:
    """Cut a file; its tokens, and what is known of each part, are those of the whole."""
    format_ = format_of(path.name, name=name, kind="corpus")
    given = format_.options.model_validate(options)
    assert format_.divide
    division = format_.divide(path, given, size)
    assert division.digest in {"", file_digest(path)}
    parts = list(division.parts)
    if parts:
        _compare(format_, path, given, parts)
    return parts


def _compare(format_: Format, path: Path, options: Any, parts: Sequence[FilePart]) -> None:
    assert format_.read
    assert format_.read_part
    whole = pl.concat(each.tokens for each in format_.read(path, options, COLUMNS, LARGE))
    before = whole.head(0)
    for number, part in enumerate(parts):
        assert part.content(path) == part.digest
        assert part.goes_on == (part is not parts[-1])
        assert part.before == _run(before), part
        for size in (SMALL, LARGE) if len(parts) <= FEW else ((SMALL, LARGE)[number % 2],):
            read = format_.read_part(path, options, COLUMNS, size, part)
            tokens = pl.concat(each.tokens for each in read)
            assert tokens.equals(whole[before.height : before.height + tokens.height]), part
        before = whole[: before.height + tokens.height]
        assert part.last == _run(before), part
    assert before.equals(whole)


def _run(tokens: pl.DataFrame) -> Run:
    """Return the sentences under one name that end these tokens: look back from the last."""
    if tokens.is_empty():
        return Run()
    docs, sentences = tokens["doc"].to_list(), tokens["sentence"].to_list()
    first = len(docs) - 1
    while first and docs[first - 1] == docs[-1]:
        first -= 1
    return Run(docs[-1], sentences[first])
