"""Occurrences of pairs and tuples, from a batch to counts that parts of a corpus can add up.

A document that may go on over a bound of what was counted at once has rows of its own, which name
it in `ACROSS`: whatever parts have counted it, it is one document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from pipeline.kernels.cooccurrence.documents import KNOWN_BY, START
from pipeline.kernels.cooccurrence.pairs import by_key
from pipeline.kernels.cooccurrence.tally import DOCUMENT, tally
from pipeline.kernels.cooccurrence.tokens import PLACE
from pipeline.stages.base import Outputs
from pipeline.stages.counting import Bounds
from schemas.counts import ACROSS

_NONE = pl.lit(None, pl.String()).alias(ACROSS)

RAW = ("occurrences", "documents")
"""The tables of a batch that `tallied` takes."""


def looked_at(key: Sequence[str], sentences: pl.DataFrame) -> Sequence[str]:
    """Return the columns of occurrences that `of_batch` looks at.

    Parameters
    ----------
    key : sequence of str
        Columns with labels.
    sentences : DataFrame
        As `documents.sentences` gives them.
    """
    return key if _is_one(sentences.get_column(DOCUMENT)) else [*key, PLACE]


def _is_one(numbers: pl.Series) -> bool:
    """Return whether all sentences are in one document."""
    return numbers.len() == 0 or bool(numbers[0] == numbers[-1])


def of_batch(found: pl.DataFrame, key: Sequence[str], sentences: pl.DataFrame) -> Outputs:
    """Return the tables of a batch, or of some of its occurrences, that `tallied` takes.

    Parameters
    ----------
    found : DataFrame
        An occurrence a row: its key, and the sentence that it stands in, see `looked_at`. Where
        they come in pieces, these follow each other in the text.
    key : sequence of str
        Columns with labels.
    sentences : DataFrame
        As `documents.sentences` gives them.
    """
    numbers = sentences.get_column(DOCUMENT)
    one = _is_one(numbers)
    document = numbers.head(1) if one else numbers.gather(found.get_column(PLACE))
    alone = pl.lit(numbers[0] if numbers.len() else 0, pl.UInt32).alias(DOCUMENT)
    rows = found.select(*key, alone if one else document)
    known = sentences.select(DOCUMENT, *KNOWN_BY).unique(DOCUMENT)
    return {"occurrences": rows, "documents": known}


def tallied(tables: Mapping[str, pl.DataFrame], key: Sequence[str], bounds: Bounds) -> Outputs:
    """Return the counts of the occurrences of some batches.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        `RAW`: the occurrences, and the documents of their sentences.
    key : sequence of str
        Columns with labels.
    bounds : Bounds
        Whether documents may go on beyond.
    """
    found = tables["occurrences"]
    ends = found.select(first=pl.col(DOCUMENT).min(), last=pl.col(DOCUMENT).max()).row(0)
    asked = zip(ends, (bounds.begun, bounds.goes_on), strict=True)
    open_ = {end for end, may in asked if may and end is not None}
    counts = tally(found, key, across=open_)
    name = pl.format("{} {}", START, "file").alias(ACROSS)
    names = tables["documents"].filter(pl.col(DOCUMENT).is_in(open_)).unique(DOCUMENT)
    named = counts.join(names.select(DOCUMENT, name), on=DOCUMENT, how="left")
    return {"counts": named.drop(DOCUMENT)}


def added_up(counts: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """Add up the counts of parts of a corpus.

    Parameters
    ----------
    counts : LazyFrame
        The key, f, documents and `ACROSS`.
    key : sequence of str
        Columns with labels.

    Returns
    -------
    LazyFrame
        The same; a document that goes on over bounds still has rows of its own.
    """
    names = _open(counts)
    f, one = pl.sum("f"), pl.lit(1, pl.Int64).alias("documents")
    sums = by_key(counts.filter(pl.col(ACROSS).is_null()), key, f, pl.sum("documents"))
    sums = sums.with_columns(_NONE)
    if names == [None]:
        return sums
    open_ = counts.filter(pl.col(ACROSS).is_not_null())
    known = [name for name in names if name is not None]
    if len(known) == 1:  # a text that is one document: then its name need not be compared
        apart = by_key(open_, key, f).with_columns(one, pl.lit(known[0]).alias(ACROSS))
    else:
        apart = by_key(open_, [*key, ACROSS], f).with_columns(one)
    apart = apart.select(*key, "f", "documents", ACROSS)
    return apart if None not in names else pl.concat([sums, apart])


def _open(counts: pl.LazyFrame) -> list[str | None]:
    """Return the documents that go on over bounds, and None if some lie inside, or none are."""
    return counts.select(pl.col(ACROSS).unique()).collect().to_series().to_list() or [None]


def closed(counts: pl.LazyFrame, key: Sequence[str]) -> pl.LazyFrame:
    """Return counts with a row for each type, now that all parts are added up.

    Parameters
    ----------
    counts : LazyFrame
        As `added_up` gives them.
    key : sequence of str
        Columns with labels.
    """
    names = _open(counts)
    if names == [None]:
        return counts
    if len(names) == 1:
        return counts.with_columns(_NONE)
    return by_key(counts, key, pl.sum("f"), pl.sum("documents")).with_columns(_NONE)
