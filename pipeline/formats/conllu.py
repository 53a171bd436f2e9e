"""CoNLL-U: words with their attributes and heads; ranges and empty nodes are left out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.formats import attributes, laws, lines
from pipeline.formats.base import LINE, CorpusOptions, Skipped, reader
from pipeline.formats.laws import HEAD, POSITION, UNIT, Law, Rows
from pipeline.formats.lines import TEXT

_ID = "~id"
_ATTRIBUTES = ("form", "lemma", "upos", "xpos", "feats", HEAD, "deprel", "deps", "misc")
_FIELDS = (_ID, *attributes.raw(_ATTRIBUTES))
_NOT_A_WORD = r"^[0-9]+(?:-[0-9]+|\.[0-9]+)$"
_SENT_ID = r"^#\s*sent_id\s*=\s*(.*?)\s*$"
_UNKNOWN = -1


class ConlluOptions(CorpusOptions):
    """How a CoNLL-U file is read."""

    unique_sent_id: bool = False
    """Whether a ``# sent_id`` that comes twice in a file is a mistake."""


def _check(path: Path, options: ConlluOptions) -> Sequence[Skipped]:
    lines.gate(path)
    return laws.verdict(path, _judged(path, options), lenient=options.lenient)


@reader(
    "conllu", suffixes=[".conllu", ".conll"], check=_check, options=ConlluOptions, kind="corpus"
)
def scan_conllu(path: Path, options: ConlluOptions) -> pl.LazyFrame:
    """CoNLL-U: one row per word; a multiword range or an empty node is none.

    ``_`` and an empty field are null; an underscore that is form and lemma alike stays one.
    ``# newdoc`` begins a document, called by its number (``#2``) if it has no id, and
    ``# newpar`` a paragraph.

    References
    ----------
    https://universaldependencies.org/format.html
    """
    if options.lenient:
        plan = laws.sound(_judged(path, options))
    else:
        plan = _words(lines.fields(path, _FIELDS), pl.col(_ID).is_null())
    return plan.filter(pl.col(POSITION).is_not_null()).select(attributes.columns(_ATTRIBUTES))


def _judged(path: Path, options: ConlluOptions) -> Rows:
    whole = lines.split(lines.lines(path, lenient=options.lenient), _FIELDS)
    blank = pl.col(TEXT) == ""
    others = _repeated(whole, blank) if options.unique_sent_id else None
    return Rows(_words(whole, blank), [*laws.field_laws(len(_FIELDS)), *_laws()], others)


def _words(plan: pl.LazyFrame, blank: pl.Expr) -> pl.LazyFrame:
    """Drop blank lines and comments; number the sentences and convert the fields."""
    rows = plan.with_columns(_block(blank), *_marks())
    rows = rows.filter(~(blank | _is_comment()).fill_null(value=False))
    form, lemma = pl.col("form"), pl.col("lemma")
    plain = [name for name in _ATTRIBUTES if name not in {"form", "lemma", HEAD}]
    return rows.with_columns(
        attributes.sentence_number(),
        pl.col(_ID).cast(pl.Int64, strict=False).alias(POSITION),
        *attributes.heads(_ATTRIBUTES),
        pl.when((form != "_") | (lemma == "_")).then(form),
        pl.when((lemma != "_") | (form == "_")).then(lemma),
        *(pl.when(pl.col(name) != "_").then(name) for name in plain),
    )


def _block(blank: pl.Expr) -> pl.Expr:
    return blank.fill_null(value=False).cum_sum().alias(UNIT)


def _is_comment() -> pl.Expr:
    return pl.col(_ID).str.starts_with("#")


def _marks() -> list[pl.Expr]:
    """Carry the document's name and the paragraph's number from the comments to the words."""
    comment = pl.when(_is_comment()).then(_ID)
    document = comment.str.contains(r"^#\s*newdoc(?:\s|$)").fill_null(value=False)
    paragraph = comment.str.contains(r"^#\s*newpar(?:\s|$)").fill_null(value=False)
    name = pl.when(document).then(comment).str.extract(r"\sid\s*=\s*(.*?)\s*$")
    count = pl.when(paragraph).then(paragraph.cum_sum()).when(document).then(0).forward_fill()
    return [
        attributes.document_name(name, document),
        pl.when(count > 0).then(count).cast(pl.Int64).alias("paragraph"),
    ]


def _laws() -> list[Law]:
    """Return the laws of ID and HEAD."""
    identity, first = pl.col(_ID), attributes.first_in_unit()
    word = pl.col(POSITION).is_not_null()
    shaped = pl.when(~word).then(identity).str.contains(_NOT_A_WORD)
    unknown = ~shaped.fill_null(value=False)  # words aside, which come first
    known = pl.when(word).then(POSITION).when(unknown).then(_UNKNOWN).when(first).then(0)
    before = known.forward_fill().shift()
    expected = pl.when(first).then(1).when(before >= 0).then(before + 1)
    twice = pl.when(pl.col(POSITION).is_between(1, expected - 1)).then(pl.lit("duplicate ID"))
    order = twice.otherwise(pl.format("not the ID {} that should follow", expected))
    return [
        Law(~shaped | identity.is_null(), pl.lit("ID is no number, range or decimal"), identity),
        Law(pl.col(POSITION) != expected, order, identity),
        *attributes.head_laws(_ATTRIBUTES),
    ]


def _repeated(plan: pl.LazyFrame, blank: pl.Expr) -> pl.LazyFrame:
    """Find the sentences whose sent_id came before."""
    named = plan.with_columns(_block(blank)).filter(_is_comment())
    value = named.select(LINE, UNIT, pl.col(TEXT).str.extract(_SENT_ID).alias("value"))
    again = value.drop_nulls("value").filter(~pl.col("value").is_first_distinct())
    return again.select(LINE, UNIT, pl.lit("duplicate sent_id").alias("problem"), "value")
