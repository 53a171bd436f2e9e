"""The view of comparisons: matrices and tests at the cuts, best measures, differences along n."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.findings.collocations.looks import Looked
from pipeline.findings.stage import StageView
from pipeline.report import charts
from pipeline.report.blocks import figure
from pipeline.report.charts import Extras, Window
from pipeline.report.charts.parts.prepare import thinned
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Fold, Styled, Text, view
from pipeline.report.views.collocations.comparison_captions import (
    difference_caption,
    heat_caption,
    interval_caption,
    strip_caption,
)
from pipeline.report.views.collocations.comparison_matrices import matrix_of, together
from pipeline.report.views.collocations.comparison_tables import (
    baseline_listing,
    best_listing,
    comparison_listing,
    matrix_listing,
)
from pipeline.report.views.collocations.difference_rows import (
    MOST_DRAWN,
    clustered_listing,
    difference_listing,
    drawn_differences,
)
from pipeline.report.views.collocations.looks import show_looks
from pipeline.report.views.collocations.on_tests import (
    HowCompared,
    Mark,
    at_any_time,
    how_many,
    how_tested,
)
from pipeline.report.views.collocations.samples import of_sample
from pipeline.report.views.collocations.scope import Scope, first_shown, scopes, thin_rows
from pipeline.report.views.collocations.titled import titled, titled_pair

Pair = tuple[str, str]

MOST_PAIRS = 3
"""With more pairs than these, a graph of all of them is no longer legible."""
MOST_MARKS = 5_000
"""Of more list sizes with a significant difference the graph of differences keeps some."""
MOST_MATRICES = 6
"""So many cuts get a matrix unless the options name others."""
SMALL = 8
"""Matrices of so many measures stand together in one figure."""


class ComparisonView(Styled):
    """What the comparisons show."""

    measures: tuple[str, ...] = ()
    """The measures whose pairs are shown; all if empty."""
    matrices: tuple[int, ...] | None = None
    """The declared cuts that get a matrix of all pairs; all by default, of more than six some."""
    pairs: tuple[Pair, ...] | None = None
    """Pairs of the graph of differences; by default all if there are at most three."""
    first_n: int | None = None
    """Smallest n of the graph; 100 by default, a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """Largest n of the graph; all by default."""
    y_min: float | None = None
    """Lower end of the graph's y axis in percentage points."""
    y_max: float | None = None
    """Upper end of the graph's y axis in percentage points."""
    category: str | None = None
    """One category of true positives; each by default."""


@view(
    "evaluate.comparison",
    options=ComparisonView,
    title="Which measure is best",
    of=of_sample,
    place=10,
)
def show_comparison(stage: StageView, options: ComparisonView) -> Sequence[Block]:
    """Show how to read the tests, matrices, best measures, tests, a graph of differences."""
    cuts = stage.table("cuts").collect()
    compared = stage.table("comparison").select("category").unique()
    categories = [*cuts["category"], *compared.collect(engine="streaming")["category"]]
    shown = scopes(stage, categories, options.category)
    if not shown:
        return [Text("There is nothing to compare: no candidate is judged.")]
    tested = stage.options_as(HowCompared)
    blocks = [block for scope in shown for block in _category(scope, options, tested, cuts)]
    how = at_any_time() if stage.options_as(Looked).anytime else how_tested(tested)
    return [Text(how), Text(how_many(tested)), *blocks, *show_looks(stage)]


def _category(
    scope: Scope, options: ComparisonView, tested: HowCompared, cuts: pl.DataFrame
) -> Iterator[Block]:
    query = scope.query("comparison")
    mine = cuts.filter(category=scope.category)
    every = query.select("measure_1", "measure_2").unique()
    along = sorted(every.collect(engine="streaming").rows())
    pairs = {*along, *mine.select("measure_1", "measure_2").rows()}
    names = sorted({name for pair in pairs for name in pair})
    measures = chosen(options.measures, names, where=scope.option("measures"))
    yield from _best(scope, options, tested, measures)
    yield from _intervals(scope, options, tested, measures)
    yield from _at_cuts(scope, options, tested, mine.filter(_between(measures)))
    drawn = _pairs(scope, options, [pair for pair in along if set(pair) <= set(measures)])
    if drawn:
        between = _between(name for pair in drawn for name in pair)
        yield _differences(scope, options, query.filter(between), drawn)


def _between(measures: Iterable[str]) -> pl.Expr:
    names = sorted(set(measures))
    return pl.col("measure_1").is_in(names) & pl.col("measure_2").is_in(names)


def _intervals(
    scope: Scope, options: ComparisonView, tested: HowCompared, measures: Sequence[str]
) -> Iterator[Block]:
    """Show the differences with their limits: a figure against the best, and tables."""
    rows, clustered = (
        scope.query(name).filter(_between(measures)).collect()
        for name in ("differences", "clustered")
    )
    anytime = "confidence_sequence" in rows["interval"]
    drawn = drawn_differences(rows, scope.query("best").collect())
    if 0 < drawn.height <= MOST_DRAWN:
        title = "difference in precision (points)"
        draw = partial(charts.whisker_chart, drawn, x_title=title, percent=True)
        caption = interval_caption(tested, anytime=anytime, of=scope.said)
        yield figure(scope.file("intervals"), caption, draw, options.look)
    if rows.height:
        yield Fold("All differences with their limits", [difference_listing(rows, tested, scope)])
    if clustered.height:
        yield Fold("The same by clusters", [clustered_listing(clustered, scope)])


def _at_cuts(
    scope: Scope, options: ComparisonView, tested: HowCompared, cuts: pl.DataFrame
) -> Iterator[Block]:
    if cuts.is_empty():
        yield Text(f"No test was made at a declared cut{scope.said}.")
        return
    drawn = _matrix_cuts(scope, options, cuts)
    yield from _heat_maps(scope, options, tested, cuts, drawn)
    tables = [matrix_listing(cuts, n, tested, scope) for n in drawn]
    yield Fold(
        "All differences and tests as tables", [*tables, comparison_listing(cuts, tested, scope)]
    )


def _matrix_cuts(scope: Scope, options: ComparisonView, cuts: pl.DataFrame) -> list[int]:
    declared = sorted(set(cuts["n"]))
    wrong = [n for n in options.matrices or () if n not in declared]
    if wrong:
        such_as = f"such as {', '.join(str(n) for n in declared[:10])}"
        problems = [
            Problem(scope.option("matrices"), f"{n} is no declared cut", such_as) for n in wrong
        ]
        raise ConfigError("report", problems)
    if options.matrices is not None:
        return sorted(set(options.matrices))
    return thinned(declared, points=MOST_MATRICES - 1)


def _heat_maps(
    scope: Scope, options: ComparisonView, mark: Mark, cuts: pl.DataFrame, drawn: Sequence[int]
) -> Iterator[Block]:
    baseline = titled(scope.query("baseline_cuts").collect())
    matrices = [matrix_of(titled(cuts), baseline, n, mark) for n in drawn]
    for group in together([m for m in matrices if m.cells.height], most=SMALL):
        name = scope.file("matrix" if len(group) > 1 else f"matrix-{group[0].n}")
        caption = heat_caption(group, mark, style=options.style, of=scope.said)
        yield figure(name, caption, partial(charts.heat_map, group), options.look)


def _best(
    scope: Scope, options: ComparisonView, tested: HowCompared, measures: Sequence[str]
) -> Iterator[Block]:
    best = scope.query("best").collect()
    if best.height:
        caption = strip_caption(style=options.style, of=scope.said)
        draw = partial(charts.strip_chart, titled(best))
        yield figure(scope.file("best"), caption, draw, options.look)
        yield best_listing(best, tested, scope)
    baseline = scope.query("baseline_cuts").filter(pl.col("measure").is_in(measures)).collect()
    if baseline.height:
        yield baseline_listing(baseline, tested, scope)


def _pairs(scope: Scope, options: ComparisonView, compared: Sequence[Pair]) -> list[Pair]:
    if options.pairs is None:
        return list(compared) if len(compared) <= MOST_PAIRS else []
    either_way = {frozenset(pair) for pair in compared}
    problems = [
        Problem(scope.option("pairs"), f"{' and '.join(pair)} are not compared")
        for pair in options.pairs
        if frozenset(pair) not in either_way
    ]
    if problems:
        raise ConfigError("report", problems)
    return list(options.pairs)


def _differences(
    scope: Scope, options: ComparisonView, query: pl.LazyFrame, pairs: Sequence[Pair]
) -> Block:
    last = query.select(pl.col("n").max()).collect(engine="streaming").item()
    window = Window(
        first_n=first_shown(options.first_n, last), last_n=options.last_n,
        y_min=options.y_min, y_max=options.y_max,
    )  # fmt: skip
    significant = query.filter("significant").select("n").unique().collect(engine="streaming")
    marks = thinned(significant["n"], points=MOST_MARKS)
    frame = thin_rows(query, window, always=marks).collect(engine="streaming")
    if frame["difference"].drop_nulls().is_empty():
        return Text(f"No pair has judged candidates in both of its difference sets{scope.said}.")
    cuts = scope.stage.table("cuts").select("n").unique().collect()["n"].sort()
    extras = Extras(cuts=tuple(cuts))
    called = [titled_pair(pair) for pair in pairs]
    draw = partial(charts.difference_chart, titled(frame), called, extras=extras, window=window)
    caption = difference_caption(of=scope.said)
    return figure(scope.file("difference"), caption, draw, options.look)
