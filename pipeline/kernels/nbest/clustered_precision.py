"""N-best precision with limits where candidates come in clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.estimates.intervals import binomial_limits, checked_tail
from pipeline.kernels.nbest.clusters import (
    ClusteredDraws,
    Redrawn,
    Varied,
    clustered_draws,
    varied,
)
from pipeline.kernels.nbest.lists import first_list, in_lists
from pipeline.kernels.statistics.intervals import Limits
from schemas import ClusteredPrecision


def clustered_precision(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    *,
    measures: Sequence[str],
    at: Sequence[int],
    redrawn: Redrawn,
) -> pl.DataFrame:
    """Estimate n-best precision as that of a population from which whole clusters are drawn.

    ``p = k/n`` of the judged draws in the list, its standard error from clusters that are drawn
    again (`error_and_freedom`), the limits those of Clopper and Pearson for
    ``n* = p (1 - p) / error^2 (t_{n-1} / t_{g-1})^2`` draws, n at most, t quantiles of Student's
    distribution and g the effective number of clusters; n* = g where p is 0 or 1.

    Parameters
    ----------
    ranks, judged, clusters
        As for `clustered_draws`.
    measures : sequence of str
        Whose lists.
    at : sequence of int
        List sizes, ascending.
    redrawn : Redrawn
        How.

    Returns
    -------
    pl.DataFrame
        Table `ClusteredPrecision`, sorted. The limits are 0 and 1 where no draw of the list is
        judged, and those of one draw where all are of one cluster.

    Raises
    ------
    ValueError
        If a candidate has no cluster, measures rank different candidates, or the confidence is
        not in (0, 1).

    References
    ----------
    Korn & Graubard (1998), with the factor for degrees of freedom; Kish, Survey Sampling (1965),
    on the design effect.

    Examples
    --------
    >>> ids = [f"c{rank:02}" for rank in range(40)]
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ids, "rank": range(1, 41)})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids, "multiplicity": 1,
    ...     "tp": [rank % 8 < 4 for rank in range(40)]})
    >>> verbs = pl.DataFrame({"id": ids, "cluster": [f"v{rank // 4}" for rank in range(40)]})
    >>> redrawn = Redrawn("l2", confidence=0.95, replicates=2000, seed="s")
    >>> clustered_precision(ranks, judged, verbs, measures=["mi"], at=[40], redrawn=redrawn).select(
    ...     "clusters", pl.col("precision", "lower", "upper", "design_effect").round(1)
    ... ).rows()
    [(10, 0.5, 0.1, 0.9, 4.0)]
    """
    sizes = np.asarray(at, dtype=np.int64)
    whole = pl.DataFrame(schema=ClusteredPrecision.columns())
    parts = [
        _of_category(draws, measures, sizes, redrawn)
        for draws in clustered_draws(ranks, judged, clusters, measures)
        if measures
    ]
    return pl.concat([whole, *parts]).sort(*ClusteredPrecision.key())


def _of_category(
    draws: ClusteredDraws, measures: Sequence[str], n: IntArray, redrawn: Redrawn
) -> pl.DataFrame:
    counts = _counts(draws, measures, n)
    found = varied(counts, signs=[1], redrawn=redrawn)
    held = counts[:, 0].sum(axis=-1)
    lower, upper = _limits(found, held[:, 0], redrawn.confidence)
    return pl.DataFrame({
        "category": draws.category, "measure": np.repeat(measures, len(n)).tolist(),
        "n": np.tile(n, len(measures)), "n_sampled": held[:, 0], "k_sampled": held[:, 1],
        "precision": found.estimate, "lower": lower, "upper": upper,
        "confidence": redrawn.confidence, "cluster": redrawn.cluster, "clusters": found.clusters,
        "effective_clusters": found.effective, "design_effect": found.design_effect,
    }).fill_nan(None).select(*ClusteredPrecision.columns())  # fmt: skip


def _counts(draws: ClusteredDraws, measures: Sequence[str], n: IntArray) -> IntArray:
    """Return draws and true positives by cluster, shape (measures x lists, 1, 2, clusters)."""
    own = np.searchsorted(draws.drawn, draws.clusters[draws.places])
    shape = (len(n), len(draws.drawn))
    weights = [draws.sample[name].to_numpy() for name in ("n", "k")]
    firsts = (first_list(draws.ranks[name][draws.places], n) for name in measures)
    counts = [[in_lists([first, own], shape, each) for each in weights] for first in firsts]
    return np.stack(counts).swapaxes(1, 2).reshape(len(measures) * len(n), 1, 2, shape[1])


def _limits(found: Varied, draws: IntArray, confidence: float) -> Limits:
    tail = checked_tail(confidence)
    p, n = found.estimate, draws.astype(np.float64)
    independent, clustered = (
        scipy.special.stdtrit(freedom, tail)
        for freedom in (np.maximum(n - 1.0, 1.0), found.freedom)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        worth = p * (1.0 - p) / found.error**2 * (independent / clustered) ** 2
    worth = np.where(np.isnan(worth), found.effective, np.minimum(worth, n))
    return binomial_limits(p, _or_none(worth), tail)


def _or_none(worth: FloatArray) -> FloatArray:
    return np.where(np.isnan(worth), 0.0, worth)
