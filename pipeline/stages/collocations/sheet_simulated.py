"""Sheets filled from known judgements, as an annotator who knows them would."""

from __future__ import annotations

from typing import Annotated

import polars as pl
from pydantic import Field

from pipeline.kernels import parsing
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import FAULTS, Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.columns import require
from schemas import SheetEntries, SheetRows
from schemas.tuples import arity, names_of_units


class SheetSimulated(StageConfig):
    """Fill the sheets from a table of labels instead of by hand."""

    sheet: Annotated[str, Of(SheetRows)]
    """What is to be annotated."""
    path: TableSource
    """File with the columns l1, l2 (of tuples l3 ..., too), label; candidates that it lacks stay
    without a label."""
    label: str = Field(default="label")
    """Column of the label."""


@stage("sheet.simulated", config=SheetSimulated, outputs={"entries": SheetEntries})
def sheet_simulated(config: SheetSimulated, tables: Tables) -> Outputs:
    """Put the known label into every row of the sheet."""
    raw = tables["path"]
    units = names_of_units(arity(tables["sheet"].collect_schema().names()))
    columns = [*(("path", unit) for unit in units), ("label", config.label)]
    require(raw.collect_schema(), columns)
    labels = raw.select(candidate_id(*units), label=pl.col(config.label).cast(pl.String))
    rows = tables["sheet"].join(labels.unique("id"), on="id", how="left").select(
        file=pl.concat_str(pl.col("annotator"), pl.lit(" (simulated)")),
        line=pl.col("order") + 1,
        annotator="annotator", id="id", l1="l1", l2="l2", label="label",
        note=pl.lit(None, pl.String), **{unit: pl.col(unit) for unit in units[2:]},
    )  # fmt: skip
    filled = {name: parsing.filled(name) for name in units}
    wrong = parsing.faults(raw, parsed=filled, problem="is empty", required=True)
    return {"entries": rows, FAULTS: wrong}
