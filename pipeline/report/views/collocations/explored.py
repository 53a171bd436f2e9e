"""The table of all candidates: frequencies, scores, ranks, judgements, examples."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.kernels.measure_titles import measure_title
from pipeline.report.explorer.block import Attribute, Cells, Details, Explorer
from pipeline.report.explorer.tables import attributes_of, sources
from pipeline.report.fitting import rows_that_fit
from pipeline.report.views.collocations.judged import Judged, judged

WITH_EXAMPLES = ("extract.keywords", "extract.pairing", "extract.pairs", "extract.tuples",
                 "extract.words")  # fmt: skip
"""The stages that keep examples of what they find."""
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
        What it ranks: id, and whatever columns it has.
    measures : sequence of str
        The measures, in the order shown.
    most_rows : int
        How many candidates the page holds at most, those of the best ranks.
    """
    ranks = stage.table("ranks").filter(pl.col("measure").is_in(measures))
    whole, held = _held(
        ranks, measures[0], len(scores.collect_schema()) + 2 * len(measures), most_rows
    )
    if held < whole:
        mine = pl.col("id").is_in(_best(ranks, held).implode())
        ranks, scores = ranks.filter(mine), scores.filter(mine)
    known = scores.collect(engine="streaming")
    wide = _wide(ranks.select("measure", "id", "score", "rank").collect(engine="streaming"))
    opinions = judged(stage, wide["id"])
    taken = {*wide.columns, *measures, *(each.name for each in opinions.attributes)}
    own = [name for name in known.columns if name not in taken]
    frame = wide.join(known.select("id", *own), on="id", how="left")
    frame = reduce(_beside, opinions.columns, frame).sort("~best", f"rank {measures[0]}", "id")
    units = [each.name for each in _own(frame, own) if each.kind == "text" and each.shown]
    columns = (*_own(frame, own), *opinions.attributes, *_scores(measures))
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


def _held(ranks: pl.LazyFrame, measure: str, columns: int, most_rows: int) -> tuple[int, int]:
    """Return how many candidates there are, and how many of them are looked at."""
    whole = ranks.filter(pl.col("measure") == measure).select(pl.len()).collect().item()
    fit = rows_that_fit(columns)
    return whole, whole if fit is None or whole <= fit else min(most_rows, fit)


def _best(ranks: pl.LazyFrame, most: int) -> pl.Series:
    """Return the candidates of the best ranks: among the best of each measure they all are."""
    above = ranks.filter(pl.col("rank") <= most).group_by("id").agg(pl.min("rank"))
    return above.collect(engine="streaming").sort("rank", "id").head(most)["id"]


def _caption(measures: Sequence[str], opinions: Judged) -> str:
    said = "All candidates, to search, sort and filter: frequencies, scores and ranks"
    said += ", judgements" if opinions.attributes else ""
    first = measure_title(measures[0])
    return f"{said}. They stand in the order of {first}; open a row to see all of it."


def _wide(ranks: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each candidate: its best rank, and score and rank under each measure."""
    best = ranks.group_by("id").agg(pl.col("rank").min().alias("~best"))
    pieces = ranks.partition_by("measure", as_dict=True)
    for (measure,), mine in sorted(pieces.items()):
        named = {f"score {measure}": "score", f"rank {measure}": "rank"}
        best = best.join(mine.select("id", **named), on="id", how="left")
    return best


def _beside(frame: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    return frame.join(other, on="id", how="left")


def _own(frame: pl.DataFrame, own: Sequence[str]) -> list[Attribute]:
    units = [name for name in own if frame.schema[name] == pl.String]
    if not units:
        return [Attribute("id", "id", "text"), *attributes_of(frame, own, shown=["f"])]
    first = [name for name in units if name[:1] == "l" and name[1:].isdigit()] or units[:2]
    ordered = [*first, *(name for name in own if name not in first)]
    return list(attributes_of(frame, ordered, shown=[*first, "f"]))


def _scores(measures: Sequence[str]) -> list[Attribute]:
    """Return score and rank of each measure."""
    found = []
    for place, measure in enumerate(measures):
        title = measure_title(measure)
        score = Attribute(f"score {measure}", title, "number", of=title, part="score",
                          shown=place < SHOWN_SCORES)  # fmt: skip
        rank = Attribute(f"rank {measure}", f"{title} rank", "rank", of=title, part="rank",
                         shown=place < SHOWN_RANKS)  # fmt: skip
        found += [score, rank]
    return found


def _details(stage: StageView, frame: pl.DataFrame, opinions: Judged) -> list[Details]:
    first = "judged" if opinions.attributes else ""
    found = []
    examples = _examples(stage, frame["id"])
    if examples is not None:
        columns = (Attribute("doc", "document", "label"), Attribute("text", "text", "text"))
        found.append(Details("examples", "Examples", examples, columns, "concordance", first))
    if not opinions.records.is_empty():
        said = tuple(Attribute(name, name, "label") for name in opinions.records.columns[1:])
        found.append(Details("judgements", "Judgements", opinions.records, said, first=first))
    return found


def _examples(stage: StageView, ids: pl.Series) -> pl.DataFrame | None:
    """Return the examples of the candidates, from where they were found."""
    for source in sources(stage):
        if source.use in WITH_EXAMPLES:
            mine = pl.LazyFrame({"id": ids}).join(source.table("examples"), on="id", how="inner")
            examples = mine.sort("id", "number").select("id", "doc", "text").collect()
            if examples.height:
                return examples
    return None
