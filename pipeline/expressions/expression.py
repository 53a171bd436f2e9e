"""Conversion of the users' SQL to Polars expressions."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from pipeline.expressions.functions import NotByRow, RefusedText, place, quote

EVERY_ROW = "true"
"""The condition that is true of every row."""


@lru_cache(maxsize=256)
def expression(text: str, *, what: str = "condition") -> pl.Expr:
    """Return a condition or formula in SQL as a Polars expression.

    SQL in Polars can read files, tables and the network. So the text is parsed, checked against the
    allowed `FUNCTIONS`, and rewritten from its syntax tree.

    Parameters
    ----------
    text : str
        SQL over the columns of a row.
    what : str
        Its name in messages.

    Raises
    ------
    ValueError
        If it does not parse, or part of it is not allowed, with that part and its position.

    Examples
    --------
    >>> expression("upos IN ('NOUN', 'PROPN')").meta.root_names()
    ['upos']
    >>> expression("form IN (SELECT x FROM read_csv('words.csv'))")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: "form IN ..." is not a Polars SQL condition: READ_CSV is not an allowed ...
    """
    # The default of most stages needs no parser.
    sql = text if text == EVERY_ROW else rewrite_sql(text, what=what)
    try:
        return pl.sql_expr(sql)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"{quote(text)} is not a Polars SQL {what}: {why}") from error


def rewrite_sql(text: str, *, what: str = "condition") -> str:
    """Return the rewritten SQL for Polars.

    Raises
    ------
    ValueError
        As `expression`.

    Examples
    --------
    >>> rewrite_sql("a+b*2 > 3 /* comment */ or not c")
    '(("a" + ("b" * 2)) > 3) OR (NOT "c")'
    """
    from pipeline.expressions.grammar import rewrite  # noqa: PLC0415  a parser is slow to import

    try:
        return rewrite(text)
    except NotByRow as error:
        raise ValueError(
            f"{quote(text)} is not an expression of a single row: {error} needs many "
            f"rows{place(text, error.start)}; constants, aggregates and window functions are not "
            "allowed"
        ) from error
    except RefusedText as error:
        where = place(text, error.start)
        raise ValueError(f"{quote(text)} is not a Polars SQL {what}: {error}{where}") from error
