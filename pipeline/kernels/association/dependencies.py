"""In what order columns are computed, when measures are written over other columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import polars as pl

from pipeline.kernels.association.contingency import DERIVED, EXACT
from pipeline.kernels.association.random_numbers import RANDOM_NUMBER
from pipeline.kernels.measure import MEASURES


def definition(column: str) -> pl.Expr:
    """Return what a column stands for: a cell, a shared intermediate, or a measure.

    Parameters
    ----------
    column : str
        Of `pipeline.kernels.association.contingency`, or the name of a registered measure.

    Raises
    ------
    KeyError
        If it is neither.
    """
    for known in (EXACT, DERIVED):
        if column in known:
            return known[column]
    return MEASURES.get(column).expression


def needed(expressions: Iterable[pl.Expr]) -> dict[str, pl.Expr]:
    """Return all columns that the expressions depend on, each after those that it depends on.

    Parameters
    ----------
    expressions : iterable of Expr
        Over cells, shared intermediates and measures.

    Returns
    -------
    dict of str to Expr
        Without the signature itself and random numbers, and nothing that is not needed.

    Raises
    ------
    ValueError
        If a measure depends on itself.

    Examples
    --------
    >>> list(needed([pl.col("delta") / pl.col("o11").sqrt()]))
    ['determinant', 'N', 'delta', 'o11']
    """
    columns: dict[str, pl.Expr] = {}
    for expression in expressions:
        _collect(expression, columns, ())
    return columns


def _collect(expression: pl.Expr, columns: dict[str, pl.Expr], above: tuple[str, ...]) -> None:
    for name in expression.meta.root_names():
        if name in above:
            raise ValueError(f"{name} is defined by itself: {' -> '.join((*above, name))}")
        if name not in columns and name != RANDOM_NUMBER:
            column = definition(name)
            if name not in EXACT:
                _collect(column, columns, (*above, name))
            columns[name] = column


def steps(columns: Mapping[str, pl.Expr]) -> list[dict[str, pl.Expr]]:
    """Group columns so that those of a step depend on the steps before it only.

    Parameters
    ----------
    columns : mapping of str to Expr
        As `needed` gives them.

    Examples
    --------
    >>> [list(step) for step in steps(needed([pl.col("delta") / pl.col("o11").sqrt()]))]
    [['determinant', 'N', 'o11'], ['delta']]
    """
    depth: dict[str, int] = {}
    for name, column in columns.items():
        below = [] if name in EXACT else [depth[root] + 1 for root in column.meta.root_names()]
        depth[name] = max(below, default=0)
    return [
        {name: columns[name] for name in depth if depth[name] == level}
        for level in range(max(depth.values(), default=-1) + 1)
    ]


def modules(measures: Iterable[str], *, where: Callable[[str], str] = MEASURES.module) -> set[str]:
    """Return the modules of the measures and of the measures that they are written over."""
    names = set(measures)
    names |= {name for name in needed(pl.col(each) for each in names) if name in MEASURES}
    return {where(name) for name in names}
