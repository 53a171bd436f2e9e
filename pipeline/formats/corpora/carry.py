"""What a block of a corpus has to know of those before it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import polars as pl

DOCUMENTS, PARAGRAPHS = "~documents", "~paragraphs"
"""Columns with the number of documents and paragraphs that have begun so far."""


@dataclass(frozen=True)
class Carry:
    """How far a file has been read.

    Parameters
    ----------
    lines, sentences, documents, paragraphs : int
        How many have gone before.
    doc : str
        Name of the document that goes on; empty if there is none.
    paragraph : int or None
        Number of the paragraph that goes on.
    last : mapping of str to value
        What the last token has in columns whose changes count.
    """

    lines: int = 0
    sentences: int = 0
    documents: int = 0
    paragraphs: int = 0
    doc: str = ""
    paragraph: int | None = None
    last: Mapping[str, str | None] = field(default_factory=dict)

    def after(self, marked: pl.DataFrame, rows: pl.DataFrame, *, lines: int) -> Self:
        """Return what the next block has to know.

        Parameters
        ----------
        marked : DataFrame
            Its lines in order, with doc and `DOCUMENTS`.
        rows : DataFrame
            Its tokens in order, with sentence. One of the two has paragraph and `PARAGRAPHS`.
        lines : int
            How many lines it has, those that are left out included.
        """
        documents, doc = _last(marked, (DOCUMENTS, "doc")) or (self.documents, self.doc)
        holder = marked if PARAGRAPHS in marked.columns else rows
        paragraphs = _last(holder, (PARAGRAPHS, "paragraph")) or (self.paragraphs, self.paragraph)
        (sentences,) = _last(rows, ("sentence",)) or (self.sentences,)
        return replace(
            self,
            lines=self.lines + lines,
            sentences=sentences,
            documents=documents,
            doc=doc,
            paragraphs=paragraphs[0],
            paragraph=paragraphs[1],
        )


def _last(frame: pl.DataFrame, names: Sequence[str]) -> tuple[Any, ...] | None:
    return frame.select(names).row(-1) if frame.height else None


NOTHING_BEFORE = Carry()
"""What the first block has to know."""
