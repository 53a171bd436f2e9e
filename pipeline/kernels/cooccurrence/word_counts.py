"""How often each word occurs in each document, counted along a corpus that comes in batches."""

from __future__ import annotations

import polars as pl

from pipeline.kernels.cooccurrence.documents import KNOWN_BY
from pipeline.kernels.cooccurrence.tokens import PLACE


def word_counts(units: pl.LazyFrame, sentences: pl.DataFrame) -> pl.LazyFrame:
    """Count units, document by document.

    Parameters
    ----------
    units : LazyFrame
        As `units.units` gives them.
    sentences : DataFrame
        As `documents.sentences` gives them.

    Returns
    -------
    LazyFrame
        word, file, start, f; what is made of parts of a corpus can be added up.
    """
    placed = units.join(sentences.lazy().select(PLACE, *KNOWN_BY), on=PLACE)
    return placed.group_by(pl.col("unit").alias("word"), *KNOWN_BY).agg(
        pl.len().cast(pl.Int64).alias("f")
    )


def document_sizes(counts: pl.LazyFrame) -> pl.LazyFrame:
    """Return file, start, size: how many words each document has."""
    return counts.group_by(KNOWN_BY).agg(size=pl.sum("f"))
