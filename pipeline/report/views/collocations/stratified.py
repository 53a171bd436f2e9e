"""Views of estimates from a stratified sample, and of a set without ranks."""

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

# A set without ranks


class SubsetView(StyleOptions):
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
        Column(("precision", "lower", "upper"), "precision", _set_estimate),
        *against,
    )
    ordered = tests.sort("subset", "measure")
    return listing(scope.file("subset"), caption, ordered, columns, by=["subset"], shown=both)


def _set_estimate(precision: float | None, lower: float | None, upper: float | None) -> str:
    return f"{format_percent(precision)} {share_limits(lower, upper, digits=1)}"


# Stratified samples

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
        f"Differences of precision at the declared cuts{scope.said} in percentage points, first "
        "minus second, with limits; k of n judged draws are true positives in D1 and D2. "
        "A star: the limits, taken by themselves, exclude 0."
    )
    ordered = frame.sort("n", "measure_1", "measure_2")
    return listing(scope.file("differences"), caption, ordered, DIFFERENCES)


DIFFERENCES = (
    *PAIR,
    Column(("difference", "excludes_zero"), "difference", starred_points),
    Column(("lower", "upper"), "limits", point_limits),
)
"""A pair at one n: the difference and its limits."""
