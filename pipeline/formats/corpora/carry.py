"""What goes on from one block of a corpus to the next: numbers, the document, the paragraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from pipeline.formats.corpora.marks import DOCUMENT, KEY, NAME, PARAGRAPH
from pipeline.formats.corpora.parsing import Parsed, nth


@dataclass(frozen=True)
class Carry:
    """How far a file has been read.

    Parameters
    ----------
    sentences, documents, paragraphs : int
        How many have gone before.
    doc : str
        Name of the document that goes on; empty if there is none.
    paragraph : int or None
        Number of the paragraph that goes on.
    key : value
        The `KEY` of the last mark of a paragraph.
    """

    sentences: int = 0
    documents: int = 0
    paragraphs: int = 0
    doc: str = ""
    paragraph: int | None = None
    key: Any = None


def placed(parsed: Parsed, columns: Sequence[str], carry: Carry) -> tuple[pl.DataFrame, Carry]:
    """Return the tokens of a block as tokens of the file, and what the next block has to know.

    Parameters
    ----------
    parsed : Parsed
        The block.
    columns : sequence of str
        Which columns are wanted.
    carry : Carry
        What went before.
    """
    tokens, after = numbered(parsed, carry)
    lists = [name for name, kind in tokens.schema.items() if kind == pl.List]
    tokens = tokens.select({*columns, *lists}).explode(lists) if lists else tokens
    return tokens.select(columns), after


def numbered(parsed: Parsed, carry: Carry) -> tuple[pl.DataFrame, Carry]:
    """Return the rows of a block with the numbers that they have in the file, and what follows.

    Parameters
    ----------
    parsed : Parsed
        The block.
    carry : Carry
        What went before.

    Returns
    -------
    rows : DataFrame
        Where a line holds several tokens, one for all of them, with lists.
    after : Carry
        What the next block has to know.
    """
    documents, paragraphs = _documents(parsed, carry), _paragraphs(parsed, carry)
    rows = parsed.tokens.with_columns(
        pl.col("sentence") + carry.sentences,
        _at(documents.get_column("doc"), parsed.tokens, nth(DOCUMENT)),
        _at(paragraphs.get_column("paragraph"), parsed.tokens, nth(PARAGRAPH)),
    )
    return rows, Carry(
        sentences=carry.sentences + parsed.sentences,
        documents=documents["number"][-1],
        paragraphs=paragraphs["number"][-1],
        doc=documents["doc"][-1],
        paragraph=paragraphs["paragraph"][-1],
        key=_key(parsed, -1) or carry.key,
    )


def _at(values: pl.Series, tokens: pl.DataFrame, index: str) -> pl.Series | pl.Expr:
    """Return the value that stands where each token's index says; the one value if all are."""
    if len(values) == 1:
        return pl.lit(values[0], values.dtype).alias(values.name)
    return values.gather(tokens.get_column(index))


def _documents(parsed: Parsed, carry: Carry) -> pl.DataFrame:
    """Return doc and number of the documents of a block, the one that goes on first."""
    before = pl.DataFrame({"doc": [carry.doc], "number": [carry.documents]})
    if parsed.documents.is_empty():
        return before
    begins = pl.col(DOCUMENT)
    number = begins.cum_sum().cast(pl.Int64) + carry.documents
    unnamed = pl.lit("#") + number.cast(pl.String)
    name = pl.when(pl.col(NAME) != "").then(NAME).otherwise(unnamed)
    doc = pl.when(begins).then(name).otherwise(pl.lit(""))
    return pl.concat([before, parsed.documents.select(doc=doc, number=number)])


def _paragraphs(parsed: Parsed, carry: Carry) -> pl.DataFrame:
    """Return paragraph (null outside) and number of the paragraphs, the one that goes on first."""
    schema = {"paragraph": pl.Int64(), "number": pl.Int64()}
    before = pl.DataFrame([(carry.paragraph, carry.paragraphs)], schema, orient="row")
    marks = parsed.paragraphs
    if marks.is_empty():
        return before
    # What a change of key begins at the top of a block may have begun in the one before.
    goes_on = carry.key is not None and _key(parsed, 0) == carry.key
    same = (pl.int_range(pl.len()) == 0) & goes_on
    begins = pl.col(PARAGRAPH) & ~same
    number = begins.cum_sum().cast(pl.Int64) + carry.paragraphs
    paragraph = pl.when(same).then(carry.paragraph).when(begins).then(number).cast(pl.Int64)
    return pl.concat([before, marks.select(paragraph=paragraph, number=number)])


def _key(parsed: Parsed, index: int) -> Any:
    marks = parsed.paragraphs
    return marks.get_column(KEY)[index] if KEY in marks.columns and marks.height else None
