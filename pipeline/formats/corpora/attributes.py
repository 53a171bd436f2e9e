"""What readers of corpora share: names of attributes, the place of a token, heads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, TypeAlias

import polars as pl
from pydantic import AfterValidator

from pipeline.formats import delimited
from pipeline.formats.base import LINE
from pipeline.formats.corpora.carry import DOCUMENTS, NOTHING_BEFORE, Carry
from pipeline.formats.corpora.rules import HEAD, POSITION, UNIT, Law

PLACE = (LINE, "doc", "paragraph", "sentence", POSITION)
"""The first columns of every reader of a corpus."""
RAW_HEAD = "~raw_head"
"""Column with a head as it is written."""

_RESERVED = {"file", *PLACE}


def _own(names: tuple[str, ...]) -> tuple[str, ...]:
    taken = [name for name in names if name in _RESERVED]
    if taken:
        raise ValueError(f"{taken[0]!r} is a column that the reader makes; choose another name")
    return delimited.distinct(names)


Attributes: TypeAlias = Annotated[tuple[str, ...], AfterValidator(_own)]
"""Names of attributes, each once, none of them a column that the reader makes."""


def raw(names: Iterable[str]) -> list[str]:
    """Return the names under which fields are read: `HEAD` as `RAW_HEAD`."""
    return [RAW_HEAD if name == HEAD else name for name in names]


def first_in_unit() -> pl.Expr:
    """Return whether a row is the first of its `UNIT`; false outside of units."""
    return pl.col(UNIT).ne_missing(pl.col(UNIT).shift()) & pl.col(UNIT).is_not_null()


def sentence_number(carry: Carry = NOTHING_BEFORE) -> pl.Expr:
    """Return the 1-based number of the `UNIT` in the file, counting those that have rows."""
    number = first_in_unit().cum_sum().cast(pl.Int64)
    return (number + carry.sentences).alias("sentence")


def running_position() -> pl.Expr:
    """Return the 1-based number of the row in its `UNIT`.

    Examples
    --------
    >>> rows = pl.DataFrame({LINE: [1, 2, 4, 5], UNIT: [1, 1, 2, 2]})
    >>> rows.select(running_position())[POSITION].to_list()
    [1, 2, 1, 2]
    """
    count = pl.col(LINE).cum_count().cast(pl.Int64)
    start = pl.when(first_in_unit()).then(count).forward_fill()
    return (count - start + 1).alias(POSITION)


def heads(names: Collection[str]) -> list[pl.Expr]:
    """Return `RAW_HEAD` as a position in the sentence, null if there is none.

    Parameters
    ----------
    names : collection of str
        The attributes; without `HEAD` among them there is nothing to return.
    """
    return [pl.col(RAW_HEAD).cast(pl.Int64, strict=False).alias(HEAD)] if HEAD in names else []


def head_laws(names: Collection[str]) -> list[Law]:
    """Return the law that the head of a token is a whole number, if it has one."""
    written = pl.col(RAW_HEAD) != "_"
    bad = pl.col(HEAD).is_null() | (pl.col(HEAD) < 0)
    broken = pl.col(POSITION).is_not_null() & written & bad
    says = pl.lit("head is no whole number")
    return [Law(broken, says, pl.col(RAW_HEAD))] if HEAD in names else []


def document_name(name: pl.Expr, begins: pl.Expr, carry: Carry = NOTHING_BEFORE) -> pl.Expr:
    """Return the document's name on all rows that follow its beginning.

    Parameters
    ----------
    name : Expr
        Its name where it begins, null elsewhere; null or empty if it has none.
    begins : Expr
        Whether it begins here.
    carry : Carry
        What went before the first row.

    Returns
    -------
    Expr
        ``doc``: the name, or ``#2`` for a second document without one; empty before the first.

    Examples
    --------
    >>> rows = pl.DataFrame({"name": [None, "a", None, ""], "new": [False, True, False, True]})
    >>> rows.select(document_name(pl.col("name"), pl.col("new")))["doc"].to_list()
    ['', 'a', 'a', '#2']
    """
    begins = begins.fill_null(value=False)
    given = pl.when(name != "").then(name)
    # Of nulls nothing is computed: numbers are written for documents alone.
    count = pl.when(begins & given.is_null()).then(documents_begun(begins, carry))
    number = pl.lit("#") + count.cast(pl.String)
    return pl.coalesce(given, number).forward_fill().fill_null(carry.doc).alias("doc")


def documents_begun(begins: pl.Expr, carry: Carry = NOTHING_BEFORE) -> pl.Expr:
    """Return `DOCUMENTS`: how many documents have begun up to each row."""
    count = begins.fill_null(value=False).cum_sum().cast(pl.Int64)
    return (count + carry.documents).alias(DOCUMENTS)


def columns(attributes: Sequence[str]) -> list[str]:
    """Return the columns of a token table, in order."""
    return [*PLACE, *attributes]
