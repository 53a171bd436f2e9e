"""All pairs of measures at one n, ordered for a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.charts.matrix import Matrix


def starred(*, alpha: float, margin: float) -> pl.Expr:
    """Return whether a difference is significant after correction, and relevant."""
    sure = (pl.col("p_adjusted") < alpha) & (pl.col("difference").abs() >= margin)
    return sure.fill_null(value=False)


def matrix_of(
    cuts: pl.DataFrame, baseline: pl.DataFrame, n: int, *, alpha: float, margin: float
) -> Matrix:
    """Return the pairs at one n in both directions, the measures in the order of precision.

    Parameters
    ----------
    cuts : DataFrame
        `schemas.CutComparison`, one category.
    baseline : DataFrame
        `schemas.CutBaselineComparison`, one category: k_1 of n_1 judged draws of each list are
        true positives, which orders the measures. One without an estimate comes last; equal
        ones are ordered by name.
    n : int
        The cut.
    alpha, margin : float
        What makes a difference significant and relevant.
    """
    held = cuts.filter(pl.col("n") == n).with_columns(
        significant=starred(alpha=alpha, margin=margin)
    )
    there = {*held["measure_1"], *held["measure_2"]}
    known = baseline.filter(pl.col("n") == n, pl.col("n_1") > 0)
    estimates = dict(known.select("measure", pl.col("k_1") / pl.col("n_1")).iter_rows())
    order = sorted(there, key=lambda name: (-estimates.get(name, -1.0), name))
    return Matrix(n, tuple(order), _both_ways(held))


def _both_ways(held: pl.DataFrame) -> pl.DataFrame:
    kept = ("p_adjusted", "significant")
    forward = held.select("difference", *kept, row="measure_1", column="measure_2")
    back = held.select(-pl.col("difference"), *kept, row="measure_2", column="measure_1")
    return pl.concat([forward, back]).select("row", "column", "difference", *kept)


def together(matrices: Sequence[Matrix], *, most: int) -> list[list[Matrix]]:
    """Return the matrices that share a figure: all if they are small, else each by itself."""
    small = all(len(matrix.order) <= most for matrix in matrices)
    return [list(matrices)] if small and matrices else [[matrix] for matrix in matrices]
