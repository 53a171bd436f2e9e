"""The table of precision at chosen n."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.blocks import Column, listing, place_in
from pipeline.report.page.cells import share, share_limits
from pipeline.report.view import Listing
from pipeline.report.views.collocations.scope import Scope

FIGURE_SPACE = "\u2007"
ESTIMATE, TIES = ("precision", "lower", "upper"), ("tp_min", "tp_max")


def precision_listing(frame: pl.DataFrame, measures: Sequence[str], scope: Scope) -> Listing:
    """Return a row per measure and columns for each n: precision, limits, tie range.

    Parameters
    ----------
    frame : DataFrame
        `schemas.Precision` or `schemas.StratifiedPrecision` at the cuts, one category.
    measures : sequence of str
        The rows, in this order.
    scope : Scope
        Stage and category.
    """
    ordered = frame.sort(place_in(measures, "measure"), "n")
    ties = set(TIES) <= set(ordered.columns)
    caption = (
        f"Precision in per cent at chosen n{scope.said}, with its confidence limits in brackets."
    )
    if ties:
        caption += (
            " Ties: where equal scores straddle the cut, the true positives (TP) that the ways to "
            "break the tie could give."
        )
    cuts = sorted(set(ordered["n"]))
    columns = [column for n in cuts for column in _at(n, (*ESTIMATE, *(TIES if ties else ())))]
    every = pl.DataFrame({"measure": measures}, schema={"measure": pl.String})
    return listing(
        scope.file("precision"), caption, ordered, [Column("measure"), *columns], by=["measure"],
        shown=every.join(ordered, on="measure", how="left", maintain_order="left_right"),
    )  # fmt: skip


def _at(n: int, estimate: tuple[str, ...]) -> tuple[Column, ...]:
    """Return the columns for one n: the place to show more of the table of precision."""
    return (Column(estimate, f"n = {n:,}", _estimate, right=False, at=("n", n)),)


def _estimate(
    precision: float | None,
    lower: float | None,
    upper: float | None,
    tp_min: int | None = None,
    tp_max: int | None = None,
) -> str:
    # Filled up with a blank as wide as a digit, so that the decimal points stand in line.
    aligned = share(precision).rjust(5, FIGURE_SPACE)
    said = f"{aligned} {share_limits(lower, upper, digits=1)}"
    return said if tp_min == tp_max else f"{said}\nties: {tp_min:,} to {tp_max:,} TP"
