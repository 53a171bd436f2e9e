"""Schema checks with pandera, and the violations that they find.

Imported only when a table violates its schema (see `schemas.validate`): importing pandera takes
longer than most commands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandera.polars as pa
import polars as pl
from pandera.config import ValidationDepth, config_context
from pandera.errors import SchemaError, SchemaErrors

from schemas.base import Column, Rule, Table
from schemas.errors import EXAMPLES, Violation, describe_row

_LIMITS: dict[str, Callable[[Any], pa.Check]] = {
    "gt": lambda limit: pa.Check.gt(limit, description=f"more than {limit}"),
    "ge": lambda limit: pa.Check.ge(limit, description=f"{limit} or more"),
    "lt": lambda limit: pa.Check.lt(limit, description=f"less than {limit}"),
    "le": lambda limit: pa.Check.le(limit, description=f"{limit} or less"),
    "isin": pa.Check.isin,
    "min_length": lambda least: pa.Check.str_length(least, None),
}
_MADE: dict[type[Table], pa.DataFrameSchema] = {}


def pandera_schema(model: type[Table]) -> pa.DataFrameSchema:
    """Return all checks of a table: columns, dtypes, nulls, bounds and rules."""
    if model not in _MADE:
        _MADE[model] = _schema(model)
    return _MADE[model]


def _schema(model: type[Table]) -> pa.DataFrameSchema:
    return pa.DataFrameSchema(
        {name: _column(column) for name, column in model.declared_columns().items()},
        checks=[
            pa.Check(_teller(rule), name=name, description=rule.text)
            for name, rule in model.rules().items()
        ],
        strict=not model.open_dtypes(),
        coerce=False,
        name=model.__name__,
    )


def _column(column: Column) -> pa.Column:
    checks = [_LIMITS[name](limit) for name, limit in column.limits.items()]
    return pa.Column(column.dtype, checks, nullable=column.nullable)


def _teller(rule: Rule) -> Callable[[pa.PolarsData], pl.LazyFrame]:
    def tell(data: pa.PolarsData) -> pl.LazyFrame:
        holds = rule.holds(data.lazyframe.collect_schema())
        return data.lazyframe.with_columns(holds=holds).select("holds")

    return tell


def violations(batch: pl.DataFrame, model: type[Table], *, offset: int) -> list[Violation]:
    """Return the violations in a batch whose first row has the number `offset`."""
    try:
        with config_context(validation_depth=ValidationDepth.SCHEMA_AND_DATA):
            pandera_schema(model).validate(batch, lazy=True)
    except SchemaErrors as errors:
        key = model.key()
        return [_violation(each, errors, batch, offset, key) for each in errors.schema_errors]
    return []


def _violation(
    error: SchemaError,
    errors: SchemaErrors,
    batch: pl.DataFrame,
    offset: int,
    key: Sequence[str],
) -> Violation:
    column = getattr(error.schema, "name", None)
    column = column if column in batch.columns else None
    rule = str(getattr(error.check, "name", None) or error.check)
    text = getattr(error.check, "description", None)
    cases = errors.failure_cases.filter(pl.col("check") == _label(error))
    if column is not None:
        cases = cases.filter(pl.col("column") == column)
    rows = cases["index"].drop_nulls().unique().sort().to_list()
    first = [*key, *([column] if column else [])]
    cells = {row: batch.row(row, named=True) for row in rows[:EXAMPLES]}
    # Without a key, rows are identified by number.
    number = "" if key else "row {}: "
    examples = tuple(
        number.format(row + offset) + describe_row(values, first) for row, values in cells.items()
    )
    keys = tuple({name: values[name] for name in key} for values in cells.values() if key)
    return Violation(f"{rule} ({text})" if text else rule, column, len(rows), examples, keys)


def _label(error: SchemaError) -> str:
    check = error.check
    return str(getattr(check, "error", None) or getattr(check, "name", None) or check)
