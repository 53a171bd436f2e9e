"""The table of precision at chosen n."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing, place_in
from pipeline.report.page.cells import decimals, share, share_limits
from pipeline.report.view import Listing
from pipeline.report.views.collocations.scope import Scope

CLUSTERS = (
    Column("clusters"),
    Column("effective_clusters", "effective", lambda value: decimals(value, digits=1)),
    Column("design_effect", "design effect", lambda value: decimals(value, digits=1)),
)
"""What a bootstrap over clusters rests on."""
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
        scope.file("precision"), caption, ordered,
        [Column("measure", text=measure_title), *columns], by=["measure"],
        shown=every.join(ordered, on="measure", how="left", maintain_order="left_right"),
    )  # fmt: skip


def clustered_listing(frame: pl.DataFrame, scope: Scope) -> Listing:
    """Return a row per list: its precision where whole clusters of candidates are drawn.

    Parameters
    ----------
    frame : DataFrame
        `schemas.ClusteredPrecision`, one category, with rows.
    scope : Scope
        Stage and category.
    """
    caption = (
        f"Precision in per cent at the declared n{scope.said} where all candidates with one "
        f"{frame['cluster'][0]} are drawn together, by a bootstrap over clusters: what would "
        "others of these give? Effective: as many clusters of one size would tell as much; design "
        "effect: the variance over that of independent candidates."
    )
    columns = [
        Column("measure", text=measure_title), Column("n"), Column("precision", text=share),
        Column(("lower", "upper"), "limits", share_limits), *CLUSTERS,
    ]  # fmt: skip
    return listing(scope.file("clustered"), caption, frame.sort("n", "measure"), columns)


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
