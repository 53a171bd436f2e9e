"""Conditions and formulas: the users' SQL, checked and rewritten before Polars parses it."""

from pipeline.expressions.expression import expression, rewrite_sql
from pipeline.expressions.functions import FUNCTIONS, Function, regular_expression

__all__ = ["FUNCTIONS", "Function", "expression", "regular_expression", "rewrite_sql"]
