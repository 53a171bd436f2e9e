"""What was keyed in from a printed dictionary: checked, and made a wordlist."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.hashing import candidate_id

ABSENT = ("-", "–", "—", "−")
"""Signs that the dictionary lacks the lemma."""
SEPARATORS = r"[,;\n\r،、]+"
"""Between two forms."""


def keyed_forms(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the forms of each row that was filled in.

    Parameters
    ----------
    entries : LazyFrame
        `schemas.KeyedEntries`.

    Returns
    -------
    LazyFrame
        id, lemma, form: a row for each form; a null form where the dictionary lacks the lemma.
        Rows that are still empty, and rows without an id, are left out.

    Examples
    --------
    >>> rows = {"id": ["x1", "x2", "x3"], "lemma": ["ra", "dar", "xi"],
    ...         "forms": ["ra, rajt ;rat", "-", " "]}
    >>> keyed_forms(pl.LazyFrame(rows)).sort("lemma", "form").collect()["form"].to_list()
    [None, 'ra', 'rajt', 'rat']
    """
    text = pl.col("forms").str.strip_chars()
    typed = entries.select("id", "lemma", forms=text).drop_nulls().filter(pl.col("forms") != "")
    absent = typed.filter(pl.col("forms").is_in(ABSENT))
    # Polars splits at no pattern: so every separator is made the same first.
    parts = pl.col("forms").str.replace_all(SEPARATORS, "\x1f").str.split("\x1f")
    there = typed.filter(~pl.col("forms").is_in(ABSENT)).select("id", "lemma", form=parts)
    forms = there.explode("form").with_columns(pl.col("form").str.strip_chars())
    lacking = absent.select("id", "lemma", form=pl.lit(None, pl.String))
    return pl.concat([forms.filter(pl.col("form") != ""), lacking])


def keying_faults(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row for every cell that cannot be used.

    An id is empty, or is not that of the row's lemma; forms are keyed in and a - says that the
    dictionary has none, in one cell or in two rows of a lemma; nothing but separators.

    Parameters
    ----------
    entries : LazyFrame
        `schemas.KeyedEntries`.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`.

    Examples
    --------
    >>> row = {"file": "a.csv", "line": 2, "id": "x1", "lemma": "ra", "forms": "ra"}
    >>> keying_faults(pl.LazyFrame([row])).collect()["problem"].item()
    "is not the id of 'ra'; restore the row from the original sheet"
    """
    own = pl.col("id").str.strip_chars()
    empty = own.is_null() | (own == "")
    strange = ~empty & own.ne_missing(candidate_id("lemma"))
    not_of = pl.format(
        "is not the id of '{}'; restore the row from the original sheet",
        pl.col("lemma").fill_null(""),
    )
    parts = pl.col("forms").str.replace_all(SEPARATORS, "\x1f").str.split("\x1f")
    parts = parts.list.eval(pl.element().str.strip_chars())
    signs = parts.list.eval(pl.element().is_in(ABSENT)).list.any()
    mixed = signs & (parts.list.eval(pl.element() != "").list.sum() > 1)
    nothing = (parts.list.eval(pl.element() != "").list.sum() == 0) & (
        pl.col("forms").str.strip_chars() != ""
    )
    says_none = signs.fill_null(value=False)
    filled = pl.col("forms").is_not_null() & ~nothing.fill_null(value=False)
    both = (filled & ~says_none).any().over("id") & (filled & says_none).any().over("id")
    wrong = [
        _fault(entries, empty, "id", pl.lit("is empty; restore it from the original sheet")),
        _fault(entries, strange, "id", not_of),
        _fault(entries, mixed, "forms", pl.lit("holds forms and a -: keep one")),
        _fault(entries, nothing, "forms", pl.lit("holds no form; - says that there is none")),
        _fault(
            entries, both & filled & ~mixed, "forms",
            pl.lit("one row of this lemma has forms, another a -: keep one"),
        ),
    ]  # fmt: skip
    return pl.concat(wrong)


def _fault(entries: pl.LazyFrame, wrong: pl.Expr, column: str, problem: pl.Expr) -> pl.LazyFrame:
    bad = entries.filter(wrong)
    return bad.select("file", "line", column=pl.lit(column), value=pl.col(column), problem=problem)
