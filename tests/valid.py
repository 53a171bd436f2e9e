"""A function that requires a table to be valid."""

from __future__ import annotations

import polars as pl

from schemas import Table
from schemas.validate import validate


def valid(table: pl.DataFrame, model: type[Table]) -> pl.DataFrame:
    """Return the table; a violation of its schema fails the test."""
    validate([table], model, name=model.__name__)
    return table
