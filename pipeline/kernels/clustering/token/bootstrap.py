"""Bootstrap intervals of token-level measures, over sentences."""

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
from pipeline.kernels.clustering.token.contingency import Contingency, contingency, with_tokens
from pipeline.kernels.clustering.token.measures import score_table
from pipeline.kernels.numeric import IntArray, check_bootstrap, summary
from pipeline.kernels.partitions import batches
from pipeline.kernels.sampling import seeded_generator
from pipeline.memory import Spill

# Contingency counts by sentence, on disk if memory is limited

_COUNT, _PLACE = 16, 100
"""Maximum memory per count and per sentence, without names; bytes."""
_WHICH, _ROW = "~which", "~row"
_LARGEST = np.iinfo(np.int32).max
_OF_ROOM_FOR_COUNTS, _OF_ROOM_FOR_WEIGHTS = 1 / 32, 1 / 8
"""Shares of the memory limit: beyond the first, counts go to disk."""
_WEIGHT, _WEIGHTS = 8, 2**23
"""Bytes per weight, and maximum number of weights in memory."""


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
        Pairs are numbered as in the table.
    """

    table: Contingency
    sentences: int
    spill: Spill

    def samples_at_a_time(self) -> int:
        """Return the number of samples that fit in memory at a time."""
        weights = min(_WEIGHTS, int(memory.available_bytes() * _OF_ROOM_FOR_WEIGHTS) // _WEIGHT)
        return max(1, weights // max(1, self.sentences))

    def reweight(self, weights: IntArray) -> Iterator[Contingency]:
        """Yield the contingency table of each sample of the sentences.

        Parameters
        ----------
        weights : array of int64, shape (sentences, samples)
            Multiplicity of each sentence in each sample.
        """
        shape = (self.table.tokens.size, self.sentences)
        added = np.zeros((shape[0], weights.shape[1]), dtype=np.int64)
        for rows in self.spill.frames(0):
            pairs, places, counts = (column.to_numpy() for column in rows)
            added += scipy.sparse.coo_array((counts, (pairs, places)), shape=shape) @ weights
        for counts in added.T:
            yield with_tokens(self.table, np.ascontiguousarray(counts))


@contextmanager
def sentence_counts(
    cells: pl.LazyFrame, *place: str, among: pl.Expr | None = None
) -> Iterator[SentenceCounts]:
    """Read counts by sentence in batches, as a context manager.

    Parameters
    ----------
    cells : LazyFrame
        gold and cluster (String), f (Int64), and the columns of the place. Duplicate rows are
        summed.
    *place : str
        The columns that identify sentences; these are numbered in the order of their values.
    among : Expr, optional
        Condition for rows to include.

    Raises
    ------
    DataError
        For invalid labels or counts, or too many sentences for memory.

    Examples
    --------
    >>> rows = {"s": [7, 9, 9], "gold": ["N", "N", "V"], "cluster": ["1", "1", "1"], "f": [1, 2, 3]}
    >>> with sentence_counts(pl.LazyFrame(rows), "s") as counts:
    ...     [table.tokens.tolist() for table in counts.reweight(np.array([[1, 2], [1, 0]]))]
    [[3, 3], [2]]
    """
    which = pl.lit(value=True) if among is None else among
    sums = _sum_cells(cells.filter(which))
    distinct = cells.filter(which).select(place).unique().collect(engine="streaming")
    _check(cells, which, {"gold": sums, "cluster": sums, **dict.fromkeys(place, distinct)})
    table = contingency(sums.select("gold", "cluster", "f"))
    values = tuple(column.unique().sort() for column in distinct)
    places = _PlaceIndex(values, np.sort(_place_keys(values, distinct)))
    what = f"the counts of {len(places):,} sentences, for bootstrap limits,"
    memory.require(len(places) * _PLACE, what, otherwise="omit replicates")
    schema = _count_schema(table, sums.select(pl.col("most").max().fill_null(0)).item())
    # Filtering in an ordered query makes Polars 2.1 buffer most of a table.
    codes = cells.select(which.alias(_WHICH), _pair_key(table), *place, "f")
    keys = table.rows * len(table.clusters) + table.columns
    with Spill(
        1, schema, most=int(memory.available_bytes() * _OF_ROOM_FOR_COUNTS) // _COUNT
    ) as spill:
        for batch in batches(codes):
            rows = batch.filter(pl.col(_WHICH) & (pl.col("f") != 0))
            pair = pl.Series("pair", np.searchsorted(keys, rows["pair"].to_numpy()))
            number = pl.Series("place", places.number(rows))
            spill.put(rows.select(pair, number, "f").cast(schema), 0)
        yield SentenceCounts(table, len(places), spill)


def _sum_cells(cells: pl.LazyFrame) -> pl.DataFrame:
    """Return the tokens of each pair, and the largest count of a row; null if invalid."""
    f = pl.col("f")
    fine = f.is_not_null().all() & (f >= 0).all()
    tokens = pl.when(fine).then(f.sum()).alias("f")
    sums = cells.group_by("gold", "cluster").agg(tokens, f.max().alias("most"))
    return sums.collect(engine="streaming")


def _check(cells: pl.LazyFrame, which: pl.Expr, tables: Mapping[str, pl.DataFrame]) -> None:
    """Reject labels and places that are null or empty."""
    for column, values in tables.items():
        missing = is_missing(column, values.schema)
        if values.select(missing.any()).item():
            rows = cells.with_row_index(_ROW).filter(which & missing).select(_ROW)
            refuse_missing(column, rows.collect(engine="streaming").to_series().sort())


def _pair_key(table: Contingency) -> pl.Expr:
    """Return a number that orders the pairs as the table does; null without tokens."""
    gold, cluster = (
        pl.col(name).cast(pl.Enum(names), strict=False).to_physical().cast(pl.Int64)
        for name, names in (("gold", table.gold), ("cluster", table.clusters))
    )
    return (gold * len(table.clusters) + cluster).alias("pair")


def _count_schema(table: Contingency, most: int) -> pl.Schema:
    """Return the count columns, with 32 bits if sufficient."""
    pair, f = (pl.Int32() if size <= _LARGEST else pl.Int64() for size in (table.tokens.size, most))
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

    Since tokens of a sentence are dependent, whole sentences are drawn with replacement. Limits are
    percentiles over these samples, without bias correction. Samples have fewer distinct sentences
    than the corpus, so rare cells are emptier: information and many-to-one measures are slightly
    too high, and in small samples the interval may exclude the value.

    Parameters
    ----------
    cells : pl.DataFrame or pl.LazyFrame
        Columns sentence (Int64 or any dtype that sorts), gold, cluster (String) and f (Int64):
        tokens of each pair in each sentence. Duplicate rows are summed. It is read batch by batch;
        of a row some 16 bytes are held, or written on the disk where there is no room for them.
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
        Condition for rows to include.

    Returns
    -------
    pl.DataFrame
        Columns measure, value, lower, upper, standard_error, undefined (samples without a value,
        omitted), in the order asked for. Limits are null if no sample has a value, the standard
        error if fewer than two have.

    Raises
    ------
    ValueError
        If the confidence is not inside (0, 1), or there are no replicates.
    DataError
        For invalid labels or counts, or too many sentences for memory.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> cells = pl.DataFrame({
    ...     "sentence": [1, 1, 2, 3], "gold": ["a", "b", "b", "a"],
    ...     "cluster": ["1", "2", "2", "2"], "f": [2, 1, 3, 1],
    ... })
    >>> table = token_intervals(
    ...     cells, measures=["M-1"], confidence=0.95, replicates=200, seed="s"
    ... )
    >>> bool((table["lower"] <= table["value"]).item())
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
    """Yield the table of each sample, independently of the batch size."""
    sentences = counts.sentences
    size = counts.samples_at_a_time()
    for start in range(0, replicates, size):
        weights = np.empty((sentences, min(size, replicates - start)), dtype=np.int64)
        for sample in range(weights.shape[1]):
            weights[:, sample] = _draw_weights(bits, sentences)
        yield from counts.reweight(weights)


def _draw_weights(bits: np.random.Generator, sentences: int) -> IntArray:
    """Return the multiplicity of each sentence."""
    if not sentences:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(bits.integers(sentences, size=sentences), minlength=sentences)
