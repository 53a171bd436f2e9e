"""``score``: work on any table, without an experiment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl
import typer
from pydantic import TypeAdapter, ValidationError

from pipeline import causes, room
from pipeline.api.score import score as score_table
from pipeline.cli import output
from pipeline.cli.named_columns import column_names, renamed
from pipeline.cli.options import Raw, listed
from pipeline.errors import ConfigError, Problem
from pipeline.formats.base import LINE, format_of
from pipeline.formats.separators import separator_of
from pipeline.kernels import parsing
from pipeline.kernels.association.contingency import SIGNATURE
from pipeline.runner.config.budget import Bytes
from schemas import SchemaViolation, Signatures, Violation, column
from schemas.validate import validate

_THOUSANDS = r"^\s*[+-]?\d+(?:[.,'\s\x{a0}\x{202f}]\d+)+\s*$"
"""Numbers with something between their digits: of thousands, or before decimals."""


def score(
    file: Annotated[
        Path, typer.Argument(help="Table with l1, l2, f, f1, f2, N, or see --columns.")
    ],
    measures: Annotated[
        str, typer.Option("--measures", help="all, or names with commas; see lexassay measures.")
    ] = "all",
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="OURS=THEIRS,...",
            help="What the file calls f, f1, f2, N, l1, l2: f=freq,f1=f_node; f1, N: or a number.",
        ),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    raw: Raw = False,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="What a packed file or a workbook may take [4GB]."),
    ] = None,
) -> int:
    """Score any table of candidates: .ds, .csv, .tsv, .xlsx, .parquet; text also as .gz."""
    output.require(format_, command="score")
    if to:
        output.kind_of(to, given=format_)
    with room.limited(_size(memory), option="--memory {}"):
        table = read(file, column_names(listed(columns)))
    scored = score_table(table, measures=listed(measures))
    title = f"{scored.height:,} rows"
    output.give(scored, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


def _size(memory: str | None) -> int | None:
    try:
        return None if memory is None else TypeAdapter(Bytes).validate_python(memory)
    except ValidationError:
        what = f"{memory!r} is no amount of memory"
        raise ConfigError("score", [Problem("--memory", what, "e.g. 500MB or 2GB")]) from None


class _InLines(Signatures):
    """Frequency signatures, with the line of the file that each stands in."""

    line: int = column("line", key=True)


def read(file: Path, names: Mapping[str, str]) -> pl.DataFrame:
    """Read a table of frequency signatures, the counts as whole numbers.

    Parameters
    ----------
    file : Path
        The table; a file called CSV may have semicolons or tabs.
    names : mapping of str to str
        What the file calls our columns.

    Raises
    ------
    ConfigError
        If the file is absent or its ending stands for no format.
    SchemaViolation
        If a column is absent or holds what is not a whole number, or counts contradict each other,
        with the lines.
    """
    raw = renamed(_opened(file), names, file=str(file)).collect()
    held = {name: causes.no_plain_values(raw.schema[name]) for name in SIGNATURE}
    odd = [
        Violation(f"holds {what}, not whole numbers", name, 0)
        for name, what in held.items()
        if what
    ]
    if odd:
        raise SchemaViolation(str(file), odd)
    counts = raw.with_columns(parsing.whole_number(name, raw.schema[name]) for name in SIGNATURE)
    wrong = [each for name in SIGNATURE if (each := _violation(raw, counts, name))]
    if wrong:
        raise SchemaViolation(str(file), wrong)
    plain = [name for name, dtype in counts.schema.items() if dtype in Signatures.open_dtypes()]
    lines = counts.select(LINE, *(name for name in plain if name != LINE))
    validate([lines], _InLines, name=str(file))
    return counts.drop(LINE)


def _opened(file: Path) -> pl.LazyFrame:
    """Return the query of a file in any format of tables."""
    if not file.is_file():
        raise ConfigError("score", [Problem(str(file), "there is no such file")])
    try:
        format_ = format_of(file.name, kind="table")
    except ValueError as error:
        raise ConfigError("score", [Problem(str(file), str(error))]) from error
    separator = separator_of(file) if format_.name == "csv" else None
    options = format_.options.model_validate({"separator": separator} if separator else {})
    format_.check(file, options)
    return format_.scan(file, options)


def _violation(raw: pl.DataFrame, counts: pl.DataFrame, name: str) -> Violation | None:
    bad = raw.filter(counts.get_column(name).is_null())
    examples = tuple(
        f"line {line}: {value!r}" for line, value in bad.select(LINE, name).head(3).rows()
    )
    if not bad.height:
        return None
    parted = bad.schema[name] == pl.String and bad.get_column(name).str.contains(_THOUSANDS).any()
    remedy = " (write 1200: no marks between thousands, no decimals)" if parted else ""
    return Violation(f"is not a whole number{remedy}", name, bad.height, examples)
