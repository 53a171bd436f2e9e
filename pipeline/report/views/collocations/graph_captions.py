"""What a graph of n-best lists shows, in words."""

from __future__ import annotations

import polars as pl

from pipeline.report.charts.parts.options import Extras, Window
from pipeline.report.views.collocations.graph_options import Graph


def graph_caption(
    extras: Extras,
    window: Window,
    graph: Graph,
    *,
    of: str,
    size: int,
    baseline: bool,
    together: tuple[int, int] | None = None,
) -> str:
    """Say what a graph of n-best lists shows.

    Parameters
    ----------
    extras, window : Extras, Window
        What is drawn.
    graph : Graph
        Its options.
    of : str
        What is said of the category.
    size : int
        Ranks in the window of local precision, or candidates of the lists that were cut.
    baseline : bool
        Whether the line of the baseline, or of a random order, is drawn.
    together : tuple of int or None
        First and last n of limits that hold at once.
    """
    kind = graph.kind
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
    if together and extras.bands:
        first, last = together
        said.append(
            f"Paler: limits that hold at all n from {first:,} to {last:,} at once, for each measure"
            " by itself."
        )
    if extras.truth is not None:
        how = "Thin" if graph.style == "screen" else "Thin grey"
        none = extras.truth.is_empty()
        said.append("No true curve is known here." if none else f"{how}: the true curves.")
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


def _and(names: tuple[str, ...]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
