"""Views of estimates from a stratified sample, and of an unranked set."""

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
    point_limits,
    select_names,
    share_limits,
    view,
)
from pipeline.report.views.collocations.comparison import (
    DIFFERENCE,
    PAIR,
    HowTested,
    correction_of,
    difference_and_p,
    starred_points,
    subset_tested,
)
from pipeline.report.views.collocations.graphs import (
    Curves,
    Drawing,
    Graph,
    Scope,
    cuts_of,
    extent,
    graph_block,
    of_sample,
    of_set,
    scopes,
    scopes_in,
)
from pipeline.report.views.collocations.precision import precision_listing

# An unranked set


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


# Stratified samples

HOW_ESTIMATED = (
    "The sample is stratified: each stratum is weighted by its share of the n-best list. Depending "
    "on the experiment, limits are based on the variance of the weighted estimate (Korn and "
    "Graubard), on predictions of the unsampled candidates in the strata, or on a bootstrap of the "
    "draws. Clopper-Pearson intervals and Fisher's test do not apply to such a sample. There is no "
    "estimate if a stratum of the list was not sampled."
)


class StratifiedView(Curves):
    """Options of the section on estimates from a stratified sample."""

    category: str | None = None
    """Show one category of true positives; by default all."""


@view(
    "evaluate.stratified",
    options=StratifiedView,
    title="Precision of n-best lists",
    of=of_sample,
    place=25,
)
def show_stratified(stage: StageView, options: StratifiedView) -> Sequence[Block]:
    """Show the estimation method, a graph, a table at the cuts, differences."""
    shown = scopes_in(stage, stage.table("precision"), options.category)
    if not shown:
        return [Text("No candidate is judged, so precision cannot be estimated.")]
    blocks = [block for scope in shown for block in _category(scope, options)]
    return [Text(HOW_ESTIMATED), *blocks]


def at_cuts(drawing: Drawing, options: Curves) -> tuple[Sequence[str], pl.DataFrame | None]:
    """Return the measures to show, and their precision at the cuts; None without cuts."""
    scope = drawing.scope
    query = scope.query("precision")
    names, last = extent(query)
    measures = select_names(options.measures, names, where=scope.option("measures"))
    cuts = cuts_of(drawing, last)
    if not cuts:
        return measures, None
    mine = pl.col("measure").is_in(measures)
    return measures, query.filter(pl.col("n").is_in(cuts), mine).collect()


def _category(scope: Scope, options: StratifiedView) -> Iterator[Block]:
    own = {name: getattr(options, name) for name in options.model_fields_set - {"category"}}
    drawing = Drawing(scope, Graph.model_validate(own).with_colours(options.look.slots))
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
        f"Differences in precision at the declared cuts{scope.said} in percentage points, first "
        "minus second, with limits; k of n judged draws are true positives in D1 and D2. "
        "Star: the pointwise limits exclude 0."
    )
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("differences"), caption, ordered, DIFFERENCES)


DIFFERENCES = (
    *PAIR,
    Column(("difference", "excludes_zero"), "difference (points)", starred_points),
    Column(("lower", "upper"), "limits", point_limits),
)
"""A pair at one n: the difference and its limits."""
