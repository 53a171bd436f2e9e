"""What several finders look at: judged lists, their sample, the stages on the same judgements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.nbest.judging import ranked_candidates

SAME = ("ranks", "judgements", "sample")
"""Options that are equal in stages that say something of the same lists."""


def beside(stage: StageView, use: str) -> Iterator[StageView]:
    """Yield the stages of a kind that rest on the same ranks, judgements and sample.

    Parameters
    ----------
    stage : StageView
        Has these three options, the sample may be absent.
    use : str
        A kind of stages with the same options.
    """
    mine = [stage.inputs.get(option) for option in SAME]
    for other in stage.among.values():
        if other.use == use and [other.inputs.get(option) for option in SAME] == mine:
            yield other


def categories(*tables: pl.DataFrame) -> list[str]:
    """Return the categories of true positives that tables have, in alphabetical order."""
    return sorted({category for table in tables for category in table["category"]})


def said_of(category: str, among: list[str]) -> str:
    """Return what has to be said of a category: nothing where there is only one.

    Examples
    --------
    >>> said_of("figur", ["figur", "TP"]), said_of("TP", ["TP"])
    (' (figur)', '')
    """
    return f" ({category})" if len(among) > 1 else ""


def row_of(table: pl.DataFrame, **key: Any) -> dict[str, Any] | None:
    """Return the row with these values; None if there is none.

    Examples
    --------
    >>> row_of(pl.DataFrame({"n": [100, 500], "k": [3, 9]}), n=500)
    {'n': 500, 'k': 9}
    """
    rows = table.filter(pl.all_horizontal(pl.col(name) == value for name, value in key.items()))
    return rows.row(0, named=True) if rows.height else None


def n_candidates(stage: StageView) -> int:
    """Return how many candidates are ranked."""
    ranked = ranked_candidates(stage.table(stage.inputs["ranks"]))
    return int(ranked.select(pl.len()).collect().item())
