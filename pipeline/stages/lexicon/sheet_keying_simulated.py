"""Keying sheets filled from a digitised dictionary, as a person who has the book would."""

from __future__ import annotations

from typing import Annotated

import polars as pl

from pipeline.stages.base import Of, Outputs, StageConfig, Tables, stage
from schemas import KeyedEntries, KeyingRows, WordList


class SheetKeyingSimulated(StageConfig):
    """Fill the keying sheets from a dictionary instead of by hand."""

    sheet: Annotated[str, Of(KeyingRows)]
    """What is to be looked up."""
    gold: Annotated[str, Of(WordList)]
    """The dictionary to look it up in."""


@stage("sheet.keying_simulated", config=SheetKeyingSimulated, outputs={"entries": KeyedEntries})
def sheet_keying_simulated(_config: SheetKeyingSimulated, tables: Tables) -> Outputs:
    """Put the known forms into every row of the sheet, or a - if there are none."""
    by_lemma = tables["gold"].drop_nulls("form").group_by("lemma")
    forms = by_lemma.agg(forms=pl.col("form").sort().str.join(", "))
    rows = tables["sheet"].join(forms, on="lemma", how="left").select(
        file=pl.concat_str("annotator", pl.lit(" (simulated)")), line=pl.col("order") + 1,
        annotator="annotator", id="id", lemma="lemma", forms=pl.col("forms").fill_null("-"),
        note=pl.lit(None, pl.String),
    )  # fmt: skip
    return {"entries": rows}
