"""A table that has to be valid, in one word."""

from __future__ import annotations

import polars as pl

from schemas import Table
from schemas.validate import validate


def valid(table: pl.DataFrame, model: type[Table]) -> pl.DataFrame:
    """Return the table; anything that breaks its schema fails the test."""
    validate([table], model, name=model.__name__)
    return table
