"""Rows on which an expression is computed in two ways."""

from __future__ import annotations

import polars as pl

from pipeline.expressions import rewrite_sql

ROWS = pl.DataFrame({
    "a": [0, 1, 2, 3, -7, None], "b": [5, 2, 2, -1, 0, 4], "c": [0.5, -1.5, 2.0, float("nan"), None, 1e9],
    "s": ["x", "Äpfel", "x_y%", "it's", "", None], "t": ["X", "pf", "\\d+", 'say "x"', " a ", "xx"],
    "p": [True, False, None, True, False, True], "q": [True, True, None, None, False, False],
})  # fmt: skip


def value(sql: str) -> pl.Series | None:
    """Return the result of Polars for a text on these rows; None if Polars refuses it."""
    try:
        return ROWS.select(pl.sql_expr(sql).alias("value")).to_series()
    except pl.exceptions.PolarsError:
        return None


def is_unchanged(sql: str) -> bool:
    """Return whether rewriting an allowed text does not change it."""
    before, after = value(sql), value(rewrite_sql(sql))
    if before is None or after is None:
        return before is after
    return before.dtype == after.dtype and before.equals(after, null_equal=True)


def refusal(sql: str) -> str:
    """Return why a text is refused; nothing if it is not."""
    try:
        rewrite_sql(sql)
    except ValueError as error:
        return str(error)
    return ""
