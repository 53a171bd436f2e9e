"""CoNLL-U: words with their attributes and heads; ranges and empty nodes are left out."""

from __future__ import annotations

import polars as pl

from pipeline.formats.base import CorpusOptions
from pipeline.formats.corpora import attributes, conllu_text, cuts
from pipeline.formats.corpora.conllu_marks import ATTRIBUTES, FIELDS, ID, NOT_A_WORD, begins
from pipeline.formats.corpora.conllu_scan import scanned
from pipeline.formats.corpora.corpus_format import corpus_format
from pipeline.formats.corpora.marks import (
    ALONE,
    BLANK,
    POSITION,
    RAW_HEAD,
    ROW,
    SPACE_AFTER,
    SURFACE,
    UNIT,
)
from pipeline.formats.corpora.parsing import Scan
from pipeline.formats.corpora.rules import Rule, Unique

_SENT_ID = r"^#\s*sent_id\s*=\s*(.*?)\s*$"
_UNKNOWN = -1


class ConlluOptions(CorpusOptions):
    """How a CoNLL-U file is read."""

    unique_sent_id: bool = False
    """Whether a ``# sent_id`` that comes twice in a file is a mistake."""


def _cut(content: bytes, _options: ConlluOptions) -> int:
    return cuts.after_blank_line(content)


def _rules(_options: ConlluOptions) -> list[Rule]:
    """Return the rules of ID."""
    identity, first = pl.col(ID), attributes.first_in_unit()
    word = pl.col(POSITION).is_not_null()
    shaped = pl.when(~word).then(identity).str.contains(NOT_A_WORD)
    unknown = ~shaped.fill_null(value=False)  # words aside, which come first
    number = pl.when(word).then(POSITION).when(unknown).then(_UNKNOWN).when(first).then(0)
    before = number.forward_fill().shift()
    expected = pl.when(first).then(1).when(before >= 0).then(before + 1)
    twice = pl.when(pl.col(POSITION).is_between(1, expected - 1)).then(pl.lit("duplicate ID"))
    order = pl.lit("not the ID ") + expected.cast(pl.String) + " that should follow"
    order = twice.otherwise(order)
    return [
        Rule(~shaped | identity.is_null(), "ID is no number, range or decimal", ID),
        Rule(pl.col(POSITION) != expected, order, ID),
    ]


def _unique(options: ConlluOptions) -> Unique | None:
    name = pl.col(ID).str.extract(_SENT_ID)
    named = ~pl.col(ROW) & pl.col(ALONE) & name.is_not_null()
    return Unique([name], "duplicate sent_id", name, named) if options.unique_sent_id else None


def _scan(options: ConlluOptions) -> Scan | None:
    return None if options.unique_sent_id else scanned


@corpus_format(
    "conllu",
    suffixes=[".conllu", ".conll"],
    cut=_cut,
    attributes=(*ATTRIBUTES, SURFACE, SPACE_AFTER),
    fields=FIELDS,
    rules=_rules,
    unique=_unique,
    scan=_scan,
    options=ConlluOptions,
)
def conllu_rows(lines: pl.LazyFrame, _options: ConlluOptions) -> pl.LazyFrame:
    """CoNLL-U: one row per word; a multiword range or an empty node is none.

    ``_`` and an empty field are null; an underscore that is form and lemma alike stays one.
    ``# newdoc`` begins a document, called by its number (``#2``) if it has no id, and
    ``# newpar`` a paragraph.

    References
    ----------
    https://universaldependencies.org/format.html
    """
    is_comment = pl.col(ID).str.starts_with("#").fill_null(value=False)
    form, lemma = pl.col("form"), pl.col("lemma")
    plain = [name for name in FIELDS[3:] if name != RAW_HEAD]
    marked = lines.with_columns(
        pl.col(BLANK).cum_sum().alias(UNIT),
        (~pl.col(BLANK) & ~is_comment).alias(ROW),
        pl.col(ID).cast(pl.Int64, strict=False).alias(POSITION),
        *begins(pl.when(is_comment).then(ID)),
        pl.when((form != "_") | (lemma == "_")).then(form),
        pl.when((lemma != "_") | (form == "_")).then(lemma),
        *(pl.when(pl.col(name) != "_").then(name) for name in plain),
    )
    return conllu_text.written(marked, identity=ID)
