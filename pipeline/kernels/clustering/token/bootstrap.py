"""Bootstrap intervals of token-level measures: sentences are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.token.contingency import Contingency, without_empty
from pipeline.kernels.clustering.token.scores import score_table
from pipeline.kernels.clustering.token.sentence_counts import SentenceCounts, sentence_counts
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.percentiles import check_bootstrap, summary


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
        read batch by batch; of a row some 16 bytes are held, or laid aside on the disk where
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
        Columns that tell sentences apart, if not sentence alone.
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
        again = [score_table(drawn, names) for drawn in _samples(counts, bits, replicates)]
    columns = np.asarray(again, dtype=np.float64).reshape(len(again), len(names)).T
    pairs = zip(names, values, columns, strict=True)
    rows = [(name, value, *summary(drawn, confidence=confidence)) for name, value, drawn in pairs]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").fill_nan(None)


_SCHEMA = {
    "measure": pl.String,
    **dict.fromkeys(("value", "lower", "upper", "standard_error"), pl.Float64),
    "undefined": pl.Int64,
}


def _samples(
    counts: SentenceCounts, bits: np.random.Generator, replicates: int
) -> Iterator[Contingency]:
    """Give the table of each sample; the samples don't depend on the size of a batch."""
    table, sentences = counts.table, counts.sentences
    size = counts.samples_at_a_time()
    for start in range(0, replicates, size):
        weights = np.empty((sentences, min(size, replicates - start)), dtype=np.int64)
        for sample in range(weights.shape[1]):
            weights[:, sample] = _drawn(bits, sentences)
        for drawn in counts.weighted(weights):
            yield without_empty(Contingency(table.gold, table.clusters, drawn))


def _drawn(bits: np.random.Generator, sentences: int) -> IntArray:
    """Return how often each sentence is drawn."""
    if not sentences:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(bits.integers(sentences, size=sentences), minlength=sentences)
