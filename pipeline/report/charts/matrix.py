"""What a heat map draws: all pairs of measures at one n."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

NUMBERS = 12
"""With more measures than these, the cells are too small for numbers."""


@dataclass(frozen=True)
class Matrix:
    """The pairs of measures at one n.

    Parameters
    ----------
    n : int
        The size of the lists.
    order : tuple of str
        The measures, best first.
    cells : DataFrame
        row, column, difference (row less column; null where no test is possible),
        p_adjusted, significant: each pair in both directions.
    """

    n: int
    order: tuple[str, ...]
    cells: pl.DataFrame
