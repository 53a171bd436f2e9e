"""The forms of a lemma in the gold and in the lexicon, side by side."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from pipeline.kernels.parts import Ranges, spill_of

_FORMS = pl.Schema({"lemma": pl.String, "form": pl.String})


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
    return side_by_side(own, theirs)


def side_by_side(own: pl.LazyFrame, theirs: pl.LazyFrame) -> pl.LazyFrame:
    """Return the forms of the gold and of the matches as `aligned` does.

    Parameters
    ----------
    own, theirs : LazyFrame
        lemma, form, and gold, or lexicon, that is true.
    """
    both = own.join(theirs, on=["lemma", "form"], how="full", coalesce=True)
    return both.with_columns(pl.col("gold", "lexicon").fill_null(value=False))


def aligned_in_parts(
    matched: pl.LazyFrame, gold: pl.LazyFrame, lexicon: pl.LazyFrame, ranges: Ranges
) -> Iterator[pl.LazyFrame]:
    """Yield what `aligned` returns for each range of the gold's lemmas.

    Parameters
    ----------
    matched, gold, lexicon : LazyFrame
        As for `aligned`.
    ranges : Ranges
        Of lemmas. A match may lie in another range than its lemma: its forms are brought there.
    """
    asked = matched.select("lemma", "match")
    others = asked.filter(pl.col("match") != pl.col("lemma")).collect()
    with spill_of(len(ranges), _FORMS) as brought:
        for number in range(len(ranges) if others.height else 0):
            forms = ranges.of(lexicon, number, by="lemma").drop_nulls("form")
            found = others.lazy().join(forms, left_on="match", right_on="lemma")
            brought.add(found.select("lemma", "form").collect(), ranges.number("lemma"))
        for number in range(len(ranges)):
            mine, here, there = (
                ranges.of(each, number, by="lemma") for each in (asked, gold, lexicon)
            )
            same = mine.filter(pl.col("match") == pl.col("lemma"))
            own = mine.join(here.drop_nulls("form"), on="lemma").select("lemma", "form")
            theirs = same.join(there.drop_nulls("form"), on="lemma").select("lemma", "form")
            every = pl.concat([theirs, brought.bucket(number)])
            yield side_by_side(own.with_columns(gold=True), every.with_columns(lexicon=True))


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
