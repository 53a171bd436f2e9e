"""Validate data against a schema, eagerly and in batches, with a report that names rows."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl
from pandera.config import ValidationDepth, config_context
from pandera.errors import SchemaError, SchemaErrors

from schemas.base import Table
from schemas.errors import SchemaViolation, Violation

_EXAMPLES = 3


def check_columns(plan: pl.LazyFrame, model: type[Table], *, name: str) -> None:
    """Check names and dtypes of a plan, without running it.

    Parameters
    ----------
    plan : LazyFrame
        The table as planned.
    model : type of Table
        Its schema.
    name : str
        What to call the table in an error.

    Raises
    ------
    SchemaViolation
        With every missing, unknown or mistyped column.

    Examples
    --------
    >>> from schemas import Sample
    >>> check_columns(pl.LazyFrame({"id": ["a"]}), Sample, name="sample")
    Traceback (most recent call last):
    ...
    schemas.errors.SchemaViolation: sample breaks its schema:
      - column multiplicity: missing (Int64)
      - column position: missing (Int64)
    """
    has = plan.collect_schema()
    declared = model.columns()
    wrong = []
    for column, dtype in declared.items():
        law = f"is {has[column]}, not {dtype}" if column in has else f"missing ({dtype})"
        if has.get(column) != dtype:
            wrong.append(Violation(law, column, 0))
    allowed = model.open_dtypes()
    for column, dtype in has.items():
        if column not in declared and dtype not in allowed:
            law = f"is {dtype}, which no further column may be" if allowed else "is not declared"
            wrong.append(Violation(law, column, 0))
    if wrong:
        raise SchemaViolation(name, wrong)


def validate(batches: Iterable[pl.DataFrame], model: type[Table], *, name: str) -> int:
    """Check every law of a schema on data that come in batches.

    Parameters
    ----------
    batches : iterable of DataFrame
        The table, piece by piece; row numbers in the report count from 0 over all of them.
    model : type of Table
        Its schema. Uniqueness of the key is not checked here: it needs all batches.
    name : str
        What to call the table in an error.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    SchemaViolation
        With each broken law, how many rows break it, and three of them.
    """
    rows = 0
    broken: dict[tuple[str, str | None], Violation] = {}
    for batch in batches:
        check_columns(batch.lazy(), model, name=name)
        for found in _violations(batch, model, offset=rows):
            place = (found.law, found.column)
            broken[place] = _merge(broken[place], found) if place in broken else found
        rows += batch.height
    if broken:
        raise SchemaViolation(name, list(broken.values()))
    return rows


def _violations(batch: pl.DataFrame, model: type[Table], *, offset: int) -> list[Violation]:
    try:
        with config_context(validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            model.validate(batch, lazy=True)
    except SchemaErrors as errors:
        return [_violation(error, errors, batch, offset) for error in errors.schema_errors]
    return []


def _violation(
    error: SchemaError, errors: SchemaErrors, batch: pl.DataFrame, offset: int
) -> Violation:
    column = getattr(error.schema, "name", None)
    column = column if column in batch.columns else None
    law = str(getattr(error.check, "name", None) or error.check)
    said = getattr(error.check, "description", None)
    cases = errors.failure_cases.filter(pl.col("check") == _label(error))
    if column is not None:
        cases = cases.filter(pl.col("column") == column)
    rows = cases["index"].drop_nulls().unique().sort().to_list()
    examples = tuple(_row(batch, row, offset, column) for row in rows[:_EXAMPLES])
    return Violation(f"{law} ({said})" if said else law, column, len(rows), examples)


def _label(error: SchemaError) -> str:
    check = error.check
    return str(getattr(check, "error", None) or getattr(check, "name", None) or check)


def _row(batch: pl.DataFrame, row: int, offset: int, column: str | None) -> str:
    values = batch.row(row, named=True)
    shown = values if column is None else {column: values[column], **values}
    text = ", ".join(f"{name}={value!r}" for name, value in list(shown.items())[:8])
    return f"row {row + offset}: {text}"


def _merge(first: Violation, second: Violation) -> Violation:
    examples = (*first.examples, *second.examples)[:_EXAMPLES]
    return Violation(first.law, first.column, first.count + second.count, examples)
