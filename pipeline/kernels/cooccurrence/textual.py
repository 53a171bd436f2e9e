"""Textual co-occurrence: pairs of unit types that occur in one sentence, paragraph, document."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.tokens import TOKEN

TEXT_UNIT = "text_unit"
"""Column with the number of the sentence, paragraph or document that a token is in."""


def together(first: pl.LazyFrame, second: pl.LazyFrame) -> pl.LazyFrame:
    """Return the pairs of different types that occur in the same text unit, once for each unit.

    A type occurs with itself in every unit that holds it, which says nothing: such pairs are
    left out.

    Parameters
    ----------
    first, second : LazyFrame
        `TEXT_UNIT`, token, unit.

    Returns
    -------
    LazyFrame
        `TEXT_UNIT`, l1, l2, and token_1, token_2: the first token of each.

    References
    ----------
    Evert 2008, Corpora and collocations, section 4.2: textual co-occurrence.

    Examples
    --------
    >>> rows = pl.LazyFrame({"text_unit": [0] * 3, "token": [0, 1, 2], "unit": ["a", "b", "a"]})
    >>> together(rows, rows).select("l1", "l2").sort("l1", "l2").collect().rows()
    [('a', 'b'), ('b', 'a')]
    """
    one, two = (types(each).rename({"unit": f"l{number}", TOKEN: f"token_{number}"})
                for number, each in enumerate([first, second], start=1))  # fmt: skip
    paired = one.join(two, on=TEXT_UNIT)
    return paired.filter(pl.col("l1").cast(pl.String) != pl.col("l2").cast(pl.String))


def occurrences(units: pl.LazyFrame) -> pl.LazyFrame:
    """Count the text units that hold each type: unit, f."""
    return units.unique([TEXT_UNIT, "unit"]).group_by("unit").agg(f=pl.len().cast(pl.Int64))


def types(units: pl.LazyFrame) -> pl.LazyFrame:
    """Return each type once for each text unit, with its first token there."""
    return units.group_by(TEXT_UNIT, "unit").agg(pl.col(TOKEN).min())
