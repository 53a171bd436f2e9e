"""The n-best list of the chosen measure, for the lexicographer."""

from __future__ import annotations

from typing import Annotated, Literal

import polars as pl
from pydantic import Field

from pipeline.errors import ConfigError, Problem
from pipeline.stages.base import NBestList, Of, Outputs, StageConfig, Tables, stage
from pipeline.stages.columns import require
from schemas import Candidates, Choice, Judgements, ListRows, Ranks


class SheetList(StageConfig):
    """Deliver the chosen n-best list, with its estimated precision and what is known already."""

    choice: Annotated[str, Of(Choice)]
    """The measure and the list size."""
    ranks: Annotated[str, Of(Ranks)]
    """The rankings."""
    candidates: Annotated[str, Of(Candidates)]
    """The candidates, for their units and further columns."""
    judgements: Annotated[str | None, Of(Judgements)] = None
    """Judgements that are known; they stand beside the candidates."""
    folder: str = Field(pattern=r"^[\w-]+$")
    """Folder of the list, where the annotation sheets' folders are; a list that is there is never
    written over."""
    columns: tuple[str, ...] = ("f",)
    """Further columns of the candidates to show."""
    kind: Literal["xlsx", "csv"] = "xlsx"
    """Kind of file."""


@stage(
    "sheet.list",
    config=SheetList,
    outputs={"list": ListRows, "about": Choice},
    delivers=lambda config: NBestList(config.folder, config.kind),
)
def sheet_list(config: SheetList, tables: Tables) -> Outputs:
    """Put units, columns and judgements beside the ranks of the chosen list."""
    schema = tables["candidates"].collect_schema()
    require(schema, [("columns", name) for name in config.columns])
    choice = tables["choice"]
    best = (
        tables["ranks"]
        .join(choice.select("measure", "n", "category"), on="measure")
        .filter(pl.col("rank") <= pl.col("n"))
        .select("rank", "id", "score", "category")
    )
    further = [name for name in config.columns if name not in ListRows.columns()]
    units = tables["candidates"].select("id", "l1", "l2", *further)
    rows = best.join(units, on="id").join(_judgements(tables), on=["category", "id"], how="left")
    listed = rows.sort("rank").select(*ListRows.columns(), *further).collect()
    _require_all(choice.collect(), best.collect(), listed)
    return {"list": listed, "about": choice}


def _require_all(choice: pl.DataFrame, best: pl.DataFrame, listed: pl.DataFrame) -> None:
    """Refuse to deliver another list than the one that was chosen, or one with holes in it."""
    for measure, n in choice.select("measure", "n").iter_rows():
        if best.height < n:
            what = f"they have {best.height:,} of the {n:,} candidates chosen of {measure!r}"
            remedy = "take the rankings that the choice was made from"
            raise ConfigError("list", [Problem("ranks", what, remedy)])
    absent = best.join(listed, on="id", how="anti").sort("rank")
    if absent.height:
        shown = ", ".join(absent["id"].head(3))
        what = f"{absent.height:,} of the {best.height:,} candidates listed are not there"
        remedy = "take the candidates that have been ranked"
        raise ConfigError("list", [Problem("candidates", f"{what}, such as {shown}", remedy)])


def _judgements(tables: Tables) -> pl.LazyFrame:
    judgements = tables.get("judgements", Judgements.zero_rows())
    known = pl.when("tp").then(pl.lit("+")).otherwise(pl.lit("-"))
    sign = pl.when(pl.col("tp").is_null()).then(pl.lit("?")).otherwise(known)
    return judgements.select("category", "id", verdict=sign)
