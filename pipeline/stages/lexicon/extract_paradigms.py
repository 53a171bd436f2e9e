"""A wordlist whose forms are generated from paradigm tables."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field

from pipeline.kernels.lexicon.normalising import normalised
from pipeline.kernels.lexicon.paradigms import generated
from pipeline.kernels.lexicon.wordlists import canonical
from pipeline.stages.base import FAULTS, Outputs, Tables, TableSource, stage
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


@stage(
    "extract.paradigms",
    config=ExtractParadigms,
    outputs={"lexicon": WordList, "preparation": Preparation},
)
def extract_paradigms(config: ExtractParadigms, tables: Tables) -> Outputs:
    """Put every ending of its paradigm to each stem; an unknown paradigm is a fault."""
    entries = _named(tables["entries"], _ENTRY, config)
    endings = _named(tables["paradigms"], _ENDING, config)
    forms = generated(entries.drop_nulls(), endings.drop_nulls("paradigm")).collect()
    spelt, counts = normalised(forms, config.spelling, columns=["lemma", "form"])
    lexicon = canonical(spelt.lazy()).collect()
    steps = [
        ("forms generated", forms.height, None),
        *changed(counts),
        ("lemmas", lexicon["lemma"].n_unique(), None),
        ("forms, each counted once per lemma", lexicon["form"].count(), None),
    ]
    return {
        "lexicon": lexicon, "preparation": preparation(steps), FAULTS: _faults(entries, endings),
    }  # fmt: skip


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
