"""How cells are read: with the error of the simulation, over all cells of a method."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import scipy

LEAST, MEAN, MOST, SIZE = 0.94, 0.945, 0.98, 0.055
"""No cell significantly below the first; the mean over a method's cells at least the second; cells
with 30 draws at most the third; the size of a test at most the last."""
ERROR = 0.05
"""One-sided, of all cells of a method together."""
FEW, MANY = 10, 30
"""Draws in a set: below the first, a coverage is promised by exact intervals alone; from the second
on caution is looked at."""


def read(cells: pl.DataFrame, *, few: bool) -> pl.DataFrame:
    """Say of each cell whether it holds, and whether it is too cautious.

    Parameters
    ----------
    cells : DataFrame
        Cells of one method.
    few : bool
        Whether the method promises its level with fewer than ten draws, too.

    Returns
    -------
    DataFrame
        The cells with share (of samples in which limits held the truth, or the test was wrong),
        judged (whether the method promises anything there), low (significantly below 94 %, of a
        test above 5.5 %), cautious (significantly above 98 % with 30 draws or more), borderline
        (on the wrong side of 94 % or 5.5 %, but not significantly); worst first.
    """
    shares = cells.with_columns(
        share=pl.col("hits") / pl.col("samples"),
        judged=pl.lit(value=few) | (pl.col("draws") >= FEW) | (pl.col("kind") == "test"),
    )
    tests = shares["kind"].to_numpy() == "test"
    level = ERROR / max(1, shares.filter("judged").height)
    hits, samples = shares["hits"].to_numpy(), shares["samples"].to_numpy()
    below = scipy.stats.binom.cdf(hits, samples, LEAST)
    above = scipy.stats.binom.sf(hits - 1, samples, np.where(tests, SIZE, MOST))
    wrong = np.where(tests, above, below) < level
    wrong_side = np.where(tests, hits > SIZE * samples, hits < LEAST * samples)
    many = (shares["draws"].to_numpy() >= MANY) & (shares["width"].to_numpy() > 0) & ~tests
    judged = shares["judged"].to_numpy()
    marked = shares.with_columns(
        low=pl.Series(wrong & judged),
        borderline=pl.Series(wrong_side & ~wrong & judged),
        cautious=pl.Series(many & (above < level)),
    )
    return _worst_first(marked)


def _worst_first(cells: pl.DataFrame) -> pl.DataFrame:
    worst = pl.when(pl.col("kind") == "test").then(-pl.col("share")).otherwise(pl.col("share"))
    return cells.sort(worst, "population", "size", "what", "n")


def verdict(marked: pl.DataFrame) -> dict[str, Any]:
    """Sum up the cells of a method, as `read` marked them.

    A method "fails" if a cell is low, or its mean; it is "cautious" if more than a tenth of the
    cells with many draws are; else it "holds".
    """
    judged = marked.filter("judged")
    test = "test" in marked["kind"].to_list()
    mean = float(judged["share"].mean() or 0.0)  # type: ignore[arg-type]
    low, cautious = int(judged["low"].sum()), int(marked["cautious"].sum())
    many = marked.filter((pl.col("draws") >= MANY) & (pl.col("width") > 0))
    worst = judged.row(0, named=True) if judged.height else None
    fails = bool(low) or (not test and judged.height > 0 and mean < MEAN)
    text = "fails" if fails else "cautious" if cautious > 0.1 * many.height else "holds"
    return {
        "cells": judged.height, "not judged": marked.height - judged.height, "mean": mean,
        "worst": worst["share"] if worst else None,
        "at": "{population}, {size}: {what}, n = {n}".format(**worst) if worst else "",
        "low": low, "borderline": int(marked["borderline"].sum()), "cautious": cautious,
        "many": many.height, "mean of many": float(many["share"].mean() or 0.0),  # type: ignore[arg-type]
        "width": float(judged["width"].mean() or 0.0),  # type: ignore[arg-type]
        "verdict": text,
    }  # fmt: skip
