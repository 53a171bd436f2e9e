"""View of an unranked set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import polars as pl

from pipeline.findings.base import StageView
from pipeline.kernels.measure import measure_title
from pipeline.report import charts
from pipeline.report.view import (
    Block,
    Column,
    Listing,
    StyleOptions,
    Text,
    figure,
    format_percent,
    listing,
    select_names,
    share_limits,
    view,
)
from pipeline.report.views.collocations.comparison import (
    DIFFERENCE,
    HowTested,
    correction_of,
    difference_and_p,
    subset_tested,
)
from pipeline.report.views.collocations.graphs import (
    Drawing,
    Graph,
    Scope,
    graph_block,
    of_set,
    scopes,
)


class SubsetView(StyleOptions):
    """Options of the section on a set of candidates."""

    precision: str | None = None
    """Draw the set beside the curves of this evaluate.precision stage on the same sample."""
    measures: tuple[str, ...] = ()
    """Show these measures, in this order; by default all."""
    first_n: int | None = None
    """Start the graph at this n; by default 100, or a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """End the graph at this n; by default the last."""
    y_max: float | None = None
    """End the y axis at this percentage."""
    category: str | None = None
    """Show one category of true positives; by default all."""


@view("evaluate.subset", options=SubsetView, title="Unranked set", of=of_set, place=30)
def show_subset(stage: StageView, options: SubsetView) -> Sequence[Block]:
    """Show the set beside the curves of the measures, and compare it with their lists."""
    subsets = stage.table("subsets").collect()
    shown = scopes(stage, subsets["category"], options.category)
    if not shown:
        return [Text("No candidate is judged, so precision cannot be estimated.")]
    blocks = [block for scope in shown for block in _subset_category(scope, options, subsets)]
    return [Text(subset_tested(stage.options_as(HowTested))), *blocks]


def _subset_category(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Iterator[Block]:
    mine = subsets.filter(category=scope.category)
    tests = scope.query("comparison").collect()
    names = sorted(set(tests["measure"]))
    measures = select_names(options.measures, names, where=scope.option("measures"))
    yield _with_curves(scope, options) if options.precision else _alone(scope, options, mine)
    yield _listing(mine, tests, measures, scope)


def _with_curves(scope: Scope, options: SubsetView) -> Block:
    """Draw the curves of the other stage, with the set of this one."""
    stage = scope.stage

    def table(name: str) -> pl.LazyFrame:
        return stage.table(name if "." in name else f"{options.precision}.{name}")

    other = replace(scope, stage=replace(stage, table=table))
    graph = Graph(
        name="subset", measures=options.measures, cuts=(), first_n=options.first_n,
        last_n=options.last_n, y_max=options.y_max, subsets=(stage.name,), style=options.style,
    ).with_colours(options.look.slots)  # fmt: skip
    return graph_block(Drawing(other, graph, baseline=other.query("baseline").collect()))


def _alone(scope: Scope, options: SubsetView, subsets: pl.DataFrame) -> Block:
    shares = {"estimate": "precision", "lower": "lower", "upper": "upper"}
    label = pl.format("{} ({})", "subset", "n")
    nothing = pl.lit("")
    frame = subsets.sort("n", "subset").select(group=nothing, label=label, kind=nothing, **shares)
    draw = partial(charts.whisker_chart, frame, x_title="precision (%)", percent=True)
    caption = f"Precision of the set{scope.said} with confidence limits; its size in parentheses."
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
        f"Precision (%) of each set A{scope.said}, with confidence limits, and its difference from "
        "the top |A| of each measure in percentage points, with adjusted p "
        f"({correction_of(tests['correction'])}). Star: significant after correction."
    )
    against = [
        Column(DIFFERENCE, f"− {measure_title(measure)}", difference_and_p, at=("measure", measure))
        for measure in measures
    ]
    columns = (
        Column("subset", "set A"),
        Column("n", "|A|"),
        Column(("precision", "lower", "upper"), "precision (%)", _set_estimate),
        *against,
    )
    ordered = tests.sort("subset", "measure")
    return listing(scope.file("subset"), caption, ordered, columns, by=["subset"], shown=both)


def _set_estimate(precision: float | None, lower: float | None, upper: float | None) -> str:
    return f"{format_percent(precision)} {share_limits(lower, upper, digits=1)}"
