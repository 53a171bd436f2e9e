"""A lexicon or dictionary as a canonical wordlist, whatever file it comes in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field, field_validator

from pipeline.expressions import expression
from pipeline.kernels import parsing
from pipeline.kernels.lexicon.entries import ENTRY, Counts, listed_in_parts
from pipeline.kernels.lexicon.normalising import Change, counts_of, spelt
from pipeline.kernels.parts import batches, spill_of
from pipeline.stages.base import FAULTS, Outputs, Tables, TableSource, as_one, stage
from pipeline.stages.columns import require
from pipeline.stages.lexicon.spelling import Spelt, Step, changed, preparation
from schemas import LemmaList, Preparation, WordList

Column: TypeAlias = Literal["lemma", "form"]
_COLUMNS: tuple[Column, ...] = ("lemma", "form")
_APART = "|"
"""Between a lemma and what keeps its homographs apart."""


class ExtractLexicon(Spelt):
    """Read a lexicon or dictionary: its lemmas, and the set of wordforms of each."""

    path: TableSource
    """File or files with lemmas and forms: TSV, CSV, Parquet, or one of the formats unimorph,
    wordform_blocks, treebank, analyses."""
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of lemma and form in the file, where they differ."""
    where: str = ""
    """Rows to read, as a condition in SQL over the file's columns: "pos = 'V'"."""
    apart_by: tuple[str, ...] = ()
    """Columns that keep homographs apart, such as pos or the number of a headword; left out, their
    forms are united."""
    forms_separator: str = ""
    """What stands between forms that share a field: ", " in a printed dictionary keyed in."""
    lemma_is_form: bool = False
    """Count each lemma among its own forms, as a headword is one in most dictionaries."""

    @field_validator("where")
    @classmethod
    def _parsed(cls, where: str) -> str:
        if where:
            expression(where)
        return where


def _pieces(config: ExtractLexicon, tables: Tables) -> Iterator[Outputs]:
    """Select rows, bring texts into one spelling, then list the forms of each lemma once."""
    names = {each: config.columns.get(each, each) for each in _COLUMNS}
    read, counts = Reading(), Counts()
    with spill_of(1, ENTRY) as laid:
        for batch in batches(_rows(config, names, tables["path"])):
            laid.add(_entries(batch, names, config, read), pl.lit(0))
        yield {FAULTS: pl.concat(read.faults)}
        for lexicon, lemmas in listed_in_parts(laid, counts):
            if lexicon is not None:
                yield {"lexicon": lexicon}
            if lemmas is not None:
                yield {"lemmas": lemmas.select(*LemmaList.columns())}
    yield {"preparation": _preparation(read, counts)}


@stage(
    "extract.lexicon",
    config=ExtractLexicon,
    outputs={"lexicon": WordList, "lemmas": LemmaList, "preparation": Preparation},
    pieces=_pieces,
)
def extract_lexicon(config: ExtractLexicon, tables: Tables) -> Outputs:
    """List the forms of each lemma once."""
    return as_one(_pieces(config, tables))


@dataclass
class Reading:
    """What is found while rows are read; exists as long as that takes."""

    rows: int = 0
    without_form: int = 0
    changes: list[list[Change]] = field(default_factory=list)
    faults: list[pl.DataFrame] = field(default_factory=list)


def _rows(config: ExtractLexicon, names: dict[Column, str], raw: pl.LazyFrame) -> pl.LazyFrame:
    """Return the rows to read: file, line, lemma, form, and what keeps homographs apart."""
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    asked = expression(config.where).meta.root_names() if config.where else []
    wanted += [("where", name) for name in asked]
    require(raw.collect_schema(), [*wanted, *(("apart_by", name) for name in config.apart_by)])
    held = raw.filter(expression(config.where)) if config.where else raw
    text = {each: pl.col(name).cast(pl.String) for each, name in names.items()}
    apart = [pl.col(name).cast(pl.String).fill_null("") for name in config.apart_by]
    return held.select("file", "line", **text, apart=_key(apart))


def _entries(
    rows: pl.DataFrame, names: dict[Column, str], config: ExtractLexicon, read: Reading
) -> pl.DataFrame:
    """Return some rows as entries, and take down what was found in them."""
    texts, changes = spelt(_split(rows, config), config.spelling, columns=_COLUMNS)
    own = pl.col("lemma") if config.lemma_is_form else pl.lit(None, pl.String)
    keyed = texts.with_columns(_lemma(config), own=own)
    faults = _faults(keyed.lazy(), names, config).collect()
    if faults.height or not read.faults:
        read.faults.append(faults)
    read.rows += rows.height
    read.without_form += int(keyed["form"].is_null().sum())
    read.changes.append(changes)
    return keyed.drop_nulls("lemma")


def _key(apart: list[pl.Expr]) -> pl.Expr:
    return pl.concat_str(apart, separator=_APART) if apart else pl.lit("")


def _split(rows: pl.DataFrame, config: ExtractLexicon) -> pl.DataFrame:
    """Give every form a row of its own where a field lists several."""
    if not config.forms_separator:
        return rows
    parts = pl.col("form").str.split(config.forms_separator.strip() or " ")
    # A separator at the end lists no form: only a field without any leaves an empty row.
    bare = parts.list.eval(pl.element().str.strip_chars())
    filled = bare.list.eval(pl.element().filter(pl.element() != ""))
    return rows.with_columns(filled).explode("form", empty_as_null=True)


def _lemma(config: ExtractLexicon) -> pl.Expr:
    joined = pl.concat_str("lemma", pl.lit(_APART), "apart") if config.apart_by else pl.col("lemma")
    return joined.alias("lemma")


def _faults(keyed: pl.LazyFrame, names: dict[Column, str], config: ExtractLexicon) -> pl.LazyFrame:
    column = names["lemma"]
    named = keyed.rename({"lemma": column}) if column != "lemma" else keyed
    bad = [parsing.faults(
        named, parsed={column: pl.col(column)}, problem="is empty", required=True
    )]  # fmt: skip
    if config.apart_by:
        more = len(config.apart_by)
        strange = keyed.filter(pl.col("lemma").str.count_matches(_APART, literal=True) > more)
        problem = f"holds {_APART!r}, which sets off {', '.join(config.apart_by)}: replace it"
        bad.append(strange.select(
            "file", "line", column=pl.lit(column), value="lemma", problem=pl.lit(problem)
        ))  # fmt: skip
    return pl.concat(bad)


def _preparation(read: Reading, counts: Counts) -> pl.DataFrame:
    """Count what was read, what was changed, and what is there."""
    steps: list[Step] = [
        ("rows read", read.rows, None),
        *changed(counts_of(read.changes)),
        ("rows without a form", read.without_form, None),
        ("rows that repeat another", counts.repeated, None),
        ("lemmas", counts.lemmas, None),
        ("lemmas without any form", counts.without_forms, None),
        ("forms, each counted once per lemma", counts.forms, None),
    ]
    return preparation(steps)
