"""Regular expressions that users write."""

from __future__ import annotations

import polars as pl

from pipeline.expressions.refusal import shown


def regular_expression(pattern: str) -> str:
    """Return a regular expression that Polars can search for.

    Parameters
    ----------
    pattern : str
        What a user wrote.

    Raises
    ------
    ValueError
        If it is none, or needs more memory than one may.

    Examples
    --------
    >>> regular_expression("^[A-Z]")
    '^[A-Z]'
    >>> regular_expression("(a")
    Traceback (most recent call last):
    ...
    ValueError: '(a' is no regular expression: unclosed group
    """
    try:
        pl.select(pl.lit("").str.contains(pattern))
    except pl.exceptions.PolarsError as error:
        raise ValueError(f"{shown(pattern)} is no regular expression: {_why(error)}") from error
    return pattern


def _why(error: pl.exceptions.PolarsError) -> str:
    text = str(error)
    if "size limit" in text:
        return "it is too large, which repeats within repeats make it"
    found = [line for line in text.splitlines() if line.startswith("error: ")]
    return found[-1].removeprefix("error: ") if found else text.partition("\n")[0]
