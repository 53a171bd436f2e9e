"""Limits of differences between measures, as the table of a comparison has them."""

from __future__ import annotations

from typing import TypeAlias

import polars as pl

from pipeline.findings.collocations.evidence import row_of

Ends: TypeAlias = tuple[float | None, float | None]
"""Lower and upper limit of a difference; None where there are none."""


def limits_of(
    differences: pl.DataFrame, *, n: int, of: str, less: str, population: str = "super"
) -> Ends:
    """Return the limits of how much one measure exceeds another.

    Parameters
    ----------
    differences : DataFrame
        `schemas.MeasureDifferences`, one category.
    n : int
        The cut.
    of, less : str
        The two measures.
    population : str
        What is asked about: "super", as the tests of `schemas.CutComparison` do, or "finite".

    Examples
    --------
    >>> rows = pl.DataFrame({"measure_1": "dice", "measure_2": "mi", "n": 9, "lower": -0.1,
    ...     "upper": 0.3, "population": ["super"]})
    >>> limits_of(rows, n=9, of="mi", less="dice"), limits_of(rows, n=8, of="mi", less="dice")
    ((-0.3, 0.1), (None, None))
    """
    at = {"n": n, "population": population}
    straight = row_of(differences, measure_1=of, measure_2=less, **at)
    if straight is not None:
        return straight["lower"], straight["upper"]
    turned = row_of(differences, measure_1=less, measure_2=of, **at)
    return (None, None) if turned is None else (-turned["upper"], -turned["lower"])
