"""Textual co-occurrence: pairs of unit types that occur in one sentence, paragraph, document."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.places import TOKEN

TEXT_UNIT = "text_unit"
"""Column with the number of the sentence, paragraph or document that a token is in."""


def together(first: pl.LazyFrame, second: pl.LazyFrame) -> pl.LazyFrame:
    """Return the pairs of types in each text unit, each once, by two different tokens.

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
    [('a', 'a'), ('a', 'b'), ('b', 'a')]
    """
    one, two = _types(first, 1), _types(second, 2)
    paired = one.join(two, on=TEXT_UNIT)
    # Where both labels stand on the same tokens alone, no two tokens occur together.
    both = (
        first.rename({"unit": "l1"})
        .join(second.rename({"unit": "l2"}).drop(TEXT_UNIT), on=TOKEN)
        .group_by(TEXT_UNIT, "l1", "l2")
        .agg(_same=pl.len())
    )
    counted = paired.join(both, on=[TEXT_UNIT, "l1", "l2"], how="left")
    apart = pl.col("_times_1") * pl.col("_times_2") > pl.col("_same").fill_null(0)
    return counted.filter(apart).select(TEXT_UNIT, "l1", "l2", "token_1", "token_2")


def occurrences(units: pl.LazyFrame) -> pl.LazyFrame:
    """Count the text units that hold each type: unit, f."""
    return units.unique([TEXT_UNIT, "unit"]).group_by("unit").agg(f=pl.len().cast(pl.Int64))


def _types(units: pl.LazyFrame, number: int) -> pl.LazyFrame:
    return (
        units.group_by(TEXT_UNIT, "unit")
        .agg(pl.col(TOKEN).min().alias(f"token_{number}"), pl.len().alias(f"_times_{number}"))
        .rename({"unit": f"l{number}"})
    )
