"""A list or dictionary as gold standard: judgements of the candidates whose words it covers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field, model_validator

from pipeline.errors import ConfigError, DataError, Problem, did_you_mean
from pipeline.kernels import numeric
from pipeline.kernels.annotation.gold import (
    WORDS,
    Covered,
    judge_by_list,
    list_coverage,
    spelling,
    two_words,
)
from pipeline.stages.base import Of, Outputs, StageConfig, Tables, TableSource, stage
from pipeline.stages.collocations.judgements import reject_without_overlap
from pipeline.stages.inputs import named_columns
from schemas import GoldCoverage, Identified, Judgements

Place: TypeAlias = Literal["l1", "l2", "entry"]


class JoinGold(StageConfig):
    """Judge candidates by a list or dictionary, complete for the words that it covers."""

    path: TableSource
    """Lists with one entry of two words per row."""
    candidates: Annotated[str, Of(Identified)]
    """The candidates to judge."""
    covered: Covered
    """Candidates outside the list that count as false: those whose l1, l2 or ``either`` word the
    list has in the same place, or ``all``.
    """
    columns: dict[Place, str] = Field(default_factory=dict)
    """Names of l1 and l2 in the file, if different; or { entry = ... }: one column, whose entries
    are divided at blanks, hyphens and underscores.
    """
    compare: tuple[str, str] = WORDS
    """Columns of the candidates to compare with the two words."""
    either_order: bool = False
    """Ignore the order of the two words."""
    case: Literal["lower", "as_it_is"] = "as_it_is"
    """``lower`` ignores case."""
    category: str = Field(default="TP", min_length=1)
    """Name of the category of pairs that any file lists."""
    by_file: bool = False
    """One category per file instead, with its name: bbi.tsv makes bbi."""

    @model_validator(mode="after")
    def _words_or_entries(self) -> JoinGold:
        if "entry" in self.columns and len(self.columns) > 1:
            raise ValueError("columns: give either entry, or l1 and l2")
        if self.by_file and "category" in self.model_fields_set:
            raise ValueError("by_file = true names categories after files: omit category")
        return self

    def pairs(self, rows: pl.LazyFrame) -> pl.LazyFrame:
        """Return file, line, l1 and l2 as spelt in the lists; null if a row has not two words."""
        wanted: tuple[Place, ...] = ("entry",) if "entry" in self.columns else ("l1", "l2")
        names = named_columns(rows.collect_schema(), self.columns, wanted)
        texts = [numeric.text_or_null(name) for name in names.values()]
        first, second = two_words(texts[0]) if len(texts) == 1 else texts
        return rows.select("file", "line", l1=first, l2=second)


@stage(
    "join.gold",
    config=JoinGold,
    outputs={"judgements": Judgements, "coverage": GoldCoverage, "covered": Identified},
)
def join_gold(config: JoinGold, tables: Tables) -> Outputs:
    """Judge candidates that are listed, and those whose words are.

    Raises
    ------
    ConfigError
        If candidates lack a column to compare, or two files have the same name.
    DataError
        If no row has two words, or no entry is a candidate.
    """
    _require_columns(config, tables["candidates"].collect_schema().names())
    as_written = config.pairs(tables["path"])
    lower = config.case == "lower"
    words = [spelling(pl.col(word), lower=lower) for word in WORDS]
    rows = as_written.with_columns(*words, category=_category(config, as_written)).collect().lazy()
    compared = zip(WORDS, config.compare, strict=True)
    shown = tables["candidates"].select("id", **{word: pl.col(name) for word, name in compared})
    candidates = shown.with_columns(*words)
    entries = rows.drop_nulls(WORDS).select("category", *WORDS).unique()
    _require_entries(rows)
    judgements = judge_by_list(
        entries, candidates, covered=config.covered, either_order=config.either_order
    ).collect()
    if not judgements["tp"].any():
        reject_without_overlap(as_written.drop_nulls(WORDS), shown)
    coverage = list_coverage(rows, candidates, judgements.lazy(), either_order=config.either_order)
    judged = tables["candidates"].select("id").join(judgements.lazy(), on="id", how="semi")
    return {
        "judgements": judgements,
        "coverage": coverage.select(*GoldCoverage.columns()),
        "covered": judged.sort("id"),
    }


def _require_columns(config: JoinGold, there: Sequence[str]) -> None:
    """Reject columns to compare that the candidates lack."""
    problems = [
        Problem("compare", f"the candidates have no column {name!r}", did_you_mean(name, there))
        for name in config.compare
        if name not in there
    ]
    if problems:
        raise ConfigError("compare", problems)


def _category(config: JoinGold, rows: pl.LazyFrame) -> pl.Expr:
    """Return the category of each row."""
    if not config.by_file:
        return pl.lit(config.category)
    files = rows.select(pl.col("file").unique()).collect().to_series().sort().to_list()
    names = {file: PurePath(file).name.partition(".")[0] for file in files}
    for name in names.values():
        same = [file for file in files if names[file] == name]
        if len(same) > 1:
            what = f"{len(same)} files would make one category {name!r}: {', '.join(same)}"
            raise ConfigError("path", [Problem("path", what, "rename one of them")])
    return pl.col("file").replace_strict(names, return_dtype=pl.String)


def _require_entries(rows: pl.LazyFrame) -> None:
    """Reject lists without a row of two words."""
    readable = pl.all_horizontal(pl.col(WORDS).is_not_null())
    every, some, file = (
        rows.select(pl.len(), readable.sum(), pl.col("file").first()).collect().row(0)
    )
    if every and not some:
        raise DataError(
            f"none of the {every:,} rows of {file} has two words\n"
            'Name the columns, { l1 = "...", l2 = "..." }, or that of entries such as "ad hoc", '
            '{ entry = "..." }.'
        )
