"""CoNLL-U: what its fields are called, and what comments and IDs say."""

from __future__ import annotations

import polars as pl

from pipeline.formats.corpora import attributes
from pipeline.formats.corpora.marks import DOCUMENT, HEAD, NAME, PARAGRAPH

ATTRIBUTES = ("form", "lemma", "upos", "xpos", "feats", HEAD, "deprel", "deps", "misc")
ID = "~id"
FIELDS = (ID, *attributes.raw(ATTRIBUTES))

NOT_A_WORD = r"^[0-9]+(?:-[0-9]+|\.[0-9]+)$"
"""The ID of a range, or of an empty node."""


def begins(comment: pl.Expr) -> list[pl.Expr]:
    """Return `DOCUMENT`, `NAME` and `PARAGRAPH` of comments, null for others.

    Examples
    --------
    >>> lines = pl.DataFrame({"line": ["# newdoc id = a", "# newpar", "# text = b"]})
    >>> lines.select(begins(pl.col("line"))).rows()
    [(True, 'a', False), (None, None, True), (None, None, None)]
    """
    event = comment.str.extract(r"^#\s*(new(?:doc|par)(?:\s.*)?)$")
    document, paragraph = event.str.starts_with("newdoc"), event.str.starts_with("newpar")
    return [
        pl.when(document).then(pl.lit(value=True)).alias(DOCUMENT),
        event.str.extract(r"\sid\s*=\s*(.*)$").str.strip_chars_end().alias(NAME),
        pl.when(event.is_not_null()).then(paragraph).alias(PARAGRAPH),
    ]
