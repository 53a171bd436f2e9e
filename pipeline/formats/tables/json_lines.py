"""JSON lines: one object a line, all with the same names; also gzipped."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
from polars.io.plugins import register_io_source

from pipeline.errors import DataError
from pipeline.formats.base import LINE, FormatOptions, Skipped, reader
from pipeline.formats.delimited import LONGEST, bare_returns, open_text
from pipeline.formats.reading import reading
from pipeline.formats.unpacked import require_room

_EXAMPLES = 3
_ROWS = 50_000
"""Rows that are put into columns together."""

_Row = Mapping[str, str | None]


class _NotAnObject(ValueError):
    """Says why a line is none of ours."""


def _check(path: Path, _options: FormatOptions) -> Sequence[Skipped]:
    require_room(path)
    names, bad, count = _names(path), list[str](), 0
    with reading(path):
        for line, text in _lines(path):
            try:
                _values(text, names)
            except _NotAnObject as error:
                count += 1
                if len(bad) < _EXAMPLES:
                    bad.append(f"line {line}: {error}: {text[:80]!r}")
    if count:
        shown = "".join(f"\n  {example}" for example in bad)
        raise DataError(
            f"{path}: {count:,} line(s) are no object with the names of the first line"
            f" ({', '.join(names)}):{shown}\nWrite one object a line, all with the same names, null"
            " where there is no value; a list of objects in a file: jq -c '.[]'"
        )
    return ()


@reader("jsonl", suffixes=[".jsonl", ".ndjson"], check=_check)
def scan_jsonl(path: Path, _options: FormatOptions) -> pl.LazyFrame:
    """JSON lines: one object a line, all with the same names. Numbers are kept as written."""
    names = [name for name in _names(path) if name != LINE]
    schema = {LINE: pl.Int64(), **dict.fromkeys(names, pl.String())}
    return register_io_source(partial(_asked, path, schema), schema=schema, is_pure=True)


def _asked(
    path: Path,
    schema: Mapping[str, pl.DataType],
    with_columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
    _batch_size: int | None,
) -> Iterator[pl.DataFrame]:
    """Yield what a query asks for; `register_io_source` says what it is given."""
    wanted = with_columns or list(schema)
    roots = [] if predicate is None else predicate.meta.root_names()
    held = list(dict.fromkeys([*wanted, *roots]))
    names = _names(path)
    with reading(path):
        rows = ({LINE: line} | _row(path, line, text, names) for line, text in _lines(path))
        left = islice(rows, n_rows)
        while some := list(islice(left, _ROWS)):
            columns = {name: [row[name] for row in some] for name in held}
            made = pl.DataFrame(columns, schema={name: schema[name] for name in held})
            yield (made if predicate is None else made.filter(predicate)).select(wanted)


def _row(path: Path, line: int, text: str, names: Sequence[str]) -> dict[str, Any]:
    """Return the values of a line, but for what is called as its number."""
    try:
        return {name: value for name, value in _values(text, names).items() if name != LINE}
    except _NotAnObject as error:
        raise DataError(f"{path}: line {line}: {error}: {text[:80]!r}") from error


def _names(path: Path) -> list[str]:
    """Return the names of the first object."""
    with reading(path):
        first = next(_lines(path), None)
    if first is None:
        raise DataError(f"{path}: the file is empty: line 1 should hold an object")
    try:
        return list(_object(first[1]))
    except _NotAnObject as error:
        raise DataError(
            f"{path}: line 1: {error}: {first[1][:80]!r}\nWrite one object a line; a list of"
            " objects in a file: jq -c '.[]'"
        ) from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, without their ends."""
    before = ""
    with open_text(path) as text:
        for number, line in enumerate(iter(partial(text.readline, LONGEST), ""), start=1):
            if before.endswith("\r"):
                raise bare_returns(path, 1, [number - 1])
            if len(line) == LONGEST:
                raise DataError(
                    f"{path}: line {number} has {LONGEST:,} characters or more\nWrite one object a"
                    " line."
                )
            before = line
            yield number, line.rstrip("\r\n")


def _values(text: str, names: Sequence[str]) -> _Row:
    """Return the values of a line as text, null where there is none."""
    found = _object(text)
    if found.keys() != set(names):
        lacks = [name for name in names if name not in found]
        more = [name for name in found if name not in set(names)]
        said = [
            f"{verb} {', '.join(which)}"
            for verb, which in (("lacks", lacks), ("has", more))
            if which
        ]
        raise _NotAnObject(" and ".join(said))
    return {name: _text(name, value) for name, value in found.items()}


def _text(name: str, value: object) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _NotAnObject(f"{name} is no text, number, true, false or null")
    return _whole(value)


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(
            text, object_pairs_hook=_distinct, parse_int=str, parse_float=str, parse_constant=_none
        )
    except json.JSONDecodeError as error:
        raise _NotAnObject(
            f"no JSON at character {error.pos + 1}" if text.strip() else "an empty line"
        ) from error
    except RecursionError as error:
        raise _NotAnObject("nested too deep") from error
    if not isinstance(found, dict):
        raise _NotAnObject("no object")
    return {_whole(name): value for name, value in found.items()}


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise _NotAnObject(f"names twice: {', '.join(twice)}")
    return found


def _none(constant: str) -> NoReturn:
    raise _NotAnObject(f"{constant} is no JSON")


def _whole(text: str) -> str:
    """Return a text, unless it has half of a character, which no file can hold."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise _NotAnObject("half of a character (a lone surrogate)") from error
    return text
