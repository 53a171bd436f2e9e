"""Structures of vertical text: where tags stand, what they enclose, whether they nest."""

from __future__ import annotations

import re
from collections.abc import Mapping

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.corpora import attributes
from pipeline.formats.corpora.carry import NOTHING_BEFORE, PARAGRAPHS, Carry
from pipeline.formats.corpora.rules import UNIT

TAG = "~tag"
"""Column with a line that is a tag, null for tokens."""

_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_LEVEL, _OPENS = "~level", "~opens"
_SHAPE = r"^<[\pL_/?!].*>$"


def tags(field: pl.Expr, alone: pl.Expr) -> pl.Expr:
    """Return `TAG`: a line without tabs that begins ``<x``, ``</``, ``<?`` or ``<!``, ends ``>``.

    Parameters
    ----------
    field : Expr
        The first field of the line.
    alone : Expr
        Whether it is the only one.

    Examples
    --------
    >>> lines = pl.DataFrame({"word": ["<s>", "<3", "</text >", "a>"]})
    >>> lines.select(tags(pl.col("word"), pl.lit(value=True)))[TAG].to_list()
    ['<s>', None, '</text >', None]
    """
    # Regular expressions on nulls cost nothing: only lines that may be tags reach them.
    likely = pl.when(field.str.starts_with("<") & alone).then(field).str.strip_chars_end()
    return pl.when(likely.str.contains(_SHAPE)).then(likely).alias(TAG)


def decoded(value: pl.Expr) -> pl.Expr:
    """Return text with the five entities of XML replaced by what they stand for, once.

    Examples
    --------
    >>> pl.select(decoded(pl.lit("&lt;s&gt; &amp;amp;"))).item()
    '<s> &amp;'
    """
    return value.str.replace_many(_ENTITIES)


def events(names: Mapping[int, str]) -> list[pl.Expr]:
    """Return level and direction of the tags of these structures, null for all other lines.

    Parameters
    ----------
    names : mapping of int to str
        Level (0 sentence, 1 paragraph, 2 document) to the structure's name; "" for none.
    """
    name = pl.col(TAG).str.extract(r"^</?([^\s/>]+)")
    whole = ~pl.col(TAG).str.ends_with("/>")
    level = pl.lit(None, pl.Int64)
    for number, structure in names.items():
        level = pl.when(whole & (name == structure)).then(number).otherwise(level)
    opens = pl.when(level.is_not_null()).then(~pl.col(TAG).str.starts_with("</"))
    return [level.cast(pl.Int64).alias(_LEVEL), opens.alias(_OPENS)]


def unit(*, sentences: bool) -> pl.Expr:
    """Return `UNIT`: the number of the sentence around a token, null outside of sentences.

    Without a structure for sentences a unit is what stands between two tags.
    """
    level, opens = pl.col(_LEVEL), pl.col(_OPENS)
    if not sentences:
        return level.is_not_null().cum_sum().cast(pl.Int64).alias(UNIT)
    begins = ((level == 0) & opens).fill_null(value=False)
    number = begins.cum_sum().cast(pl.Int64)
    inside = pl.when(begins).then(number).when(level.is_not_null()).then(0).forward_fill()
    return pl.when(inside > 0).then(inside).alias(UNIT)


def paragraph(carry: Carry = NOTHING_BEFORE) -> list[pl.Expr]:
    """Return the 1-based number of the paragraph around a token, null outside; `PARAGRAPHS`."""
    level, opens = pl.col(_LEVEL), pl.col(_OPENS)
    begins = ((level == 1) & opens).fill_null(value=False)
    number = begins.cum_sum().cast(pl.Int64) + carry.paragraphs
    inside = pl.when(begins).then(number).when(level >= 1).then(0).forward_fill()
    return [pl.when(inside > 0).then(inside).alias("paragraph"), number.alias(PARAGRAPHS)]


def document(attribute: str, *, entities: bool, carry: Carry = NOTHING_BEFORE) -> list[pl.Expr]:
    """Return the name of the document around a token, its number if it has none; `DOCUMENTS`.

    Parameters
    ----------
    attribute : str
        The attribute of the tag that holds the name.
    entities : bool
        Whether it is to be `decoded`.
    carry : Carry
        What went before.
    """
    level, opens = pl.col(_LEVEL), pl.col(_OPENS)
    begins = ((level == 2) & opens).fill_null(value=False)
    tag = pl.when(begins).then(TAG)
    quoted = rf"""\s{re.escape(attribute)}\s*=\s*(?:"([^"]*)"|'([^']*)')"""
    name = pl.coalesce(tag.str.extract(quoted, 1), tag.str.extract(quoted, 2))
    named = attributes.document_name(decoded(name) if entities else name, begins, carry)
    inside = pl.when(begins).then(1).when(level == 2).then(0).forward_fill()
    doc = pl.when(inside == 1).then(named).otherwise(pl.lit("")).alias("doc")
    return [doc, attributes.documents_begun(begins, carry)]


def cut(content: bytes, names: Mapping[int, str]) -> int:
    """Return the end of the last structure that certainly holds others and is whole.

    Parameters
    ----------
    content : bytes
        A part of a file that begins outside of all structures.
    names : mapping of int to str
        As for `events`. The highest structure that occurs counts.
    """
    for level in sorted(names, reverse=True):
        name = re.escape(names[level].encode())
        if names[level] and re.search(rb"^<" + name + rb"[\s>]", content, re.MULTILINE):
            return _last_end(content, b"\n</" + names[level].encode())
    return 0


def _last_end(content: bytes, tag: bytes) -> int:
    """Return where the line of the last such tag ends."""
    at = len(content)
    while (at := content.rfind(tag, 0, at)) >= 0:
        rest = content[at + len(tag) : at + len(tag) + 1]
        end = content.find(b"\n", at + 1) + 1
        if end and rest in b" \t\r>":
            return end
    return 0


def flaws(plan: pl.LazyFrame, names: Mapping[int, str]) -> pl.LazyFrame | None:
    """Return the tags that enclose nothing whole: `LINE`, `UNIT`, problem, value.

    None if no structure has a name. A structure must be closed before the next of its
    kind, or one around it, begins or ends.

    Parameters
    ----------
    plan : LazyFrame
        The lines with `TAG`, `UNIT` and the `events`.
    names : mapping of int to str
        As for `events`.
    """
    found = plan.filter(pl.col(_LEVEL).is_not_null()).select(LINE, UNIT, TAG, _LEVEL, _OPENS)
    levels = [_unmatched(found, level, name) for level, name in names.items() if name]
    return pl.concat(levels) if levels else None


def _unmatched(found: pl.LazyFrame, level: int, name: str) -> pl.LazyFrame:
    """Judge the tags of one level by those that stand before and after on it or above."""
    own, opens = pl.col(_LEVEL) == level, pl.col(_OPENS)
    closed = (own & ~opens).shift(-1).fill_null(value=False)
    opened = (own & opens).shift().fill_null(value=False)
    end = pl.col(LINE).shift(-1).cast(pl.String).fill_null("end of file")
    problem = (
        pl.when(opens & ~closed)
        .then(pl.lit(f"<{name}> is not closed where the next begins or ends: ") + end)
        .when(~opens & ~opened)
        .then(pl.lit(f"</{name}> closes nothing"))
    )
    unit = pl.when(pl.lit(level == 0) & opens).then(UNIT).alias(UNIT)
    judged = found.filter(pl.col(_LEVEL) >= level)
    judged = judged.select(LINE, unit, own.alias("~own"), problem.alias("problem"), TAG)
    return judged.filter(pl.col("~own") & pl.col("problem").is_not_null()).select(
        LINE, UNIT, "problem", pl.col(TAG).alias("value")
    )
