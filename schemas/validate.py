"""Validation of tables against their schemas, in batches, and the table of unusable input rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import polars as pl
from polars import selectors

from schemas import base
from schemas.base import Table
from schemas.errors import EXAMPLES, SchemaViolation, Violation


class Faults(Table):
    """Unusable values of an input file, one per row."""

    # One of the columns is called `column`, as the function is.
    file: str = base.column("input file, as the experiment names it", key=True)
    line: int = base.column("line of the file (row of a binary file), from 1", key=True, ge=0)
    column: str = base.column("column of the file", key=True)
    value: str = base.column("value; null = empty", nullable=True)
    problem: str = base.column("reason for rejection")


# Checks in one pass of Polars: nearly all tables are valid, and importing pandera, which reports
# violations (see `schemas.checks`), takes longer than validating most tables

_KEEPS: dict[str, Callable[[pl.Expr, Any], pl.Expr]] = {
    "gt": pl.Expr.gt,
    "ge": pl.Expr.ge,
    "lt": pl.Expr.lt,
    "le": pl.Expr.le,
    "isin": lambda values, among: values.is_in(list(among)),
    "min_length": lambda values, least: values.str.len_chars() >= least,
}


def holds(batch: pl.DataFrame, model: type[Table]) -> bool:
    """Return true if a batch with the right columns satisfies its schema.

    Parameters
    ----------
    batch : DataFrame
        Rows whose columns have passed `schemas.validate.check_columns`.
    model : type of Table
        The schema.

    Examples
    --------
    >>> from schemas import CorpusSize
    >>> holds(pl.DataFrame({"what": ["tokens"], "count": [3]}), CorpusSize)
    True
    >>> holds(pl.DataFrame({"what": ["tokens"], "count": [-3]}), CorpusSize)
    False
    """
    broken = [
        each.alias(str(number)) for number, each in enumerate(_violation_tests(batch.schema, model))
    ]
    return not broken or not any(batch.select(broken).row(0))


def _violation_tests(schema: pl.Schema, model: type[Table]) -> Iterator[pl.Expr]:
    """Yield a test for each of nulls, limits and rules, true if any row violates it."""
    for name, declared in model.declared_columns().items():
        values = pl.col(name)
        if not declared.nullable:
            yield values.is_null().any()
        if not declared.nullable and declared.dtype.is_float():
            yield values.is_nan().any()  # which pandera counts among the nulls
        for limit, value in declared.limits.items():
            yield _KEEPS[limit](values, value).not_().any()
    for rule in model.rules().values():
        yield rule.holds(schema).not_().any()


def check_columns(
    query: pl.LazyFrame, model: type[Table], *, name: str, coded: bool = False
) -> None:
    """Check the names and dtypes of a query without running it.

    Parameters
    ----------
    query : LazyFrame
        The table, not yet computed.
    model : type of Table
        Its schema.
    name : str
        Name of the table in errors.
    coded : bool
        True if text may be Categorical, as in tables during counting.

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
    schemas.errors.SchemaViolation: sample lacks columns, or has unusable values:
      - column multiplicity: missing (Int64)
      - column position: missing (Int64)
      - column pi: missing (Float64)
      - column stratum: missing (String)
    """
    has = query.collect_schema()
    if coded:
        has = pl.Schema({each: _as_text(dtype) for each, dtype in has.items()})
    declared = model.columns()
    wrong = []
    for column, dtype in declared.items():
        rule = f"is {has[column]}, not {dtype}" if column in has else f"missing ({dtype})"
        if has.get(column) != dtype:
            wrong.append(Violation(rule, column, 0))
    allowed = model.open_dtypes()
    for column, dtype in has.items():
        if column not in declared and dtype not in allowed:
            rule = (
                (f"is {dtype}, which is not allowed for further columns")
                if allowed
                else "is not part of the schema"
            )
            wrong.append(Violation(rule, column, 0))
    if wrong:
        raise SchemaViolation(name, wrong)


def validate(
    batches: Iterable[pl.DataFrame], model: type[Table], *, name: str, coded: bool = False
) -> int:
    """Check every rule of a schema on data in batches.

    Parameters
    ----------
    batches : iterable of DataFrame
        The table in batches; reported rows are identified by key, or without a key by number, from
        0 over all batches.
    model : type of Table
        Its schema. Uniqueness of the key, which needs all batches, is not checked here.
    name : str
        Name of the table in errors.
    coded : bool
        As for `check_columns`.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    SchemaViolation
        With each violated rule, the number of offending rows, and three examples.
    """
    rows = 0
    broken: dict[tuple[str, str | None], Violation] = {}
    for batch in batches:
        check_columns(batch.lazy(), model, name=name, coded=coded)
        for violation in [] if holds(batch, model) else _violations(batch, model, rows):
            place = (violation.rule, violation.column)
            broken[place] = _merge(broken[place], violation) if place in broken else violation
        rows += batch.height
    if broken:
        raise SchemaViolation(name, list(broken.values()))
    return rows


def _violations(batch: pl.DataFrame, model: type[Table], offset: int) -> list[Violation]:
    from schemas.checks import violations  # noqa: PLC0415  pandera takes long to import

    texts = batch.with_columns(selectors.categorical().cast(pl.String))
    return violations(texts, model, offset=offset)


def _as_text(dtype: pl.DataType) -> pl.DataType:
    return pl.String() if isinstance(dtype, pl.Categorical) else dtype


def _merge(first: Violation, second: Violation) -> Violation:
    examples = (*first.examples, *second.examples)[:EXAMPLES]
    keys = (*first.keys, *second.keys)[:EXAMPLES]
    return Violation(first.rule, first.column, first.count + second.count, examples, keys)
