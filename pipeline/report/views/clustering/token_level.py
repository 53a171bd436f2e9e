"""The views of token-level scores and of measures for overlapping clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import polars as pl

from pipeline.report.charts import Style
from pipeline.report.page.cells import NOTHING, columns_shown
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Listing, StageView, Text, ViewOptions, view
from pipeline.report.views.clustering.captions import HOW_TOKENS, ordered, title
from pipeline.report.views.clustering.cluster_figures import Shown, first_runs, mapping_figure


class TokenLevelView(ViewOptions):
    """What the token-level scores show."""

    systems: tuple[str, ...] = ()
    """The systems that have figures; all if empty. Of several runs the first is shown."""
    mapping: Literal["many_to_one", "one_to_one"] = "many_to_one"
    """The mapping that the figures show."""
    style: Style = "screen"
    """``screen`` in colours, ``print`` in black and white."""


@view("evaluate.token_level", options=TokenLevelView)
def show_token_level(stage: StageView, options: TokenLevelView) -> Sequence[Block]:
    """Show how to read the measures, the scores with their limits, and the mappings."""
    scores = stage.table("scores").collect()
    if scores.is_empty():
        return [Text("There is no run of a system to evaluate.")]
    known = sorted(set(scores["system"]))
    systems = chosen(options.systems, known, where=f"views.{stage.name}.systems")
    limited = scores["lower"].null_count() < scores.height
    caption = "Token-level scores of each run."
    if limited:
        caption += " Brackets: limits by bootstrap over sentences."
    figures = [
        _figure(stage, options, each) for each in first_runs(scores) if each.system in systems
    ]
    listing = score_listing(scores, caption=caption, error="")
    return [Text(HOW_TOKENS), *_sizes(stage), listing, *figures]


class OverlappingView(ViewOptions):
    """What the measures for overlapping clusters show."""


@view("evaluate.overlapping", options=OverlappingView)
def show_overlapping(stage: StageView, _options: OverlappingView) -> Sequence[Block]:
    """Show the scores."""
    scores = stage.table("scores").collect()
    caption = "Measures for overlapping classes and clusters; ± the error of an estimate."
    return [score_listing(scores, caption=caption, error="standard_error")]


def score_listing(scores: pl.DataFrame, *, caption: str, error: str) -> Listing:
    """Return a row for each run and a column for each measure.

    Parameters
    ----------
    scores : DataFrame
        system, run, measure, value, and lower and upper or a column of errors.
    caption : str
        What it holds.
    error : str
        The column of errors; empty if there are limits in its place.
    """
    measures = ordered(scores["measure"])
    cells = {
        (row["system"], row["run"], row["measure"]): _value(row, error)
        for row in scores.iter_rows(named=True)
    }
    keys = sorted({key[:2] for key in cells})
    columns = [[key[place] for key in keys] for place in (0, 1)]
    columns += [[cells.get((*key, measure), "") for key in keys] for measure in measures]
    heads = ["system", "run", *map(title, measures)]
    return Listing(
        "scores", caption, scores, shown=columns_shown(heads, columns), right=tuple(heads[2:])
    )


def _value(row: Mapping[str, Any], error: str) -> str:
    if row["value"] is None:
        return NOTHING
    text = f"{row['value']:.4f}"
    if error:
        return text if row[error] is None else f"{text} ± {row[error]:.4f}"
    return text if row["lower"] is None else f"{text} [{row['lower']:.4f}, {row['upper']:.4f}]"


def _sizes(stage: StageView) -> list[Block]:
    sizes = stage.table("sizes").collect().pivot(on="what", index=["system", "run"], values="count")
    alone = sizes.filter(pl.col("tokens without a cluster") > 0).sort("system", "run")
    if alone.is_empty():
        return [Text("Every token has a cluster in every run.")]
    kept = stage.config.get("without_cluster") == "cluster"
    fate = "are taken as one more cluster" if kept else "are left out"
    said = "; ".join(
        f"{row['system']} ({row['run']}): {row['tokens without a cluster']:,} of {row['tokens']:,}"
        for row in alone.head(12).iter_rows(named=True)
    )
    return [Text(f"Tokens without a cluster {fate}: {said}.")]


def _figure(stage: StageView, options: TokenLevelView, shown: Shown) -> Block:
    mine, system = shown.rows, shown.system
    overlaps = stage.table("overlaps").filter(mine).collect()
    mapping = stage.table("mapping").filter(mine, pl.col("mapping") == options.mapping).collect()
    mapped = dict(mapping.drop_nulls("gold").select("cluster", "gold").iter_rows())
    said = f"{shown.said}, {title(options.mapping)}"
    if overlaps.is_empty():
        return Text(f"{said}: no token has a cluster.")
    return mapping_figure(
        overlaps, mapped, name=system, said=said, unit="tokens", style=options.style
    )
