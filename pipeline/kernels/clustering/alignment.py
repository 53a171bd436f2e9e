"""Two readings of the same tokens, laid beside each other one by one."""

from __future__ import annotations

import polars as pl

THEIRS = "~"
"""What the columns of the second reading begin with."""
PLACE = ("file", "line", "sentence", "position")
"""What tells where a token stands."""


def beside(ours: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.LazyFrame:
    """Lay the tokens of a second reading beside those of the first, in the order of both.

    Parameters
    ----------
    ours, theirs : LazyFrame
        Tokens in order, as in `schemas.Tokens`. A shorter one is filled with nulls.

    Returns
    -------
    LazyFrame
        The columns of ours, and those of theirs after `THEIRS`.

    Examples
    --------
    >>> rows = {"file": ["g"], "line": [1], "sentence": [1], "position": [1], "form": ["a"]}
    >>> found = beside(pl.LazyFrame(rows), pl.LazyFrame(rows))
    >>> found.select("form", "~form").collect().rows()
    [('a', 'a')]
    """
    return pl.concat([ours, theirs.rename(lambda name: THEIRS + name)], how="horizontal_extend")


def faults(pair: pl.LazyFrame, *, compare: str) -> pl.LazyFrame:
    """Return a fault for every place where the two are not the same token.

    Parameters
    ----------
    pair : LazyFrame
        As `beside` gives it.
    compare : str
        Column that should be the same in both; position if empty.

    Returns
    -------
    LazyFrame
        As in `schemas.Faults`, with the place in both files and what stands there.
    """
    column = compare or "position"
    mine, other = (pl.col(f"{side}{column}").cast(pl.String) for side in ("", THEIRS))
    ends, begins = pl.col(THEIRS + "file").is_null(), pl.col("file").is_null()
    bad = pair.filter(mine.ne_missing(other) | ends | begins)
    problem = (
        pl.when(ends)
        .then(pl.lit("comes in the gold standard after the last token of this run"))
        .when(begins)
        .then(pl.lit("comes after the last token of the gold standard"))
        .otherwise(pl.lit("is not the token of the gold standard"))
    )
    gold = pl.format("{} ({})", mine.fill_null("nothing"), _place(""))
    theirs = pl.format("{} ({})", other.fill_null("nothing"), _place(THEIRS))
    both = pl.format("{}, gold {}", theirs, gold)
    return bad.select(
        file=pl.coalesce(THEIRS + "file", "file"),
        line=pl.coalesce(THEIRS + "line", "line"),
        column=pl.lit(column),
        value=pl.when(ends).then(gold).when(begins).then(theirs).otherwise(both),
        problem=problem,
    )


def _place(side: str) -> pl.Expr:
    """Say where a token stands."""
    file, line, sentence, position = (pl.col(f"{side}{name}") for name in PLACE)
    return pl.format("sentence {}, token {}, {}, line {}", sentence, position, file, line)
