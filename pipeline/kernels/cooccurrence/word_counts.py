"""How often each word occurs in each document, counted along a corpus that comes in batches.

A document is a run of sentences under one name in one file. It is known by the sentence that it
begins with, so that it is one whether or not it goes on from one batch to the next.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.dispersion import RUN, START, documents, goes_on
from pipeline.kernels.cooccurrence.tokens import PLACE

DOCUMENT = ["file", START]
"""What a document is known by."""
OPEN = pl.Schema({"file": pl.String(), "doc": pl.String(), START: pl.Int64()})
"""The document that may go on."""


def begun(tokens: pl.LazyFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of a batch with the documents that they are in.

    Parameters
    ----------
    tokens : LazyFrame
        As `tokens.numbered` gives them, with file and doc.
    before : DataFrame
        What the batch before left `OPEN`; nothing for the first.

    Returns
    -------
    DataFrame
        `PLACE`, `RUN`, file, doc and `START`, in order.
    """
    first = tokens.filter(pl.col("position") == 1).select(PLACE, "sentence")
    numbered = documents(tokens).join(first, on=PLACE).sort(PLACE).collect()
    start = pl.col("sentence").first().over(RUN)
    if goes_on(numbered, before):
        start = pl.when(pl.col(RUN) == 0).then(before.get_column(START).item(0)).otherwise(start)
    return numbered.with_columns(start.cast(pl.Int64).alias(START)).drop("sentence")


def left_open(sentences: pl.DataFrame) -> pl.DataFrame:
    """Return the document that may go on in the next batch, from what `begun` gives."""
    return sentences.tail(1).select(OPEN.names())


def word_counts(units: pl.LazyFrame, sentences: pl.DataFrame) -> pl.LazyFrame:
    """Count units, document by document.

    Parameters
    ----------
    units : LazyFrame
        As `units.units` gives them.
    sentences : DataFrame
        As `begun` gives them.

    Returns
    -------
    LazyFrame
        word, file, start, f; what is made of parts of a corpus can be added up.
    """
    placed = units.join(sentences.lazy().select(PLACE, *DOCUMENT), on=PLACE)
    return placed.group_by(pl.col("unit").alias("word"), *DOCUMENT).agg(
        pl.len().cast(pl.Int64).alias("f")
    )


def document_sizes(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Return file, start, size: how many words each document has."""
    return counts.group_by(DOCUMENT).agg(size=pl.sum("f"))
