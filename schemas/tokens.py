"""Tokens of a corpus, one row each, with their place and attributes."""

from __future__ import annotations

import polars as pl
from polars import selectors

from schemas.base import OpenTable
from schemas.declaration import column, rule


class Tokens(OpenTable):
    """One row per token: where it stands, and further columns for its attributes.

    Attributes are text, null where unknown. A column ``head``, if there is one, is the
    position of the token's head in the sentence: 0 for the root, null for none.
    """

    file: str = column("input file, as the experiment names it", key=True)
    line: int = column("line of the file (row, in a binary file), from 1", ge=1)
    doc: str = column("name of the document; empty = the file names none")
    paragraph: int = column("paragraph of the file, from 1; null = unknown", nullable=True, ge=1)
    sentence: int = column("sentence of the file, from 1", key=True, ge=1)
    position: int = column("place in the sentence, from 1; tokens", key=True, ge=1)

    head_is_a_position = rule(
        "head >= 0 or null, if there is such a column",
        selectors.by_name("head", require_all=False).cast(pl.Int64) >= 0,
    )
