"""A lexicon or dictionary as a canonical wordlist, whatever file it comes in."""

from __future__ import annotations

from typing import Literal, TypeAlias

import polars as pl
from pydantic import Field, field_validator

from pipeline.expressions import expression
from pipeline.kernels import parsing
from pipeline.kernels.lexicon.normalising import normalised
from pipeline.kernels.lexicon.wordlists import canonical, lex, sizes
from pipeline.stages.base import FAULTS, Outputs, Tables, TableSource, stage
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


@stage(
    "extract.lexicon",
    config=ExtractLexicon,
    outputs={"lexicon": WordList, "lemmas": LemmaList, "preparation": Preparation},
)
def extract_lexicon(config: ExtractLexicon, tables: Tables) -> Outputs:
    """Select rows, bring texts into one spelling, then list the forms of each lemma once."""
    raw = tables["path"]
    names = {each: config.columns.get(each, each) for each in _COLUMNS}
    wanted = [(f"columns.{each}", name) for each, name in names.items()]
    asked = expression(config.where).meta.root_names() if config.where else []
    wanted += [("where", name) for name in asked]
    require(raw.collect_schema(), [*wanted, *(("apart_by", name) for name in config.apart_by)])
    held = raw.filter(expression(config.where)) if config.where else raw
    text = {each: pl.col(name).cast(pl.String) for each, name in names.items()}
    apart = [pl.col(name).cast(pl.String).fill_null("") for name in config.apart_by]
    rows = held.select("file", "line", **text, apart=_key(apart)).collect()
    spelt, counts = normalised(_split(rows, config), config.spelling, columns=_COLUMNS)
    keyed = spelt.lazy().with_columns(_lemma(config), bare="lemma")
    forms = canonical(_with_lemmas(keyed) if config.lemma_is_form else keyed)
    lemmas = lex(keyed).join(sizes(forms, name="n_forms"), on="lemma")
    lexicon, listed = (each.collect() for each in (forms, lemmas))
    return {
        "lexicon": lexicon,
        "lemmas": listed.select(*LemmaList.columns()),
        "preparation": _preparation(rows, counts, listed, spelt),
        FAULTS: _faults(keyed, names, config),
    }


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


def _with_lemmas(keyed: pl.LazyFrame) -> pl.LazyFrame:
    own = keyed.select("lemma", form="bare")
    return pl.concat([keyed.select("lemma", "form"), own])


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


def _preparation(
    rows: pl.DataFrame, counts: pl.DataFrame, lemmas: pl.DataFrame, spelt: pl.DataFrame
) -> pl.DataFrame:
    """Count what was read, what was changed, and what is there."""
    filled = spelt.drop_nulls().select("lemma", "apart", "form")
    steps: list[Step] = [
        ("rows read", rows.height, None),
        *changed(counts),
        ("rows without a form", int(spelt["form"].is_null().sum()), None),
        ("rows that repeat another", filled.height - filled.n_unique(), None),
        ("lemmas", lemmas.height, None),
        ("lemmas without any form", int((lemmas["n_forms"] == 0).sum()), None),
        ("forms, each counted once per lemma", int(lemmas["n_forms"].sum()), None),
    ]
    return preparation(steps)
