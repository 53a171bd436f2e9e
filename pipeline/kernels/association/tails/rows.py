"""Functions of contingency tables as expressions: blocks of rows, a thread each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from typing import TypeAlias

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.association.contingency import COLUMNS
from pipeline.kernels.association.tails.distribution import Distribution

Columns: TypeAlias = Mapping[str, FloatArray]
Assumption: TypeAlias = Callable[[Columns], Distribution]

_BLOCK = 32_768  # rows at a time: the arrays then stay in the processor's cache
PER_DECADE = 1.0 / float(np.log(10.0))


def surprise(
    function: Callable[[Distribution], FloatArray],
    assumption: Assumption,
    names: Sequence[str] = COLUMNS,
) -> pl.Expr:
    """Return -log10 P of the observed tables as an expression.

    Parameters
    ----------
    function : callable
        A distribution to -ln P.
    assumption : callable
        Columns of contingency tables to the distribution of O11.
    names : sequence of str
        The columns that it asks for.

    Returns
    -------
    Expr
        Float64 from 0; 0 where an expectation is 0, since then only one table is possible.
    """
    decimal = partial(_decimal, function=function, assumption=assumption)
    return by_rows(decimal, names)


def by_rows(
    function: Callable[[Columns], FloatArray], names: Sequence[str], *, blocks: bool = True
) -> pl.Expr:
    """Return a NumPy function of columns, row by row, as an expression.

    Parameters
    ----------
    function : callable
        Arrays by name to an array of the same length. What it returns for a row must not
        depend on the other rows; floating-point warnings are silenced.
    names : sequence of str
        The columns that it needs, Float64 without nulls.
    blocks : bool
        Whether to call it on blocks of rows, in threads; once on all rows if not.

    Returns
    -------
    Expr
        Float64; equal rows get equal bits, whatever the other rows and the threads.
    """
    size = _BLOCK if blocks else None
    whole = partial(_whole, function=function, names=tuple(names), size=size)
    return pl.map_batches(
        [pl.col(name) for name in names], whole, return_dtype=pl.Float64, is_elementwise=True
    )


def _whole(
    series: Sequence[pl.Series],
    *,
    function: Callable[[Columns], FloatArray],
    names: Sequence[str],
    size: int | None,
) -> pl.Series:
    columns = {name: each.to_numpy() for name, each in zip(names, series, strict=True)}
    size = size or max(len(series[0]), 1)
    starts = range(0, len(series[0]), size)
    blocks = [{name: c[at : at + size] for name, c in columns.items()} for at in starts]
    work = partial(_silently, function=function)
    if len(blocks) <= 1:
        parts = [work(block) for block in blocks]
    else:
        with ThreadPoolExecutor(min(pl.thread_pool_size(), len(blocks))) as pool:
            parts = list(pool.map(work, blocks))
    return pl.Series(np.concatenate([np.empty(0), *parts]))


def _silently(block: Columns, *, function: Callable[[Columns], FloatArray]) -> FloatArray:
    with np.errstate(all="ignore"):
        return function(block) + 0.0  # no -0


def _decimal(
    columns: Columns, *, function: Callable[[Distribution], FloatArray], assumption: Assumption
) -> FloatArray:
    x = assumption(columns)
    least = reduce(np.minimum, x.means)
    if np.all(least > 0):
        return function(x) * PER_DECADE
    result = np.where(np.isnan(least), np.nan, 0.0)
    rows = np.flatnonzero(least > 0)
    result[rows] = function(x.take(rows)) * PER_DECADE
    return result
