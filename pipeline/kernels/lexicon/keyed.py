"""What was keyed in from a printed dictionary: checked, and made a wordlist."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.annotation.names import nobodys
from pipeline.kernels.hashing import candidate_id

ABSENT = ("-", "–", "—", "−")
"""Signs that the dictionary lacks the lemma."""
SEPARATORS = r"[,;\n\r،、]+"
"""Between two forms."""
_LONE = r"\r(?:[^\n]|$)"
"""A carriage return without a line feed: workbooks have the text _x000D_ so, too."""
_MOST_PLACES = 4
"""Places that a message names."""


def keyed_forms(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return the forms of each row that was filled in.

    Parameters
    ----------
    entries : LazyFrame
        `schemas.KeyedEntries`.

    Returns
    -------
    LazyFrame
        A row for each form, in the column form in place of forms; a null form where the dictionary
        lacks the lemma. Rows that are still empty, and rows without an id, are left out.

    Examples
    --------
    >>> rows = {"id": ["x1", "x2", "x3"], "lemma": ["ra", "dar", "xi"],
    ...         "forms": ["ra, rajt ;rat", "-", " "]}
    >>> keyed_forms(pl.LazyFrame(rows)).sort("lemma", "form").collect()["form"].to_list()
    [None, 'ra', 'rajt', 'rat']
    """
    text = pl.col("forms").str.strip_chars()
    filled = entries.with_columns(forms=text).drop_nulls(["id", "lemma", "forms"])
    typed = filled.filter(pl.col("forms") != "")
    absent = typed.filter(pl.col("forms").is_in(ABSENT))
    # Polars splits at no pattern: so every separator is made the same first.
    parts = pl.col("forms").str.replace_all(SEPARATORS, "\x1f").str.split("\x1f")
    there = typed.filter(~pl.col("forms").is_in(ABSENT)).select(pl.exclude("forms"), form=parts)
    forms = there.explode("form").with_columns(pl.col("form").str.strip_chars())
    lacking = absent.select(pl.exclude("forms"), form=pl.lit(None, pl.String))
    return pl.concat([forms.filter(pl.col("form") != ""), lacking])


def keying_faults(entries: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row for every cell that cannot be used.

    An id is empty, or is not that of the row's lemma; nobody is named who keyed forms in; forms
    are keyed in and a - says that the dictionary has none, in one cell or in two rows of a lemma;
    nothing but separators; a carriage return that may have been text.

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
    >>> row = {"file": "a.csv", "line": 2, "annotator": "a", "id": "x1", "lemma": "ra"}
    >>> row |= {"forms": "ra"}
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
        nobodys(entries, answer="forms"),
        _fault(entries, empty, "id", pl.lit("is empty; restore it from the original sheet")),
        _fault(entries, strange, "id", not_of),
        _fault(entries, mixed, "forms", pl.lit("holds forms and a -: keep one")),
        _fault(entries, pl.col("forms").str.contains(_LONE), "forms", pl.lit(
            "has a carriage return, as spreadsheets read the text _x000D_:"
            " part forms by commas or line feeds, and type that text \\x5Fx000D_"
        )),
        _fault(entries, nothing, "forms", pl.lit("holds no form; - says that there is none")),
        _fault(
            entries, both & filled & ~mixed, "forms",
            pl.lit("one row of this lemma has forms, another a -: keep one"),
        ),
    ]  # fmt: skip
    return pl.concat(wrong)


def contradictions(forms: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row for every cell of somebody who keys a lemma in twice, not the same.

    Parameters
    ----------
    forms : LazyFrame
        file, line, annotator, lemma, form: what `keyed_forms` gives, in one spelling.

    Returns
    -------
    LazyFrame
        As `schemas.Faults`. Of a lemma that somebody keys in again with equal forms, in
        whatever order, there is none.

    Examples
    --------
    >>> cells = {"file": ["a", "a", "b"], "line": [2, 2, 9], "form": ["ra", "rajt", "ra"]}
    >>> rows = pl.LazyFrame(cells).with_columns(annotator=pl.lit("anna"), lemma=pl.lit("ra"))
    >>> print(contradictions(rows).collect()["problem"][0])
    anna keys this lemma in differently: ra, rajt (a, line 2); ra (b, line 9); keep one
    """
    cell = ["annotator", "lemma", "file", "line"]
    cells = forms.drop_nulls("form").group_by(cell).agg(value=_listed("form"))
    place = pl.format("{} ({}, line {})", "value", "file", "line")
    each = cells.sort(cell).group_by("annotator", "lemma", maintain_order=True)
    several = each.agg(
        keyings=pl.col("value").n_unique(), places=place.head(_MOST_PLACES).str.join("; ")
    ).filter(pl.col("keyings") > 1)
    problem = pl.format(
        "{} keys this lemma in differently: {}; keep one",
        pl.col("annotator").fill_null("somebody"), "places",
    )  # fmt: skip
    bad = cells.join(several, on=["annotator", "lemma"], nulls_equal=True)
    return bad.select("file", "line", column=pl.lit("forms"), value="value", problem=problem)


def _listed(column: str) -> pl.Expr:
    return pl.col(column).unique().sort().str.join(", ")


def _fault(entries: pl.LazyFrame, wrong: pl.Expr, column: str, problem: pl.Expr) -> pl.LazyFrame:
    bad = entries.filter(wrong)
    return bad.select("file", "line", column=pl.lit(column), value=pl.col(column), problem=problem)
