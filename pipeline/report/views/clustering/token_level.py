"""The views of token-level scores and of measures for overlapping clusters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import polars as pl

from pipeline.findings.stage import StageOptions, StageView
from pipeline.report.blocks import Column, listing
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Fold, Listing, Styled, Text, ViewOptions, view
from pipeline.report.views.clustering.cluster_figures import Shown, first_runs, mapping_figure
from pipeline.report.views.clustering.clusters import clusters_listing
from pipeline.report.views.clustering.measures import in_unit, ordered, title, with_unit

HOW_TOKENS = (
    "Tokens are counted: a frequent word weighs as much as all that it occurs. M-1 accuracy maps "
    "each cluster to the class of most of its tokens, 1-1 accuracy no two clusters to one class. "
    "Of measures with ↓ low values are good. M-1 accuracy and homogeneity grow with the number of "
    "clusters: compare systems with about as many."
)


class TokenLevelView(Styled):
    """What the token-level scores show."""

    systems: tuple[str, ...] = ()
    """The systems that have figures; all if empty. Of several runs the first is shown."""
    mapping: Literal["many_to_one", "one_to_one"] = "many_to_one"
    """The mapping that the figures show."""


class Unclustered(StageOptions):
    """What becomes of tokens without a cluster."""

    without_cluster: str


@view("evaluate.token_level", options=TokenLevelView, title="Tokens: scores", place=25)
def show_token_level(stage: StageView, options: TokenLevelView) -> Sequence[Block]:
    """Show how to read the measures, the scores with their limits, and the mappings."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There is no run of a system to evaluate.")]
    names = sorted(set(scores["system"]))
    systems = chosen(options.systems, names, where=f"views.{stage.name}.systems")
    caption = "Token-level scores of each run."
    if scores["lower"].null_count() < scores.height:
        caption += " Brackets: limits by bootstrap over sentences."
    runs = [run for run in first_runs(scores) if run.system in systems]
    figures = [block for run in runs for block in _of_run(stage, options, run)]
    table = _listing(scores, caption, Column(("value", "lower", "upper"), text=_limited))
    how = Fold("How to read these scores", [Text(HOW_TOKENS)])
    return [*_sizes(stage), table, how, Fold("How clusters are mapped to classes", figures)]


@view("evaluate.overlapping", title="Overlapping clusters: scores", place=30)
def show_overlapping(stage: StageView, _options: ViewOptions) -> Sequence[Block]:
    """Show the scores."""
    scores = stage.table("scores").collect()
    caption = "Measures for overlapping classes and clusters; ± the error of an estimate."
    return [_listing(scores, caption, Column(("value", "standard_error"), text=_estimated))]


def _listing(scores: pl.DataFrame, caption: str, cell: Column) -> Listing:
    """Return a row for each run and a column for each measure."""
    runs = ("system", "run")
    columns = (
        *map(Column, runs),
        *(
            replace(
                cell,
                head=with_unit(measure),
                at=("measure", measure),
                text=partial(cell.text, measure=measure),
            )
            for measure in ordered(scores["measure"])
        ),
    )
    return listing("scores", caption, scores, columns, by=runs, shown=scores.sort(runs))


def _limited(value: float | None, lower: float | None, upper: float | None, *, measure: str) -> str:
    said = in_unit(measure, value)
    if value is None or lower is None:
        return said
    return f"{said} [{in_unit(measure, lower)}, {in_unit(measure, upper)}]"


def _estimated(value: float | None, error: float | None, *, measure: str) -> str:
    said = in_unit(measure, value)
    return said if value is None or error is None else f"{said} ± {in_unit(measure, error)}"


def _sizes(stage: StageView) -> list[Block]:
    sizes = stage.table("sizes").collect().pivot(on="what", index=["system", "run"], values="count")
    without = sizes.filter(pl.col("tokens without a cluster") > 0).sort("system", "run")
    if without.is_empty():
        return [Text("Every token has a cluster in every run.")]
    kept = stage.options_as(Unclustered).without_cluster == "cluster"
    fate = "are taken as one more cluster" if kept else "are left out"
    said = "; ".join(
        f"{row['system']} ({row['run']}): {row['tokens without a cluster']:,} of {row['tokens']:,}"
        for row in without.head(12).iter_rows(named=True)
    )
    return [Text(f"Tokens without a cluster {fate}: {said}.")]


def _of_run(stage: StageView, options: TokenLevelView, shown: Shown) -> Iterator[Block]:
    mine, system = shown.rows, shown.system
    overlaps = stage.table("overlaps").filter(mine).collect()
    mapping = stage.table("mapping").filter(mine, pl.col("mapping") == options.mapping).collect()
    mapped = dict(mapping.drop_nulls("gold").select("cluster", "gold").iter_rows())
    said = f"{shown.said}, {title(options.mapping)}"
    if overlaps.is_empty():
        yield Text(f"{said}: no token has a cluster.")
        return
    yield mapping_figure(overlaps, mapped, name=system, said=said, unit="tokens", look=options.look)
    yield clusters_listing(stage, shown, mapping, said=said, unit="tokens")
