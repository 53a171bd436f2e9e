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
    """One row per unusable value of an input file."""

    # One of the columns is called `column`, as the function is.
    file: str = base.column("input file, as the experiment names it", key=True)
    line: int = base.column("line of the file (row, in a binary file), from 1", key=True, ge=0)
    column: str = base.column("column of the file", key=True)
    value: str = base.column("what stands there; null = nothing", nullable=True)
    problem: str = base.column("why it cannot be used")


# Checks in one pass of Polars: nearly all tables are valid, and to import pandera, which reports
# violations (see `schemas.checks`), takes longer than to validate most tables

_KEEPS: dict[str, Callable[[pl.Expr, Any], pl.Expr]] = {
    "gt": pl.Expr.gt,
    "ge": pl.Expr.ge,
    "lt": pl.Expr.lt,
    "le": pl.Expr.le,
    "isin": lambda values, among: values.is_in(list(among)),
    "min_length": lambda values, least: values.str.len_chars() >= least,
}


def holds(batch: pl.DataFrame, model: type[Table]) -> bool:
    """Return whether a batch with the right columns keeps to all that its schema declares.

    Parameters
    ----------
    batch : DataFrame
        Rows, whose columns have been looked at by `schemas.validate.check_columns`.
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
    broken = [each.alias(str(number)) for number, each in enumerate(_broken(batch.schema, model))]
    return not broken or not any(batch.select(broken).row(0))


def _broken(schema: pl.Schema, model: type[Table]) -> Iterator[pl.Expr]:
    """Yield one truth for each of nulls, limits and rules: whether any row breaks it."""
    for name, declared in model.declared().items():
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
    """Check names and dtypes of a query, without running it.

    Parameters
    ----------
    query : LazyFrame
        The table, not yet computed.
    model : type of Table
        Its schema.
    name : str
        What to call the table in an error.
    coded : bool
        Whether text may be Categorical, as it is in tables that are still counted.

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
            rule = f"is {dtype}, which no further column may be" if allowed else "is not declared"
            wrong.append(Violation(rule, column, 0))
    if wrong:
        raise SchemaViolation(name, wrong)


def validate(
    batches: Iterable[pl.DataFrame], model: type[Table], *, name: str, coded: bool = False
) -> int:
    """Check every rule of a schema on data that come in batches.

    Parameters
    ----------
    batches : iterable of DataFrame
        The table, piece by piece; the report names rows by their keys, and without a key by their
        numbers, from 0 over all pieces.
    model : type of Table
        Its schema. Uniqueness of the key is not checked here: it needs all batches.
    name : str
        What to call the table in an error.
    coded : bool
        As for `check_columns`.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    SchemaViolation
        With each rule that does not hold, how many rows break it, and three of them.
    """
    rows = 0
    broken: dict[tuple[str, str | None], Violation] = {}
    for batch in batches:
        check_columns(batch.lazy(), model, name=name, coded=coded)
        for found in [] if holds(batch, model) else _violations(batch, model, rows):
            place = (found.rule, found.column)
            broken[place] = _merge(broken[place], found) if place in broken else found
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
