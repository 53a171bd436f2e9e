"""Tables of several lexicons: the differences in L*, and the lemmas where they differ most."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl

from pipeline.findings.lexicon.evidence import drawn_by
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import points, share, share_limits
from pipeline.report.view import Listing
from pipeline.report.views.lexicon.lexicon_tables import wrapped


def differences_listing(frame: pl.DataFrame) -> Listing:
    """Return the differences in L* of each two lexicons.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconDifferences`.
    """
    caption = (
        "Difference in L* in points, first minus second, with its confidence limits, from the "
        "same lemmas; and for how many lemmas L is better in the first, better in the second, "
        f"and equal.{_together(frame)}"
    )
    return listing("differences", caption, frame, DIFFERENCES)


def _together(frame: pl.DataFrame) -> str:
    """Say what several intervals are worth together."""
    exact = not frame["standard_error"].max()
    if frame.height < 2 or exact or frame["lower"].drop_nulls().is_empty():
        return ""
    level, pairs = float(frame["confidence"][0]), frame.height
    return (
        f" Each of the {pairs:,} intervals holds by itself with {100 * level:g} %; for all to hold "
        f"together with that, set confidence = {1.0 - (1.0 - level) / pairs:.4g} (Bonferroni)."
    )


def lexicons_caption(lemmas: pl.DataFrame) -> str:
    """Return the caption of the lexicons, which says how lemmas were drawn unless all alike.

    Parameters
    ----------
    lemmas : DataFrame
        `schemas.LexiconLemmas`.
    """
    said = f"Means over the sampled lemmas{drawn_by(lemmas)}, and L* with its limits, in per cent."
    return f"{said} Means count all lemmas alike." if drawn_by(lemmas) else said


LEXICONS = (
    Column("lexicon"),
    Column("n_lemmas", "lemmas"),
    Column("precision", "P", share),
    Column("recall", "R", share),
    Column("L", text=share),
    Column("l_star", "L*", share),
    Column("standard_error", "standard error", share),
    Column(("lower", "upper"), "limits", share_limits),
)
DIFFERENCES = (
    Column("first"),
    Column("second"),
    Column("difference", text=points),
    Column(("lower", "upper"), "limits", share_limits),
    Column("n_first", "better in first"),
    Column("n_second", "in second"),
    Column("n_equal", "equal"),
)


def differing_listing(frame: pl.DataFrame, lexicons: Sequence[str], *, most: int) -> Listing:
    """Return the lemmas where the lexicons differ most.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconLemmas`.
    lexicons : sequence of str
        The columns, in this order.
    most : int
        How many lemmas.
    """
    differing = frame.filter(pl.col("rank") <= most).sort("rank", "lexicon")
    columns = [Column("lemma"), Column("n_gold", "gold forms")]
    for name in lexicons:
        mine = ("lexicon", name)
        columns += [
            Column("L", f"L %: {name}", partial(share, digits=1), at=mine),
            Column("missing", f"missing: {name}", partial(wrapped, width=30, most=2), at=mine),
        ]
    caption = (
        f"The {differing['rank'].n_unique():,} lemmas that move the lexicons farthest apart (gold "
        "forms times the difference between their greatest and smallest L)."
    )
    return listing("lemmas", caption, differing, columns, by=["rank"])
