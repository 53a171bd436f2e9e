"""The lines of CoNLL-U as rows: what they say, what they must keep to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.formats import lines
from pipeline.formats.base import LINE
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora import fast_checks as quick
from pipeline.formats.corpora import rules as laws
from pipeline.formats.corpora.carry import DOCUMENTS, NOTHING_BEFORE, PARAGRAPHS, Carry
from pipeline.formats.corpora.rules import HEAD, POSITION, UNIT, Law
from pipeline.formats.lines import TEXT

ATTRIBUTES = ("form", "lemma", "upos", "xpos", "feats", HEAD, "deprel", "deps", "misc")
ID = "~id"
FIELDS = (ID, *attributes.raw(ATTRIBUTES))

_NOT_A_WORD = r"^[0-9]+(?:-[0-9]+|\.[0-9]+)$"
_BEGINS = r"^#\s*new(?:doc|par)(?:\s|$)"
_SENT_ID = r"^#\s*sent_id\s*=\s*(.*?)\s*$"
_UNKNOWN = -1


def marked(plan: pl.LazyFrame, blank: pl.Expr, carry: Carry = NOTHING_BEFORE) -> pl.LazyFrame:
    """Give units their numbers, and carry document and paragraph from the comments to the words.

    Parameters
    ----------
    plan : LazyFrame
        Every line, with its `FIELDS`.
    blank : Expr
        Whether a line is blank.
    carry : Carry
        What went before.
    """
    comment = pl.when(_is_comment()).then(ID)
    document = comment.str.contains(r"^#\s*newdoc(?:\s|$)").fill_null(value=False)
    paragraph = comment.str.contains(r"^#\s*newpar(?:\s|$)").fill_null(value=False)
    name = pl.when(document).then(comment).str.extract(r"\sid\s*=\s*(.*?)\s*$")
    begun = paragraph.cum_sum().cast(pl.Int64) + carry.paragraphs
    count = pl.when(paragraph).then(begun).when(document).then(0).forward_fill()
    count = count.fill_null(carry.paragraph or 0)
    return plan.with_columns(
        blank.fill_null(value=False).cum_sum().alias(UNIT),
        attributes.document_name(name, document, carry),
        attributes.documents_begun(document, carry),
        pl.when(count > 0).then(count).alias("paragraph"),
        begun.alias(PARAGRAPHS),
    )


def placed(every: pl.DataFrame, carry: Carry) -> pl.DataFrame:
    """Do what `marked` does, looking at the few comments that begin something alone.

    Parameters
    ----------
    every : DataFrame
        Every line, with `LINE` and `ID`.
    carry : Carry
        What went before.
    """
    comments = every.lazy().filter(_is_comment()).select(LINE, ID)
    begins = comments.filter(pl.col(ID).str.contains(_BEGINS))
    events = marked(begins, pl.lit(value=False), carry).drop(ID, UNIT).collect()
    rows = every.lazy().set_sorted(LINE).join_asof(events.lazy().set_sorted(LINE), on=LINE)
    if carry.paragraph is not None:
        going_on = pl.col(DOCUMENTS).is_null()
        own = pl.when(going_on).then(carry.paragraph).otherwise("paragraph")
        rows = rows.with_columns(own.alias("paragraph"))
    return rows.with_columns(
        pl.col(ID).is_null().cum_sum().alias(UNIT),
        pl.col("doc").fill_null(carry.doc),
        pl.col(DOCUMENTS).fill_null(carry.documents),
        pl.col(PARAGRAPHS).fill_null(carry.paragraphs),
    ).collect()


def words(
    plan: pl.LazyFrame,
    blank: pl.Expr,
    carry: Carry = NOTHING_BEFORE,
    fields: Sequence[str] = FIELDS,
) -> pl.LazyFrame:
    """Drop blank lines and comments; number the sentences and convert the fields.

    Parameters
    ----------
    plan, blank, carry
        As `marked` gives it and takes them. Multiword ranges and empty nodes stay, without
        `POSITION`.
    fields : sequence of str
        The fields that are there.
    """
    rows = plan.filter(~(blank | _is_comment()).fill_null(value=False))
    form, lemma = pl.col("form"), pl.col("lemma")
    known = {
        "form": pl.when((form != "_") | (lemma == "_")).then(form),
        "lemma": pl.when((lemma != "_") | (form == "_")).then(lemma),
    }
    plain = [name for name in fields if name not in {*known, ID, attributes.RAW_HEAD}]
    return rows.with_columns(
        attributes.sentence_number(carry),
        pl.col(ID).cast(pl.Int64, strict=False).alias(POSITION),
        *attributes.heads(ATTRIBUTES),
        *(value for name, value in known.items() if name in fields),
        *(pl.when(pl.col(name) != "_").then(name) for name in plain),
    )


def _is_comment() -> pl.Expr:
    return pl.col(ID).str.starts_with("#")


def row_laws() -> list[Law]:
    """Return the laws of ID and HEAD."""
    identity, first = pl.col(ID), attributes.first_in_unit()
    word = pl.col(POSITION).is_not_null()
    shaped = pl.when(~word).then(identity).str.contains(_NOT_A_WORD)
    unknown = ~shaped.fill_null(value=False)  # words aside, which come first
    known = pl.when(word).then(POSITION).when(unknown).then(_UNKNOWN).when(first).then(0)
    before = known.forward_fill().shift()
    expected = pl.when(first).then(1).when(before >= 0).then(before + 1)
    twice = pl.when(pl.col(POSITION).is_between(1, expected - 1)).then(pl.lit("duplicate ID"))
    order = twice.otherwise(pl.format("not the ID {} that should follow", expected))
    return [
        *laws.field_laws(len(FIELDS)),
        Law(~shaped | identity.is_null(), pl.lit("ID is no number, range or decimal"), identity),
        Law(pl.col(POSITION) != expected, order, identity),
        *attributes.head_laws(ATTRIBUTES),
    ]


def lawful(content: bytes, rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return the tokens if it is certain that a part of a file breaks no law, else None.

    Parameters
    ----------
    content : bytes
        The part, which is text.
    rows : DataFrame
        Its `words`, with `LINE` (of the part), `UNIT`, `ID`, `POSITION`, `HEAD`, `RAW_HEAD` and
        `LAST`.
    """
    if not quick.has_fields(content, rows, width=len(FIELDS), before=0):
        return None
    word = pl.col(POSITION).is_not_null()
    others = rows.filter(~word).get_column(ID).str.contains(_NOT_A_WORD)
    tokens = rows.filter(word) if len(others) else rows
    shaped = others.fill_null(value=False).all()
    return tokens if shaped and _in_order(tokens) and quick.heads_inside(tokens) else None


def _in_order(tokens: pl.DataFrame) -> bool:
    """Return whether positions run from 1 in each unit."""
    if tokens.is_empty():
        return True
    position = tokens.get_column(POSITION).to_numpy()
    follows = np.append([1], position[:-1] + 1)
    return np.array_equal(position, np.where(quick.first_in_unit(tokens), 1, follows))


def repeated(whole: pl.LazyFrame, blank: pl.Expr) -> pl.LazyFrame:
    """Find the sentences whose sent_id came before: `LINE`, `UNIT`, problem, value."""
    plan = whole.with_columns(blank.fill_null(value=False).cum_sum().alias(UNIT))
    named = plan.filter(_is_comment())
    value = named.select(LINE, UNIT, pl.col(TEXT).str.extract(_SENT_ID).alias("value"))
    again = value.drop_nulls("value").filter(~pl.col("value").is_first_distinct())
    return again.select(LINE, UNIT, pl.lit("duplicate sent_id").alias("problem"), "value")


def needed(columns: Sequence[str]) -> list[str]:
    """Return the fields to read for these columns, those that the laws look at included."""
    wanted = {*attributes.raw(columns), ID, attributes.RAW_HEAD, FIELDS[-1]}
    wanted |= {"form", "lemma"} if wanted & {"form", "lemma"} else set()
    return [name for name in FIELDS if name in wanted]


def split(content: bytes, carry: Carry) -> pl.LazyFrame:
    """Return every line of a part of a file, with its text and `FIELDS`."""
    return lines.split(lines.lines_of(content, before=carry.lines).lazy(), FIELDS)
