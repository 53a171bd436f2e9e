"""What the view of precision says: the baseline, the sample, the limits, the thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from pipeline.kernels.statistics.intervals import INTERVALS
from pipeline.report.page.cells import share, share_limits


def baseline_text(baseline: Mapping[str, Any]) -> str:
    """Say the baseline, the size of the sample, and what the intervals are.

    Parameters
    ----------
    baseline : mapping
        A row of `schemas.Baseline`.
    """
    said = (_baseline(baseline), _draws(baseline), _pool(baseline), _interval(baseline))
    return " ".join(sentence for sentence in said if sentence)


def _pool(row: Mapping[str, Any]) -> str:
    if row.get("pool") is None:
        return ""
    return (
        f"All of this is conditional on a pool: the union of the {row['pool']:,}-best lists of the "
        "pooled measures stands for the data set. Baseline and recall are those within the pool."
    )


def _baseline(row: Mapping[str, Any]) -> str:
    limits = share_limits(row["lower"], row["upper"])
    counts = f"{row['k_sampled']:,} true positives in {row['n_sampled']:,} judged draws"
    return f"Baseline {share(row['precision'])} % {limits}: {counts}."


def _draws(row: Mapping[str, Any]) -> str:
    drawn, whole = row["n_drawn"], row["n_candidates"]
    open_ = {
        "that nobody judged": row["n_unjudged"],
        "on which judgements differ": row["n_undecided"],
    }
    size = f"All {whole:,} candidates count; no sample was drawn."
    if row["sampled"]:
        rate = share(drawn / whole if whole else None, digits=1)
        size = f"The sample has {drawn:,} draws from {whole:,} candidates ({rate} %)."
    told = [f"{number:,} {what}" for what, number in open_.items() if number]
    if not told:
        return f"{size} All are judged."
    return f"{size} {' and '.join(told)} count neither as true nor as false."


def _interval(row: Mapping[str, Any]) -> str:
    method = INTERVALS.title(row["interval"])
    kind = f"{100 * row['confidence']:g} % confidence limits ({method})"
    if not row["sampled"] and row["n_sampled"] == row["n_drawn"]:
        return (
            f"The estimates are the exact figures for this data set; the {kind} matter only "
            "if the data set itself is read as a sample of a larger population."
        )
    return (
        f"Brackets, bands and dotted lines are {kind} for the figure that a judgement of all "
        "candidates would give, for each n by itself, given how many judged draws its list "
        "holds; they don't hold for a whole curve at once."
    )


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
    from_n = [
        f"{measure} {'never' if n is None else format(n, ',')}"
        for measure, n in part.select("measure", "n").iter_rows()
    ]
    return (
        "Looking at every n of the list, each limit by itself, the lower confidence limit of the "
        f"precision{of} stays under {share_wanted} from this n on: {'; '.join(from_n)}."
    )
