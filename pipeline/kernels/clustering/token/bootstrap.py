"""Bootstrap intervals of token-level measures: sentences are drawn again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from scipy import sparse

from pipeline.kernels.arrays import IntArray, codes
from pipeline.kernels.clustering.encoding import check_labels
from pipeline.kernels.clustering.measure import TOKEN_MEASURES
from pipeline.kernels.clustering.token.contingency import Contingency, contingency, without_empty
from pipeline.kernels.clustering.token.scores import score_table
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.percentiles import check_bootstrap, summary

_CELLS = 2**23
"""Weights that are held at a time, 64 MB of them."""


def token_intervals(
    cells: pl.DataFrame, *, measures: Sequence[str], confidence: float, replicates: int, seed: str
) -> pl.DataFrame:
    """Return token-level measures with percentile intervals over sentences.

    The tokens of a sentence depend on each other, so whole sentences are drawn with
    replacement, as many as there are. The limits are percentiles of the values over these
    samples; nothing corrects a bias. A sample has fewer distinct sentences than the corpus, so
    its rare cells are emptier: measures of information and of many-to-one mapping come out a
    little too well, and in small samples the interval can lie beside the value.

    Parameters
    ----------
    cells : pl.DataFrame
        Columns sentence (Int64 or any dtype that sorts), gold, cluster (String) and f (Int64):
        tokens of each pair in each sentence. Rows of one sentence and pair are added up.
    measures : sequence of str
        As for `token_scores`.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples, from 1.
    seed : str
        Fixes the samples; all measures are taken from the same ones. The order of the rows
        makes no difference.

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
        For labels or counts that are impossible.

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
    check_labels(cells, ["sentence"])
    table = contingency(_added(cells, ["gold", "cluster"]))
    values = score_table(table, names)
    bits = seeded_generator(seed=seed, purpose="sentences")
    again = [score_table(drawn, names) for drawn in _samples(cells, table, bits, replicates)]
    columns = np.asarray(again, dtype=np.float64).reshape(len(again), len(names)).T
    pairs = zip(names, values, columns, strict=True)
    rows = [(name, value, *summary(drawn, confidence=confidence)) for name, value, drawn in pairs]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").fill_nan(None)


_SCHEMA = {
    "measure": pl.String,
    **dict.fromkeys(("value", "lower", "upper", "standard_error"), pl.Float64),
    "undefined": pl.Int64,
}


def _added(cells: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    check_labels(cells, ["gold", "cluster"])
    return cells.group_by(by).agg(pl.col("f").sum())


def _samples(
    cells: pl.DataFrame, table: Contingency, bits: np.random.Generator, replicates: int
) -> Iterator[Contingency]:
    """Give the table of each sample; the samples don't depend on the size of a batch."""
    tokens = _by_sentence(cells, table)
    sentences = tokens.shape[1]
    size = max(1, _CELLS // max(1, sentences))
    for start in range(0, replicates, size):
        batch = range(start, min(start + size, replicates))
        weights = np.stack([_drawn(bits, sentences) for _ in batch], axis=1)
        for flat in (tokens @ weights).T:
            counts = np.ascontiguousarray(flat).reshape(table.counts.shape)
            yield without_empty(Contingency(table.gold, table.clusters, counts))


def _drawn(bits: np.random.Generator, sentences: int) -> IntArray:
    """Return how often each sentence is drawn."""
    if not sentences:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(bits.integers(sentences, size=sentences), minlength=sentences)


def _by_sentence(cells: pl.DataFrame, table: Contingency) -> sparse.csr_array:
    """Return the tokens of each pair (rows) in each sentence (columns)."""
    held = _added(cells, ["sentence", "gold", "cluster"]).filter(pl.col("f") > 0)
    sentences = cells["sentence"].unique().sort()
    column = sentences.search_sorted(held["sentence"]).to_numpy().astype(np.int64)
    row = codes(held["gold"])[0] * len(table.clusters) + codes(held["cluster"])[0]
    shape = (table.counts.size, len(sentences))
    return sparse.csr_array((held["f"].to_numpy(), (row, column)), shape=shape)
