"""The view of estimates from a stratified sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.blocks import Column, listing
from pipeline.report.page.cells import points
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Listing, Text, view
from pipeline.report.views.collocations.comparison_tables import PAIR, starred_points
from pipeline.report.views.collocations.graph_options import Curves, Graph
from pipeline.report.views.collocations.graphs import Drawing, cuts_of, extent, graph_block
from pipeline.report.views.collocations.precision_tables import precision_listing
from pipeline.report.views.collocations.samples import of_sample
from pipeline.report.views.collocations.scope import Scope, scopes_in

HOW_ESTIMATED = (
    "The sample was drawn by stratum: each stratum is weighted by its share of the n-best list. "
    "Limits come from the variance of that (Korn and Graubard), from predictions of what was not "
    "drawn in the strata, or from a bootstrap of the draws, as the experiment asks. Clopper and "
    "Pearson's interval and Fisher's test do not apply to such a sample. Where a stratum of the "
    "list was not sampled there is no estimate."
)


class StratifiedView(Curves):
    """What is shown of estimates from a stratified sample."""

    category: str | None = None
    """One category of true positives; each by default."""


@view(
    "evaluate.stratified",
    options=StratifiedView,
    title="Precision of n-best lists",
    of=of_sample,
    place=25,
)
def show_stratified(stage: StageView, options: StratifiedView) -> Sequence[Block]:
    """Show how the estimates are made, a graph, a table at the cuts, differences."""
    shown = scopes_in(stage, stage.table("precision"), options.category)
    if not shown:
        return [Text("No candidate is judged, so there is no precision to show.")]
    blocks = [block for scope in shown for block in _category(scope, options)]
    return [Text(HOW_ESTIMATED), *blocks]


def at_cuts(drawing: Drawing, options: Curves) -> tuple[Sequence[str], pl.DataFrame | None]:
    """Return the measures that are shown, and their precision at the cuts; None without cuts."""
    scope = drawing.scope
    query = scope.query("precision")
    names, last = extent(query)
    measures = chosen(options.measures, names, where=scope.option("measures"))
    cuts = cuts_of(drawing, last)
    if not cuts:
        return measures, None
    mine = pl.col("measure").is_in(measures)
    return measures, query.filter(pl.col("n").is_in(cuts), mine).collect()


def _category(scope: Scope, options: StratifiedView) -> Iterator[Block]:
    own = {name: getattr(options, name) for name in options.model_fields_set - {"category"}}
    drawing = Drawing(scope, Graph.model_validate(own))
    yield graph_block(drawing)
    measures, found = at_cuts(drawing, options)
    if found is not None:
        yield precision_listing(found, measures, scope)
    both = [pl.col(side).is_in(measures) for side in ("measure_1", "measure_2")]
    differences = scope.query("comparison").filter(*both).collect()
    if differences.height:
        yield _differences(differences, scope)


def _differences(frame: pl.DataFrame, scope: Scope) -> Listing:
    caption = (
        f"Differences of precision at the declared cuts{scope.said} in percentage points, first "
        "minus second, with limits; k of n judged draws are true positives in D1 and D2. "
        "A star: the limits, taken by themselves, exclude 0."
    )
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("differences"), caption, ordered, DIFFERENCES)


def limits_of_points(lower: float | None, upper: float | None) -> str:
    """Return the limits of a difference in percentage points.

    Examples
    --------
    >>> limits_of_points(-0.4, 0.1)
    '[−40.00, +10.00]'
    """
    return f"[{points(lower)}, {points(upper)}]"


DIFFERENCES = (
    *PAIR,
    Column(("difference", "excludes_zero"), "difference", starred_points),
    Column(("lower", "upper"), "limits", limits_of_points),
)
"""A pair at one n: the difference and its limits."""
