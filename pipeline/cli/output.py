"""Show tables to people and hand them to other programs."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import polars as pl
import typer

from pipeline.causes import machine
from pipeline.cli.fitting import fitted
from pipeline.cli.plain_table import WIDEST, plain
from pipeline.errors import ConfigError, Problem, StoreError, did_you_mean
from pipeline.formats.tables.formulas import to_csv

FORMATS = ("table", "csv", "tsv", "json", "parquet")
"""What ``--format`` accepts."""
READABLE = 100
"""Characters that a line of prose has at the most."""
ROWS = 30
"""Rows shown in a terminal if nothing else is said."""


def serialise(frame: pl.DataFrame, kind: str, *, raw: bool = False) -> bytes:
    """Return a table as the bytes of a file of this kind.

    Parameters
    ----------
    frame : DataFrame
        The table.
    kind : str
        csv, tsv, json or parquet.
    raw : bool
        Whether texts in csv and tsv that a spreadsheet would run as formulas are left as they are.
    """
    if kind == "json":
        return frame.write_json().encode() + b"\n"
    if kind == "parquet":
        buffer = io.BytesIO()
        frame.write_parquet(buffer)
        return buffer.getvalue()
    return to_csv(frame, separator="\t" if kind == "tsv" else ",", raw=raw)


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


def write(
    frame: pl.DataFrame, output: Path, *, kind: str | None, overwrite: bool, raw: bool = False
) -> None:
    """Write a table to a file, gzipped if the name ends so; never over another by chance.

    Raises
    ------
    ConfigError
        If the file is there and may not be overwritten, or its folder is not there.
    StoreError
        If it cannot be written.
    """
    require_place(output, overwrite=overwrite)
    content = serialise(frame, kind_of(output, given=kind), raw=raw)
    packed = gzip.compress(content, mtime=0) if output.name.endswith(".gz") else content
    with writing(output):
        output.write_bytes(packed)


def require_place(output: Path, *, overwrite: bool, option: str = "--output") -> None:
    """Refuse a file that is there and may not be overwritten, or whose folder is not there.

    Raises
    ------
    ConfigError
        With what to do.
    StoreError
        If the machine does not let us look.
    """
    with writing(output):
        if output.exists() and not overwrite:
            what = "is there already"
            raise ConfigError(option, [Problem(str(output), what, "add --overwrite")])
        if not output.parent.is_dir():
            what = f"the folder {output.parent} does not exist"
            raise ConfigError(option, [Problem(str(output), what, "make it first")])


@contextmanager
def writing(output: Path) -> Iterator[None]:
    """Say why a file cannot be written.

    Raises
    ------
    StoreError
        If the machine refuses it: a folder, a disk that is full or can only be read.
    """
    try:
        yield
    except OSError as error:
        why = f"{output} cannot be written: {machine(error)}"
        raise StoreError(f"{why}; name another file or folder, or make room") from error


def require(format_: str, *, command: str) -> None:
    """Refuse what ``--format`` does not accept.

    Raises
    ------
    ConfigError
        With the nearest formats.
    """
    if format_ not in FORMATS:
        what, remedy = f"unknown format {format_!r}", did_you_mean(format_, FORMATS)
        raise ConfigError(command, [Problem("--format", what, remedy)])


def give(
    frame: pl.DataFrame,
    format_: str,
    to: Path | None,
    *,
    overwrite: bool,
    rows: int,
    title: str,
    raw: bool = False,
    choice: str = "",
) -> None:
    """Write a table to a file, print it for people, or hand it to another program."""
    if to:
        write(frame, to, kind=format_, overwrite=overwrite, raw=raw)
    elif format_ == "table":
        print_table(frame, rows=rows, title=title, choice=choice)
    else:
        typer.get_binary_stream("stdout").write(serialise(frame, format_, raw=raw))


def print_table(
    frame: pl.DataFrame, *, rows: int = ROWS, title: str = "", choice: str = ""
) -> None:
    """Print the first rows of a table; as wide as it is, unless a terminal sets the width.

    Parameters
    ----------
    frame : DataFrame
        The table.
    rows : int
        How many rows.
    title : str
        The line above.
    choice : str
        What else a person can do where there are more columns than fit.
    """
    shown = [cells(row) for row in frame.head(rows).iter_rows()]
    right = [dtype.is_numeric() for dtype in frame.dtypes]
    more = f"{frame.height - rows:,} more rows; --rows N shows more, --format csv gives all"
    notes = [more] if frame.height > rows else []
    if _looked_at():
        _print_fitted(frame.columns, shown, right=right, title=title, notes=notes, choice=choice)
        return
    text = plain(frame.columns, shown, right=right, title=title)
    if text is None:
        _draw(frame.columns, shown, right=right, title=title)
    else:
        print(text)
    print(*notes, sep="", end="\n" if notes else "")


def _print_fitted(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[bool],
    title: str,
    notes: list[str],
    choice: str,
) -> None:
    """Print as much as a line of the terminal has room for, and say what is left out."""
    width = get_terminal_size().columns
    found = fitted(head, rows, right=right, width=width)
    if found.left_out:
        what = f"no room for: {', '.join(found.left_out)}"
        notes = [*notes, f"{what}; {choice + ', ' * bool(choice)}--format csv gives all"]
    text = plain(found.head, found.rows, right=found.right, title="") or ""
    lines = [
        *([_styled(title, "3")] if title else []),
        text,
        *(_styled(each, "2") for each in notes),
    ]
    print("\n".join(lines))


def _styled(text: str, style: str) -> str:
    """Return a line in the style that a terminal has this number for, if it wants any."""
    return text if os.environ.get("NO_COLOR") else f"\x1b[{style}m{text}\x1b[0m"


def _looked_at() -> bool:
    """Tell whether somebody looks, or wants what is made for them; rich knows the same signs."""
    return sys.stdout.isatty() or not {"FORCE_COLOR", "TTY_COMPATIBLE"}.isdisjoint(os.environ)


def _draw(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[bool], title: str
) -> None:
    """Print a table with cells of several lines, or one that is very wide, into a file."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table
    from rich.text import Text

    table = Table(title=escape(title) or None, title_justify="left")
    for name, flush in zip(head, right, strict=True):
        table.add_column(escape(name), justify="right" if flush else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    with contextlib.suppress(SystemExit):  # whoever read it has gone, as `head` does
        Console(width=WIDEST).print(table)


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
