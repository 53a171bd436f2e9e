"""Extraction of wordlists from lexicons, from paradigm tables, and as unions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

import polars as pl
from pydantic import Field, field_validator

from pipeline.expressions import expression
from pipeline.kernels import cells
from pipeline.kernels.cells import NO_WORD
from pipeline.kernels.lexicon.wordlists import (
    ENTRY,
    Case,
    Change,
    Counts,
    Spelling,
    UnicodeForm,
    canonical_in_parts,
    counts_of,
    generate_forms_in_parts,
    listed_in_parts,
    normalise_batch,
    union,
)
from pipeline.kernels.partitions import batches, ranges_of, spill_of
from pipeline.stages.base import (
    FAULTS,
    LexiconSource,
    Of,
    Outputs,
    StageConfig,
    Tables,
    stage,
    tables_of_option,
)
from pipeline.stages.inputs import named_columns
from schemas import LemmaList, Preparation, WordList

# Normalisation of spelling

Step: TypeAlias = tuple[str, int, str | None]


class SpellingOptions(StageConfig):
    """Options for normalising lemmas and forms; surrounding blanks are always removed."""

    unicode: UnicodeForm = "NFC"
    """Unicode normal form of all texts: NFC, NFD, NFKC, NFKD or as_it_is."""
    case: Case = "as_it_is"
    """``lower`` converts all texts to lower case."""
    replace: dict[str, str] = Field(default_factory=dict)
    """Replacements, applied after these steps: { "ё" = "е" }."""

    @property
    def spelling(self) -> Spelling:
        """The steps of these options."""
        return Spelling(self.unicode, self.case, self.replace)


def change_steps(counts: pl.DataFrame) -> list[Step]:
    """Return the number of changes by each step, as rows of a preparation."""
    return [(f"texts changed: {step}", n, example) for step, n, example in counts.rows()]


def preparation(steps: Sequence[Step]) -> pl.DataFrame:
    """Return `schemas.Preparation`, the steps in order."""
    numbered = [(number, *step) for number, step in enumerate(steps, 1)]
    return pl.DataFrame(numbered, schema=Preparation.columns(), orient="row")


# Lexicons and dictionaries

Column: TypeAlias = Literal["lemma", "form"]
_COLUMNS: tuple[Column, ...] = ("lemma", "form")
_APART = "|"
"""Separator between a lemma and the fields that distinguish homographs."""


class ExtractLexicon(SpellingOptions):
    """Read a lexicon or dictionary: lemmas with their sets of wordforms."""

    path: LexiconSource
    """Files with lemmas and forms: TSV, CSV, Parquet, unimorph, wordform_blocks, treebank or
    analyses.
    """
    columns: dict[Column, str] = Field(default_factory=dict)
    """Names of lemma and form in the file, if different."""
    where: str = ""
    """SQL condition on the file's columns that selects rows: "pos = 'V'"."""
    apart_by: tuple[str, ...] = ()
    """Columns that distinguish homographs, e.g. pos; otherwise their forms are united."""
    forms_separator: str = ""
    """Separator of several forms in one field, e.g. ", " in a keyed dictionary."""
    lemma_is_form: bool = False
    """Count each lemma as one of its forms."""

    @field_validator("where")
    @classmethod
    def _check_where(cls, where: str) -> str:
        if where:
            expression(where)
        return where


@stage(
    "extract.lexicon",
    config=ExtractLexicon,
    outputs={"lexicon": WordList, "lemmas": LemmaList, "preparation": Preparation},
)
def extract_lexicon(config: ExtractLexicon, tables: Tables) -> Iterator[Outputs]:
    """List the forms of each lemma once."""
    reading, counts = _Reading(), Counts()
    with spill_of(1, ENTRY) as spill:
        for batch in batches(_rows(config, tables["path"])):
            spill.add(_entries(batch, config, reading), pl.lit(0))
        yield {FAULTS: pl.concat(reading.faults)}
        for lexicon, lemmas in listed_in_parts(spill, counts):
            if lexicon is not None:
                yield {"lexicon": lexicon}
            if lemmas is not None:
                yield {"lemmas": lemmas.select(*LemmaList.columns())}
    yield {"preparation": _preparation(reading, counts)}


@dataclass
class _Reading:
    """Counts and faults of rows read so far."""

    rows: int = 0
    without_form: int = 0
    changes: list[list[Change]] = field(default_factory=list)
    faults: list[pl.DataFrame] = field(default_factory=list)


def _rows(config: ExtractLexicon, raw: pl.LazyFrame) -> pl.LazyFrame:
    """Return the selected rows: file, line, lemma, form, and fields of homographs."""
    fields = expression(config.where).meta.root_names() if config.where else []
    further = [*(("where", name) for name in fields), *(("apart_by", n) for n in config.apart_by)]
    names = named_columns(raw.collect_schema(), config.columns, _COLUMNS, further=further)
    rows = raw.filter(expression(config.where)) if config.where else raw
    text = {each: pl.col(name).cast(pl.String) for each, name in names.items()}
    apart = [pl.col(name).cast(pl.String).fill_null("") for name in config.apart_by]
    key = pl.concat_str(apart, separator=_APART) if apart else pl.lit("")
    return rows.select("file", "line", **text, apart=key)


def _entries(rows: pl.DataFrame, config: ExtractLexicon, reading: _Reading) -> pl.DataFrame:
    """Return some rows as entries, and update counts and faults."""
    texts, changes = normalise_batch(_split(rows, config), config.spelling, columns=_COLUMNS)
    own = pl.col("lemma") if config.lemma_is_form else pl.lit(None, pl.String)
    joined = pl.concat_str("lemma", pl.lit(_APART), "apart") if config.apart_by else pl.col("lemma")
    keyed = texts.with_columns(joined.alias("lemma"), own=own)
    faults = _lexicon_faults(keyed.lazy(), config).collect()
    if faults.height or not reading.faults:
        reading.faults.append(faults)
    reading.rows += rows.height
    reading.without_form += int(keyed["form"].is_null().sum())
    reading.changes.append(changes)
    return keyed.drop_nulls("lemma")


def _split(rows: pl.DataFrame, config: ExtractLexicon) -> pl.DataFrame:
    """Split fields with several forms into rows."""
    if not config.forms_separator:
        return rows
    parts = pl.col("form").str.split(config.forms_separator.strip() or " ")
    # A trailing separator adds no form: only fields without any form leave an empty row.
    bare = parts.list.eval(pl.element().str.strip_chars())
    filled = bare.list.eval(pl.element().filter(pl.element() != ""))
    return rows.with_columns(filled).explode("form", empty_as_null=True)


def _lexicon_faults(keyed: pl.LazyFrame, config: ExtractLexicon) -> pl.LazyFrame:
    column = config.columns.get("lemma", "lemma")
    table = keyed.rename({"lemma": column}) if column != "lemma" else keyed
    words = {column: cells.text_or_null(column)}
    form = keyed.filter(pl.col("form").is_not_null() & cells.word(pl.col("form")).is_null())
    bad = [
        cells.faults(table, parsed=words, problem=NO_WORD, required=True),
        form.select(
            "file", "line", column=pl.lit(config.columns.get("form", "form")), value="form",
            problem=pl.lit(NO_WORD),
        ),
    ]  # fmt: skip
    if config.apart_by:
        more = len(config.apart_by)
        strange = keyed.filter(pl.col("lemma").str.count_matches(_APART, literal=True) > more)
        problem = f"contains {_APART!r}, which separates {', '.join(config.apart_by)}: replace it"
        bad.append(strange.select(
            "file", "line", column=pl.lit(column), value="lemma", problem=pl.lit(problem)
        ))  # fmt: skip
    return pl.concat(bad)


def _preparation(reading: _Reading, counts: Counts) -> pl.DataFrame:
    """Count rows read, changes and entries."""
    return preparation([
        ("rows read", reading.rows, None),
        *change_steps(counts_of(reading.changes)),
        ("rows without a form", reading.without_form, None),
        ("rows that repeat another", counts.repeated, None),
        ("lemmas", counts.lemmas, None),
        ("lemmas without any form", counts.without_forms, None),
        ("forms, each counted once per lemma", counts.forms, None),
    ])  # fmt: skip


# Forms generated from paradigm tables

ParadigmColumn: TypeAlias = Literal["lemma", "stem", "paradigm", "ending"]
_ENTRY: tuple[ParadigmColumn, ...] = ("lemma", "stem", "paradigm")
_ENDING: tuple[ParadigmColumn, ...] = ("paradigm", "ending")


class ExtractParadigms(SpellingOptions):
    """Generate the wordforms of lemmas from named paradigms."""

    entries: LexiconSource
    """File with lemma, stem and paradigm; a lemma may have several rows."""
    paradigms: LexiconSource
    """File with paradigm and ending: a suffix, or a pattern with ~ for the stem, e.g. ``n~u``."""
    columns: dict[ParadigmColumn, str] = Field(default_factory=dict)
    """Names of lemma, stem, paradigm and ending in the files, if different."""


@stage(
    "extract.paradigms",
    config=ExtractParadigms,
    outputs={"lexicon": WordList, "preparation": Preparation},
)
def extract_paradigms(config: ExtractParadigms, tables: Tables) -> Iterator[Outputs]:
    """Combine each stem with all endings of its paradigm; unknown paradigms are faults."""
    entries = _read_columns(tables["entries"], _ENTRY, config)
    endings = _read_columns(tables["paradigms"], _ENDING, config)
    yield {FAULTS: _paradigm_faults(entries, endings)}
    generating = _FormCounts()
    with spill_of(1, pl.Schema(WordList.columns())) as spill:
        for part in generate_forms_in_parts(entries.drop_nulls(), endings.drop_nulls("paradigm")):
            spill.add(generating.spell(part, config), pl.lit(0))
        for lexicon in canonical_in_parts(spill):
            generating.count(lexicon)
            yield {"lexicon": lexicon}
    yield {"preparation": generating.preparation()}


@dataclass
class _FormCounts:
    """Counts of forms generated so far."""

    generated: int = 0
    lemmas: int = 0
    forms: int = 0
    changes: list[list[Change]] = field(default_factory=list)

    def spell(self, rows: pl.DataFrame, config: ExtractParadigms) -> pl.DataFrame:
        """Return some generated forms, normalised."""
        texts, changes = normalise_batch(rows, config.spelling, columns=["lemma", "form"])
        self.generated += rows.height
        self.changes.append(changes)
        return texts.drop_nulls("lemma")

    def count(self, lexicon: pl.DataFrame) -> None:
        """Add the counts of a part of the wordlist."""
        self.lemmas += lexicon["lemma"].n_unique()
        self.forms += int(lexicon["form"].count())

    def preparation(self) -> pl.DataFrame:
        """Return the steps of the preparation."""
        return preparation([
            ("forms generated", self.generated, None),
            *change_steps(counts_of(self.changes)),
            ("lemmas", self.lemmas, None),
            ("forms, each counted once per lemma", self.forms, None),
        ])  # fmt: skip


def _read_columns(
    table: pl.LazyFrame, columns: tuple[ParadigmColumn, ...], config: ExtractParadigms
) -> pl.LazyFrame:
    names = named_columns(table.collect_schema(), config.columns, columns)
    return table.select("file", "line", **{new: pl.col(old) for new, old in names.items()})


def _paradigm_faults(entries: pl.LazyFrame, endings: pl.LazyFrame) -> pl.LazyFrame:
    wrong = []
    for table, columns in ((entries, _ENTRY), (endings, _ENDING[:1])):
        for column in columns:
            text = pl.col(column)
            bare = cells.is_error(text) if column == "stem" else cells.word(text).is_null()
            wrong.append(_fault(table.filter(text.is_null() | bare), column, NO_WORD))
    wrong.append(_fault(endings.filter(cells.is_error(pl.col("ending"))), "ending", NO_WORD))
    unknown = entries.drop_nulls("paradigm").join(endings, on="paradigm", how="anti")
    wrong.append(_fault(unknown, "paradigm", "is not a known paradigm"))
    return pl.concat(wrong)


def _fault(rows: pl.LazyFrame, column: str, problem: str) -> pl.LazyFrame:
    return rows.select(
        "file", "line", column=pl.lit(column), value=pl.col(column), problem=pl.lit(problem)
    )


# Union of wordlists


class ExtractUnion(StageConfig):
    """Unite wordlists: all lemmas, each with the forms of all lists."""

    lexicons: Annotated[tuple[str, ...], Of(WordList)] = Field(min_length=1)
    """The wordlists, in any order."""


@stage("extract.union", config=ExtractUnion, outputs={"lexicon": WordList})
def extract_union(config: ExtractUnion, tables: Tables) -> Iterator[Outputs]:
    """Join the lists on the lemma, and unite the forms."""
    wordlists = tables_of_option(tables, "lexicons", config.lexicons)
    ranges = ranges_of("lemma", *wordlists)
    for number in range(len(ranges)):
        parts = (ranges.of(each, number, by="lemma") for each in wordlists)
        yield {"lexicon": union(*parts).sort("lemma", "form")}
