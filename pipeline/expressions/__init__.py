"""Conditions and formulas: the users' SQL, checked and rewritten before Polars parses it."""

from pipeline.expressions.expression import (
    FUNCTIONS,
    Function,
    expression,
    regular_expression,
    rewrite_sql,
)

__all__ = ["FUNCTIONS", "Function", "expression", "regular_expression", "rewrite_sql"]
