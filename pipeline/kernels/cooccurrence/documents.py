"""The documents of a corpus that comes in batches.

A document is a run of sentences under one name in one file. It is known by the sentence that it
begins with, so that it is one whether or not it goes on from one batch to the next.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.tally import DOCUMENT
from pipeline.kernels.cooccurrence.tokens import PLACE

START = "start"
"""Column with the first sentence of a document in its file."""
KNOWN_BY = ["file", START]
"""What a document is known by."""
OPEN = pl.Schema(
    {"file": pl.String(), "doc": pl.String(), START: pl.Int64(), DOCUMENT: pl.UInt32()}
)
"""The document that may go on, and its number among those of a task."""


def sentences(tokens: pl.LazyFrame, before: pl.DataFrame) -> pl.DataFrame:
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
        `PLACE`, file, doc, `START` and `DOCUMENT`, in order.

    Examples
    --------
    >>> rows = {"place": [0, 1], "position": [1, 1], "sentence": [7, 8], "file": ["f"] * 2}
    >>> batch = pl.LazyFrame({**rows, "doc": ["x", "y"]})
    >>> before = pl.DataFrame([("f", "x", 5, 2)], OPEN, orient="row")
    >>> sentences(batch, before).select("start", "document").rows()
    [(5, 2), (8, 3)]
    """
    first = tokens.filter(pl.col("position") == 1)
    rows = first.select(PLACE, "file", "doc", pl.col("sentence").alias(START)).collect()
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "doc")]
    run = rows.select(pl.any_horizontal(changes).fill_null(value=False).cum_sum()).to_series()
    begins = rows.get_column(START).gather(run.search_sorted(run, side="left"))
    number = run.cast(pl.UInt32)
    if goes_on(rows, before):
        start, known = before.select(START, pl.col(DOCUMENT).fill_null(0)).row(0)
        begins, number = begins.zip_with(run > 0, pl.Series([start])), number + known
    elif before.height:
        number = number + (before.item(0, DOCUMENT) or 0) + 1
    return rows.with_columns(begins.cast(pl.Int64).alias(START), number.alias(DOCUMENT))


def goes_on(sentences: pl.DataFrame, before: pl.DataFrame) -> bool:
    """Return whether the first document of a batch is the one that was `OPEN` before."""
    names = ["file", "doc"]
    first, last = sentences.select(names).head(1), before.select(names).head(1)
    return first.height == 1 and first.equals(last)


def left_open(sentences: pl.DataFrame, before: pl.DataFrame) -> pl.DataFrame:
    """Return the document that may go on in the next batch.

    Parameters
    ----------
    sentences : DataFrame
        As `sentences` gives them.
    before : DataFrame
        What the batch before left open, which a batch without sentences leaves as it is.
    """
    return sentences.tail(1).select(OPEN.names()) if sentences.height else before
