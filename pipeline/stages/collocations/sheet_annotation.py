"""Annotation sheets: who annotates which candidates, in which order, with which examples."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field, ValidationInfo, field_validator

from pipeline.kernels.annotation.assignment import assign
from pipeline.stages.base import Of, Outputs, Seeded, Sheets, Tables, stage
from pipeline.stages.guidelines import check_guidelines
from pipeline.stages.people import Names
from schemas import AboutCandidates, Combinations, Examples, Labels, SheetRows
from schemas.tuples import unit_names


class SheetAnnotation(Seeded):
    """Lay out the annotation sheets of a sample: blind, in random order."""

    candidates: Annotated[str, Of(Combinations)]
    """The candidates, pairs or tuples, for their units."""
    sample: Annotated[str, Of(AboutCandidates)]
    """What is to be annotated: a sample, or any table of candidates, such as a pool or what
    annotators disagree on."""
    examples: Annotated[str | None, Of(Examples)] = None
    """Sentences to show beside each candidate."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the sheets; a sheet that is there is never written again."""
    labels: Names = Field(min_length=1)
    """What the annotator can choose."""
    annotators: Names = Field(default=("annotator",), min_length=1)
    """Who annotates."""
    overlap: float = Field(default=0.0, ge=0, le=1)
    """Share of the candidates that all annotators get."""
    shown: int = Field(default=3, ge=0)
    """Examples to show."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """Kind of file."""
    instructions: str = ""
    """What the annotator should know."""
    guidelines: dict[str, str] = Field(default_factory=dict)
    """Label to when it is given, a sentence or more; shown with the instructions."""

    @field_validator("guidelines")
    @classmethod
    def _guidelines_are_of_labels(
        cls, guidelines: dict[str, str], info: ValidationInfo
    ) -> dict[str, str]:
        if "labels" in info.data:  # else the labels are wrong, which is said already
            check_guidelines(guidelines, info.data["labels"])
        return guidelines


@stage(
    "sheet.annotation",
    config=SheetAnnotation,
    outputs={"sheet": SheetRows, "labels": Labels},
    delivers=lambda config: Sheets(
        config.folder,
        config.kind,
        "annotation_sheet",
        config.instructions,
        config.labels,
        config.guidelines,
    ),
)
def sheet_annotation(config: SheetAnnotation, tables: Tables) -> Outputs:
    """Assign the sampled candidates and put their examples beside them."""
    assigned = assign(
        tables["sample"].select("id"),
        annotators=config.annotators,
        overlap=config.overlap,
        seed=config.seed,
    )
    candidates = tables["candidates"]
    units = unit_names(candidates.collect_schema().names())
    rows = assigned.join(candidates.select("id", *units), on="id", how="inner")
    names = [f"example_{number}" for number in range(1, config.shown + 1)]
    if "examples" in tables and names:
        rows = rows.join(_beside(tables["examples"], names), on="id", how="left")
    columns = ["annotator", "order", "id", *units, *(names if "examples" in tables else [])]
    return {
        "sheet": rows.select(columns),
        "labels": pl.LazyFrame({"label": config.labels}),
    }


def _beside(examples: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
    """Put the examples of a candidate into columns."""
    nth = [
        pl.col("text").filter(pl.col("number") == number).first().alias(name)
        for number, name in enumerate(names, start=1)
    ]
    return examples.group_by("id").agg(nth)
