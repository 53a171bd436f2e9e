"""In how many documents a pair occurs, counted in parts of a corpus.

A document is a run of sentences under one name. A part of a corpus sees its first and its
last document perhaps not whole; the pairs of these are kept with the document, until all
parts are there to say which of them are the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import polars.selectors as cs

from pipeline.kernels.places import PLACE

RUN = "run"
"""Column with the number of the document within a part."""
_PIECE = ("file", "start")
_PAIR = ("l1", "l2")


def documents(tokens: pl.LazyFrame) -> pl.LazyFrame:
    """Return the sentences of a part with their documents.

    Parameters
    ----------
    tokens : LazyFrame
        As `places.numbered` gives them, with file, doc, sentence.

    Returns
    -------
    LazyFrame
        `PLACE`, `RUN`, file, doc, sentence, and start: the first sentence of the run.
    """
    rows = tokens.filter(pl.col("position") == 1).select(PLACE, "file", "doc", "sentence")
    changes = [pl.col(name) != pl.col(name).shift() for name in ("file", "doc")]
    numbered = rows.sort(PLACE).with_columns(
        pl.any_horizontal(changes).fill_null(value=False).cum_sum().cast(pl.Int64).alias(RUN)
    )
    return numbered.with_columns(start=pl.col("sentence").min().over(RUN))


def pieces(sentences: pl.LazyFrame) -> pl.LazyFrame:
    """Return the first and the last document of a part: file, start, doc, first, last."""
    end = pl.col(RUN).max()
    edges = sentences.filter((pl.col(RUN) == 0) | (pl.col(RUN) == end))
    runs = edges.select(*_PIECE, "doc", first=pl.col(RUN) == 0, last=pl.col(RUN) == end)
    return runs.unique()


def spread(
    pairs: pl.LazyFrame, sentences: pl.LazyFrame, *, by: Sequence[str] = _PAIR
) -> tuple[pl.LazyFrame, pl.LazyFrame]:
    """Count the documents of each pair that lie within a part, and name those at its edges.

    Parameters
    ----------
    pairs : LazyFrame
        l1, l2 (Categorical) and `PLACE`.
    sentences : LazyFrame
        As `documents` gives them.
    by : sequence of str
        The columns that say which pair it is.

    Returns
    -------
    within, edges : LazyFrame
        l1, l2, documents; and l1, l2, file, start. Categorical columns are text.
    """
    runs = sentences.select(PLACE, RUN)
    seen = pairs.join(runs, on=PLACE).unique([*by, RUN]).select(*by, RUN)
    bounds = sentences.select(RUN, *_PIECE).unique(RUN)
    edge = (pl.col(RUN) == 0) | (pl.col(RUN) == pl.col("_end"))
    marked = seen.join(sentences.select(_end=pl.col(RUN).max()), how="cross").filter(edge)
    within = seen.join(sentences.select(_end=pl.col(RUN).max()), how="cross").filter(~edge)
    counted = within.group_by(by).agg(documents=pl.len().cast(pl.Int64))
    edges = marked.join(bounds, on=RUN).select(*by, *_PIECE)
    text = cs.categorical().cast(pl.String)
    return counted.with_columns(text), edges.with_columns(text)


def joined(found: pl.LazyFrame) -> pl.LazyFrame:
    """Tell which pieces are one document.

    Parameters
    ----------
    found : LazyFrame
        The `pieces` of any number of parts.

    Returns
    -------
    LazyFrame
        file, start, and whole: where the document of this piece starts.
    """
    ordered = found.unique().sort("file", "start", "first")
    before = [pl.col(name).shift() for name in ("file", "doc")]
    goes_on = (
        pl.col("first")
        & pl.col("last").shift()
        & (pl.col("file") == before[0])
        & (pl.col("doc") == before[1])
    ).fill_null(value=False)
    start = pl.when(~goes_on).then("start").forward_fill()
    return ordered.select(*_PIECE, whole=start)


def edge_documents(
    edges: pl.LazyFrame, found: pl.LazyFrame, *, by: Sequence[str] = _PAIR
) -> pl.LazyFrame:
    """Return the documents at the edges of parts that hold each pair, each once.

    Parameters
    ----------
    edges : LazyFrame
        l1, l2, file, start of any number of parts.
    found : LazyFrame
        Their `pieces`.
    by : sequence of str
        The columns that say which pair it is.

    Returns
    -------
    LazyFrame
        l1, l2, file, start: where the document starts as far as these parts know.
    """
    known = joined(found)
    merged = edges.join(known, on=_PIECE).with_columns(start=pl.col("whole"))
    return merged.select(*by, *_PIECE).unique()
