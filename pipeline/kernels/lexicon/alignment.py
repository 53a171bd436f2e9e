"""The forms of a lemma in the gold and in the lexicon, side by side."""

from __future__ import annotations

import polars as pl


def aligned(matched: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame) -> pl.LazyFrame:
    """Return every form of each lemma or of its match, and on which side it is.

    Parameters
    ----------
    matched : LazyFrame
        lemma (of the gold), match (of the lexicon).
    gold, lexicon : LazyFrame
        lemma, form, as `canonical` gives them.

    Returns
    -------
    LazyFrame
        lemma, form, gold, lexicon (Boolean), in no order.

    Examples
    --------
    >>> matched = pl.LazyFrame({"lemma": ["ra"], "match": ["ra"]})
    >>> gold = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rajt"]})
    >>> lexicon = pl.LazyFrame({"lemma": ["ra", "ra"], "form": ["ra", "rat"]})
    >>> aligned(matched, gold, lexicon).sort("form").collect().rows()
    [('ra', 'ra', True, True), ('ra', 'rajt', True, False), ('ra', 'rat', False, True)]
    """
    asked = matched.select("lemma", "match")
    own = asked.join(gold.drop_nulls("form"), on="lemma").select("lemma", "form", gold=True)
    other = lexicon.drop_nulls("form").rename({"lemma": "match"})
    theirs = asked.join(other, on="match").select("lemma", "form", lexicon=True)
    both = own.join(theirs, on=["lemma", "form"], how="full", coalesce=True)
    return both.with_columns(pl.col("gold", "lexicon").fill_null(value=False))


def listed(forms: pl.LazyFrame) -> pl.LazyFrame:
    """Return the missing and spurious forms of each lemma as text, in alphabetical order.

    Parameters
    ----------
    forms : LazyFrame
        As `aligned` gives it.

    Returns
    -------
    LazyFrame
        lemma, n_missing, missing, n_spurious, spurious; lemmas with forms on some side.

    Examples
    --------
    >>> rows = {"lemma": ["ra", "ra"], "form": ["rat", "rajt"], "gold": True, "lexicon": False}
    >>> listed(pl.LazyFrame(rows)).collect().rows()
    [('ra', 2, 'rajt, rat', 0, '')]
    """
    missing = pl.col("form").filter(pl.col("gold") & ~pl.col("lexicon"))
    spurious = pl.col("form").filter(pl.col("lexicon") & ~pl.col("gold"))
    return forms.group_by("lemma").agg(
        n_missing=missing.len().cast(pl.Int64),
        missing=missing.sort().str.join(", "),
        n_spurious=spurious.len().cast(pl.Int64),
        spurious=spurious.sort().str.join(", "),
    )
