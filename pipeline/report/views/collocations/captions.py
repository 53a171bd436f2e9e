"""The sentences of the report: what a figure shows and how far its numbers reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.report.charts.matrix import NUMBERS, Matrix
from pipeline.report.charts.parts.options import Extras, Style, Window
from pipeline.report.page.cells import share

METHODS = {
    "clopper_pearson": "Clopper-Pearson, exact binomial",
    "wilson": "Wilson",
    "wilson_corrected": "Wilson with continuity correction",
    "jeffreys": "Jeffreys",
    "hypergeometric": "exact hypergeometric, for this data set alone",
}
"""How the text calls the methods of intervals; others go by their own names."""


def baseline_text(baseline: Mapping[str, Any]) -> str:
    """Say the baseline, the size of the sample, and what the intervals are.

    Parameters
    ----------
    baseline : mapping
        A row of `schemas.Baseline`.
    """
    said = (_baseline(baseline), _draws(baseline), _pool(baseline), _interval(baseline))
    return " ".join(each for each in said if each)


def _pool(row: Mapping[str, Any]) -> str:
    if row.get("pool") is None:
        return ""
    return (
        f"All of this is conditional on a pool: the union of the {row['pool']:,}-best lists of the "
        "pooled measures stands for the data set. Baseline and recall are those within the pool."
    )


def _baseline(row: Mapping[str, Any]) -> str:
    limits = f"[{share(row['lower'])}, {share(row['upper'])}]"
    counts = f"{row['k_sampled']:,} true positives in {row['n_sampled']:,} judged draws"
    return f"Baseline {share(row['precision'])} % {limits}: {counts}."


def _draws(row: Mapping[str, Any]) -> str:
    drawn, whole, unjudged = row["n_drawn"], row["n_candidates"], row["n_unjudged"]
    size = f"All {whole:,} candidates count; no sample was drawn."
    if row["sampled"]:
        rate = share(drawn / whole if whole else None, digits=1)
        size = f"The sample has {drawn:,} draws from {whole:,} candidates ({rate} %)."
    if not unjudged:
        return f"{size} All are judged."
    return f"{size} {unjudged:,} without a judgement count neither as true nor as false."


def _interval(row: Mapping[str, Any]) -> str:
    method = METHODS.get(row["interval"], str(row["interval"]).replace("_", " "))
    kind = f"{100 * row['confidence']:g} % confidence limits ({method})"
    if not row["sampled"] and not row["n_unjudged"]:
        return (
            f"The estimates are the exact figures for this data set; the {kind} matter only "
            "if the data set itself is read as a sample of a larger population."
        )
    return (
        f"Brackets, bands and dotted lines are {kind} for the figure that a judgement of all "
        "candidates would give, for each n by itself, given how many judged draws its list "
        "holds; they don't hold for a whole curve at once."
    )


def graph_caption(
    extras: Extras,
    window: Window,
    *,
    kind: str = "precision",
    style: Style,
    of: str = "",
    size: int = 0,
    baseline: bool = True,
) -> str:
    """Say what a graph of n-best lists shows.

    Parameters
    ----------
    extras, window : Extras, Window
        What is drawn.
    kind : str
        "precision", "recall", "precision_by_recall", "local" or "cut".
    style : {"screen", "print"}
        How true curves are drawn.
    of : str
        What is said of the category.
    size : int
        Ranks in the window of local precision, or candidates of the lists that were cut.
    baseline : bool
        Whether the line of the baseline, or of a random order, is drawn.
    """
    said = [_subject(kind, of, size)]
    if baseline and kind != "cut":
        line = (
            "Grey line: a random order." if kind == "recall" else "Horizontal line: the baseline."
        )
        said.append(line)
    if extras.cuts and kind in {"precision_by_recall", "cut"}:
        said.append(f"Points, left to right: n = {_and(tuple(f'{n:,}' for n in extras.cuts))}.")
    elif extras.cuts:
        said.append("Vertical lines: the n of the table.")
    if window.first_n > 1:
        said.append(f"Lists shorter than {window.first_n:,} are left out.")
    if extras.bands:
        said.append(f"Shaded: confidence limits of {_and(extras.bands)}, for each n by itself.")
    if extras.truth is not None:
        how = "Dashed" if style == "screen" else "Thin grey"
        known = not extras.truth.is_empty()
        said.append(f"{how}: the true curves." if known else "No true curve is known here.")
    if extras.subsets is not None and extras.subsets.height:
        said.append("Diamonds: unranked sets at their size, with confidence limits.")
    if extras.marks:
        said.append(
            f"Triangles: {_and(extras.marks)} differ significantly at that n, taken by itself "
            f"(pointwise); no allowance is made for looking at many n.{_nowhere(extras, window)}"
        )
    return " ".join(said)


def _nowhere(extras: Extras, window: Window) -> str:
    """Say so if a pair has no mark in sight: that is a result, too."""
    if extras.comparison is None:
        return ""
    seen = extras.comparison.filter(
        "significant", pl.col("n").is_between(window.first_n, window.last_n or 2**62)
    )
    return " Here there is none." if seen.is_empty() else ""


def _subject(kind: str, of: str, size: int) -> str:
    return {
        "precision": f"Precision of the n-best lists{of} against n.",
        "recall": f"Recall of the n-best lists{of} against n.",
        "precision_by_recall": f"Precision against recall of the n-best lists{of}; n grows along "
        "each line.",
        "local": f"Local precision{of}: precision in a window of {size:,} ranks, against the rank "
        "in its middle.",
        "cut": f"Precision against recall{of} within the {size:,}-best list of each measure, as "
        "if that were the whole data set.",
    }[kind]


def threshold_text(thresholds: pl.DataFrame, *, of: str = "") -> list[str]:
    """Say, for each threshold, from which n on the lower limit of each measure stays under it.

    Parameters
    ----------
    thresholds : DataFrame
        `schemas.Thresholds`, one category.
    of : str
        What is said of the category.

    Examples
    --------
    >>> found = pl.DataFrame({"measure": ["mi", "dice"], "threshold": [0.2, 0.2], "n": [90, None]})
    >>> threshold_text(found)[0].partition(": ")[2]
    'mi 90; dice never.'
    """
    ordered = thresholds.sort(
        "threshold", "n", "measure", descending=[False, True, False], nulls_last=True
    )
    return [_threshold(part, of) for part in ordered.partition_by("threshold", maintain_order=True)]


def _threshold(part: pl.DataFrame, of: str) -> str:
    share_wanted = f"{100 * part['threshold'][0]:g} %"
    each = [
        f"{measure} {'never' if n is None else format(n, ',')}"
        for measure, n in part.select("measure", "n").iter_rows()
    ]
    return (
        f"The lower confidence limit of the precision{of} stays under {share_wanted} from this n "
        f"on: {'; '.join(each)}."
    )


def difference_caption(*, of: str = "") -> str:
    """Say what a graph of differences shows."""
    return (
        f"Difference of precision of two n-best lists{of} against n. Points: significant at "
        "that n, taken by itself (pointwise)."
    )


def heat_caption(
    matrices: Sequence[Matrix], *, alpha: float, margin: float, style: Style, of: str = ""
) -> str:
    """Say what a matrix of all pairs of measures shows."""
    numbers = max(len(matrix.order) for matrix in matrices) <= NUMBERS
    least = f" and at least {100 * margin:g} points" if margin else ""
    subject = (
        f"Differences of precision between all pairs of measures{of}, row less column, in "
        "percentage points; the measures are ordered by their precision."
    )
    said = [subject, f"A {'star' if numbers else 'dot'}: adjusted p < {alpha:g}{least}."]
    if any(matrix.cells["difference"].null_count() for matrix in matrices):
        said.append("A cross: no judged candidate in one of the difference sets.")
    if style == "print":
        said.append("Only the pairs whose row is better are drawn.")
    return " ".join(said)


def strip_caption(*, style: Style, of: str = "") -> str:
    """Say what a chart of the best measures shows."""
    strong, weak = ("Dark grey", "pale grey") if style == "print" else ("Dark blue", "pale blue")
    return (
        f"{strong}: the measure with the highest estimated precision at each declared n{of}; "
        f"{weak}: not significantly worse. Numbers: precision in per cent. Measures that are "
        "significantly worse at every n are left out."
    )


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
