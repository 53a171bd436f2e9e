"""What was said of candidates: by whom, and whether they are true positives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from pipeline.findings.stage import StageView
from pipeline.report.explorer.block import Attribute
from pipeline.report.explorer.tables import sources

TRUE, FALSE, OPEN = "true positive", "false positive", "undecided"
MOST_ANNOTATORS = 8
_VERDICTS = {True: TRUE, False: FALSE, None: OPEN}
_RECORDS = {"id": pl.String, "annotator": pl.String, "label": pl.String, "note": pl.String}


@dataclass(frozen=True)
class Judged:
    """Judgements on candidates.

    Parameters
    ----------
    columns : list of DataFrame
        Tables with id, each with columns that belong beside the candidates.
    attributes : list of Attribute
        Those columns.
    records : DataFrame
        Who said what: id, annotator, label, note, and the stage if there are several.
    """

    columns: list[pl.DataFrame]
    attributes: list[Attribute]
    records: pl.DataFrame


def judged(stage: StageView, ids: pl.Series) -> Judged:
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
        for each in stage.among.values()
        if each.use in {"join.table", "join.sheets"} and known & {s.name for s in sources(each)}
    ]
    mine = pl.LazyFrame({"id": ids})
    several = len(joined) > 1
    asked = sum(each.use == "join.sheets" for each in joined)
    pieces: list[tuple[pl.DataFrame, list[Attribute]]] = []
    records = [pl.DataFrame(schema=_RECORDS)]
    for each in joined:
        after = f" ({each.name})" if several else ""
        pieces += _verdicts(each, mine, after)
        if each.use == "join.sheets":
            pieces += _people(each, mine, after if asked > 1 else "")
            records.append(_said(each, mine))
    if not pieces:
        return Judged([], [], records[0])
    some = pl.concat([frame.select("id") for frame, _ in pieces]).unique(maintain_order=True)
    flag = some.with_columns(pl.lit(value=True).alias("judged"))
    every = pl.DataFrame({"id": ids}).join(flag, on="id", how="left")
    first = (every.with_columns(pl.col("judged").fill_null(value=False)),
             [Attribute("judged", "judged", "flag", shown=False)])  # fmt: skip
    pieces = [*pieces, first]
    said = pl.concat(records)
    if said["annotator"].n_unique() > 1 or not said.is_empty():
        said = said.sort("id", "annotator")
    return Judged([frame for frame, _ in pieces], [a for _, own in pieces for a in own], said)


def _verdicts(
    each: StageView, mine: pl.LazyFrame, after: str
) -> Iterator[tuple[pl.DataFrame, list[Attribute]]]:
    """Yield a column for each category of true positives."""
    table = each.table("judgements").join(mine, on="id", how="semi").collect()
    for (category,), rows in sorted(table.partition_by("category", as_dict=True).items()):
        name = f"judged {category}{after}"
        said = pl.col("tp").replace_strict(_VERDICTS, return_dtype=pl.String)
        yield rows.select("id", said.alias(name)), [Attribute(name, f"{category}{after}", "label")]


def _people(
    each: StageView, mine: pl.LazyFrame, after: str
) -> Iterator[tuple[pl.DataFrame, list[Attribute]]]:
    """Yield the label that stands, whether people differ, and what each of them said."""
    stands = each.table("adjudicated").join(mine, on="id", how="semi").collect()
    label, differ = f"judged label{after}", f"annotators differ{after}"
    found = stands.select("id", pl.col("label").alias(label))
    yield found, [Attribute(label, f"label{after}", "label")]
    annotations = each.table("annotations").join(mine, on="id", how="semi").collect()
    people = sorted(annotations["annotator"].unique())
    if len(people) > 1:
        several = stands.filter(pl.col("annotators") > 1)
        asked = several.select("id", (~pl.col("agreed")).alias(differ))
        yield asked, [Attribute(differ, f"annotators differ{after}", "flag", shown=False)]
    for person in people[:MOST_ANNOTATORS] if len(people) > 1 else []:
        name = f"judged by {person}{after}"
        own = annotations.filter(annotator=person).select("id", pl.col("label").alias(name))
        yield own, [Attribute(name, f"{person}{after}", "label", shown=False)]


def _said(each: StageView, mine: pl.LazyFrame) -> pl.DataFrame:
    rows = each.table("annotations").join(mine, on="id", how="semi").collect()
    return rows.select(pl.col(name).cast(dtype) for name, dtype in _RECORDS.items())
