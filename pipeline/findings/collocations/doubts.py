"""What to know before believing estimates of precision: few draws, ties, what nobody judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings import words
from pipeline.findings.collocations.evidence import categories, said_of
from pipeline.findings.finding import Finding, finder
from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title

FEW = 30
"""Lists with fewer judged draws are said to rest on few."""
WIDE_TIES = 0.01
"""Ties are told where they move the precision of a list by more than this."""


@finder(stages=("evaluate.precision",), place=60)
def few_draws(stage: StageView) -> Iterator[Finding]:
    """Say of the declared sizes whose lists rest on few judged draws how few they are."""
    lists = stage.table("cuts").collect()
    among = categories(lists)
    for category in among:
        few = pl.min_horizontal(pl.col("n"), FEW) > pl.col("n_sampled")
        mine = lists.filter(pl.col("category") == category, few)
        if mine.is_empty():
            continue
        sizes = [f"{n:,}" for n in sorted(set(mine["n"]))]
        fewest = mine.sort("n_sampled", "n", "measure").row(0, named=True)
        width = fewest["upper"] - fewest["lower"]
        text = (
            f"few judged candidates{said_of(category, among)}: lists of {words.listed(sizes)} "
            f"rest on fewer than {FEW}, that of {fewest['n']:,} by "
            f"{measure_title(fewest['measure'])} on {fewest['n_sampled']:,}, with limits "
            f"{100 * width:.0f} points apart"
        )
        yield Finding(
            kind="caution", about="few", text=words.sentence(text), category=category,
            name=fewest["measure"], n=fewest["n"], value=float(fewest["n_sampled"]),
        )  # fmt: skip


@finder(stages=("evaluate.precision",), place=61)
def ties_at_the_cut(stage: StageView) -> Iterator[Finding]:
    """Say how far the order of equal scores may move the precision of a list."""
    judged = pl.col("n_sampled") > 0
    span = (pl.col("tp_max") - pl.col("tp_min")) / pl.col("n_sampled")
    tied = stage.table("cuts").filter(judged).with_columns(span=span).collect()
    wide = tied.filter(pl.col("span") > WIDE_TIES).sort(
        ["span", "n", "measure"], descending=[True, False, False]
    )
    for (measure,), rows in wide.group_by("measure", maintain_order=True):
        yield _ties(str(measure), rows.row(0, named=True), rows["n"].n_unique())


def _ties(measure: str, row: dict[str, Any], sizes: int) -> Finding:
    low, high = (words.per_cent(row[name] / row["n_sampled"]) for name in ("tp_min", "tp_max"))
    more = f", and {words.counted(sizes - 1, 'other size')}" if sizes > 1 else ""
    text = (
        f"ties at the cut: by the order of candidates with equal scores alone, the {row['n']:,} "
        f"best by {measure_title(measure)} may have between {low} and {high} true positives{more}"
    )
    return Finding(
        kind="caution", about="ties", text=words.sentence(text), category=row["category"],
        name=measure, n=row["n"], value=row["precision"], lower=row["tp_min"] / row["n_sampled"],
        upper=row["tp_max"] / row["n_sampled"],
    )  # fmt: skip


@finder(stages=("evaluate.precision",), place=62)
def unjudged_draws(stage: StageView) -> Iterator[Finding]:
    """Say how many draws count for nothing, and what they might change."""
    baselines = stage.table("baseline").collect()
    among = categories(baselines)
    for row in baselines.sort("category").iter_rows(named=True):
        lost = row["n_unjudged"] + row["n_undecided"]
        if not lost or not row["n_drawn"]:
            continue
        least, most = row["k_sampled"] / row["n_drawn"], (row["k_sampled"] + lost) / row["n_drawn"]
        text = (
            f"{_lost(row)} of {words.counted(row['n_drawn'], 'draw')}"
            f"{said_of(row['category'], among)} and left out: were all of them false or all true "
            f"positives, the baseline would be {words.per_cent(least)} or {words.per_cent(most)}"
        )
        yield Finding(
            kind="caution", about="unjudged", text=words.sentence(text), category=row["category"],
            n=row["n_drawn"], value=float(lost), lower=least, upper=most,
        )  # fmt: skip


def _lost(row: dict[str, Any]) -> str:
    """Say what was left out of the draws.

    Examples
    --------
    >>> _lost({"n_unjudged": 3, "n_undecided": 1})
    '3 are not judged and 1 is judged in different ways'
    """
    unjudged, undecided = row["n_unjudged"], row["n_undecided"]
    said = [f"{unjudged:,} {'is' if unjudged == 1 else 'are'} not judged"] if unjudged else []
    if undecided:
        said.append(f"{undecided:,} {'is' if undecided == 1 else 'are'} judged in different ways")
    return " and ".join(said)
