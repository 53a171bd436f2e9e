"""Views of candidates: the best of each measure, and a table of all with their judgements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.errors import NotMadeYet
from pipeline.findings.base import StageOptions, StageView
from pipeline.kernels.measure import measure_title
from pipeline.report.explorer import Attribute, Cells, Details, Explorer, attributes_of, sources
from pipeline.report.view import (
    Block,
    Column,
    ExplorerOptions,
    Listing,
    Text,
    listing,
    max_rows_in_memory,
    place_in,
    select_names,
    view,
)

# Judgements on candidates

TRUE, FALSE, OPEN = "true positive", "false positive", "undecided"
MOST_ANNOTATORS = 8
_VERDICTS = {True: TRUE, False: FALSE, None: OPEN}
_RECORDS = {"id": pl.String, "annotator": pl.String, "label": pl.String, "note": pl.String}


@dataclass(frozen=True)
class Judgements:
    """Judgements on candidates.

    Parameters
    ----------
    columns : list of DataFrame
        Tables with id, each with columns to show beside the candidates.
    attributes : list of Attribute
        These columns.
    records : DataFrame
        The labels and notes: id, annotator, label, note, and the stage if there are several.
    """

    columns: list[pl.DataFrame]
    attributes: list[Attribute]
    records: pl.DataFrame


def collect_judgements(stage: StageView, ids: pl.Series) -> Judgements:
    """Return all judgements of the run on the candidates that a stage ranks.

    Parameters
    ----------
    stage : StageView
        The stage, "score.rank".
    ids : Series of str
        The candidates.
    """
    known = {each.name for each in sources(stage)}
    joined = [
        each
        for each in stage.stages.values()
        if each.use in {"join.table", "join.gold", "join.sheets", "join.corpus"}
        and known & {s.name for s in sources(each)}
    ]
    mine = pl.LazyFrame({"id": ids})
    several = len(joined) > 1
    n_sheets = sum(each.use == "join.sheets" for each in joined)
    pieces: list[tuple[pl.DataFrame, list[Attribute]]] = []
    records = [pl.DataFrame(schema=_RECORDS)]
    for each in joined:
        after = f" ({each.name})" if several else ""
        pieces += _verdicts(each, mine, after)
        if each.use == "join.sheets":
            pieces += _people(each, mine, after if n_sheets > 1 else "")
            records.append(_annotations(each, mine))
    if not pieces:
        return Judgements([], [], records[0])
    some = pl.concat([frame.select("id") for frame, _ in pieces]).unique(maintain_order=True)
    flag = some.with_columns(pl.lit(value=True).alias("judged"))
    every = pl.DataFrame({"id": ids}).join(flag, on="id", how="left")
    first = (every.with_columns(pl.col("judged").fill_null(value=False)),
             [Attribute("judged", "judged", "flag", visible=False)])  # fmt: skip
    pieces = [*pieces, first]
    table = pl.concat(records)
    if not table.is_empty():
        table = table.sort("id", "annotator")
    return Judgements([frame for frame, _ in pieces], [a for _, own in pieces for a in own], table)


def _verdicts(
    each: StageView, mine: pl.LazyFrame, after: str
) -> Iterator[tuple[pl.DataFrame, list[Attribute]]]:
    """Yield a column for each category of true positives."""
    table = each.table("judgements").join(mine, on="id", how="semi").collect()
    for (category,), rows in sorted(table.partition_by("category", as_dict=True).items()):
        name = f"judged {category}{after}"
        text = pl.col("tp").replace_strict(_VERDICTS, return_dtype=pl.String)
        yield rows.select("id", text.alias(name)), [Attribute(name, f"{category}{after}", "label")]


def _people(
    each: StageView, mine: pl.LazyFrame, after: str
) -> Iterator[tuple[pl.DataFrame, list[Attribute]]]:
    """Yield the adjudicated label, a flag for different labels, and each annotator's label."""
    stands = each.table("adjudicated").join(mine, on="id", how="semi").collect()
    label, differ = f"judged label{after}", f"annotators differ{after}"
    labels = stands.select("id", pl.col("label").alias(label))
    yield labels, [Attribute(label, f"label{after}", "label")]
    annotations = each.table("annotations").join(mine, on="id", how="semi").collect()
    people = sorted(annotations["annotator"].unique())
    if len(people) > 1:
        several = stands.filter(pl.col("annotators") > 1)
        flags = several.select("id", (~pl.col("agreed")).alias(differ))
        yield flags, [Attribute(differ, f"annotators differ{after}", "flag", visible=False)]
    for person in people[:MOST_ANNOTATORS] if len(people) > 1 else []:
        name = f"judged by {person}{after}"
        own = annotations.filter(annotator=person).select("id", pl.col("label").alias(name))
        yield own, [Attribute(name, f"{person}{after}", "label", visible=False)]


def _annotations(each: StageView, mine: pl.LazyFrame) -> pl.DataFrame:
    rows = each.table("annotations").join(mine, on="id", how="semi").collect()
    return rows.select(pl.col(name).cast(dtype) for name, dtype in _RECORDS.items())


# The table of all candidates

WITH_EXAMPLES = ("extract.keywords", "extract.pairing", "extract.pairs", "extract.tuples",
                 "extract.words")  # fmt: skip
"""The stages that keep examples of their candidates."""
SHOWN_SCORES, SHOWN_RANKS = 3, 2
COUNTS = ("f", "f1", "f2", "N")


def candidate_explorer(
    stage: StageView, scores: pl.LazyFrame, *, measures: Sequence[str], most_rows: int
) -> Explorer:
    """Return a table of all candidates that a stage ranks.

    Parameters
    ----------
    stage : StageView
        The stage, "score.rank".
    scores : LazyFrame
        The candidates: id, and any other columns.
    measures : sequence of str
        The measures, in the order shown.
    most_rows : int
        The largest number of candidates on the page, those with the best ranks.
    """
    ranks = stage.table("ranks").filter(pl.col("measure").is_in(measures))
    whole, count = _row_counts(
        ranks, measures[0], len(scores.collect_schema()) + 2 * len(measures), most_rows
    )
    if count < whole:
        mine = pl.col("id").is_in(_best(ranks, count).implode())
        ranks, scores = ranks.filter(mine), scores.filter(mine)
    known = scores.collect(engine="streaming")
    wide = _pivot_ranks(ranks.select("measure", "id", "score", "rank").collect(engine="streaming"))
    opinions = collect_judgements(stage, wide["id"])
    names = {*wide.columns, *measures, *(each.name for each in opinions.attributes)}
    own = [name for name in known.columns if name not in names]
    frame = wide.join(known.select("id", *own), on="id", how="left")
    for each in opinions.columns:
        frame = frame.join(each, on="id", how="left")
    frame = frame.sort("~best", f"rank {measures[0]}", "id")
    units = [each.name for each in _own_columns(frame, own) if each.kind == "text" and each.visible]
    columns = (*_own_columns(frame, own), *opinions.attributes, *_score_columns(measures))
    return Explorer(
        "candidates",
        _caption(measures, opinions),
        ("candidate", "candidates"),
        frame.drop("~best"),
        columns,
        key="id",
        titles=tuple(units) or ("id",),
        order=f"rank {measures[0]}",
        matters="with the best ranks under any measure",
        cells=Cells() if {*COUNTS} <= {*own} and "l3" not in own else None,
        details=tuple(_details(stage, frame, opinions)),
        whole=whole,
        most_rows=most_rows,
    )


def _row_counts(ranks: pl.LazyFrame, measure: str, columns: int, most_rows: int) -> tuple[int, int]:
    """Return the number of candidates, and the number of those to show."""
    whole = ranks.filter(pl.col("measure") == measure).select(pl.len()).collect().item()
    fit = max_rows_in_memory(columns)
    return whole, whole if fit is None or whole <= fit else min(most_rows, fit)


def _best(ranks: pl.LazyFrame, most: int) -> pl.Series:
    """Return the candidates with the best ranks: all are among the best of some measure."""
    above = ranks.filter(pl.col("rank") <= most).group_by("id").agg(pl.min("rank"))
    return above.collect(engine="streaming").sort("rank", "id").head(most)["id"]


def _caption(measures: Sequence[str], opinions: Judgements) -> str:
    columns = "scores, ranks and judgements" if opinions.attributes else "scores and ranks"
    return (
        f"All candidates with frequencies, {columns}, ordered by {measure_title(measures[0])}. "
        "Search, sort and filter the table; open a row for details."
    )


def _pivot_ranks(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each candidate: its best rank, and score and rank under each measure."""
    best = ranks.group_by("id").agg(pl.col("rank").min().alias("~best"))
    pieces = ranks.partition_by("measure", as_dict=True)
    for (measure,), mine in sorted(pieces.items()):
        columns = {f"score {measure}": "score", f"rank {measure}": "rank"}
        best = best.join(mine.select("id", **columns), on="id", how="left")
    return best


def _own_columns(frame: pl.DataFrame, own: Sequence[str]) -> list[Attribute]:
    units = [name for name in own if frame.schema[name] == pl.String]
    if not units:
        return [Attribute("id", "id", "text"), *attributes_of(frame, own, visible=["f"])]
    first = [name for name in units if name[:1] == "l" and name[1:].isdigit()] or units[:2]
    ordered = [*first, *(name for name in own if name not in first)]
    return list(attributes_of(frame, ordered, visible=[*first, "f"]))


def _score_columns(measures: Sequence[str]) -> list[Attribute]:
    """Return score and rank of each measure."""
    attributes = []
    for place, measure in enumerate(measures):
        title = measure_title(measure)
        score = Attribute(f"score {measure}", title, "number", of=title, part="score",
                          visible=place < SHOWN_SCORES)  # fmt: skip
        rank = Attribute(f"rank {measure}", f"{title} rank", "rank", of=title, part="rank",
                         visible=place < SHOWN_RANKS)  # fmt: skip
        attributes += [score, rank]
    return attributes


def _details(stage: StageView, frame: pl.DataFrame, opinions: Judgements) -> list[Details]:
    first = "judged" if opinions.attributes else ""
    details = []
    examples = _examples(stage, frame["id"])
    if examples is not None:
        columns = (Attribute("doc", "document", "label"), Attribute("text", "text", "text"))
        details.append(Details("examples", "Examples", examples, columns, "concordance", first))
    if not opinions.records.is_empty():
        labels = tuple(Attribute(name, name, "label") for name in opinions.records.columns[1:])
        details.append(Details("judgements", "Judgements", opinions.records, labels, first=first))
    return details


def _examples(stage: StageView, ids: pl.Series) -> pl.DataFrame | None:
    """Return the examples of the candidates, from the stage that found them."""
    for source in sources(stage):
        if source.use in WITH_EXAMPLES:
            mine = pl.LazyFrame({"id": ids}).join(source.table("examples"), on="id", how="inner")
            examples = mine.sort("id", "number").select("id", "doc", "text").collect()
            if examples.height:
                return examples
    return None


# The view of ranks

MARKS = {True: "\u00a0+", False: "\u00a0-", None: "\u00a0?"}


class RankView(ExplorerOptions):
    """Options of the section on the best candidates."""

    k: int = 20
    """Show the top k candidates of each measure."""
    measures: tuple[str, ...] = ()
    """Show these measures, in this order; by default all."""
    judgements: str | None = None
    """Mark true and false positives by + and -, from this stage or table of judgements."""
    category: str | None = None
    """Mark this category; by default the first in alphabetical order."""


class Ranking(StageOptions):
    """The table that the stage ranks."""

    scores: str


@view("score.rank", options=RankView, title="Candidates and their ranks", place=50)
def show_ranks(stage: StageView, options: RankView) -> Sequence[Block]:
    """Show the best candidates, and count undefined, infinite and tied scores."""
    ranks = stage.table("ranks")
    names = ranks.select("measure").unique().collect(engine="streaming")["measure"].sort()
    measures = select_names(options.measures, names, where=f"views.{stage.name}.measures")
    if not measures:
        return [Text("There are no candidates to rank.")]
    mine = ranks.filter(pl.col("measure").is_in(measures))
    category, judgements = _judgements(stage, options)
    top = mine.filter(pl.col("rank") <= options.k).collect(engine="streaming")
    known = _names(stage).filter(pl.col("id").is_in(top["id"].unique().implode()))
    table = top.join(known.collect(engine="streaming"), on="id", how="left")
    best = table.join(judgements.collect(), on="id", how="left").sort("measure", "rank")
    blocks: list[Block] = [_best_listing(best, measures, category), _ranked_scores(mine, measures)]
    if options.judgements and category is None:
        blocks.insert(
            0, Text(f"Candidates are not marked: {options.judgements} has no judgements yet.")
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
    """Return the place of a measure among the columns of scores."""
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
    selection = () if options.category is None else (options.category,)
    categories = select_names(selection, names, where=f"views.{stage.name}.category")
    category = categories[0] if categories else None
    mark = pl.col("tp").replace_strict(MARKS, return_dtype=pl.String).alias("mark")
    return category, table.filter(pl.col("category") == pl.lit(category)).select("id", "tp", mark)


def _names(stage: StageView) -> pl.LazyFrame:
    """Return the names of candidates: l1 and l2 if the table has them, else the id."""
    table = stage.table(stage.options_as(Ranking).scores)
    columns = table.collect_schema().names()
    names = [name for name in ("l1", "l2", "f", "f1", "f2", "N") if name in columns]
    both = {"l1", "l2"} <= set(names)
    called = pl.concat_str("l1", "l2", separator=" ") if both else pl.col("id")
    return table.select("id", *names, candidate=called)


def _best_listing(best: pl.DataFrame, measures: Sequence[str], category: str | None) -> Listing:
    text = pl.coalesce("candidate", "id") + pl.col("mark").fill_null("")
    marked = best.select("measure", "rank", text=text)
    count = best["rank"].n_unique()
    caption = f"The top {count:,} candidates of each measure."
    if category is not None:
        marks = "-: false positive; ?: conflicting judgements; no mark: not judged"
        caption += f" +: true positive ({category}); {marks}."
    columns = [
        Column("rank"),
        *(Column("text", measure_title(name), at=("measure", name)) for name in measures),
    ]
    frame = best.drop("mark")
    return listing("best", caption, frame, columns, by=["rank"], source=marked.sort("rank"))


def _ranked_scores(ranks: pl.LazyFrame, measures: Sequence[str]) -> Listing:
    score = pl.col("score")
    counted = ranks.group_by("measure").agg(
        pl.len().cast(pl.Int64).alias("candidates"),
        score.is_null().sum().cast(pl.Int64).alias("undefined"),
        score.is_infinite().sum().cast(pl.Int64).alias("infinite"),
        # The column tie has the rank of the first of each tie.
        (pl.col("tie") == pl.col("rank")).sum().cast(pl.Int64).alias("distinct scores"),
    )
    caption = (
        "Scores of each measure. Undefined scores rank last; candidates with equal scores are in "
        "random order, the same for all measures."
    )
    frame = counted.collect(engine="streaming").sort(place_in(measures, "measure"))
    columns = [Column("measure", text=measure_title), *map(Column, frame.columns[1:])]
    return listing("scores", caption, frame, columns)
