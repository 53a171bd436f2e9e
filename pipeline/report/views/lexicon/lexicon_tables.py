"""Tables of one lexicon as the page shows them: statistics, lemmas, alignments."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING, cell, decimals, limits, share, share_limits
from pipeline.report.view import Listing

Row = Mapping[str, Any]
WIDTH = 44
"""Characters of a line of forms."""
MOST_LINES = 3
MOST_LEMMAS = 1000
"""Of more lemmas, only so many are put together for reading; the files hold all."""
_COUNTS = ("lemmas", "forms")
_SHARES = ("proportion", "0 to 1")


def statistics_listing(frame: pl.DataFrame) -> Listing:
    """Return the statistics of a lexicon, a row for each.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconQuality`.
    """
    caption = "Statistics of the lexicon against the gold; L* with its confidence limits."
    return listing("quality", caption, frame.sort("number"), STATISTICS)


def _value(value: float | None, lower: float | None, upper: float | None, meaning: str) -> str:
    if value is None:
        return NOTHING
    unit = meaning.rpartition("; ")[2]
    if unit in _COUNTS:
        return cell(round(value))
    if unit in _SHARES:
        shown = "" if lower is None else share_limits(lower, upper)
        return f"{share(value)} %  {shown}".rstrip()
    return f"{decimals(value)}  {limits(lower, upper)}".rstrip()


STATISTICS = (
    Column("statistic"),
    Column(("value", "lower", "upper", "meaning"), text=_value),
    Column("meaning"),
)


def intervals_listing(frame: pl.DataFrame) -> Listing:
    """Return the confidence limits of L* by each method.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconIntervals`.
    """
    caption = (
        "Confidence limits for L* by each method, in per cent; the table of statistics has the "
        "chosen one."
    )
    return listing("intervals", caption, frame.sort("method"), INTERVALS)


def widths_listing(frame: pl.DataFrame) -> Listing:
    """Return how sure L* would be for other sampling rates.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ExpectedWidths`.
    """
    caption = (
        "How sure L* would be for other sampling rates, judged by the spread of this sample: "
        "lemmas; standard error, and width of the normal interval, in points; the same from lemmas "
        "drawn in proportion to their paradigms."
    )
    return listing("widths", caption, frame.sort("rate"), WIDTHS)


def _method(name: str) -> str:
    return name.replace("_", "-")


INTERVALS = (
    Column("method", text=_method),
    Column("estimate", "L* (%)", share),
    Column("standard_error", "standard error", share),
    Column(("lower", "upper"), "limits", share_limits),
    Column("confidence", "level (%)", partial(share, digits=0)),
    Column("used", "computed as", _method),
    Column("chosen"),
)
WIDTHS = (
    Column("rate", "sampling rate (%)", partial(share, digits=1)),
    Column("n_lemmas", "lemmas"),
    Column("standard_error", "standard error", share),
    Column("width", text=share),
    Column("by_size_error", "error by size", share),
    Column("by_size_width", "width by size", share),
)


def wrapped(forms: str, *, width: int = WIDTH, most: int = MOST_LINES) -> str:
    r"""Return forms on lines of their own width; what is beyond the last line is counted.

    Examples
    --------
    >>> wrapped("ra, rajt, rat, rajna", width=10, most=1)
    'ra, rajt, … 2 more'
    """
    lines = textwrap.wrap(forms, width, break_long_words=False, break_on_hyphens=False)
    if len(lines) <= most:
        return "\n".join(lines)
    shown = "\n".join(lines[:most])
    left = forms.count(", ") - shown.replace("\n", " ").rstrip(",").count(", ")
    return f"{shown} … {left:,} more"


def costliest(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the lemmas, those that cost the lexicon most first.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    """
    cost = pl.col("size") * (1.0 - pl.col("L"))
    return scores.sort(cost, "lemma", descending=[True, False])


def lemma_listing(scores: pl.DataFrame) -> Listing:
    """Return the sampled lemmas, those that cost the lexicon most first.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    """
    ordered = costliest(scores)
    shown = ordered.head(MOST_LEMMAS)
    many = (
        f"first {MOST_LEMMAS:,} of the {ordered.height:,} " if shown.height < ordered.height else ""
    )
    caption = (
        f"The {many}sampled lemmas, those that cost the lexicon most first (size times 1 − L). "
        "Match: the lemma of the lexicon whose forms agree best, named where it is another. "
        "Gold, match's, common: numbers of forms. P, R, L of the match. Missing forms are the "
        "gold's alone, spurious ones the match's."
    )
    return listing("lemmas", caption, ordered, LEMMAS, shown=shown)


def _another(match: str, lemma: str) -> str:
    return "" if match == lemma else match


one = partial(share, digits=1)
LEMMAS = (
    Column("lemma"),
    Column(("match", "lemma"), "match", _another),
    Column("n_gold", "gold"),
    Column("n_match", "match's"),
    Column("n_common", "common"),
    Column("precision", "P (%)", one),
    Column("recall", "R (%)", one),
    Column("L", "L (%)", one),
    Column("missing", text=wrapped),
    Column("spurious", text=wrapped),
)


def alignment_listing(forms: pl.DataFrame, row: Row, *, number: int) -> Listing:
    """Return the forms of one lemma, the gold's beside those of its match.

    Parameters
    ----------
    forms : DataFrame
        `schemas.LemmaForms` of the lemma.
    row : mapping
        Its row of `schemas.LemmaScores`.
    number : int
        Number of the listing, for the name of its files.

    References
    ----------
    Dalli, Adaptation of the F-measure to Cluster Based Lexicon Quality Evaluation, section 4.
    """
    both = pl.col("gold") & pl.col("lexicon")
    kind = pl.when(both).then(0).when(pl.col("gold")).then(1).otherwise(2)
    ordered = forms.sort(kind, "form")
    heads = {
        "gold": f"gold ({row['n_gold']:,})",
        "lexicon": f"lexicon: {row['match']} ({row['n_match']:,})",
    }
    columns = [Column(("form", side), head, _form) for side, head in heads.items()]
    caption = (
        f"{row['lemma']}: {row['n_common']:,} forms in common, P = {one(row['precision'])} %, "
        f"R = {one(row['recall'])} %, L = {one(row['L'])} %."
    )
    return listing(f"forms-{number}", caption, ordered, columns)


def _form(form: str, held: bool) -> str:
    return form if held else ""
