"""Judgements from a table of annotated pairs."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.columns import require
from schemas import Coverage, Identified, Judgements

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")
_SPELLING = f"is no judgement ({', '.join(parsing.TRUE)} or {', '.join(parsing.FALSE)})"


class LabelColumn(StageConfig):
    """A column of labels, some of which stand for a true positive."""

    column: str
    """Name of the column; an empty field means not judged."""
    labels: tuple[str, ...] = Field(min_length=1)
    """The labels of true positives; every other label is a false positive."""


class JoinTable(StageConfig):
    """Join the judgements of an annotated table to the candidates."""

    path: TableSource
    """File or files with one row per annotated pair."""
    candidates: Annotated[str, Of(Identified)]
    """The candidates to judge."""
    columns: dict[Unit, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, where they differ."""
    categories: dict[str, str | LabelColumn] = Field(default={"TP": "TP"}, min_length=1)
    """Category of true positives to the column that says 1 or 0 (empty: not judged), or to
    { column = ..., labels = [...] }."""
    unions: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """A further category to those that it unites: true if one of them is, false if all are
    false, otherwise not judged."""

    @model_validator(mode="after")
    def _unites_categories(self) -> JoinTable:
        for name, parts in self.unions.items():
            unknown = [part for part in parts if part not in self.categories]
            if name in self.categories or unknown or not parts:
                names = ", ".join(self.categories)
                raise ValueError(
                    f"the union {name!r} needs a name of its own and parts among {names}"
                )
        return self

    def column_of(self, category: str) -> str:
        """Return the column that a category is judged by."""
        source = self.categories[category]
        return source.column if isinstance(source, LabelColumn) else source


@stage("join.table", config=JoinTable, outputs={"judgements": Judgements, "coverage": Coverage})
def join_table(config: JoinTable, tables: Tables) -> Outputs:
    """Keep the judgements on candidates; two different judgements on one pair are a fault."""
    raw = tables["path"]
    schema = raw.collect_schema()
    names = {each: config.columns.get(each, each) for each in _UNITS}
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    columns = {category: config.column_of(category) for category in config.categories}
    require(schema, [*wanted, *((f"categories.{new}", name) for new, name in columns.items())])
    judgements = {category: _judgement(config, category) for category in columns}
    spelt = {
        columns[category]: judgement
        for category, judgement in judgements.items()
        if isinstance(config.categories[category], str)
    }
    units = {name: parsing.filled(name) for name in names.values()}
    pairs = raw.with_columns(candidate_id(*names.values()))
    long = pl.concat(
        pairs.select("file", "line", "id", category=pl.lit(category), tp=judgement)
        for category, judgement in judgements.items()
    ).drop_nulls(["id", "tp"])
    one = long.group_by("category", "id").agg(pl.col("tp").first(), two=pl.col("tp").n_unique() > 1)
    candidates = tables["candidates"].select("id")
    judged = one.join(candidates, on="id", how="semi").select("category", "id", "tp")
    whole = pl.concat([judged, *(_union(judged, *each) for each in config.unions.items())])
    bad = [
        parsing.faults(raw, parsed=units, problem="is empty", required=True),
        *([parsing.faults(raw, parsed=spelt, problem=_SPELLING, required=False)] if spelt else []),
        _contradictions(long, one, columns),
    ]
    return {
        "judgements": whole.sort("category", "id"),
        "coverage": _coverage(one, candidates, list(columns)),
        FAULTS: pl.concat(bad),
    }


def _judgement(config: JoinTable, category: str) -> pl.Expr:
    source = config.categories[category]
    if isinstance(source, str):
        return parsing.judgement(source)
    label = pl.col(source.column).cast(pl.String).str.strip_chars()
    return pl.when(label != "").then(label.is_in(list(source.labels)))


def _union(judged: pl.LazyFrame, name: str, parts: tuple[str, ...]) -> pl.LazyFrame:
    """Return the judgements of a category that unites others; a part without judgement is open."""
    some = judged.filter(pl.col("category").is_in(parts)).group_by("id").agg(
        true=pl.col("tp").any(), all=pl.col("category").n_unique() == len(set(parts))
    )  # fmt: skip
    decided = some.filter(pl.col("true") | pl.col("all"))
    return decided.select(pl.lit(name).alias("category"), "id", tp="true")


def _contradictions(long: pl.LazyFrame, one: pl.LazyFrame, columns: dict[str, str]) -> pl.LazyFrame:
    twice = long.join(one.filter("two"), on=["category", "id"], how="semi")
    return twice.select(
        "file",
        "line",
        column=pl.col("category").replace(columns),
        value=pl.col("tp").cast(pl.String),
        problem=pl.lit("this pair has another judgement elsewhere"),
    )


def _coverage(one: pl.LazyFrame, known: pl.LazyFrame, categories: list[str]) -> pl.LazyFrame:
    every = pl.LazyFrame({"category": categories})
    inside = one.join(known, on="id", how="semi").group_by("category")
    judged = inside.agg(n_judged=pl.len().cast(pl.Int64), n_true=pl.col("tp").sum().cast(pl.Int64))
    outside = one.join(known, on="id", how="anti").group_by("category")
    unmatched = outside.agg(n_unmatched=pl.len().cast(pl.Int64))
    size = known.select(n_candidates=pl.len().cast(pl.Int64))
    counted = every.join(size, how="cross").join(judged, on="category", how="left")
    order = ("category", "n_candidates", "n_judged", "n_true", "n_unmatched")
    full = counted.join(unmatched, on="category", how="left").select(order)
    return full.with_columns(pl.exclude("category").fill_null(0)).sort("category")
