"""All pairs of measures at one n, ordered for a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.charts.matrix import Matrix
from pipeline.report.views.collocations.on_tests import Mark


def starred(mark: Mark) -> pl.Expr:
    """Return whether a difference is significant after correction, and relevant."""
    sure = (pl.col("p_adjusted") < mark.alpha) & (pl.col("difference").abs() >= mark.margin)
    return sure.fill_null(value=False)


def matrix_of(cuts: pl.DataFrame, baseline: pl.DataFrame, n: int, mark: Mark) -> Matrix:
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
    mark : Mark
        What makes a difference significant and relevant.
    """
    pairs = cuts.filter(pl.col("n") == n).with_columns(significant=starred(mark))
    names = {*pairs["measure_1"], *pairs["measure_2"]}
    judged = baseline.filter(pl.col("n") == n, pl.col("n_1") > 0)
    estimates = dict(judged.select("measure", pl.col("k_1") / pl.col("n_1")).iter_rows())
    order = sorted(names, key=lambda name: (-estimates.get(name, -1.0), name))
    return Matrix(n, tuple(order), both_ways(pairs))


def both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return each pair twice: row, column, difference as row less column, p_adjusted, significant.

    Parameters
    ----------
    pairs : DataFrame
        measure_1, measure_2, difference, p_adjusted, significant.
    """
    kept = ("p_adjusted", "significant")
    forward = pairs.select("difference", *kept, row="measure_1", column="measure_2")
    back = pairs.select(-pl.col("difference"), *kept, row="measure_2", column="measure_1")
    return pl.concat([forward, back]).select("row", "column", "difference", *kept)


def together(matrices: Sequence[Matrix], *, most: int) -> list[list[Matrix]]:
    """Return the matrices that share a figure: all if they are small, else each by itself."""
    small = all(len(matrix.order) <= most for matrix in matrices)
    return [list(matrices)] if small and matrices else [[matrix] for matrix in matrices]
