"""From the tables of a run to what the layers draw: rows in the window, per cents, pairs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.charts.options import Window
from pipeline.report.charts.thin import thinned


def within(frame: pl.DataFrame, window: Window) -> pl.DataFrame:
    """Return the rows whose n lies in the window."""
    held = frame.filter(pl.col("n") >= window.first_n)
    return held if window.last_n is None else held.filter(pl.col("n") <= window.last_n)


def at_thinned(frame: pl.DataFrame, *, points: int, always: Sequence[int] = ()) -> pl.DataFrame:
    """Return the rows at about `points` values of n, the ends and `always` among them."""
    return frame.filter(pl.col("n").is_in(thinned(frame["n"], points=points, always=always)))


def per_cent(frame: pl.DataFrame, value: str = "precision") -> pl.DataFrame:
    """Return line, n, y, lower, upper in per cent: y is the column `value`.

    A thousandth of a per cent is less than a pixel, so more digits are not drawn.
    """
    shares = {"y": value, "lower": "lower", "upper": "upper"}
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
        `schemas.Comparison`, in which the pair may stand in either order.
    first, second : str
        The pair.

    Returns
    -------
    DataFrame
        n, difference, significant, ascending in n.

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
    signed = pl.when(forward).then(pl.col("difference")).otherwise(-pl.col("difference"))
    return held.select("n", signed.alias("difference"), "significant").sort("n")


def better_at(pair: pl.DataFrame) -> tuple[list[int], list[int]]:
    """Return the n at which the first measure is significantly better, and the second."""
    found = pair.filter("significant")
    sides = (pl.col("difference") > 0, pl.col("difference") < 0)
    first, second = (found.filter(side)["n"].to_list() for side in sides)
    return first, second
