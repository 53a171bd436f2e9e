"""A wordlist whose forms are generated from paradigm tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels.lexicon.entries import canonical_in_parts
from pipeline.kernels.lexicon.normalising import Change, counts_of, spelt
from pipeline.kernels.lexicon.paradigms import generated_in_parts
from pipeline.kernels.parts import spill_of
from pipeline.stages.base import FAULTS, Outputs, Tables, TableSource, as_one, stage
from pipeline.stages.columns import require
from pipeline.stages.lexicon.spelling import Spelt, changed, preparation
from schemas import Preparation, WordList

Column: TypeAlias = Literal["lemma", "stem", "paradigm", "ending"]
_ENTRY: tuple[Column, ...] = ("lemma", "stem", "paradigm")
_ENDING: tuple[Column, ...] = ("paradigm", "ending")


class ExtractParadigms(Spelt):
    """Generate the wordforms of lemmas from the paradigms that they name."""

    entries: TableSource
    """File with lemma, stem and paradigm; an entry may come again with another paradigm."""
    paradigms: TableSource
    """File with paradigm and ending: a suffix, or a pattern with ~ for the stem, ``n~u``."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of lemma, stem, paradigm and ending in the files, where they differ."""


def _pieces(config: ExtractParadigms, tables: Tables) -> Iterator[Outputs]:
    """Generate the forms, bring them into one spelling, then list those of each lemma once."""
    entries = _named(tables["entries"], _ENTRY, config)
    endings = _named(tables["paradigms"], _ENDING, config)
    yield {FAULTS: _faults(entries, endings)}
    generating = _Generating()
    with spill_of(1, pl.Schema(WordList.columns())) as laid:
        for part in generated_in_parts(entries.drop_nulls(), endings.drop_nulls("paradigm")):
            laid.add(generating.spelt(part, config), pl.lit(0))
        for lexicon in canonical_in_parts(laid):
            generating.count(lexicon)
            yield {"lexicon": lexicon}
    yield {"preparation": generating.preparation()}


@stage(
    "extract.paradigms",
    config=ExtractParadigms,
    outputs={"lexicon": WordList, "preparation": Preparation},
    pieces=_pieces,
)
def extract_paradigms(config: ExtractParadigms, tables: Tables) -> Outputs:
    """Put every ending of its paradigm to each stem; an unknown paradigm is a fault."""
    return as_one(_pieces(config, tables))


@dataclass
class _Generating:
    """What is counted while forms are generated; exists as long as that takes."""

    generated: int = 0
    lemmas: int = 0
    forms: int = 0
    changes: list[list[Change]] = field(default_factory=list)

    def spelt(self, rows: pl.DataFrame, config: ExtractParadigms) -> pl.DataFrame:
        """Return some of the generated forms in one spelling."""
        texts, changes = spelt(rows, config.spelling, columns=["lemma", "form"])
        self.generated += rows.height
        self.changes.append(changes)
        return texts.drop_nulls("lemma")

    def count(self, lexicon: pl.DataFrame) -> None:
        """Take down how large a part of the wordlist is."""
        self.lemmas += lexicon["lemma"].n_unique()
        self.forms += int(lexicon["form"].count())

    def preparation(self) -> pl.DataFrame:
        """Return what was done, step by step."""
        return preparation([
            ("forms generated", self.generated, None),
            *changed(counts_of(self.changes)),
            ("lemmas", self.lemmas, None),
            ("forms, each counted once per lemma", self.forms, None),
        ])  # fmt: skip


def _named(
    table: pl.LazyFrame, wanted: tuple[Column, ...], config: ExtractParadigms
) -> pl.LazyFrame:
    names = {each: config.columns.get(each, each) for each in wanted}
    require(table.collect_schema(), [(f"columns.{each}", name) for each, name in names.items()])
    return table.select("file", "line", **{new: pl.col(old) for new, old in names.items()})


def _faults(entries: pl.LazyFrame, endings: pl.LazyFrame) -> pl.LazyFrame:
    wrong = []
    for table, columns in ((entries, _ENTRY), (endings, _ENDING[:1])):
        for column in columns:
            empty = table.filter(pl.col(column).is_null())
            wrong.append(_fault(empty, column, "is empty"))
    unknown = entries.drop_nulls("paradigm").join(endings, on="paradigm", how="anti")
    wrong.append(_fault(unknown, "paradigm", "is not among the paradigms"))
    return pl.concat(wrong)


def _fault(rows: pl.LazyFrame, column: str, problem: str) -> pl.LazyFrame:
    return rows.select(
        "file", "line", column=pl.lit(column), value=pl.col(column), problem=pl.lit(problem)
    )
