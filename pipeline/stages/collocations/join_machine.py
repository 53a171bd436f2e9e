"""Predictions from a table that a machine filled in: labels, or probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.machine.answers import doubled, probability, provenance, strange
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.collocations.join_table import LabelColumn
from pipeline.stages.columns import require
from schemas import Identified, JudgesProvenance, Predictions

Place: TypeAlias = Literal["id", "l1", "l2", "judge"]
_SAID = ("probability", "label")
_SPELLING = (
    f"is neither a probability in [0, 1] nor a label ({', '.join(parsing.TRUE)} or"
    f" {', '.join(parsing.FALSE)})"
)


class JoinMachine(StageConfig):
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
    judge = pl.lit(config.judge) if by is None else parsing.filled(by).str.strip_chars()
    key = candidate_id(*units) if len(units) > 1 else pl.col(units[0]).cast(pl.String).alias("id")
    said = {category: _prediction(source) for category, source in columns.items()}
    rows = raw.with_columns(key).with_columns(**{"~judge": judge})
    known = rows.join(tables["candidates"].select("id"), on="id", how="semi")
    long = pl.concat(
        known.select("id", category=pl.lit(name), judge="~judge", prediction=each)
        for name, each in said.items()
    )
    used = {*units, *map(_column, columns.values()), "file", "line", "id", "l1", "l2", by}
    told = config.provenance or [name for name in schema.names() if name not in used]
    return {
        "predictions": long.drop_nulls().select(*Predictions.columns()),
        "judges_provenance": provenance(known, told),
        FAULTS: pl.concat([
            _unreadable(raw, columns, said, [*units, *([by] if by else [])]),
            doubled(rows, units),
            *([strange(rows, tables["candidates"], units)] if config.others == "refuse" else []),
        ]),
    }  # fmt: skip


def _units(config: JoinMachine, schema: pl.Schema) -> list[str]:
    """Return the columns that say which candidate a row is about: a pair, or an id."""
    pair = [config.columns.get("l1", "l1"), config.columns.get("l2", "l2")]
    named = config.columns.get("id", "id")
    by_id = "id" in config.columns or (named in schema and not set(pair) <= set(schema))
    return [named] if by_id else pair


def _columns(config: JoinMachine, schema: pl.Schema) -> Mapping[str, str | LabelColumn]:
    """Return the columns that hold what is said: those given, or the one that the file has."""
    if config.categories:
        return config.categories
    return {"TP": next((name for name in _SAID if name in schema), _SAID[0])}


def _column(source: str | LabelColumn) -> str:
    return source.column if isinstance(source, LabelColumn) else source


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


def _prediction(source: str | LabelColumn) -> pl.Expr:
    if isinstance(source, str):
        return probability(source)
    label = pl.col(source.column).cast(pl.String).str.strip_chars()
    return pl.when(label != "").then(label.is_in(list(source.labels)).cast(pl.Float64))


def _unreadable(
    raw: pl.LazyFrame,
    columns: Mapping[str, str | LabelColumn],
    said: Mapping[str, pl.Expr],
    needed: list[str],
) -> pl.LazyFrame:
    """Return the values that are empty but needed, or no prediction."""
    filled = {name: parsing.filled(name) for name in needed}
    spelt = {
        source: said[category] for category, source in columns.items() if isinstance(source, str)
    }
    bad = [parsing.faults(raw, parsed=filled, problem="is empty", required=True)]
    if spelt:
        bad.append(parsing.faults(raw, parsed=spelt, problem=_SPELLING, required=False))
    return pl.concat(bad)
