"""Text columns to numbers and judgements, and the rows where that fails."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

TRUE = ("1", "true", "yes", "y", "+", "tp")
FALSE = ("0", "false", "no", "n", "-", "fp")
"""Spellings of a judgement, in any case; an empty field means that nobody judged."""
_TOO_MANY = 2.0**53
"""What counts of a column add up to at the most: Float64 has every whole number below."""


def whole_number(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as Int64; null where it does not hold a whole number.

    Parameters
    ----------
    column : str
        Its name.
    dtype : DataType
        What it is now: String, an integer, or a float that holds whole numbers.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": [" 12", "1.5", None]})
    >>> texts.select(whole_number("f", pl.String())).to_series().to_list()
    [12, None, None]
    """
    value = pl.col(column)
    if dtype == pl.String:
        return value.str.strip_chars().cast(pl.Int64, strict=False)
    whole = value.cast(pl.Int64, strict=False)
    return pl.when(whole == value).then(whole) if dtype.is_float() else whole


def counted(column: str, dtype: pl.DataType, *, least: int = 0, before: int = 0) -> pl.Expr:
    """Return a column as counts that can be added up; null where it does not hold one.

    Sums of 64 bits begin again from below where they are too large. So null stands, too, from where
    the counts of the column, added up from its beginning, reach 2^53, about 9e15.

    Parameters
    ----------
    column, dtype
        As of `whole_number`.
    least : int
        The smallest count.
    before : int
        What the counts before these rows add up to, where a column is read in parts.

    Examples
    --------
    >>> texts = pl.DataFrame({"f": ["12", "-1", str(2**63 - 1)]})
    >>> texts.select(counted("f", pl.String())).to_series().to_list()
    [12, None, None]
    """
    whole = whole_number(column, dtype)
    count = pl.when(whole >= least).then(whole)
    fits = count.cast(pl.Float64).fill_null(0).cum_sum() < _TOO_MANY - before
    return pl.when(fits).then(count)


def number(column: str, dtype: pl.DataType) -> pl.Expr:
    """Return a column as Float64; null where it holds none, or NaN.

    Examples
    --------
    >>> texts = pl.DataFrame({"x": ["-inf", "2e-3", "nan"]})
    >>> texts.select(number("x", pl.String())).to_series().to_list()
    [-inf, 0.002, None]
    """
    value = pl.col(column)
    text = value.str.strip_chars() if dtype == pl.String else value
    return text.cast(pl.Float64, strict=False).fill_nan(None)


def filled(column: str) -> pl.Expr:
    """Return a column as text; null where it is blank.

    Examples
    --------
    >>> texts = pl.DataFrame({"l1": ["in Frage", " ", ""]})
    >>> texts.select(filled("l1")).to_series().to_list()
    ['in Frage', None, None]
    """
    text = pl.col(column).cast(pl.String)
    return pl.when(text.str.strip_chars() != "").then(text)


def judgement(column: str) -> pl.Expr:
    """Return a column as Boolean; null where nobody judged or the spelling is unknown.

    What is Boolean already is spelt true or false as text.

    Examples
    --------
    >>> texts = pl.DataFrame({"tp": ["1", "No", "", "maybe"]})
    >>> texts.select(judgement("tp")).to_series().to_list()
    [True, False, None, None]
    """
    folded = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase()
    return (
        pl.when(folded.is_in(TRUE))
        .then(statement=True)
        .when(folded.is_in(FALSE))
        .then(statement=False)
    )


def faults(
    frame: pl.LazyFrame, *, parsed: Mapping[str, pl.Expr], problem: str, required: bool
) -> pl.LazyFrame:
    """Return one row for every value that could not be parsed.

    Parameters
    ----------
    frame : LazyFrame
        The raw rows, with the columns file and line.
    parsed : mapping of str to Expr
        Column of the file to its parsed form, null on failure.
    problem : str
        What to say of it.
    required : bool
        Whether an empty field is a failure too.

    Returns
    -------
    LazyFrame
        file, line, column, value, problem, as in `schemas.Faults`.
    """
    wrong = []
    for column, value in parsed.items():
        text = pl.col(column).cast(pl.String)
        empty = text.is_null() | (text.str.strip_chars() == "")
        failed = value.is_null() & (~empty | pl.lit(required))
        row = {"column": pl.lit(column), "value": text, "problem": pl.lit(problem)}
        wrong.append(frame.filter(failed).select("file", "line", **row))
    return pl.concat(wrong)
