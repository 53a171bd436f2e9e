"""Token tables whose columns say where a token stands: sentence, document, paragraph."""

from __future__ import annotations

from collections.abc import Collection

import polars as pl

from pipeline.formats import attributes
from pipeline.formats.base import LINE
from pipeline.formats.laws import UNIT, Law

ROLES = ("file", "doc", "paragraph", "sentence")
"""Columns that say where a token stands. The reader numbers sentences and paragraphs itself:
a new one begins where the value changes."""
OWN = (LINE, "position")
"""Columns that the reader makes itself: one that is in the table is passed over."""


def role(name: str) -> str:
    """Return the name under which a column that is one of `ROLES` or `OWN` is read."""
    return f"~{name}" if name in {*ROLES, *OWN} else name


def attributes_of(names: Collection[str]) -> list[str]:
    """Return the columns that are attributes of the token, in order."""
    return [name for name in names if role(name) == name]


def placed(plan: pl.LazyFrame, names: Collection[str], block: pl.Expr | None) -> pl.LazyFrame:
    """Return the tokens with `UNIT` and the columns of `attributes.PLACE`.

    Parameters
    ----------
    plan : LazyFrame
        The tokens in order; columns that are `ROLES` under the name that `role` gives.
    names : collection of str
        The columns of the table.
    block : Expr, optional
        What changes from one sentence to the next besides the columns.
    """
    document = [role(name) for name in ("file", "doc") if name in names]
    sentence = [*document, *([role("sentence")] if "sentence" in names else [])]
    runs = [_changes(pl.col(name)) for name in sentence]
    runs += [] if block is None else [_changes(block)]
    doc = pl.col(role("doc")).fill_null("").alias("doc")
    plan = plan.with_columns(pl.any_horizontal(runs).cum_sum().cast(pl.Int64).alias(UNIT))
    return plan.with_columns(
        *([doc] if "doc" in names else []),
        _paragraph(names, document).alias("paragraph"),
        attributes.sentence_number(),
        attributes.running_position(),
    )


def _paragraph(names: Collection[str], document: list[str]) -> pl.Expr:
    if "paragraph" not in names:
        return pl.lit(None, pl.Int64)
    own = pl.col(role("paragraph"))
    changes = [_changes(pl.col(name)) for name in [*document, role("paragraph")]]
    begins = pl.any_horizontal(changes) & own.is_not_null()
    return pl.when(own.is_not_null()).then(begins.cum_sum()).cast(pl.Int64)


def _changes(value: pl.Expr) -> pl.Expr:
    """Return whether a value differs from that of the row before; nothing precedes the first."""
    return value.ne_missing(value.shift())


def sentence_law(names: Collection[str]) -> list[Law]:
    """Return the law that every token has a sentence, if there is a column for it."""
    if "sentence" not in names:
        return []
    value = pl.col(role("sentence"))
    return [Law(value.is_null(), pl.lit("no sentence"), pl.lit(None, pl.String()))]


def scattered(plan: pl.LazyFrame, names: Collection[str]) -> pl.LazyFrame | None:
    """Return sentences whose rows do not stand together: `LINE`, `UNIT`, problem, value.

    Parameters
    ----------
    plan : LazyFrame
        As `placed` gives it.
    names : collection of str
        The columns of the table.
    """
    if "sentence" not in names:
        return None
    key = [role(name) for name in ("file", "doc", "sentence") if name in names]
    starts = plan.filter(attributes.first_in_unit()).select(LINE, UNIT, *key)
    again = starts.filter(~pl.struct(key).is_first_distinct())
    problem = "sentence comes twice: its rows do not stand together, or its document has no name"
    value = pl.col(role("sentence")).cast(pl.String).alias("value")
    return again.select(LINE, UNIT, pl.lit(problem).alias("problem"), value)
