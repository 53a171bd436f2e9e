"""Read a file in parts, and compare all that is known of them with the file read as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from pipeline.formats.base import Format, format_of
from pipeline.formats.corpora.splitting import FilePart, Run
from pipeline.runner.store.digest import file_digest

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
