"""The view of average precision: a whisker for each measure, and a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report import charts
from pipeline.report.blocks import Column, figure, listing, place_in
from pipeline.report.page.cells import share, share_limits
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Styled, Text, view
from pipeline.report.views.collocations.samples import of_sample
from pipeline.report.views.collocations.scope import Scope, scopes


class AveragePrecisionView(Styled):
    """What is shown of average precision."""

    measures: tuple[str, ...] = ()
    """The measures, in this order; all if empty, the highest first."""
    category: str | None = None
    """One category of true positives; each by default."""


@view(
    "evaluate.average_precision", options=AveragePrecisionView, title="Average precision",
    of=of_sample, place=22,
)  # fmt: skip
def show_average_precision(stage: StageView, options: AveragePrecisionView) -> Sequence[Block]:
    """Show the estimates of each category with their limits."""
    every = stage.table("average_precision").collect()
    shown = scopes(stage, every["category"], options.category)
    if not shown:
        return [Text("No candidate is judged, so there is no average precision to show.")]
    return [block for scope in shown for block in _category(scope, options)]


def _category(scope: Scope, options: AveragePrecisionView) -> Iterator[Block]:
    every = scope.query("average_precision").sort(
        "average_precision", "measure", descending=[True, False], nulls_last=True
    )  # fmt: skip
    mine = every.collect()
    names = chosen(options.measures, mine["measure"].to_list(), where=scope.option("measures"))
    ordered = mine.filter(pl.col("measure").is_in(names)).sort(place_in(names, "measure"))
    caption = f"Average precision{scope.said} of each ranking: {_how(ordered)}"
    yield figure(scope.file("average-precision"), caption, partial(
        charts.whisker_chart, _whiskers(ordered), x_title="average precision (%)", percent=True
    ), options.look)  # fmt: skip
    columns = [
        Column("measure", text=measure_title),
        Column(("average_precision", "lower", "upper"), "average precision", _estimate),
        Column("k_sampled", "judged TP"),
        Column("n_sampled", "judged"),
    ]
    yield listing(
        scope.file("average-precision"), f"Average precision in per cent{scope.said}.", ordered,
        columns,
    )  # fmt: skip


def _how(rows: pl.DataFrame) -> str:
    """Say what it is, what it was inferred from, and what its limits are."""
    row = rows.row(0, named=True)
    what = "the mean, over the true positives, of the precision of the list that ends with each. "
    if row["n_sampled"] == row["n_candidates"]:
        return f"{what}All {row['n_candidates']:,} candidates are judged: there are no limits."
    name = "xinfAP, by chances of their own" if row["unequal"] else "infAP"
    return (
        f"{what}Inferred from {row['n_sampled']:,} judged of {row['n_candidates']:,} candidates "
        f"({name}), with {100 * row['confidence']:g} % limits for each by itself; measures share "
        "their judged candidates, so that limits that overlap are no test."
    )


def _whiskers(rows: pl.DataFrame) -> pl.DataFrame:
    titles = {name: measure_title(name) for name in rows["measure"]}
    return rows.select(
        group=pl.lit(""), label=pl.col("measure").replace(titles), kind=pl.lit(""),
        estimate="average_precision", lower="lower", upper="upper",
    )  # fmt: skip


def _estimate(value: float | None, lower: float, upper: float) -> str:
    exact = value is not None and lower == upper
    return share(value) if exact else f"{share(value)} {share_limits(lower, upper)}"
