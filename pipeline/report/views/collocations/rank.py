"""The view of ranks: the best candidates of each measure side by side."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.report.page.cells import cell, columns_shown
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Listing, StageView, Text, ViewOptions, view

MARKS = {True: "\u00a0+", False: "\u00a0-", None: ""}


class RankView(ViewOptions):
    """What the lists of the best candidates show."""

    k: int = 20
    """How many candidates of each measure."""
    measures: tuple[str, ...] = ()
    """The columns, in this order; all measures if empty."""
    judgements: str | None = None
    """A stage or table of judgements: + and - mark true and false positives."""
    category: str | None = None
    """The category of the marks; the first in alphabetical order by default."""


@view("score.rank", options=RankView)
def show_ranks(stage: StageView, options: RankView) -> Sequence[Block]:
    """Show the best candidates, and how many scores are undefined, infinite or tied."""
    ranks = stage.table("ranks")
    known = ranks.select("measure").unique().collect()["measure"].sort()
    where = f"views.{stage.name}"
    measures = chosen(options.measures, known, where=f"{where}.measures")
    if not measures:
        return [Text("There is no candidate to rank.")]
    mine = ranks.filter(pl.col("measure").is_in(measures))
    category, verdicts = _verdicts(stage, options)
    top = mine.filter(pl.col("rank") <= options.k)
    named = top.join(_names(stage), on="id", how="left").join(verdicts, on="id", how="left")
    best = named.collect().sort("measure", "rank")
    return [_best(best, measures, category), _scores(mine, measures)]


def _verdicts(stage: StageView, options: RankView) -> tuple[str | None, pl.LazyFrame]:
    if options.judgements is None:
        return None, pl.LazyFrame(schema={"id": pl.String, "tp": pl.Boolean})
    table = stage.table(options.judgements)
    known = table.select("category").unique().collect()["category"].sort()
    asked = () if options.category is None else (options.category,)
    found = chosen(asked, known, where=f"views.{stage.name}.category")
    category = found[0] if found else None
    return category, table.filter(pl.col("category") == pl.lit(category)).select("id", "tp")


def _names(stage: StageView) -> pl.LazyFrame:
    """Return what a candidate is called: l1 and l2 where its table has them, else its id."""
    source = stage.config.get("scores")
    if source is None:
        return pl.LazyFrame(schema={"id": pl.String, "candidate": pl.String})
    table = stage.table(str(source))
    there = table.collect_schema().names()
    kept = [name for name in ("l1", "l2", "f", "f1", "f2", "N") if name in there]
    both = {"l1", "l2"} <= set(kept)
    called = pl.concat_str("l1", "l2", separator=" ") if both else pl.col("id")
    return table.select("id", *kept, candidate=called)


def _best(best: pl.DataFrame, measures: Sequence[str], category: str | None) -> Listing:
    mark = pl.col("tp").replace_strict(MARKS, return_dtype=pl.String)
    said = best.select("measure", "rank", said=pl.coalesce("candidate", "id") + mark)
    cells = {(measure, rank): text for measure, rank, text in said.rows()}
    ranks = sorted(set(best["rank"]))
    columns = [[cells.get((m, rank), "") for rank in ranks] for m in measures]
    shown = columns_shown(["rank", *measures], [[cell(rank) for rank in ranks], *columns])
    caption = f"The {len(ranks):,} best candidates of each measure."
    if category is not None:
        caption += f" + true positive ({category}), - false positive, no mark: not judged."
    return Listing("best", caption, best, shown=shown, right=("rank",))


def _scores(ranks: pl.LazyFrame, measures: Sequence[str]) -> Listing:
    score = pl.col("score")
    counted = ranks.group_by("measure").agg(
        pl.len().cast(pl.Int64).alias("candidates"),
        score.is_null().sum().cast(pl.Int64).alias("undefined"),
        score.is_infinite().sum().cast(pl.Int64).alias("infinite"),
        pl.col("tie").n_unique().cast(pl.Int64).alias("distinct scores"),
    )
    order = pl.col("measure").replace_strict({name: i for i, name in enumerate(measures)})
    caption = (
        "Scores of each measure: undefined scores rank last; candidates with equal scores are "
        "ordered at random, in the same order for all measures."
    )
    return Listing("scores", caption, counted.collect().sort(order))
