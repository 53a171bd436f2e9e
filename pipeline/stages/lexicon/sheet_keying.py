"""Keying sheets: lemmas to look up in a printed dictionary."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from pipeline.kernels.annotation.assignment import assign
from pipeline.kernels.hashing import candidate_id
from pipeline.stages.base import Of, Outputs, Seeded, Sheets, Tables, stage
from pipeline.stages.people import Names
from schemas import KeyingRows, LemmaSample, WordList


class SheetKeying(Seeded):
    """Lay out sheets on which the dictionary's forms of the sampled lemmas are keyed in."""

    lexicon: Annotated[str, Of(WordList)]
    """The lexicon, for the forms to show."""
    sample: Annotated[str, Of(LemmaSample)]
    """The lemmas to look up."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; a sheet that is there is never written again."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Who looks them up; each lemma is given to one of them."""
    shown: bool = True
    """Whether the forms of the lexicon stand beside the lemma."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """Kind of file."""
    instructions: str = ""
    """What the annotator should know, such as which dictionary to use."""


@stage(
    "sheet.keying",
    config=SheetKeying,
    outputs={"sheet": KeyingRows},
    delivers=lambda config: Sheets(config.folder, config.kind, "keying_sheet", config.instructions),
)
def sheet_keying(config: SheetKeying, tables: Tables) -> Outputs:
    """Give each lemma to somebody, and put its forms in the lexicon beside it."""
    lemmas = tables["sample"].select(candidate_id("lemma"), "lemma")
    assigned = assign(
        lemmas.select("id"), annotators=config.annotators, overlap=0.0, seed=config.seed
    )
    rows = assigned.join(lemmas, on="id").select("annotator", "order", "id", "lemma")
    if config.shown:
        forms = tables["lexicon"].drop_nulls("form").group_by("lemma")
        beside = forms.agg(lexicon_forms=pl.col("form").sort().str.join(", "))
        rows = rows.join(beside, on="lemma", how="left")
    return {"sheet": rows}
