"""The view of a set without ranks: its precision beside the curves of the measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.report import charts
from pipeline.report.charts import Look, Style
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Figure, StageView, Text, ViewOptions, view
from pipeline.report.views.collocations.best_tables import subset_listing
from pipeline.report.views.collocations.graph_options import Graph
from pipeline.report.views.collocations.graphs import Drawing, graph_block
from pipeline.report.views.collocations.on_tests import subset_tested
from pipeline.report.views.collocations.scope import Scope, scopes


class SubsetView(ViewOptions):
    """What is shown of a set of candidates."""

    precision: str | None = None
    """A stage of kind evaluate.precision on the same sample, whose curves the set stands beside;
    without it the set is drawn alone."""
    measures: tuple[str, ...] = ()
    """The measures of curves and table, in this order; all if empty."""
    first_n: int | None = None
    """Smallest n of the graph; 100 by default, a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """Largest n of the graph; all by default."""
    y_max: float | None = None
    """Upper end of the y axis in per cent."""
    category: str | None = None
    """One category of true positives; each by default."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.subset", options=SubsetView)
def show_subset(stage: StageView, options: SubsetView) -> Sequence[Block]:
    """Show the set beside the curves of the measures, and the tests against their lists."""
    subsets = stage.table("subsets").collect()
    found = scopes(stage, subsets["category"], options.category)
    if not found:
        return [Text("No candidate is judged, so nothing is known of the set.")]
    blocks = [block for scope in found for block in _category(scope, options, subsets)]
    return [Text(subset_tested(stage.config)), *blocks]


def _category(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Iterator[Block]:
    mine = subsets.filter(category=scope.category)
    tests = scope.plan("comparison").collect()
    known = sorted(set(tests["measure"]))
    measures = chosen(options.measures, known, where=scope.option("measures"))
    yield _beside(scope, options) if options.precision else _alone(scope, options, mine)
    yield subset_listing(mine, tests, measures, name=scope.file("subset"), of=scope.said)


def _beside(scope: Scope, options: SubsetView) -> Block:
    """Draw the curves of the other stage, with the set of this one."""
    stage = scope.stage

    def table(name: str) -> pl.LazyFrame:
        return stage.table(name if "." in name else f"{options.precision}.{name}")

    other = Scope(StageView(stage.name, stage.use, {}, table), scope.category, scope.alone)
    graph = Graph(
        name="subset", measures=options.measures, cuts=(), first_n=options.first_n,
        last_n=options.last_n, y_max=options.y_max, subsets=(stage.name,), style=options.style,
    )  # fmt: skip
    return graph_block(Drawing(other, graph, baseline=other.plan("baseline").collect()))


def _alone(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Block:
    shares = {"estimate": "precision", "lower": "lower", "upper": "upper"}
    label = pl.format("{} ({})", "subset", "n")
    nothing = pl.lit("")
    frame = subsets.sort("n", "subset").select(group=nothing, label=label, kind=nothing, **shares)
    still, live = (
        charts.whisker_chart(
            frame, x_title="precision (%)", percent=True, look=Look(style=options.style, live=live)
        )
        for live in (False, True)
    )
    caption = f"Precision of the set{scope.said} with its confidence limits; in brackets its size."
    return Figure(scope.file("subset"), caption, still, live)
