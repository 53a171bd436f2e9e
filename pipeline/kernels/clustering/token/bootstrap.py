"""Bootstrap intervals of token-level measures: sentences are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from pipeline import memory
from pipeline.kernels.clustering.encoding import is_missing, refuse_missing
from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.token.contingency import Contingency, contingency, without_empty
from pipeline.kernels.clustering.token.measures import score_table
from pipeline.kernels.numeric import IntArray, check_bootstrap, summary
from pipeline.kernels.partitions import batches
from pipeline.kernels.sampling import seeded_generator
from pipeline.memory import Spill

# Contingency counts by sentence, on disk where memory is short

_COUNT, _PLACE = 16, 100
"""Bytes that a count and a sentence take at the most, labels and names left behind."""
_WHICH, _ROW = "~which", "~row"
_LARGEST = np.iinfo(np.int32).max
_OF_ROOM_FOR_COUNTS, _OF_ROOM_FOR_WEIGHTS = 1 / 32, 1 / 8
"""Shares of the room: beyond the first, counts go to the disk."""
_WEIGHT, _WEIGHTS = 8, 2**23
"""Bytes of a weight, and how many are held at a time at the most."""


@dataclass(frozen=True, eq=False)
class SentenceCounts:
    """Tokens of each pair of class and cluster in each sentence.

    Parameters
    ----------
    table : Contingency
        The tokens of all sentences.
    sentences : int
        How many there are.
    spill : Spill
        Columns pair, place, f: the tokens of a pair in a sentence, which may stand in several rows.
        Pairs are numbered class by class.
    """

    table: Contingency
    sentences: int
    spill: Spill

    def samples_at_a_time(self) -> int:
        """Return for how many samples there is room at a time: all counts are read for these."""
        weights = min(_WEIGHTS, int(memory.available_bytes() * _OF_ROOM_FOR_WEIGHTS) // _WEIGHT)
        return max(1, weights // max(1, self.sentences))

    def weighted(self, weights: IntArray) -> Iterator[IntArray]:
        """Yield the contingency table of each sample of the sentences.

        Parameters
        ----------
        weights : array of int64, shape (sentences, samples)
            How many times each sentence is in each sample.
        """
        shape = (self.table.counts.size, self.sentences)
        added = np.zeros((shape[0], weights.shape[1]), dtype=np.int64)
        for rows in self.spill.frames(0):
            pairs, places, counts = (column.to_numpy() for column in rows)
            added += scipy.sparse.coo_array((counts, (pairs, places)), shape=shape) @ weights
        for flat in added.T:
            yield np.ascontiguousarray(flat).reshape(self.table.counts.shape)


@contextmanager
def sentence_counts(
    cells: pl.LazyFrame, *place: str, among: pl.Expr | None = None
) -> Iterator[SentenceCounts]:
    """Read counts by sentence, a batch at a time; they are there as long as the context is.

    Parameters
    ----------
    cells : LazyFrame
        gold and cluster (String), f (Int64), and the columns of the place. Rows of one sentence
        and pair are added up.
    *place : str
        The columns that identify sentences; these are numbered in the order of their values.
    among : Expr, optional
        Which rows count, if not all.

    Raises
    ------
    DataError
        For labels or counts that are impossible, or more sentences than there is room for.

    Examples
    --------
    >>> rows = {"s": [7, 9, 9], "gold": ["N", "N", "V"], "cluster": ["1", "1", "1"], "f": [1, 2, 3]}
    >>> with sentence_counts(pl.LazyFrame(rows), "s") as found:
    ...     [table.tolist() for table in found.weighted(np.array([[1, 2], [1, 0]]))]
    [[[3], [3]], [[2], [0]]]
    """
    which = pl.lit(value=True) if among is None else among
    sums = _sum_cells(cells.filter(which))
    distinct = cells.filter(which).select(place).unique().collect(engine="streaming")
    _check(cells, which, {"gold": sums, "cluster": sums, **dict.fromkeys(place, distinct)})
    table = contingency(sums.select("gold", "cluster", "f"))
    values = tuple(column.unique().sort() for column in distinct)
    places = _PlaceIndex(values, np.sort(_place_keys(values, distinct)))
    what = f"the places of {len(places):,} sentences, for limits by the bootstrap,"
    memory.require(len(places) * _PLACE, what, otherwise="leave out replicates")
    schema = _count_schema(table, sums.select(pl.col("most").max().fill_null(0)).item())
    # Where rows are left out of a query in order, Polars 2.1 holds most of a table ready.
    codes = cells.select(which.alias(_WHICH), _pair_number(table), *place, "f")
    with Spill(
        1, schema, most=int(memory.available_bytes() * _OF_ROOM_FOR_COUNTS) // _COUNT
    ) as spill:
        for batch in batches(codes):
            held = batch.filter(pl.col(_WHICH) & (pl.col("f") != 0))
            number = pl.Series("place", places.number(held))
            spill.put(held.select("pair", number, "f").cast(schema), 0)
        yield SentenceCounts(table, len(places), spill)


def _sum_cells(cells: pl.LazyFrame) -> pl.DataFrame:
    """Return the tokens of each pair, and the largest count of a row; null if one is impossible."""
    f = pl.col("f")
    fine = f.is_not_null().all() & (f >= 0).all()
    tokens = pl.when(fine).then(f.sum()).alias("f")
    sums = cells.group_by("gold", "cluster").agg(tokens, f.max().alias("most"))
    return sums.collect(engine="streaming")


def _check(cells: pl.LazyFrame, which: pl.Expr, found: Mapping[str, pl.DataFrame]) -> None:
    """Refuse labels and places that are null or empty, by the rows of the table."""
    for column, values in found.items():
        missing = is_missing(column, values.schema)
        if values.select(missing.any()).item():
            rows = cells.with_row_index(_ROW).filter(which & missing).select(_ROW)
            refuse_missing(column, rows.collect(engine="streaming").to_series().sort())


def _pair_number(table: Contingency) -> pl.Expr:
    """Return the number of the pair of a row; null where it has no token."""
    gold, cluster = (
        pl.col(name).cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64)
        for name, names in (("gold", table.gold), ("cluster", table.clusters))
    )
    return (gold * len(table.clusters) + cluster).alias("pair")


def _count_schema(table: Contingency, most: int) -> pl.Schema:
    """Return the columns of the counts, of 32 bits where that is enough."""
    pair, f = (pl.Int32() if size <= _LARGEST else pl.Int64() for size in (table.counts.size, most))
    return pl.Schema({"pair": pair, "place": pl.Int32(), "f": f})


@dataclass(frozen=True)
class _PlaceIndex:
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
        return np.searchsorted(self.keys, _place_keys(self.values, rows))


def _place_keys(values: Sequence[pl.Series], rows: pl.DataFrame) -> IntArray:
    key = np.zeros(rows.height, dtype=np.int64)
    for known in values:
        key = key * len(known) + known.search_sorted(rows.get_column(known.name)).to_numpy()
    return key


def token_intervals(
    cells: pl.DataFrame | pl.LazyFrame,
    *,
    measures: Sequence[str],
    confidence: float,
    replicates: int,
    seed: str,
    place: Sequence[str] = ("sentence",),
    among: pl.Expr | None = None,
) -> pl.DataFrame:
    """Return token-level measures with percentile intervals over sentences.

    The tokens of a sentence depend on each other, so whole sentences are drawn with
    replacement, as many as there are. The limits are percentiles of the values over these
    samples; nothing corrects a bias. A sample has fewer distinct sentences than the corpus, so
    its rare cells are emptier: measures of information and of many-to-one mapping come out a
    little too well, and in small samples the interval can lie beside the value.

    Parameters
    ----------
    cells : pl.DataFrame or pl.LazyFrame
        Columns sentence (Int64 or any dtype that sorts), gold, cluster (String) and f (Int64):
        tokens of each pair in each sentence. Rows of one sentence and pair are added up. It is
        read batch by batch; of a row some 16 bytes are held, or written on the disk where
        there is no room for them.
    measures : sequence of str
        As for `token_scores`.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, from 1.
    seed : str
        Fixes the samples; all measures are taken from the same ones. The order of the rows
        makes no difference.
    place : sequence of str
        Columns that identify sentences, if not sentence alone.
    among : pl.Expr, optional
        Which rows count, if not all.

    Returns
    -------
    pl.DataFrame
        Columns measure, value, lower, upper, standard_error, undefined (samples without a
        value, left out), in the order asked for. Limits are null where no sample has a value,
        the standard error where fewer than two have.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    DataError
        For labels or counts that are impossible, or more sentences than there is room for.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "sentence": [1, 1, 2, 3], "gold": ["a", "b", "b", "a"],
    ...     "cluster": ["1", "2", "2", "2"], "f": [2, 1, 3, 1],
    ... })
    >>> found = token_intervals(
    ...     cells, measures=["M-1"], confidence=0.95, replicates=200, seed="s"
    ... )
    >>> bool((found["lower"] <= found["value"]).item())
    True
    """
    check_bootstrap(confidence=confidence, replicates=replicates)
    names = TOKEN_MEASURES.resolve(measures)
    bits = seeded_generator(seed=seed, purpose="sentences")
    with sentence_counts(cells.lazy(), *place, among=among) as counts:
        values = score_table(counts.table, names)
        again = [score_table(drawn, names) for drawn in _sample_tables(counts, bits, replicates)]
    columns = np.asarray(again, dtype=np.float64).reshape(len(again), len(names)).T
    pairs = zip(names, values, columns, strict=True)
    rows = [(name, value, *summary(drawn, confidence=confidence)) for name, value, drawn in pairs]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").fill_nan(None)


_SCHEMA = {
    "measure": pl.String,
    **dict.fromkeys(("value", "lower", "upper", "standard_error"), pl.Float64),
    "undefined": pl.Int64,
}


def _sample_tables(
    counts: SentenceCounts, bits: np.random.Generator, replicates: int
) -> Iterator[Contingency]:
    """Give the table of each sample; the samples don't depend on the size of a batch."""
    table, sentences = counts.table, counts.sentences
    size = counts.samples_at_a_time()
    for start in range(0, replicates, size):
        weights = np.empty((sentences, min(size, replicates - start)), dtype=np.int64)
        for sample in range(weights.shape[1]):
            weights[:, sample] = _draw_weights(bits, sentences)
        for drawn in counts.weighted(weights):
            yield without_empty(Contingency(table.gold, table.clusters, drawn))


def _draw_weights(bits: np.random.Generator, sentences: int) -> IntArray:
    """Return how often each sentence is drawn."""
    if not sentences:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(bits.integers(sentences, size=sentences), minlength=sentences)
