"""Write files of corpora, read them as the runner does, and return messages of refusals."""

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
    """Write a file, gzipped if its name ends in .gz."""
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if path.name.endswith(".gz") else raw)
    return path


def scan(path: Path, *, name: str | None = None, **options: Any) -> pl.LazyFrame:
    """Return the query of a file."""
    format_ = format_of(path.name, name=name)
    return format_.scan(path, format_.options.model_validate(options))


SIZES = (1, 200, 1 << 23)
"""Bytes of a block: a sentence at a time, a few, all."""
ONE_SIZE = st.sampled_from([[size] for size in SIZES])
"""One of them, for random files: a block costs the same however small it is."""
_LONG = 1 << 16


def read(
    path: Path, *, name: str | None = None, sizes: Sequence[int] = SIZES, **options: Any
) -> pl.DataFrame:
    """Check and read a file; reading it in batches must give the same."""
    format_ = format_of(path.name, name=name)
    settings = format_.options.model_validate(options)
    skipped = format_.check(path, settings)
    tokens = format_.scan(path, settings).collect()
    if format_.kind == "corpus":
        for size in sizes:
            batches = list(in_batches(path, settings, format_, size))
            assert pl.concat([each.tokens for each in batches]).equals(tokens), size
            assert [skip for each in batches for skip in each.skipped] == list(skipped), size
            assert _whole_sentences(batches), size
    return tokens


def in_batches(path: Path, options: Any, format_: Format, size: int) -> Iterator[Batch]:
    """Read a file as the runner does; long ones in larger blocks."""
    columns = format_.scan(path, options).collect_schema().names()
    assert format_.read is not None
    small = size if path.stat().st_size < _LONG else max(size, 1 << 20)
    return format_.read(path, options, columns, small)


def _whole_sentences(batches: list[Batch]) -> bool:
    sentences = [set(each.tokens["sentence"]) for each in batches]
    return sum(map(len, sentences)) == len(set().union(*sentences))


def skips(path: Path, *, name: str | None = None, **options: Any) -> list[SkippedPart]:
    """Return the parts that the lenient reader skips."""
    format_ = format_of(path.name, name=name)
    return list(format_.check(path, format_.options.model_validate(options | {"lenient": True})))


def refusal(
    path: Path, *, name: str | None = None, sizes: Sequence[int] = SIZES, **options: Any
) -> str:
    """Return the message with which the strict reader refuses a file."""
    format_ = format_of(path.name, name=name)
    settings = format_.options.model_validate(options)
    with pytest.raises(DataError) as error:
        format_.check(path, settings)
    if format_.kind == "corpus":
        for size in sizes:
            with pytest.raises(DataError) as again:
                list(in_batches(path, settings, format_, size))
            assert str(again.value) == str(error.value), size
    return str(error.value)


# Read a file in parts, and compare their tokens and properties with those of the whole file.

SMALL, LARGE = 200, 1 << 20
"""Bytes or rows of a batch."""
FEW = 6
"""Up to so many parts are read with batches of both sizes; of more, the sizes alternate."""
COLUMNS = ["line", "sentence", "doc", "paragraph", "position", "form"]


def parts_of(path: Path, size: int, *, name: str | None = None, **options: Any) -> list[FilePart]:
    """Cut a file into parts, and check their tokens and properties against the whole file."""
    format_ = format_of(path.name, name=name, kind="corpus")
    settings = format_.options.model_validate(options)
    assert format_.divide
    division = format_.divide(path, settings, size)
    assert division.digest in {"", file_digest(path)}
    parts = list(division.parts)
    if parts:
        _compare(format_, path, settings, parts)
    return parts


def _compare(format_: Format, path: Path, options: Any, parts: Sequence[FilePart]) -> None:
    assert format_.read
    assert format_.read_part
    whole = pl.concat(each.tokens for each in format_.read(path, options, COLUMNS, LARGE))
    before = whole.head(0)
    for number, part in enumerate(parts):
        assert part.content(path) == part.digest
        assert part.goes_on == (part is not parts[-1])
        assert part.before == final_run(before), part
        for size in (SMALL, LARGE) if len(parts) <= FEW else ((SMALL, LARGE)[number % 2],):
            batches = format_.read_part(path, options, COLUMNS, size, part)
            tokens = pl.concat(each.tokens for each in batches)
            assert tokens.equals(whole[before.height : before.height + tokens.height]), part
        before = whole[: before.height + tokens.height]
        assert part.last == final_run(before), part
    assert before.equals(whole)


def final_run(tokens: pl.DataFrame) -> Run:
    """Return the last document of these tokens and its first sentence, by a search from the end."""
    if tokens.is_empty():
        return Run()
    docs, sentences = tokens["doc"].to_list(), tokens["sentence"].to_list()
    first = len(docs) - 1
    while first and docs[first - 1] == docs[-1]:
        first -= 1
    return Run(docs[-1], sentences[first])
