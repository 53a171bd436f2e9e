"""Tables of one lexicon as the page shows them: statistics, lemmas, alignments."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial
from typing import Any

import polars as pl

from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import NOTHING, cell, decimals, limits
from pipeline.report.view import Listing

Row = Mapping[str, Any]
WIDTH = 44
"""Characters of a line of forms."""
MOST_LINES = 3
MOST_LEMMAS = 1000
"""Of more lemmas, only so many are put together for reading; the files hold all."""
_COUNTS = ("lemmas", "forms")


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
    if meaning.rpartition("; ")[2] in _COUNTS:
        return cell(round(value))
    return f"{decimals(value)}  {limits(lower, upper)}".rstrip()


STATISTICS = (
    Column("statistic"),
    Column(("value", "lower", "upper", "meaning"), text=_value),
    Column("meaning"),
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


three = partial(decimals, digits=3)
LEMMAS = (
    Column("lemma"),
    Column(("match", "lemma"), "match", _another),
    Column("n_gold", "gold"),
    Column("n_match", "match's"),
    Column("n_common", "common"),
    Column("precision", "P", three),
    Column("recall", "R", three),
    Column("L", text=three),
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
        f"{row['lemma']}: {row['n_common']:,} forms in common, P = {row['precision']:.3f}, "
        f"R = {row['recall']:.3f}, L = {row['L']:.4f}."
    )
    return listing(f"forms-{number}", caption, ordered, columns)


def _form(form: str, held: bool) -> str:
    return form if held else ""
