"""What the type level says: which system comes first, the floor, missed classes, example words."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import polars as pl

from pipeline.findings import words
from pipeline.findings.clustering.evidence import (
    Run,
    by_mapping,
    first_run,
    gold_of,
    is_compared,
    limits_of,
    means,
)
from pipeline.findings.clustering.examples import example_words
from pipeline.findings.clustering.leading import QUESTION, First, first, leaders
from pipeline.findings.clustering.measures import title
from pipeline.findings.clustering.missed import missed_by, missed_by_all
from pipeline.findings.finding import Finding, finder
from pipeline.findings.names import slug
from pipeline.findings.stage import StageView


@finder(stages=("evaluate.type_level",), place=20)
def type_level(stage: StageView) -> Iterator[Finding]:
    """Say what the scores of types tell; which system comes first, unless another stage says so."""
    every = stage.table("scores").collect()
    scores = by_mapping(every)
    table = means(scores)
    found = first(table, "types")
    if found is None:
        return
    if not is_compared(stage):
        yield from leaders(table, "types", limits=partial(limits_of, scores))
    yield from floor(every, found)
    run = first_run(scores, found.system)
    measure, _, mapping = found.measure.rpartition(" ")
    under = {"measure": measure, "mapping": mapping}
    yield from _missed(stage, found, run, stage.table("classes").filter(**under).collect())
    mapped = stage.table("mapping").filter(run.rows).filter(**under).collect()
    yield from example_words(stage, run, mapped, unit="type", figure=f"mapping-{slug(run.system)}")


def floor(scores: pl.DataFrame, found: First) -> Iterator[Finding]:
    """Say what the leading measure would be if every cluster were mapped to the largest class.

    Parameters
    ----------
    scores : DataFrame
        `schemas.TypeLevel`.
    found : First
        What comes first.
    """
    measure, _, mapping = found.measure.rpartition(" ")
    rows = scores.filter(mapping="floor", measure=measure, system=found.system)
    if rows.is_empty() or mapping != "M-1":
        return
    value = float(rows.sort("run")["value"][0])
    said = f"{words.per_cent(value)} {title(found.measure)}"
    text = f"floor {said}: every cluster mapped to the largest class"
    yield Finding(
        about="floor", question=QUESTION, text=words.sentence(text), name=found.system, value=value
    )


def _missed(stage: StageView, found: First, run: Run, classes: pl.DataFrame) -> Iterator[Finding]:
    mine = classes.filter(run.rows)
    if mine.is_empty():
        return
    rows = mine.select("gold", pl.col("n_i").alias("n"), "uncovered")
    yield missed_by(
        run, found.measure, rows, share=_share(stage, list(mine.filter("uncovered")["gold"])),
        unit="type", figure=f"classes-{slug(run.system)}",
    )  # fmt: skip
    by_all = classes.group_by("gold").agg(pl.col("uncovered").all()).filter("uncovered")
    if by_all.height and found.of > 1:
        yield missed_by_all(sorted(by_all["gold"]), systems=found.of, of=mine.height)


def _share(stage: StageView, missed: list[str]) -> float | None:
    """Return the share of the types that have a missed class, those with several counted once."""
    gold = gold_of(stage)
    if gold is None:
        return None
    hit = pl.col("item").filter(pl.col("gold").is_in(missed)).n_unique()
    every, some = gold.select(pl.col("item").n_unique(), some=hit).collect().row(0)
    return float(some / every) if every else None
