"""The view of estimates from a stratified sample."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.report.page.names import chosen
from pipeline.report.view import Block, StageView, Text, view
from pipeline.report.views.collocations.cut_tables import precision_listing, stratified_listing
from pipeline.report.views.collocations.graph_options import Curves, Graph
from pipeline.report.views.collocations.graphs import Drawing, cuts_of, extent, graph_block
from pipeline.report.views.collocations.scope import Scope, scopes

HOW_ESTIMATED = (
    "The sample was drawn by stratum: each stratum is weighted by its share of the n-best list, "
    "and limits come from predictions of what was not drawn in the strata, or from a bootstrap of "
    "the draws. Clopper and Pearson's interval and Fisher's test do not apply to such a "
    "sample. Where a stratum of the list was not sampled there is no estimate."
)


class StratifiedView(Curves):
    """What is shown of estimates from a stratified sample."""

    category: str | None = None
    """One category of true positives; each by default."""


@view("evaluate.stratified", options=StratifiedView)
def show_stratified(stage: StageView, options: StratifiedView) -> Sequence[Block]:
    """Show how the estimates are made, a graph, a table at the cuts, differences."""
    known = stage.table("precision").select(pl.col("category").unique()).collect()["category"]
    found = scopes(stage, known, options.category)
    if not found:
        return [Text("No candidate is judged, so there is no precision to show.")]
    blocks = [block for scope in found for block in _category(scope, options)]
    return [Text(HOW_ESTIMATED), *blocks]


def _category(scope: Scope, options: StratifiedView) -> Iterator[Block]:
    given = {name: getattr(options, name) for name in options.model_fields_set - {"category"}}
    drawing = Drawing(scope, Graph.model_validate(given))
    yield graph_block(drawing)
    plan = scope.plan("precision")
    known, last = extent(plan)
    measures = chosen(options.measures, known, where=scope.option("measures"))
    cuts, mine = cuts_of(drawing, last), pl.col("measure").is_in(measures)
    if cuts:
        at_cuts = plan.filter(pl.col("n").is_in(cuts), mine).collect()
        yield precision_listing(at_cuts, measures, name=scope.file("precision"), of=scope.said)
    both = [pl.col(side).is_in(measures) for side in ("measure_1", "measure_2")]
    differences = scope.plan("comparison").filter(*both).collect()
    if differences.height:
        yield stratified_listing(differences, name=scope.file("differences"), of=scope.said)
