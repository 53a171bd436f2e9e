"""In how many documents a pair occurs, counted along a corpus that comes in batches.

A document is a run of sentences under one name in one file. The last one of a batch may go on in
the next: its pairs are remembered, and not counted for it again.
"""

from __future__ import annotations

import polars as pl

from pipeline.kernels.places import PLACE

RUN = "run"
"""Column with the number of the document within a batch."""
PAIR = "pair"
"""Column with the pair as a number, see `pipeline.kernels.pairs.pair_key`."""
OPEN = pl.Schema({"file": pl.String, "doc": pl.String, PAIR: pl.UInt64})
"""The document that may go on, and its pairs so far; a row without a pair says which it is."""


def documents(tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sentences of a batch with their documents.

    Parameters
    ----------
    tokens : LazyFrame
        As `places.numbered` gives them, with file and doc.

    Returns
    -------
    LazyFrame
        `PLACE`, `RUN`, file and doc, in order.
    """
    rows = tokens.filter(pl.col("position") == 1).select(PLACE, "file", "doc").sort(PLACE)
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "doc")]
    number = pl.any_horizontal(changes).fill_null(value=False).cum_sum().cast(pl.Int64)
    return rows.with_columns(number.alias(RUN))


def goes_on(sentences: pl.DataFrame, before: pl.DataFrame) -> bool:
    """Return whether the first document of a batch is the one that was `OPEN` before."""
    names = ["file", "doc"]
    first, last = sentences.select(names).head(1), before.select(names).head(1)
    return first.height == 1 and first.equals(last)


def spread(
    pairs: pl.LazyFrame, sentences: pl.DataFrame, before: pl.DataFrame
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Count the documents of each pair that no batch before has counted.

    Parameters
    ----------
    pairs : LazyFrame
        `PAIR` and `PLACE`.
    sentences : DataFrame
        As `documents` gives them.
    before : DataFrame
        What the batch before left `OPEN`; nothing for the first.

    Returns
    -------
    counts, after : LazyFrame
        `PAIR` and documents; and what this batch leaves `OPEN`.
    """
    runs = sentences.lazy().select(PLACE, RUN)
    seen = pairs.join(runs, on=PLACE).select(PAIR, RUN).unique()
    last = sentences.get_column(RUN).max() if sentences.height else None
    if not goes_on(sentences, before):
        before = before.clear()
    known = before.lazy().select(PAIR, pl.lit(0, pl.Int64).alias(RUN))
    fresh = seen.join(known, on=[PAIR, RUN], how="anti")
    counts = fresh.group_by(PAIR).agg(documents=pl.len().cast(pl.Int64))
    name = sentences.lazy().tail(1).select("file", "doc")
    mine = fresh.filter(pl.col(RUN) == pl.lit(last, pl.Int64)).select(PAIR)
    carried = before.lazy().select(PAIR).drop_nulls() if last == 0 else mine.head(0)
    every = pl.concat([pl.LazyFrame({PAIR: [None]}, schema={PAIR: pl.UInt64}), carried, mine])
    return counts, name.join(every, how="cross").select(OPEN.names())
