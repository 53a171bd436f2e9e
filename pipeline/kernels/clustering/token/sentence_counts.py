"""Tokens of classes in clusters sentence by sentence, in a few bytes for each count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from pipeline import room
from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.encoding import check_labels
from pipeline.kernels.clustering.token.contingency import Contingency, contingency
from pipeline.kernels.parts import batches, counted

_COUNT, _PLACE = 12, 100
"""Bytes that a count and a sentence take at the most, labels and names left behind."""
_LARGEST = np.iinfo(np.int32).max
_PART = 1 << 20
"""Counts in one part at the least, if there are so many."""
_Entries: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""The pair, the sentence and the tokens of each count, of 32 or 64 bits."""


@dataclass(frozen=True, eq=False)
class SentenceCounts:
    """Tokens of each pair of class and cluster in each sentence.

    Parameters
    ----------
    table : Contingency
        The tokens of all sentences.
    sentences : int
        How many there are.
    parts : tuple of csr_array of int32, each of shape (classes x clusters, sentences)
        Their sum is the counts of each sentence; pairs are numbered class by class.
    """

    table: Contingency
    sentences: int
    parts: tuple[sparse.csr_array, ...]

    def weighted(self, weights: IntArray) -> Iterator[IntArray]:
        """Yield the contingency table of each sample of the sentences.

        Parameters
        ----------
        weights : array of int64, shape (sentences, samples)
            How many times each sentence is in each sample.
        """
        added = np.zeros((self.table.counts.size, weights.shape[1]), dtype=np.int64)
        for part in self.parts:
            added += part @ weights
        for flat in added.T:
            yield np.ascontiguousarray(flat).reshape(self.table.counts.shape)


def sentence_counts(
    cells: pl.LazyFrame, *place: str, among: pl.Expr | None = None
) -> SentenceCounts:
    """Read counts by sentence, a batch at a time.

    Parameters
    ----------
    cells : LazyFrame
        gold and cluster (String), f (Int64), and the columns of the place. Rows of one sentence
        and pair are added up.
    *place : str
        The columns that tell sentences apart; these are numbered in the order of their values.
    among : Expr, optional
        Which rows count, if not all.

    Raises
    ------
    DataError
        For labels or counts that are impossible, or more of them than there is room for.

    Examples
    --------
    >>> rows = {"s": [7, 9, 9], "gold": ["N", "N", "V"], "cluster": ["1", "1", "1"], "f": [1, 2, 3]}
    >>> found = sentence_counts(pl.LazyFrame(rows), "s")
    >>> [table.tolist() for table in found.weighted(np.array([[1, 2], [1, 0]]))]
    [[[3], [3]], [[2], [0]]]
    """
    which = pl.lit(value=True) if among is None else among
    some = cells.filter(which)
    # Where rows are left out of a query in order, Polars 2.1 holds most of a table ready.
    sums = pl.concat(_sums(batch.filter(which), place) for batch in batches(cells))
    table = contingency(_added(sums))
    places = _places(some.select(place).unique().collect(engine="streaming"))
    size = counted(some) * _COUNT + len(places) * _PLACE
    what = f"the counts of {len(places):,} sentences, for limits by the bootstrap,"
    room.require(size, what, otherwise="leave out replicates")
    entries = (_entries(batch.filter(which), places, table) for batch in batches(cells))
    parts = _in_parts(entries, (table.counts.size, len(places)))
    return SentenceCounts(table, len(places), tuple(parts))


def _sums(cells: pl.DataFrame, place: Sequence[str]) -> pl.DataFrame:
    """Check the labels of some rows, and return the tokens of each pair."""
    check_labels(cells, ["gold", "cluster", *place])
    return _added(cells)


def _added(cells: pl.DataFrame) -> pl.DataFrame:
    return cells.group_by("gold", "cluster").agg(pl.col("f").sum())


@dataclass(frozen=True)
class _Places:
    """Sentences by their number.

    Parameters
    ----------
    values : tuple of Series
        The values of each column of the place, once each, in order.
    keys : array of int64, shape (sentences,)
        Sentences as numbers made of the ranks of their values, in order.
    """

    values: tuple[pl.Series, ...]
    keys: IntArray

    def __len__(self) -> int:
        return len(self.keys)

    def number(self, rows: pl.DataFrame) -> IntArray:
        """Return the number of the sentence of each row, from 0."""
        return np.searchsorted(self.keys, _key(self.values, rows))


def _places(distinct: pl.DataFrame) -> _Places:
    """Give numbers to sentences, each there once."""
    values = tuple(column.unique().sort() for column in distinct)
    return _Places(values, np.sort(_key(values, distinct)))


def _key(values: Sequence[pl.Series], rows: pl.DataFrame) -> IntArray:
    key = np.zeros(rows.height, dtype=np.int64)
    for known in values:
        key = key * len(known) + known.search_sorted(rows.get_column(known.name)).to_numpy()
    return key


def _entries(cells: pl.DataFrame, places: _Places, table: Contingency) -> _Entries:
    """Return the counts of some rows, in 32 bits where that is enough."""
    held = cells.filter(pl.col("f") != 0)
    small = np.int32 if table.counts.size <= _LARGEST else np.int64
    gold, cluster = (_code(held["gold"], table.gold), _code(held["cluster"], table.clusters))
    pair = gold.astype(small) * len(table.clusters) + cluster.astype(small)
    wide = held.select((pl.col("f") > _LARGEST).any()).item()
    counts = held.get_column("f").to_numpy().astype(np.int64 if wide else np.int32)
    return pair, places.number(held).astype(np.int32), counts


def _code(labels: pl.Series, names: tuple[str, ...]) -> NDArray[Any]:
    """Return the place of each label among the names."""
    return labels.cast(pl.Enum(names)).to_physical().to_numpy()


def _in_parts(entries: Iterable[_Entries], shape: tuple[int, int]) -> Iterator[sparse.csr_array]:
    """Put batches together, so that the bounds of rows are few beside what stands in them."""
    held: list[_Entries] = []
    for each in entries:
        held.append(each)
        if sum(len(pairs) for pairs, _, _ in held) >= max(_PART, shape[0]):
            yield _matrix(held, shape)
            held = []
    if held:
        yield _matrix(held, shape)


def _matrix(entries: Sequence[_Entries], shape: tuple[int, int]) -> sparse.csr_array:
    pairs, places, counts = (np.concatenate(column) for column in zip(*entries, strict=True))
    if counts.sum(dtype=np.int64) > _LARGEST:  # what stands twice is added up
        counts = counts.astype(np.int64)
    return sparse.csr_array((counts, (pairs, places)), shape=shape)
