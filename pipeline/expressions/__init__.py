"""Conditions and formulas: SQL of users, checked and written anew before Polars reads it."""

from pipeline.expressions.expression import expression, rewritten
from pipeline.expressions.functions import FUNCTIONS, Function, regular_expression

__all__ = ["FUNCTIONS", "Function", "expression", "regular_expression", "rewritten"]
