"""The words in which a table is declared: `column` and `rule`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

PLAIN: Mapping[str, pl.DataType] = {
    "str": pl.String(), "int": pl.Int64(), "float": pl.Float64(), "bool": pl.Boolean(),
}  # fmt: skip
"""The dtypes that annotations stand for."""
UNTOLD = pl.Unknown()
"""The dtype of a column whose annotation tells it."""


@dataclass(frozen=True)
class Column:
    """What a column holds, as `column` was told; the table adds the dtype."""

    description: str
    key: int
    nullable: bool
    limits: Mapping[str, Any]
    dtype: pl.DataType


@dataclass(frozen=True, eq=False)
class Rule:
    """A truth over several columns: how it reads, and what tells of each row if it holds."""

    text: str
    holds: Callable[[pl.Schema], pl.Expr]


def column(
    description: str,
    *,
    key: int = False,
    nullable: bool = False,
    gt: float | None = None,
    ge: float | None = None,
    lt: float | None = None,
    le: float | None = None,
    isin: Sequence[Any] | None = None,
    min_length: int | None = None,
    dtype: pl.DataType = UNTOLD,
) -> Any:
    """Declare a column of a table.

    Parameters
    ----------
    description : str
        What it means, and after a semicolon its unit.
    key : bool or int
        Whether it is one of the columns that identify a row and give the table its order;
        a number says which, where they have another order than the columns.
    nullable : bool
        Whether it may be null.
    gt, ge, lt, le : float, optional
        Bounds of its values. NaN passes them.
    isin : sequence, optional
        The only values that it may have.
    min_length : int, optional
        Characters that a text has at least.
    dtype : DataType
        Its dtype, unless the annotation tells it: str, int, float or bool.
    """
    bounds = {"gt": gt, "ge": ge, "lt": lt, "le": le, "isin": isin, "min_length": min_length}
    limits = {name: limit for name, limit in bounds.items() if limit is not None}
    return Column(description, int(key), nullable, limits, dtype)


def rule(text: str, *holds: pl.Expr | Callable[[pl.Schema], pl.Expr]) -> Rule:
    """Declare what is true over several columns of every row of a table.

    Parameters
    ----------
    text : str
        The rule as people read it, e.g. "k_sampled <= n_sampled".
    *holds : Expr, or function from the table's schema to Expr
        True where the rule holds. Null, which a null in a column gives, does not break it.
    """
    return Rule(text, lambda schema: pl.all_horizontal(_told(each, schema) for each in holds))


def _told(holds: pl.Expr | Callable[[pl.Schema], pl.Expr], schema: pl.Schema) -> pl.Expr:
    return holds if isinstance(holds, pl.Expr) else holds(schema)
