"""From the tables of a run to what the layers draw: rows in the window, per cents, pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import polars as pl

from pipeline.report.charts.parts.options import Window

LIMITS = ("lower", "upper", "lower_band", "upper_band")
"""Ends of intervals: pointwise ones, and simultaneous ones, which need not be there."""

Rows = TypeVar("Rows", pl.DataFrame, pl.LazyFrame)


def within(rows: Rows, window: Window) -> Rows:
    """Return the rows whose n lies in the window."""
    inside = rows.filter(pl.col("n") >= window.first_n)
    return inside if window.last_n is None else inside.filter(pl.col("n") <= window.last_n)


def at_thinned(frame: pl.DataFrame, *, points: int, always: Sequence[int] = ()) -> pl.DataFrame:
    """Return the rows at about `points` values of n, the ends and `always` among them."""
    return frame.filter(pl.col("n").is_in(thinned(frame["n"], points=points, always=always)))


def by_line(frame: pl.DataFrame, names: Iterable[str]) -> dict[str, pl.DataFrame]:
    """Return the rows of each line, without its name; none for a name that the frame has not.

    Examples
    --------
    >>> frame = pl.DataFrame({"line": ["a", "b", "a"], "n": [1, 1, 2]})
    >>> by_line(frame, ["a", "c"])["a"]["n"].to_list()
    [1, 2]
    """
    parts = frame.partition_by("line", as_dict=True, include_key=False)
    empty = frame.drop("line").clear()
    return {name: parts.get((name,), empty) for name in names}


def per_cent(frame: pl.DataFrame, value: str = "precision") -> pl.DataFrame:
    """Return line, n, y, lower, upper in per cent: y is the column `value`.

    Where the frame has simultaneous bands, so has the result: lower_band, upper_band. A thousandth
    of a per cent is less than a pixel, so more digits are not drawn.
    """
    limits = [name for name in LIMITS if name in frame.columns]
    shares = {"y": value, **dict(zip(limits, limits, strict=True))}
    return frame.select(
        "n",
        pl.col("measure").alias("line"),
        *((100 * pl.col(column)).round(3).alias(name) for name, column in shares.items()),
    ).sort("line", "n")


def pair_rows(comparison: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return the rows that compare two measures, `difference` as first minus second.

    Parameters
    ----------
    comparison : DataFrame
        `schemas.Comparison`, in which the pair may stand in either order; with lower_band and
        upper_band, as `schemas.DifferenceBands` has them, it gives lower and upper, too.
    first, second : str
        The pair.

    Returns
    -------
    DataFrame
        n, difference, significant, ascending in n; lower and upper, if there are any.

    Examples
    --------
    >>> frame = pl.DataFrame({"measure_1": ["b"], "measure_2": ["a"], "n": [9],
    ...     "difference": [0.25], "significant": [True]})
    >>> pair_rows(frame, "a", "b")["difference"].item()
    -0.25
    """
    one, two = pl.col("measure_1"), pl.col("measure_2")
    forward = (one == first) & (two == second)
    held = comparison.filter(forward | ((one == second) & (two == first)))
    ends = {"difference": ("difference", "difference")}
    if "lower_band" in held.columns:
        limits = ("lower_band", "upper_band")
        ends |= {"lower": limits, "upper": limits[::-1]}
    signed = [
        pl.when(forward).then(pl.col(same)).otherwise(-pl.col(other)).alias(name)
        for name, (same, other) in ends.items()
    ]
    return held.select("n", *signed, "significant").sort("n")


def better_at(pair: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Return the n at which the first measure is significantly better, and the second."""
    significant = pair.filter("significant")
    sides = (pl.col("difference") > 0, pl.col("difference") < 0)
    first, second = (significant.filter(side)["n"].to_list() for side in sides)
    return first, second


def thinned(
    values: Iterable[int] | pl.Series, *, points: int = 400, always: Iterable[int] = ()
) -> list[int]:
    """Return about `points` of the values, evenly spaced; the ends and `always` among them.

    Parameters
    ----------
    values : iterable or Series of int
        The n that there are, in any order.
    points : int
        About how many to keep.
    always : iterable of int
        Values that must be kept; those that there aren't are left out.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> thinned(range(100, 501), points=4, always=[150, 9000])
    [100, 150, 200, 300, 400, 500]
    >>> thinned([])
    []
    """
    if isinstance(values, pl.Series):  # there may be millions: not as numbers of Python
        every = values.unique().sort()
        asked = every.filter(every.is_in(pl.Series(list(always), dtype=every.dtype).implode()))
        return sorted({*every.gather_every(_step(len(every), points)), *every.tail(1), *asked})
    there = sorted(set(values))
    return sorted({*there[:: _step(len(there), points)], *there[-1:]} | (set(always) & set(there)))


def _step(many: int, points: int) -> int:
    return max(1, round((many - 1) / max(points, 1)))


def spaced(values: Iterable[int], *, gap: float) -> list[int]:
    """Return the values of which none is nearer than `gap` to the one kept before it.

    Every value that is left out lies less than `gap` above one that is kept, so a mark at
    each kept value hides no isolated one.

    Parameters
    ----------
    values : iterable of int
        In any order.
    gap : float
        Smallest distance between two kept values.

    Returns
    -------
    list of int
        Ascending.

    Examples
    --------
    >>> spaced([1, 2, 3, 4, 5, 20], gap=3)
    [1, 4, 20]
    """
    kept: list[int] = []
    for value in sorted(set(values)):
        if not kept or value - kept[-1] >= gap:
            kept.append(value)
    return kept
