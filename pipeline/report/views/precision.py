"""The view of n-best precision: a graph and a table at chosen n for each category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from pipeline.errors import ConfigError, Problem
from pipeline.report import charts
from pipeline.report.charts import Extras, Look, Style, Window
from pipeline.report.cut_tables import precision_listing
from pipeline.report.names import chosen
from pipeline.report.scope import CUTS, Scope, cuts_within, first_shown, scopes, thin_plan
from pipeline.report.view import Block, Figure, StageView, Text, ViewOptions, view
from pipeline.report.words import baseline_text, graph_caption


class PrecisionView(ViewOptions):
    """What the precision graph shows."""

    measures: tuple[str, ...] = ()
    """The lines, in this order; all measures if empty."""
    bands: tuple[str, ...] = ()
    """Measures whose confidence limits are shaded."""
    cuts: tuple[int, ...] | None = None
    """Values of n for the vertical lines and the table; the stage's own by default."""
    first_n: int | None = None
    """Smallest n of the graph; 100 by default, a twentieth of a list shorter than 2,000."""
    last_n: int | None = None
    """Largest n of the graph; all by default."""
    y_min: float | None = None
    """Lower end of the y axis in per cent; 0 by default."""
    y_max: float | None = None
    """Upper end of the y axis in per cent."""
    truth: str | None = None
    """Another stage of kind evaluate.precision, whose curves are drawn dashed."""
    comparison: str | None = None
    """A stage of kind evaluate.comparison that holds the pair of ``marks``."""
    marks: tuple[str, str] | None = None
    """Two measures: triangles show where they differ significantly at that n."""
    category: str | None = None
    """One category of true positives; a graph for each by default."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.precision", options=PrecisionView)
def show_precision(stage: StageView, options: PrecisionView) -> Sequence[Block]:
    """Show a graph, the baseline and a table at the cuts for each category."""
    if (options.marks is None) != (options.comparison is None):
        what = "marks (a pair) and comparison (the stage that compared it) go together"
        where = f"views.{stage.name}"
        raise ConfigError("report", [Problem(where, what, "give both or neither")])
    baseline = stage.table("baseline").collect()
    found = scopes(stage, baseline["category"], options.category)
    if not found:
        return [Text("No candidate is judged, so there is no precision to show.")]
    return [block for scope in found for block in _category(scope, options, baseline)]


def _category(scope: Scope, options: PrecisionView, baselines: pl.DataFrame) -> Iterator[Block]:
    baseline = baselines.filter(category=scope.category)
    plan = scope.plan("precision")
    known, last = _extent(plan)
    if not baseline["n_sampled"].item() or not last:
        yield Text(f"No candidate is judged in category {scope.category}: nothing to show.")
        return
    measures = chosen(options.measures, known, where=scope.option("measures"))
    declared = scope.stage.config.get("cuts", CUTS)
    cuts = cuts_within(declared if options.cuts is None else options.cuts, last)
    window = _window(options, measures, last)
    mine = plan.filter(pl.col("measure").is_in(measures))
    yield _figure(scope, options, (_drawn(mine, window, cuts), baseline), window, cuts)
    yield Text(baseline_text(baseline.row(0, named=True)))
    if cuts:
        at_cuts = mine.filter(pl.col("n").is_in(cuts)).collect()
        yield precision_listing(at_cuts, measures, name=scope.file("precision"), of=scope.said)


def _extent(plan: pl.LazyFrame) -> tuple[list[str], int]:
    found = plan.group_by("measure").agg(pl.col("n").max()).sort("measure").collect()
    return found["measure"].to_list(), max(found["n"], default=0)


def _window(options: PrecisionView, measures: tuple[str, ...], last: int) -> Window:
    return Window(
        measures=measures, first_n=first_shown(options.first_n, last), last_n=options.last_n,
        y_min=options.y_min, y_max=options.y_max,
    )  # fmt: skip


def _drawn(plan: pl.LazyFrame, window: Window, cuts: Sequence[int]) -> pl.DataFrame:
    return thin_plan(plan, window, always=cuts).collect().sort("measure", "n")


def _figure(
    scope: Scope,
    options: PrecisionView,
    frames: tuple[pl.DataFrame, pl.DataFrame],
    window: Window,
    cuts: tuple[int, ...],
) -> Block:
    precision, baseline = frames
    if precision["precision"].drop_nulls().is_empty():
        return Text(f"No judged candidate is among the n best from n = {window.first_n:,} on.")
    bands = chosen(options.bands, window.measures, where=scope.option("bands"))
    extras = Extras(
        bands=bands if options.bands else (), cuts=cuts, marks=options.marks,
        truth=_truth(scope, options, precision), comparison=_comparison(scope, options),
    )  # fmt: skip
    still, live = (
        charts.precision_chart(
            precision, baseline, extras=extras, window=window,
            look=Look(style=options.style, live=live),
        )
        for live in (False, True)
    )  # fmt: skip
    caption = graph_caption(extras, window, style=options.style, of=scope.said)
    return Figure(scope.file("precision"), caption, still, live)


def _truth(scope: Scope, options: PrecisionView, drawn: pl.DataFrame) -> pl.DataFrame | None:
    if options.truth is None:
        return None
    plan = scope.plan(f"{options.truth}.precision")
    return plan.join(drawn.lazy().select("measure", "n"), on=["measure", "n"], how="semi").collect()


def _comparison(scope: Scope, options: PrecisionView) -> pl.DataFrame | None:
    if options.comparison is None or options.marks is None:
        return None
    plan = scope.plan(f"{options.comparison}.comparison")
    pair = [pl.col(side).is_in(options.marks) for side in ("measure_1", "measure_2")]
    compared = plan.filter(*pair)
    if compared.head(1).collect().is_empty():
        what = f"{options.comparison} does not compare {' with '.join(options.marks)}"
        raise ConfigError("report", [Problem(scope.option("marks"), what)])
    return compared.filter("significant").collect()
