"""The view of n-best precision: graphs and a table at chosen n for each category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.view import Block, Fold, Text, view
from pipeline.report.views.collocations.band_threshold_table import band_threshold_blocks
from pipeline.report.views.collocations.corrected_table import corrected_blocks
from pipeline.report.views.collocations.graph_options import Graph, resolved
from pipeline.report.views.collocations.graphs import (
    Drawing,
    cuts_of,
    extent,
    graph_block,
    lines_of,
)
from pipeline.report.views.collocations.looks import show_looks
from pipeline.report.views.collocations.precision_captions import baseline_text, threshold_text
from pipeline.report.views.collocations.precision_tables import (
    clustered_listing,
    precision_listing,
)
from pipeline.report.views.collocations.samples import of_sample
from pipeline.report.views.collocations.scope import Scope, scopes
from pipeline.report.views.collocations.worst_case_table import worst_case_blocks


class PrecisionView(Graph):
    """What is shown of n-best precision: a graph, and further ones."""

    category: str | None = None
    """One category of true positives; graphs for each by default."""
    graphs: tuple[Graph, ...] = ()
    """Further graphs; an option that one of them does not give is as in the first."""


@view(
    "evaluate.precision",
    options=PrecisionView,
    title="Precision of n-best lists",
    of=of_sample,
    place=20,
)
def show_precision(stage: StageView, options: PrecisionView) -> Sequence[Block]:
    """Show graphs, the baseline, a table at the cuts and thresholds for each category."""
    baseline = stage.table("baseline").collect()
    shown = scopes(stage, baseline["category"], options.category)
    if not shown:
        return [Text("No candidate is judged, so there is no precision to show.")]
    blocks = [block for scope in shown for block in _category(scope, options, baseline)]
    return [*blocks, *show_looks(stage)]


def _category(scope: Scope, options: PrecisionView, baselines: pl.DataFrame) -> Iterator[Block]:
    baseline = baselines.filter(category=scope.category)
    query = scope.query("precision")
    names, last = extent(query)
    if not baseline["n_sampled"].item() or not last:
        yield Text(f"No candidate is judged in category {scope.category}: nothing to show.")
        return
    drawings = [
        Drawing(scope, graph, place, baseline) for place, graph in resolved(options, options.graphs)
    ]
    yield from map(graph_block, drawings)
    yield Text(baseline_text(baseline.row(0, named=True)))
    cuts = cuts_of(drawings[0], last)
    if cuts:
        asked, _ = lines_of(drawings[0], query, names, cuts)
        measures = asked if options.measures else names
        at_cuts = query.filter(pl.col("n").is_in(cuts), pl.col("measure").is_in(measures))
        yield precision_listing(at_cuts.collect(), measures, scope)
    yield from corrected_blocks(scope)
    yield from worst_case_blocks(scope)
    clustered = scope.query("clustered").filter(pl.col("measure").is_in(options.measures or names))
    by_clusters = clustered.collect()
    if by_clusters.height:
        yield Fold("The same by clusters", [clustered_listing(by_clusters, scope)])
    yield from map(Text, threshold_text(scope.query("thresholds").collect(), of=scope.said))
    yield from band_threshold_blocks(scope)
