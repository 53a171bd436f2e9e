"""Candidates as a list for people: scores, an example, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from pipeline.api.results import Run
from pipeline.kernels.measure import MEASURES

PAIRS, SCORES, EXAMPLES = "pairs", "scores", "contexts"
"""What the stages are called."""
_HIDDEN = ("id", "tie_key")


def scored(measures: Sequence[str]) -> dict[str, Mapping[str, Any]]:
    """Return the stage that scores the candidates of the stage `PAIRS`.

    Parameters
    ----------
    measures : sequence of str
        Names or aliases of measures.
    """
    return {SCORES: {"use": "score.association", "candidates": PAIRS, "measures": list(measures)}}


def rows(run: Run, measures: Sequence[str], where: pl.Expr | None = None) -> pl.DataFrame:
    """Return scored candidates with an example, ordered by the first measure.

    Parameters
    ----------
    run : Run
        Of an experiment with the stages of `scored`.
    measures : sequence of str
        The measures, as they were given; equal scores are ordered by f, then by the units.
    where : Expr, optional
        The candidates to keep.

    Returns
    -------
    DataFrame
        l1, l2, f, f1, f2, N, documents where they were counted, the scores, and example where there
        are some.
    """
    found = run.plan(SCORES)
    kept = (found if where is None else found.filter(where)).collect()
    shown = _examples(run, kept)
    units = [name for name in ("l1", "l2") if name in kept.columns]
    (first, *_) = MEASURES.resolve(measures)
    return shown.sort(
        first, "f", *units, descending=[True, True, *(False for _ in units)], nulls_last=True
    ).drop(*_HIDDEN, strict=False)


def best(frame: pl.DataFrame, top: int | None, *, by: Sequence[str] = ()) -> pl.DataFrame:
    """Return the first rows, of each group where there are groups, the largest group first.

    Parameters
    ----------
    frame : DataFrame
        Rows in their order, with f1 where there are groups.
    top : int or None
        How many; all if None.
    by : sequence of str
        The columns that make groups.

    Examples
    --------
    >>> frame = pl.DataFrame({"relation": ["a", "b", "b"], "f1": [3, 9, 9]})
    >>> best(frame, 1, by=["relation"])["relation"].to_list()
    ['b', 'a']
    """
    if not by:
        return frame if top is None else frame.head(top)
    number = pl.int_range(pl.len()).over(by)
    kept = frame if top is None else frame.filter(number < top)
    order = kept.with_row_index("_order")
    return order.sort("f1", *by, "_order", descending=[True, *(False for _ in by), False]).drop(
        "_order"
    )


def _examples(run: Run, kept: pl.DataFrame) -> pl.DataFrame:
    """Add the first example of each candidate, from the stage that has them."""
    stage = EXAMPLES if EXAMPLES in run.project.nodes else PAIRS
    if not run.project.experiment.stages[stage].get("examples"):
        return kept
    ours = pl.col("id").is_in(kept["id"].to_list())
    texts = run.plan(f"{stage}.examples").filter(ours, pl.col("number") == 1)
    return kept.join(texts.select("id", example="text").collect(), on="id", how="left")
