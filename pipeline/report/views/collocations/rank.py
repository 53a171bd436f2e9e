"""The view of ranks: the best candidates of each measure side by side."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from pipeline.errors import NotMadeYet
from pipeline.findings.stage import StageOptions, StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report.blocks import Column, listing, place_in
from pipeline.report.explorer.block import Explorer
from pipeline.report.page.names import chosen
from pipeline.report.view import Block, Explored, Listing, Text, view
from pipeline.report.views.collocations.explored import candidate_explorer

MARKS = {True: "\u00a0+", False: "\u00a0-", None: "\u00a0?"}


class RankView(Explored):
    """What the lists of the best candidates show."""

    k: int = 20
    """How many candidates of each measure."""
    measures: tuple[str, ...] = ()
    """The columns, in this order; all measures if empty."""
    judgements: str | None = None
    """A stage or table of judgements: + and - mark true and false positives."""
    category: str | None = None
    """The category of the marks; the first in alphabetical order by default."""


class Ranking(StageOptions):
    """What the stage ranks."""

    scores: str


@view("score.rank", options=RankView, title="Candidates and their ranks", place=50)
def show_ranks(stage: StageView, options: RankView) -> Sequence[Block]:
    """Show the best candidates, and how many scores are undefined, infinite or tied."""
    ranks = stage.table("ranks")
    names = ranks.select("measure").unique().collect(engine="streaming")["measure"].sort()
    measures = chosen(options.measures, names, where=f"views.{stage.name}.measures")
    if not measures:
        return [Text("There is no candidate to rank.")]
    mine = ranks.filter(pl.col("measure").is_in(measures))
    category, judgements = _judgements(stage, options)
    top = mine.filter(pl.col("rank") <= options.k).collect(engine="streaming")
    known = _names(stage).filter(pl.col("id").is_in(top["id"].unique().implode()))
    named = top.join(known.collect(engine="streaming"), on="id", how="left")
    best = named.join(judgements.collect(), on="id", how="left").sort("measure", "rank")
    blocks: list[Block] = [_best(best, measures, category), _scores(mine, measures)]
    if options.judgements and category is None:
        blocks.insert(
            0, Text(f"Without marks: there are no judgements in {options.judgements} yet.")
        )
    if options.explorer:
        blocks.append(_explorer(stage, options, measures))
    return blocks


def _explorer(stage: StageView, options: RankView, measures: Sequence[str]) -> Explorer:
    scores = stage.table(stage.options_as(Ranking).scores)
    has = scores.collect_schema().names()
    ordered = measures if options.measures else sorted(measures, key=lambda name: _place(name, has))
    return candidate_explorer(stage, scores, measures=ordered, most_rows=options.explorer_rows)


def _place(measure: str, columns: Sequence[str]) -> int:
    """Return the place of a measure among the columns of scores, where the experiment has it."""
    return columns.index(measure) if measure in columns else len(columns)


def _judgements(stage: StageView, options: RankView) -> tuple[str | None, pl.LazyFrame]:
    none = None, pl.LazyFrame(schema={"id": pl.String, "tp": pl.Boolean, "mark": pl.String})
    if options.judgements is None:
        return none
    try:
        table = stage.table(options.judgements)
    except NotMadeYet:
        return none
    names = table.select("category").unique().collect()["category"].sort()
    asked = () if options.category is None else (options.category,)
    categories = chosen(asked, names, where=f"views.{stage.name}.category")
    category = categories[0] if categories else None
    mark = pl.col("tp").replace_strict(MARKS, return_dtype=pl.String).alias("mark")
    return category, table.filter(pl.col("category") == pl.lit(category)).select("id", "tp", mark)


def _names(stage: StageView) -> pl.LazyFrame:
    """Return what a candidate is called: l1 and l2 where its table has them, else its id."""
    table = stage.table(stage.options_as(Ranking).scores)
    columns = table.collect_schema().names()
    kept = [name for name in ("l1", "l2", "f", "f1", "f2", "N") if name in columns]
    both = {"l1", "l2"} <= set(kept)
    called = pl.concat_str("l1", "l2", separator=" ") if both else pl.col("id")
    return table.select("id", *kept, candidate=called)


def _best(best: pl.DataFrame, measures: Sequence[str], category: str | None) -> Listing:
    said = pl.coalesce("candidate", "id") + pl.col("mark").fill_null("")
    marked = best.select("measure", "rank", said=said)
    count = best["rank"].n_unique()
    caption = f"The {count:,} best candidates of each measure."
    if category is not None:
        marks = "- false positive, ? judgements differ, no mark: not judged"
        caption += f" + true positive ({category}), {marks}."
    columns = [
        Column("rank"),
        *(Column("said", measure_title(name), at=("measure", name)) for name in measures),
    ]
    frame = best.drop("mark")
    return listing("best", caption, frame, columns, by=["rank"], shown=marked.sort("rank"))


def _scores(ranks: pl.LazyFrame, measures: Sequence[str]) -> Listing:
    score = pl.col("score")
    counted = ranks.group_by("measure").agg(
        pl.len().cast(pl.Int64).alias("candidates"),
        score.is_null().sum().cast(pl.Int64).alias("undefined"),
        score.is_infinite().sum().cast(pl.Int64).alias("infinite"),
        # The first of each tie is the one that the tie is called by.
        (pl.col("tie") == pl.col("rank")).sum().cast(pl.Int64).alias("distinct scores"),
    )
    caption = (
        "Scores of each measure: undefined scores rank last; candidates with equal scores are "
        "ordered at random, in the same order for all measures."
    )
    frame = counted.collect(engine="streaming").sort(place_in(measures, "measure"))
    columns = [Column("measure", text=measure_title), *map(Column, frame.columns[1:])]
    return listing("scores", caption, frame, columns)
