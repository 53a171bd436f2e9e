"""What stands in filled annotation sheets, and one label of each person."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.annotation.rounds import ROUND
from schemas import SheetEntries
from schemas.tuples import arity, names_of_units


def units_of(sheet: pl.LazyFrame) -> tuple[str, ...]:
    """Return the columns of a sheet with the units of its candidates, from l1 on."""
    return names_of_units(arity(sheet.collect_schema().names()))


def of_units(entries: pl.LazyFrame, units: tuple[str, ...]) -> pl.LazyFrame:
    """Return entries with these units alone: a sheet of pairs may have an l3 of somebody's own."""
    there = entries.collect_schema().names()
    absent = [pl.lit(None, pl.String).alias(unit) for unit in units if unit not in there]
    told = [ROUND] if ROUND in there else []
    further = [unit for unit in units if unit not in SheetEntries.columns()]
    return entries.with_columns(absent).select(*SheetEntries.columns(), *further, *told)


def labels_of(typed: pl.LazyFrame) -> pl.LazyFrame:
    """Return one label of each person for an id, with all that the person notes on it."""
    person = ["id", "annotator"]
    each = typed.sort("file", "line").group_by(person, maintain_order=True)
    # A copy of the sheet repeats the label; what is noted there counts as well.
    said = pl.col("note").drop_nulls().unique(maintain_order=True)
    one = each.agg(
        label=pl.col("label").drop_nulls().first(),
        note=pl.when(said.len() > 0).then(said.str.join("; ")),
    )
    return one.drop_nulls("label")


def with_earlier(now: pl.LazyFrame, before: pl.LazyFrame) -> pl.LazyFrame:
    """Add the labels of an earlier round, but for those that somebody gave anew.

    Whoever was asked in this round has a say on what the round still asks for.
    """
    before = before.select(now.collect_schema().names())
    return pl.concat([now, before.join(now, on=["id", "annotator"], how="anti")])


def contradictions(before: pl.LazyFrame) -> pl.LazyFrame:
    """Return the labels of an earlier round that one person, in two spellings, gave one id."""
    twice = before.filter(pl.len().over("id", "annotator") > 1)
    problem = pl.format("{} gives {} several labels: keep one", "annotator", "id")
    return twice.select(
        file=pl.lit("table of the option 'earlier'"), line=pl.lit(0, pl.Int64),
        column=pl.lit("label"), value="label", problem=problem,
    )  # fmt: skip
