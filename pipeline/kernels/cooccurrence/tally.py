"""Occurrences added up: how often each type occurs, and in how many documents.

An occurrence is a row: the labels of a type as Categorical columns, and the number of its
document. A document that may go on over a bound of what is at
hand is counted apart, so that whoever has the rest of it can count it once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray, WordArray
from pipeline.kernels.cooccurrence.packing import Packing, packed

DOCUMENT = "document"
"""Column with the number of a document among those at hand; null: any that lie inside."""


def tally(
    occurrences: pl.DataFrame, key: Sequence[str], *, across: Collection[int] = ()
) -> pl.DataFrame:
    """Count the occurrences of each type, and the documents that have it.

    Parameters
    ----------
    occurrences : DataFrame
        The key and `DOCUMENT` (UInt32).
    key : sequence of str
        The columns of a type, Categorical.
    across : collection of int
        The numbers of documents that may go on over the bounds of what is at hand.

    Returns
    -------
    DataFrame
        The key, f and documents (Int64), `DOCUMENT`: a row for each type with all documents that
        lie inside, `DOCUMENT` null, and one for each that may go on.

    Examples
    --------
    >>> rows = {"unit": ["a", "b", "a", "a"], "document": [0, 0, 0, 1]}
    >>> types = {"unit": pl.Categorical, "document": pl.UInt32}
    >>> tally(pl.DataFrame(rows, schema=types), ["unit"]).rows()
    [('a', 3, 2, None), ('b', 1, 1, None)]
    >>> tally(pl.DataFrame(rows, schema=types), ["unit"], across=[1]).rows()
    [('a', 2, 1, None), ('b', 1, 1, None), ('a', 1, 1, 1)]
    """
    coding = _Coding.of(occurrences, key)
    if not coding.fits:
        return _by_grouping(occurrences, key, across)
    words, f = coding.added_up(occurrences)
    if not across:
        return _inside(coding, words, f)
    open_ = np.isin(coding.documents(words).to_numpy(), list(across))
    some, one = words[open_], pl.Series("documents", np.ones(int(open_.sum()), np.int64))
    apart = coding.table(some, pl.Series("f", f[open_]), one, coding.documents(some))
    return pl.concat([_inside(coding, words[~open_], f[~open_]), apart])


@dataclass(frozen=True)
class _Coding:
    """Types and documents as one number each, the document in its lowest bits."""

    key: Sequence[str]
    types: Sequence[pl.DataType]
    packing: Packing
    first: int

    @classmethod
    def of(cls, occurrences: pl.DataFrame, key: Sequence[str]) -> _Coding:
        """Return one that has room for what these rows hold."""
        codes = occurrences.select(pl.col(name).to_physical().max() for name in key).row(0)
        first, last = occurrences.select(
            first=pl.col(DOCUMENT).min().fill_null(0), last=pl.col(DOCUMENT).max().fill_null(0)
        ).row(0)
        sizes = [1 + last - first, *(1 + (code or 0) for code in reversed(codes))]
        return cls(key, [occurrences.schema[name] for name in key], Packing.of(sizes), first)

    @property
    def fits(self) -> bool:
        """Whether one number of 64 bits holds all."""
        return len(self.packing.names) == 1

    def added_up(self, occurrences: pl.DataFrame) -> tuple[WordArray, IntArray]:
        """Return each number that occurs, in order, and how often it does."""
        labels = [pl.col(name).to_physical() for name in reversed(self.key)]
        words = self.packing.words([pl.col(DOCUMENT) - self.first, *labels])
        ordered = occurrences.select(words).to_series().sort().to_numpy()
        starts = _starts(ordered)
        return ordered[starts], np.diff(starts, append=len(ordered))

    def types_of(self, words: WordArray) -> WordArray:
        """Return the numbers without the documents."""
        return words >> np.uint64(self.packing.places[0][2])

    def documents(self, words: WordArray) -> pl.Series:
        """Return the numbers of the documents."""
        low = np.uint64(2 ** self.packing.places[0][2] - 1)
        return pl.Series(DOCUMENT, (words & low).astype(np.uint32) + np.uint32(self.first))

    def table(self, words: WordArray, *others: pl.Series) -> pl.DataFrame:
        """Return the types of numbers as columns of labels, and others beside them."""
        places = reversed(self.packing.places[1:])
        codes = {
            name: ((words >> np.uint64(first)) & np.uint64(2**bits - 1)).astype(np.uint32)
            for name, (_, first, bits) in zip(self.key, places, strict=True)
        }
        labels = [
            pl.col(name).cat.to(dtype) for name, dtype in zip(self.key, self.types, strict=True)
        ]
        return pl.DataFrame(codes).select(labels).with_columns(others)


def _inside(coding: _Coding, words: WordArray, f: IntArray) -> pl.DataFrame:
    """Return a row for each type, from the sums by type and document."""
    starts = _starts(coding.types_of(words))
    sums = np.add.reduceat(f, starts) if len(starts) else f
    documents = np.diff(starts, append=len(words))
    nothing = pl.Series(DOCUMENT, [None], pl.UInt32).new_from_index(0, len(starts))
    counts = (pl.Series("f", sums), pl.Series("documents", documents), nothing)
    return coding.table(words[starts], *counts)


def _starts(ordered: WordArray) -> IntArray:
    """Return where each run of equal numbers begins."""
    changes = ordered[1:] != ordered[:-1]
    return np.flatnonzero(np.append(np.ones(min(1, len(ordered)), np.bool_), changes))


def _by_grouping(
    occurrences: pl.DataFrame, key: Sequence[str], across: Collection[int]
) -> pl.DataFrame:
    """Do what `tally` does where no number is large enough: several are."""
    words = packed(occurrences, key)[0]
    first, number = [pl.col(name).first() for name in key], pl.len().cast(pl.Int64)
    rows = pl.concat([occurrences, words], how="horizontal").lazy()
    by_document = rows.group_by(*words.columns, DOCUMENT).agg(*first, f=number)
    document = pl.col(DOCUMENT)
    apart = pl.when(document.is_in(list(across))).then(document).alias(DOCUMENT)
    grouped = by_document.with_columns(apart).group_by(*words.columns, DOCUMENT)
    counts = grouped.agg(*first, pl.sum("f"), documents=number).collect()
    return counts.select(*key, "f", "documents", DOCUMENT)
