"""Occurrences added up: how often each type occurs, and in how many documents.

An occurrence is a row: the labels of a type as Categorical columns, and the number of its
document. A document that may go on over a bound of what is at
hand is counted apart, so that whoever has the rest of it can count it once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.kernels.cooccurrence.packing import Packing, packed

_WORD = "_word"

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
    counted = coding.added_up(occurrences)
    if not across:
        return _inside(coding, counted)
    open_ = coding.document().is_in(list(across))
    one, document = pl.lit(1, pl.Int64).alias("documents"), coding.document().alias(DOCUMENT)
    apart = counted.filter(open_).select(*coding.labels(coding.types()), "f", one, document)
    return pl.concat([_inside(coding, counted.filter(~open_)), apart])


@dataclass(frozen=True)
class _Coding:
    """Types and documents as one number each, the document in its lowest bits."""

    key: Sequence[str]
    types_of_key: Sequence[pl.DataType]
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

    def added_up(self, occurrences: pl.DataFrame) -> pl.DataFrame:
        """Return each number that occurs, in order, as `_WORD`, and how often it does as f."""
        labels = [pl.col(name).to_physical() for name in reversed(self.key)]
        words = self.packing.words([pl.col(DOCUMENT) - self.first, *labels])
        return _runs(occurrences.select(words).to_series().sort())

    def types(self) -> pl.Expr:
        """Return the numbers without the documents."""
        return pl.col(_WORD) // pl.lit(2 ** self.packing.places[0][2], pl.UInt64)

    def document(self) -> pl.Expr:
        """Return the numbers of the documents."""
        low = pl.lit(2 ** self.packing.places[0][2] - 1, pl.UInt64)
        return (pl.col(_WORD) & low).cast(pl.UInt32) + self.first

    def labels(self, types: pl.Expr) -> list[pl.Expr]:
        """Return the key of numbers without the documents."""
        bits = self.packing.places[0][2]
        places = [(first - bits, size) for _, first, size in reversed(self.packing.places[1:])]
        return [
            ((types // pl.lit(2**first, pl.UInt64)) & pl.lit(2**size - 1, pl.UInt64))
            .cast(pl.UInt32)
            .cat.to(dtype)
            .alias(name)
            for name, dtype, (first, size) in zip(self.key, self.types_of_key, places, strict=True)
        ]


def _inside(coding: _Coding, counted: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each type, from the sums by type and document."""
    types = _runs(counted.select(coding.types()).to_series())
    documents = types.get_column("f").rename("documents")
    f = counted.get_column("f")
    if types.height < counted.height:  # some types are in several documents
        sums = f.cum_sum().gather(documents.cum_sum() - 1)
        f = sums.diff().fill_null(sums.first())
    rows = types.select(coding.labels(pl.col(_WORD))).with_columns(f, documents)
    return rows.with_columns(pl.lit(None, pl.UInt32).alias(DOCUMENT))


def _runs(ordered: pl.Series) -> pl.DataFrame:
    """Return each number of a series in order, and how often it stands there as f."""
    runs = ordered.rle().struct.unnest()
    return runs.select(pl.col("value").alias(_WORD), f=pl.col("len").cast(pl.Int64))


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
