"""Token tables whose columns say where a token stands: sentence, document, paragraph."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from pipeline.formats.base import LINE
from pipeline.formats.corpora import attributes, cuts
from pipeline.formats.corpora.marks import (
    DOCUMENT,
    KEY,
    NAME,
    PARAGRAPH,
    POSITION,
    ROW,
    UNIT,
)
from pipeline.formats.corpora.rules import Rule, Unique

ROLES = ("file", "doc", "paragraph", "sentence")
"""Columns that say where a token stands. The reader numbers sentences and paragraphs itself:
a new one begins where the value changes."""
OWN = (LINE, POSITION)
"""Columns that the reader makes itself: one that is in the table is passed over."""


def role(name: str) -> str:
    """Return the name under which a column that is one of `ROLES` or `OWN` is read."""
    return f"~{name}" if name in {*ROLES, *OWN} else name


def fields_of(names: Collection[str]) -> list[str]:
    """Return the names under which the columns are read."""
    return [role(name) for name in attributes.raw(names)]


def attributes_of(names: Collection[str]) -> list[str]:
    """Return the columns that are attributes of the token, in order."""
    return [name for name in names if role(name) == name]


def marks(names: Collection[str], apart: pl.Expr) -> list[pl.Expr]:
    """Return `UNIT`, and the marks of documents and paragraphs if there are columns for them.

    Parameters
    ----------
    names : collection of str
        The columns of the table.
    apart : Expr
        Whether a line, which is no row, stands between two sentences.
    """
    unit = pl.any_horizontal(apart, *map(_changes, sentence_key(names)))
    marked = [unit.cum_sum().alias(UNIT)]
    if "doc" in names:
        doc = pl.col(role("doc"))
        marked += [_mark(doc, [role("doc")]).alias(DOCUMENT), doc.alias(NAME)]
    if "paragraph" in names:
        paragraph = _roles(names, "file", "doc", "paragraph")
        marked += [_mark(pl.col(role("paragraph")), paragraph).alias(PARAGRAPH)]
        marked += [pl.struct(paragraph).alias(KEY)]
    return marked


def sentence_key(names: Collection[str]) -> list[str]:
    """Return the columns whose change begins a sentence."""
    return _roles(names, "file", "doc", "sentence")


def _roles(names: Collection[str], *roles: str) -> list[str]:
    return [role(name) for name in roles if name in names]


def _mark(value: pl.Expr, key: Sequence[str]) -> pl.Expr:
    """Return where something begins, or, without a value, ends: where a part of the key changes."""
    return pl.when(pl.any_horizontal(map(_changes, key))).then(value.is_not_null())


def _changes(name: str) -> pl.Expr:
    """Return whether the value of a row differs from that of the row before, if there is one."""
    value = pl.when(ROW).then(pl.col(name).fill_null(""))
    return pl.col(ROW) & value.ne_missing(value.forward_fill().shift())


def rules(names: Collection[str]) -> list[Rule]:
    """Return the rule that every token has a sentence, if there is a column for it."""
    sentences = _roles(names, "sentence")
    return [Rule(pl.col(name).is_null(), "no sentence", pl.lit("")) for name in sentences]


def unique(names: Collection[str]) -> Unique | None:
    """Return that the rows of a sentence stand together, if there is a column for it."""
    if "sentence" not in names:
        return None
    says = "sentence comes twice: its rows do not stand together, or its document has no name"
    return Unique(sentence_key(names), says, role("sentence"))


def cut(content: bytes, names: Sequence[str]) -> int:
    """Return the end of the last sentence that is certain to end in a part of a table.

    It ends at a blank line; without any, where a column that tells sentences apart changes.
    """
    if blank := cuts.after_blank_line(content):
        return blank
    places = [index for index, name in enumerate(names) if name in ROLES and name != "paragraph"]
    end = cuts.after_last_line(content)
    after: list[bytes] | None = None
    while places and end > 0:
        start = content.rfind(b"\n", 0, end - 1) + 1
        fields = content[start:end].rstrip(b"\r\n").split(b"\t")
        key = [fields[index] for index in places if index < len(fields)]
        if after is not None and key != after:
            return end
        after, end = key, start
    return 0
