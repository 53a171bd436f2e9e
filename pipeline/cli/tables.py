"""``score``: work on any table, without an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import polars as pl
import typer

from pipeline import causes
from pipeline.api.score import score as score_table
from pipeline.cli import output
from pipeline.cli.options import Raw
from pipeline.errors import ConfigError, Problem
from pipeline.formats.base import LINE, format_of
from pipeline.kernels import parsing
from pipeline.kernels.association.contingency import SIGNATURE
from schemas import SchemaViolation, Signatures, Violation, column
from schemas.validate import validate


def score(
    file: Annotated[Path, typer.Argument(help="Table with l1, l2, f, f1, f2, N.")],
    measures: Annotated[
        str, typer.Option("--measures", help="all, or names with commas; see lexassay measures.")
    ] = "all",
    format_: Annotated[str, typer.Option("--format", help=" | ".join(output.FORMATS))] = "table",
    to: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file.")] = False,
    rows: Annotated[
        int, typer.Option("--rows", min=1, help="Rows shown in a table.")
    ] = output.ROWS,
    raw: Raw = False,
) -> int:
    """Score any table of candidates: .ds, .csv, .tsv, .parquet, each also .gz."""
    output.require(format_, command="score")
    if to:
        output.kind_of(to, given=format_)
    names = [name.strip() for name in measures.split(",") if name.strip()]
    scored = score_table(read(file), measures=names)
    title = f"{scored.height:,} rows"
    output.give(scored, format_, to, overwrite=overwrite, rows=rows, title=title, raw=raw)
    return 0


class _InLines(Signatures):
    """Frequency signatures, with the line of the file that each stands in."""

    line: int = column("line", key=True)


def read(file: Path) -> pl.DataFrame:
    """Read a table of frequency signatures, the counts as whole numbers.

    Raises
    ------
    ConfigError
        If the file is absent or its ending stands for no format.
    SchemaViolation
        If a column is absent or holds what is not a whole number, or counts contradict each other,
        with the lines.
    """
    if not file.is_file():
        raise ConfigError("score", [Problem(str(file), "there is no such file")])
    try:
        format_ = format_of(file.name, kind="table")
    except ValueError as error:
        raise ConfigError("score", [Problem(str(file), str(error))]) from error
    format_.check(file, format_.options())
    raw = format_.scan(file, format_.options()).collect()
    missing = [name for name in SIGNATURE if name not in raw.columns]
    if missing:
        raise SchemaViolation(str(file), [Violation("missing", name, 0) for name in missing])
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


def _violation(raw: pl.DataFrame, counts: pl.DataFrame, name: str) -> Violation | None:
    bad = raw.filter(counts.get_column(name).is_null())
    examples = tuple(
        f"line {line}: {value!r}" for line, value in bad.select(LINE, name).head(3).rows()
    )
    return Violation("is not a whole number", name, bad.height, examples) if bad.height else None
