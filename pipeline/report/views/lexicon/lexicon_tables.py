"""Tables of lexicons as the page shows them: statistics, lemmas, alignments, differences."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.report.page.cells import NOTHING, cell, columns_shown
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
    ordered = frame.sort("number")
    rows = [
        {"statistic": row["statistic"], "value": _value(row), "meaning": row["meaning"]}
        for row in ordered.to_dicts()
    ]
    caption = "Statistics of the lexicon against the gold; L* with its confidence limits."
    return Listing("quality", caption, ordered, shown=pl.DataFrame(rows), right=("value",))


def _value(row: Row) -> str:
    if row["value"] is None:
        return NOTHING
    if row["meaning"].rpartition("; ")[2] in _COUNTS:
        return cell(round(row["value"]))
    limits = "" if row["lower"] is None else f"  {limits_of(row)}"
    return f"{row['value']:.4f}{limits}".replace("-", "−", 1)


def limits_of(row: Row, *, digits: int = 4) -> str:
    """Return the limits of an interval in brackets.

    Examples
    --------
    >>> limits_of({"lower": 0.5, "upper": 0.75}), limits_of({"lower": None, "upper": None})
    ('[0.5000, 0.7500]', '')
    """
    if row["lower"] is None or row["upper"] is None:
        return ""
    return f"[{row['lower']:.{digits}f}, {row['upper']:.{digits}f}]"


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


def lemma_listing(scores: pl.DataFrame) -> Listing:
    """Return the sampled lemmas, those that cost the lexicon most first.

    Parameters
    ----------
    scores : DataFrame
        `schemas.LemmaScores`.
    """
    lost = (pl.col("size") * (1.0 - pl.col("L"))).alias("~lost")
    ordered = scores.with_columns(lost).sort("~lost", "lemma", descending=[True, False])
    ordered = ordered.drop("~lost")
    rows = [_lemma(row) for row in ordered.head(MOST_LEMMAS).to_dicts()]
    names = ("lemma", "match", "gold", "match's", "common", "P", "R", "L", "missing", "spurious")
    columns = [[row[place] for row in rows] for place in range(len(names))]
    many = f"first {MOST_LEMMAS:,} of the {ordered.height:,} " if len(rows) < ordered.height else ""
    caption = (
        f"The {many}sampled lemmas, those that cost the lexicon most first (size times 1 − L). "
        "Match: the lemma of the lexicon whose forms agree best, named where it is another. "
        "Gold, match's, common: numbers of forms. P, R, L of the match. Missing forms are the "
        "gold's alone, spurious ones the match's."
    )
    shown = columns_shown(names, columns)
    return Listing("lemmas", caption, ordered, shown=shown, right=names[2:8])


def _lemma(row: Row) -> tuple[str, ...]:
    match = "" if row["match"] == row["lemma"] else row["match"]
    counts = (cell(row[name]) for name in ("n_gold", "n_match", "n_common"))
    values = (f"{row[name]:.3f}" for name in ("precision", "recall", "L"))
    return (
        row["lemma"], match, *counts, *values, wrapped(row["missing"]), wrapped(row["spurious"]),
    )  # fmt: skip


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
    sides = [
        [form if there else "" for form, there in zip(ordered["form"], ordered[side], strict=True)]
        for side in ("gold", "lexicon")
    ]
    heads = (f"gold ({row['n_gold']:,})", f"lexicon: {row['match']} ({row['n_match']:,})")
    caption = (
        f"{row['lemma']}: {row['n_common']:,} forms in common, P = {row['precision']:.3f}, "
        f"R = {row['recall']:.3f}, L = {row['L']:.4f}."
    )
    return Listing(f"forms-{number}", caption, ordered, shown=columns_shown(heads, sides))


def differences_listing(frame: pl.DataFrame) -> Listing:
    """Return the differences in L* of each two lexicons.

    Parameters
    ----------
    frame : DataFrame
        `schemas.LexiconDifferences`.
    """
    rows = [
        {
            "first": row["first"],
            "second": row["second"],
            "difference": _signed(row["difference"]),
            "limits": limits_of(row).replace("-", "−"),
            "better in first": cell(row["n_first"]),
            "in second": cell(row["n_second"]),
            "equal": cell(row["n_equal"]),
        }
        for row in frame.to_dicts()
    ]
    caption = (
        "Difference in L*, first minus second, with its confidence limits, from the same lemmas; "
        "and for how many lemmas L is better in the first, better in the second, and equal."
        f"{_together(frame)}"
    )
    shown = pl.DataFrame(rows)
    return Listing("differences", caption, frame, shown=shown, right=tuple(shown.columns[2:]))


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


def _signed(value: float | None) -> str:
    return NOTHING if value is None else f"{value:+.4f}".replace("-", "−")


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
    held = frame.filter(pl.col("rank") <= most).sort("rank", "lexicon")
    cells = {(row["rank"], row["lexicon"]): row for row in held.to_dicts()}
    ranks = sorted(set(held["rank"]))
    firsts = [cells[rank, lexicons[0]] for rank in ranks]
    heads = ["lemma", "gold forms"]
    columns = [[row["lemma"] for row in firsts], [cell(row["n_gold"]) for row in firsts]]
    for name in lexicons:
        heads += [f"L: {name}", f"missing: {name}"]
        mine = [cells[rank, name] for rank in ranks]
        columns += [[f"{row['L']:.3f}" for row in mine],
                    [wrapped(row["missing"], width=30, most=2) for row in mine]]  # fmt: skip
    caption = (
        f"The {len(ranks):,} lemmas that move the lexicons farthest apart (gold forms times the "
        "difference between their greatest and smallest L)."
    )
    right = ("gold forms", *(f"L: {name}" for name in lexicons))
    return Listing("lemmas", caption, held, shown=columns_shown(heads, columns), right=right)
