"""Show tables to people and hand them to other programs."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pipeline.errors import ConfigError, Problem

FORMATS = ("table", "csv", "tsv", "json", "parquet")
"""What ``--format`` accepts."""
_WIDE = 1000
ROWS = 30
"""Rows shown in a terminal if nothing else is said."""


def serialise(frame: pl.DataFrame, kind: str) -> bytes:
    """Return a table as the bytes of a file of this kind."""
    if kind == "json":
        return frame.write_json().encode() + b"\n"
    if kind == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()
    return frame.write_csv(separator="\t" if kind == "tsv" else ",").encode()


def kind_of(output: Path, *, given: str | None = None) -> str:
    """Return the kind of file, by name or by ending.

    Raises
    ------
    ConfigError
        If the ending stands for none.
    """
    endings = {".csv": "csv", ".tsv": "tsv", ".json": "json", ".parquet": "parquet"}
    ending = Path(output.name.removesuffix(".gz")).suffix.lower()
    kind = given if given and given != "table" else endings.get(ending)
    if kind is None:
        what = f"{output.name} has no ending that stands for a kind of table"
        raise ConfigError("--output", [Problem("--output", what, f"use {', '.join(endings)}")])
    return kind


def write(frame: pl.DataFrame, output: Path, *, kind: str | None, overwrite: bool) -> None:
    """Write a table to a file, gzipped if the name ends so; never over another by chance.

    Raises
    ------
    ConfigError
        If the file is there and may not be overwritten, or its folder is not there.
    """
    if output.exists() and not overwrite:
        what = "is there already"
        raise ConfigError("--output", [Problem(str(output), what, "add --overwrite")])
    if not output.parent.is_dir():
        what = f"the folder {output.parent} does not exist"
        raise ConfigError("--output", [Problem(str(output), what, "make it first")])
    content = serialise(frame, kind_of(output, given=kind))
    packed = gzip.compress(content, mtime=0) if output.name.endswith(".gz") else content
    output.write_bytes(packed)


def print_table(frame: pl.DataFrame, *, rows: int = ROWS, title: str = "") -> None:
    """Print the first rows of a table; as wide as it is, unless a terminal sets the width."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDE)
    table = Table(title=title or None, title_justify="left")
    for name, dtype in frame.schema.items():
        table.add_column(name, justify="right" if dtype.is_numeric() else "left", overflow="fold")
    for row in frame.head(rows).iter_rows():
        table.add_row(*(Text(cell) for cell in cells(row)))
    console.print(table)
    if frame.height > rows:
        more = f"{frame.height - rows:,} more rows; --rows N shows more, --format csv gives all"
        console.print(more, style="dim", highlight=False)


def cells(row: Sequence[Any]) -> list[str]:
    """Return the values of a row as a person reads them.

    Examples
    --------
    >>> cells([None, 0.1234567, 1200, True, "a[b]"])
    ['', '0.123457', '1,200', 'yes', 'a[b]']
    """
    return [_cell(value) for value in row]


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
