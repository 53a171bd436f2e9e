"""The view of a set without ranks: its precision beside the curves of the measures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report import charts
from pipeline.report.blocks import Column, figure, listing
from pipeline.report.page.cells import share, share_limits
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Listing, Styled, Text, view
from pipeline.report.views.collocations.comparison_tables import DIFFERENCE, difference_and_p
from pipeline.report.views.collocations.graph_options import Graph
from pipeline.report.views.collocations.graphs import Drawing, graph_block
from pipeline.report.views.collocations.on_tests import HowTested, correction_of, subset_tested
from pipeline.report.views.collocations.samples import of_set
from pipeline.report.views.collocations.scope import Scope, scopes


class SubsetView(Styled):
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


@view("evaluate.subset", options=SubsetView, title="A set beside the lists", of=of_set, place=30)
def show_subset(stage: StageView, options: SubsetView) -> Sequence[Block]:
    """Show the set beside the curves of the measures, and the tests against their lists."""
    subsets = stage.table("subsets").collect()
    shown = scopes(stage, subsets["category"], options.category)
    if not shown:
        return [Text("No candidate is judged, so nothing is known of the set.")]
    blocks = [block for scope in shown for block in _category(scope, options, subsets)]
    return [Text(subset_tested(stage.options_as(HowTested))), *blocks]


def _category(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Iterator[Block]:
    mine = subsets.filter(category=scope.category)
    tests = scope.query("comparison").collect()
    names = sorted(set(tests["measure"]))
    measures = chosen(options.measures, names, where=scope.option("measures"))
    yield _beside(scope, options) if options.precision else _alone(scope, options, mine)
    yield _listing(mine, tests, measures, scope)


def _beside(scope: Scope, options: SubsetView) -> Block:
    """Draw the curves of the other stage, with the set of this one."""
    stage = scope.stage

    def table(name: str) -> pl.LazyFrame:
        return stage.table(name if "." in name else f"{options.precision}.{name}")

    other = replace(scope, stage=replace(stage, table=table))
    graph = Graph(
        name="subset", measures=options.measures, cuts=(), first_n=options.first_n,
        last_n=options.last_n, y_max=options.y_max, subsets=(stage.name,), style=options.style,
    ).coloured(options.look.slots)  # fmt: skip
    return graph_block(Drawing(other, graph, baseline=other.query("baseline").collect()))


def _alone(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Block:
    shares = {"estimate": "precision", "lower": "lower", "upper": "upper"}
    label = pl.format("{} ({})", "subset", "n")
    nothing = pl.lit("")
    frame = subsets.sort("n", "subset").select(group=nothing, label=label, kind=nothing, **shares)
    draw = partial(charts.whisker_chart, frame, x_title="precision (%)", percent=True)
    caption = f"Precision of the set{scope.said} with its confidence limits; in brackets its size."
    return figure(scope.file("subset"), caption, draw, options.look)


def _listing(
    subsets: pl.DataFrame, tests: pl.DataFrame, measures: Sequence[str], scope: Scope
) -> Listing:
    """Return a row per subset: its precision, and its difference from each |A|-best list."""
    differences = tests.select("subset", "measure", *DIFFERENCE)
    both = subsets.sort("n", "subset").join(
        differences, on="subset", how="left", maintain_order="left_right"
    )
    caption = (
        f"Precision of each set A in per cent{scope.said}, with its confidence limits; then A less "
        "the |A|-best list of each measure in percentage points, with adjusted p "
        f"({correction_of(tests['correction'])}). A star: significant after correction."
    )
    against = [
        Column(DIFFERENCE, f"− {measure_title(measure)}", difference_and_p, at=("measure", measure))
        for measure in measures
    ]
    columns = (
        Column("subset", "set A"),
        Column("n", "|A|"),
        Column(("precision", "lower", "upper"), "precision", _estimate),
        *against,
    )
    ordered = tests.sort("subset", "measure")
    return listing(scope.file("subset"), caption, ordered, columns, by=["subset"], shown=both)


def _estimate(precision: float | None, lower: float | None, upper: float | None) -> str:
    return f"{share(precision)} {share_limits(lower, upper, digits=1)}"
