"""The one way from a text that a user wrote to a Polars expression."""

from __future__ import annotations

from functools import lru_cache

import polars as pl

from pipeline.expressions.functions import NotByRow, Refused, place, shown

EVERY_ROW = "true"
"""The condition that every row meets."""


@lru_cache(maxsize=256)
def expression(text: str, *, what: str = "condition") -> pl.Expr:
    """Return a condition or a formula that a user wrote in SQL.

    Polars reads files, tables and the network in SQL. So the text is parsed, all of it has to be
    allowed, see `FUNCTIONS`, and Polars is given a text made from what was checked.

    Parameters
    ----------
    text : str
        SQL over the columns of one row.
    what : str
        What a message calls it.

    Raises
    ------
    ValueError
        If it does not parse, or a part of it is not allowed, naming that part and its place.

    Examples
    --------
    >>> expression("upos IN ('NOUN', 'PROPN')").meta.root_names()
    ['upos']
    >>> expression("form IN (SELECT x FROM read_csv('words.csv'))")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: "form IN ..." is not a Polars SQL condition: READ_CSV is no function ...
    """
    # What most stages say, where they leave it to the default, needs no parser.
    written = text if text == EVERY_ROW else rewritten(text, what=what)
    try:
        return pl.sql_expr(written)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        why = str(error).partition("\n")[0]
        raise ValueError(f"{shown(text)} is not a Polars SQL {what}: {why}") from error


def rewritten(text: str, *, what: str = "condition") -> str:
    """Return the text that Polars is given in place of a user's.

    Raises
    ------
    ValueError
        As `expression`.

    Examples
    --------
    >>> rewritten("a+b*2 > 3 /* comment */ or not c")
    '(("a" + ("b" * 2)) > 3) OR (NOT "c")'
    """
    from pipeline.expressions.grammar import rewrite  # noqa: PLC0415  a parser is slow to import

    try:
        return rewrite(text)
    except NotByRow as error:
        raise ValueError(
            f"{shown(text)} is not row by row: constants, aggregates and windows are refused; "
            f"{error} is of many rows{place(text, error.start)}"
        ) from error
    except Refused as error:
        where = place(text, error.start)
        raise ValueError(f"{shown(text)} is not a Polars SQL {what}: {error}{where}") from error
