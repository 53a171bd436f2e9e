"""Whether all that is declared of a table holds, in one pass and without pandera.

What breaks a rule is told by pandera, see `schemas.checks`; to import that takes longer than to
validate most tables, and nearly all tables that are written are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

from schemas.base import Table

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
