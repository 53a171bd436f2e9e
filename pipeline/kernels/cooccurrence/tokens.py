"""Where tokens stand: numbers that make a relation between tokens plain arithmetic."""

from __future__ import annotations

import polars as pl

TOKEN, PLACE = "token", "place"
"""Columns with the 0-based number of a token and of its sentence among those at hand."""


def numbered(tokens: pl.LazyFrame, *, in_order: bool = False) -> pl.LazyFrame:
    """Give numbers to the tokens and their sentences.

    Parameters
    ----------
    tokens : LazyFrame
        file, sentence, position (1, 2, 3 ... in each sentence) and attributes.
    in_order : bool
        Whether the rows come in order already.

    Returns
    -------
    LazyFrame
        The tokens in order, with `TOKEN` and `PLACE` (Int64).

    Examples
    --------
    >>> rows = {"file": ["f"] * 3, "sentence": [7, 7, 9], "position": [1, 2, 1]}
    >>> numbered(pl.LazyFrame(rows)).select("token", "place").collect().rows()
    [(0, 0), (1, 0), (2, 1)]
    """
    ordered = tokens if in_order else tokens.sort("file", "sentence", "position")
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "sentence")]
    place = pl.any_horizontal(changes).fill_null(value=False).cum_sum()
    return ordered.with_columns(
        pl.int_range(pl.len(), dtype=pl.Int64).alias(TOKEN), place.cast(pl.Int64).alias(PLACE)
    )


def longest(tokens: pl.DataFrame) -> int:
    """Return how many tokens the longest sentence has; 0 if there is none.

    Examples
    --------
    >>> longest(pl.DataFrame({"place": [0, 0, 1]}))
    2
    """
    most: int | None = tokens.get_column(PLACE).rle().struct.field("len").max()  # type: ignore[assignment]
    return most or 0


def head_token() -> pl.Expr:
    """Return the number of a token's head; null for the root, and where none is known."""
    head = pl.col("head")
    return pl.when(head > 0).then(pl.col(TOKEN) + head - pl.col("position"))
