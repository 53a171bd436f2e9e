"""Judgements and predictions of candidates, from tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field, model_validator

from pipeline.kernels import numeric
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.machine.judges import (
    duplicate_faults,
    probability,
    provenance,
    unknown_candidate_faults,
)
from pipeline.kernels.number_format import Kind, NumberFormat
from pipeline.kernels.sampling import candidate_id
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.inputs import NumberOptions, named_columns, require
from schemas import Coverage, Identified, Judgements, JudgesProvenance, Predictions

Unit: TypeAlias = Literal["l1", "l2"]
_UNITS: tuple[Unit, ...] = ("l1", "l2")
_JUDGEMENT_SPELLING = f"is no judgement ({', '.join(numeric.TRUE)} or {', '.join(numeric.FALSE)})"


# Judgements


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


@stage("join.table", config=JoinTable, outputs={"judgements": Judgements, "coverage": Coverage})
def join_table(config: JoinTable, tables: Tables) -> Outputs:
    """Keep the judgements on candidates; two different judgements on one pair are a fault."""
    raw = tables["path"]
    schema = raw.collect_schema()
    columns = {category: _column(source) for category, source in config.categories.items()}
    judged_by = [(f"categories.{new}", name) for new, name in columns.items()]
    names = named_columns(schema, config.columns, _UNITS, further=judged_by)
    judgements = {
        category: numeric.judgement(source) if isinstance(source, str) else _is_positive(source)
        for category, source in config.categories.items()
    }
    spelt = _spelt(config.categories, judgements)
    units = {name: numeric.text_or_null(name) for name in names.values()}
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
        numeric.faults(raw, parsed=units, problem=NO_WORD, required=True),
        *(
            [numeric.faults(raw, parsed=spelt, problem=_JUDGEMENT_SPELLING, required=False)]
            if spelt
            else []
        ),
        _contradictions(long, one, columns),
    ]
    return {
        "judgements": whole.sort("category", "id"),
        "coverage": _coverage(one, candidates, list(columns)),
        FAULTS: pl.concat(bad),
    }


def _column(source: str | LabelColumn) -> str:
    return source.column if isinstance(source, LabelColumn) else source


def _is_positive(source: LabelColumn) -> pl.Expr:
    """Return whether a label stands for a true positive; null where there is none."""
    label = pl.col(source.column).cast(pl.String).str.strip_chars()
    return pl.when(label != "").then(label.is_in(list(source.labels)))


def _spelt(
    categories: Mapping[str, str | LabelColumn], parsed: Mapping[str, pl.Expr]
) -> dict[str, pl.Expr]:
    """Return the columns whose values have a fixed spelling, each with what is parsed."""
    return {
        source: parsed[category]
        for category, source in categories.items()
        if isinstance(source, str)
    }


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


# Predictions of machines: labels or probabilities

Place: TypeAlias = Literal["id", "l1", "l2", "judge"]
_PREDICTION_SPELLING = (
    f"is neither a probability in [0, 1] nor a label ({', '.join(numeric.TRUE)} or"
    f" {', '.join(numeric.FALSE)})"
)


class JoinMachine(NumberOptions):
    """Join what a model or a program says of the candidates: predictions, never judgements."""

    path: TableSource
    """File or files with one row for each pair and judge."""
    candidates: Annotated[str, Of(Identified)]
    """The candidates that are predicted."""
    columns: dict[Place, str] = Field(default_factory=dict)
    """Names of l1, l2, id and judge in the file, where they differ. A row is known by its pair, or
    by the id where the file has no pair or `id` is named here."""
    categories: dict[str, str | LabelColumn] = Field(default_factory=dict)
    """Category of true positives to the column that holds a probability in [0, 1], or a label 1 or
    0 (empty: nothing is said), or to { column = ..., labels = [...] }. If left out, TP is the
    file's column `probability`, or `label`."""
    judge: str | None = Field(default=None, min_length=1)
    """Who predicts, if all rows are of one judge; else the file's column `judge` says it."""
    provenance: tuple[str, ...] = ()
    """Columns that say how the predictions were made, such as model, version, prompt; all that
    have no other use if left out."""
    others: Literal["refuse", "skip"] = "refuse"
    """What becomes of rows about pairs that are no candidates."""

    def number_columns(self, schema: pl.Schema) -> dict[str, Kind]:
        """Return the columns of probabilities."""
        columns = _columns(self, schema).values()
        return {each: "number" for each in columns if isinstance(each, str)}


@stage(
    "join.machine",
    config=JoinMachine,
    outputs={"predictions": Predictions, "judges_provenance": JudgesProvenance},
)
def join_machine(config: JoinMachine, tables: Tables) -> Outputs:
    """Read the predictions; rows that cannot be used are faults."""
    raw = tables["path"]
    schema = raw.collect_schema()
    units, columns = _units(config, schema), _columns(config, schema)
    by = None if config.judge else config.columns.get("judge", "judge")
    _require(config, schema, units, columns, by)
    judge = pl.lit(config.judge) if by is None else numeric.text_or_null(by).str.strip_chars()
    key = candidate_id(*units) if len(units) > 1 else pl.col(units[0]).cast(pl.String).alias("id")
    forms = config.formats(raw)
    parsed = {category: _prediction(source, forms) for category, source in columns.items()}
    rows = raw.with_columns(key).with_columns(**{"~judge": judge})
    known = rows.join(tables["candidates"].select("id"), on="id", how="semi")
    long = pl.concat(
        known.select("id", category=pl.lit(name), judge="~judge", prediction=each)
        for name, each in parsed.items()
    )
    used = {*units, *map(_column, columns.values()), "file", "line", "id", "l1", "l2", by}
    provenance_columns = config.provenance or [name for name in schema.names() if name not in used]
    return {
        "predictions": long.drop_nulls().select(*Predictions.columns()),
        "judges_provenance": provenance(known, provenance_columns),
        FAULTS: pl.concat([
            _unreadable(raw, columns, parsed, [*units, *([by] if by else [])], forms),
            duplicate_faults(rows, units),
            *(
                [unknown_candidate_faults(rows, tables["candidates"], units)]
                if config.others == "refuse" else []
            ),
        ]),
    }  # fmt: skip


def _units(config: JoinMachine, schema: pl.Schema) -> list[str]:
    """Return the columns that say which candidate a row is about: a pair, or an id."""
    pair = [config.columns.get("l1", "l1"), config.columns.get("l2", "l2")]
    named = config.columns.get("id", "id")
    by_id = "id" in config.columns or (named in schema and not set(pair) <= set(schema))
    return [named] if by_id else pair


def _columns(config: JoinMachine, schema: pl.Schema) -> Mapping[str, str | LabelColumn]:
    """Return the columns of predictions: those given, or the one that the file has."""
    if config.categories:
        return config.categories
    return {"TP": "label" if "label" in schema and "probability" not in schema else "probability"}


def _require(
    config: JoinMachine,
    schema: pl.Schema,
    units: list[str],
    columns: Mapping[str, str | LabelColumn],
    by: str | None,
) -> None:
    """Check that the file has the columns that it needs."""
    places = ("id",) if len(units) == 1 else ("l1", "l2")
    wanted = [(f"columns.{place}", name) for place, name in zip(places, units, strict=True)]
    wanted += [(f"categories.{name}", _column(each)) for name, each in columns.items()]
    wanted += [("judge", by)] if by else []
    require(schema, [*wanted, *(("provenance", name) for name in config.provenance)])


def _prediction(source: str | LabelColumn, forms: Mapping[str, NumberFormat]) -> pl.Expr:
    if isinstance(source, str):
        return probability(source, forms[source])
    return _is_positive(source).cast(pl.Float64)


def _unreadable(
    raw: pl.LazyFrame,
    columns: Mapping[str, str | LabelColumn],
    parsed: Mapping[str, pl.Expr],
    needed: list[str],
    forms: Mapping[str, NumberFormat],
) -> pl.LazyFrame:
    """Return the values that are empty but needed, or no prediction."""
    filled = {name: numeric.text_or_null(name) for name in needed}
    spelt = _spelt(columns, parsed)
    bad = [numeric.faults(raw, parsed=filled, problem=NO_WORD, required=True)]
    if spelt:
        bad.append(
            numeric.faults(
                raw, parsed=spelt, problem=_PREDICTION_SPELLING, required=False, forms=forms
            )
        )
    return pl.concat(bad)
