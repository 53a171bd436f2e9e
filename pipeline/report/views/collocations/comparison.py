"""The view of comparisons: matrices and tests at the cuts, best measures, differences along n."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.report import charts
from pipeline.report.charts import Extras, Look, Style, Window
from pipeline.report.charts.parts.prepare import thinned
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Figure, StageView, Text, ViewOptions, view
from pipeline.report.views.collocations.best_tables import baseline_listing, best_listing
from pipeline.report.views.collocations.captions import (
    difference_caption,
    heat_caption,
    strip_caption,
)
from pipeline.report.views.collocations.cut_tables import comparison_listing, matrix_listing
from pipeline.report.views.collocations.matrices import matrix_of, together
from pipeline.report.views.collocations.on_tests import how_many, how_tested, test_name
from pipeline.report.views.collocations.scope import Scope, first_shown, scopes, thin_plan

Pair = tuple[str, str]

MOST_PAIRS = 3
"""With more pairs than these, a graph of all of them is no longer legible."""
MOST_MATRICES = 6
"""So many cuts get a matrix unless the options name others."""
SMALL = 8
"""Matrices of so many measures stand together in one figure."""


class ComparisonView(ViewOptions):
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
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.comparison", options=ComparisonView)
def show_comparison(stage: StageView, options: ComparisonView) -> Sequence[Block]:
    """Show how to read the tests, matrices, best measures, tests, a graph of differences."""
    cuts = stage.table("cuts").collect()
    known = stage.table("comparison").select("category").unique().collect()["category"]
    found = scopes(stage, [*cuts["category"], *known], options.category)
    if not found:
        return [Text("There is nothing to compare: no candidate is judged.")]
    blocks = [block for scope in found for block in _category(scope, options, cuts)]
    return [Text(how_tested(stage.config)), Text(how_many(stage.config)), *blocks]


def _category(scope: Scope, options: ComparisonView, cuts: pl.DataFrame) -> Iterator[Block]:
    plan = scope.plan("comparison")
    mine = cuts.filter(category=scope.category)
    there = [*plan.select("measure_1", "measure_2").unique().collect().rows()]
    compared = sorted({*there, *mine.select("measure_1", "measure_2").rows()})
    names = sorted({name for pair in compared for name in pair})
    measures = chosen(options.measures, names, where=scope.option("measures"))
    yield from _at_cuts(scope, options, mine.filter(_between(measures)))
    yield from _best(scope, options, measures)
    pairs = _pairs(scope, options, [pair for pair in sorted(there) if set(pair) <= set(measures)])
    if pairs:
        yield _figure(
            scope, options, plan.filter(_between(name for p in pairs for name in p)), pairs
        )


def _between(measures: Iterable[str]) -> pl.Expr:
    names = sorted(set(measures))
    return pl.col("measure_1").is_in(names) & pl.col("measure_2").is_in(names)


def _limits(scope: Scope) -> dict[str, float]:
    config = scope.stage.config
    return {"alpha": float(config.get("alpha", 0.05)), "margin": float(config.get("margin", 0.0))}


def _at_cuts(scope: Scope, options: ComparisonView, cuts: pl.DataFrame) -> Iterator[Block]:
    if cuts.is_empty():
        yield Text(f"No test was made at a declared cut{scope.said}.")
        return
    limits = _limits(scope)
    drawn = _matrix_cuts(scope, options, cuts)
    yield from _heat_maps(scope, options, cuts, drawn)
    for n in drawn:
        yield matrix_listing(cuts, n, name=scope.file(f"matrix-{n}"), of=scope.said, **limits)
    test = test_name(scope.stage.config)
    yield comparison_listing(cuts, name=scope.file("tests"), of=scope.said, test=test)


def _matrix_cuts(scope: Scope, options: ComparisonView, cuts: pl.DataFrame) -> list[int]:
    declared = sorted(set(cuts["n"]))
    wrong = [n for n in options.matrices or () if n not in declared]
    if wrong:
        known = ", ".join(str(n) for n in declared[:10])
        problems = [Problem(scope.option("matrices"), f"{n} is no declared cut", f"such as {known}")
                    for n in wrong]  # fmt: skip
        raise ConfigError("report", problems)
    if options.matrices is not None:
        return sorted(set(options.matrices))
    return thinned(declared, points=MOST_MATRICES - 1)


def _heat_maps(
    scope: Scope, options: ComparisonView, cuts: pl.DataFrame, drawn: Sequence[int]
) -> Iterator[Block]:
    baseline = scope.plan("baseline_cuts").collect()
    matrices = [matrix_of(cuts, baseline, n, **_limits(scope)) for n in drawn]
    for group in together([m for m in matrices if m.cells.height], most=SMALL):
        still, live = (
            charts.heat_map(group, look=Look(style=options.style, live=live))
            for live in (False, True)
        )
        one = "" if len(group) > 1 else f"-{group[0].n}"
        caption = heat_caption(group, style=options.style, of=scope.said, **_limits(scope))
        yield Figure(scope.file(f"matrix{one}"), caption, still, live)


def _best(scope: Scope, options: ComparisonView, measures: Sequence[str]) -> Iterator[Block]:
    best = scope.plan("best").collect()
    if best.height:
        still, live = (
            charts.strip_chart(best, look=Look(style=options.style, live=live))
            for live in (False, True)
        )
        caption = strip_caption(style=options.style, of=scope.said)
        yield Figure(scope.file("best"), caption, still, live)
        yield best_listing(best, name=scope.file("best"), of=scope.said)
    baseline = scope.plan("baseline_cuts").filter(pl.col("measure").is_in(measures)).collect()
    if baseline.height:
        yield baseline_listing(
            baseline, name=scope.file("baseline"), of=scope.said, **_limits(scope)
        )


def _pairs(scope: Scope, options: ComparisonView, there: Sequence[Pair]) -> list[Pair]:
    if options.pairs is None:
        return list(there) if len(there) <= MOST_PAIRS else []
    known = {frozenset(pair) for pair in there}
    wrong = [pair for pair in options.pairs if frozenset(pair) not in known]
    if wrong:
        problems = [
            Problem(scope.option("pairs"), f"{' and '.join(pair)} are not compared")
            for pair in wrong
        ]
        raise ConfigError("report", problems)
    return list(options.pairs)


def _figure(
    scope: Scope, options: ComparisonView, plan: pl.LazyFrame, pairs: Sequence[Pair]
) -> Block:
    last = plan.select(pl.col("n").max()).collect().item()
    window = Window(
        first_n=first_shown(options.first_n, last), last_n=options.last_n,
        y_min=options.y_min, y_max=options.y_max,
    )  # fmt: skip
    marks = plan.filter("significant").select("n").unique().collect()["n"].to_list()
    frame = thin_plan(plan, window, always=marks).collect()
    if frame["difference"].drop_nulls().is_empty():
        return Text(f"No pair has judged candidates in both of its difference sets{scope.said}.")
    cuts = scope.stage.table("cuts").select("n").unique().collect()["n"].sort()
    extras = Extras(cuts=tuple(cuts))
    still, live = (
        charts.difference_chart(
            frame, pairs, extras=extras, window=window, look=Look(style=options.style, live=live)
        )
        for live in (False, True)
    )
    return Figure(scope.file("difference"), difference_caption(of=scope.said), still, live)
