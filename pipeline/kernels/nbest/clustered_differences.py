"""Differences of n-best precision where candidates come in clusters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.nbest.clusters import (
    ClusteredDraws,
    Redrawn,
    Varied,
    clustered_draws,
    varied,
)
from pipeline.kernels.nbest.difference_sets import set_counts
from pipeline.kernels.statistics.cluster_bootstrap import student_limits, student_p_values
from pipeline.kernels.statistics.intervals import Limits
from schemas import ClusteredDifferences

_COLUMNS = 4000  # sums in a replicate: bounds the memory
_ADJUSTED = {"p_adjusted", "correction", "significant"}


def clustered_differences(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    redrawn: Redrawn,
) -> pl.DataFrame:
    """Test differences of n-best precision for a population from which whole clusters are drawn.

    ``d = (|D1|/n) (k_1/n_1 - k_2/n_2)``, its standard error from clusters that are drawn again, one
    draw of clusters for both sets, which may share them; limits and p-value by Student's t with
    g - 1 degrees of freedom, g the effective number of clusters over both sets.

    Parameters
    ----------
    ranks, judged, clusters
        As for `clustered_draws`.
    pairs : sequence of (str, str)
        The measures to compare.
    at : sequence of int
        List sizes, ascending.
    redrawn : Redrawn
        How.

    Returns
    -------
    pl.DataFrame
        The table `ClusteredDifferences` without p_adjusted, correction and significant, sorted.
        Where nothing varies (draws of one cluster, or in both sets nothing but true or nothing but
        false positives) the p-value is null and the limits are those of the worst case, -|D1|/n
        and |D1|/n.

    Raises
    ------
    ValueError
        If a candidate has no cluster, or measures rank different candidates.

    References
    ----------
    Cameron, Gelbach & Miller, Bootstrap-Based Improvements for Inference with Clustered Errors
    (2008); Carter, Schnepel & Steigerwald (2017), for g.

    Examples
    --------
    >>> ids = [f"c{rank:02}" for rank in range(40)]
    >>> ranks = pl.DataFrame({"measure": ["dice"] * 40 + ["mi"] * 40, "id": ids + ids[::-1],
    ...     "rank": [*range(1, 41)] * 2})
    >>> judged = pl.DataFrame({"category": "TP", "id": ids, "multiplicity": 1,
    ...     "tp": [rank % 8 < 4 for rank in range(40)]})
    >>> verbs = pl.DataFrame({"id": ids, "cluster": [f"v{rank // 4}" for rank in range(40)]})
    >>> clustered_differences(ranks, judged, verbs, pairs=[("dice", "mi")], at=[20],
    ...     redrawn=Redrawn("l2", confidence=0.95, replicates=2000, seed="s")
    ... ).select("clusters", pl.col("difference", "lower", "upper", "p_value").round(1)).rows()
    [(10, 0.2, -0.6, 1.0, 0.6)]
    """
    sizes = np.asarray(at, dtype=np.int64)
    names = sorted({name for pair in pairs for name in pair})
    step = max(1, _COLUMNS // max(1, 4 * len(sizes)))
    schema = {
        name: kind for name, kind in ClusteredDifferences.columns().items() if name not in _ADJUSTED
    }
    parts = [
        _of_pairs(draws, pairs[first : first + step], sizes, redrawn).select(*schema)
        for draws in clustered_draws(ranks, judged, clusters, names)
        for first in range(0, len(pairs), step)
    ]
    return pl.concat([pl.DataFrame(schema=schema), *parts]).sort(*ClusteredDifferences.key())


def _of_pairs(
    draws: ClusteredDraws, pairs: Sequence[tuple[str, str]], n: IntArray, redrawn: Redrawn
) -> pl.DataFrame:
    members, counts = _counts(draws, pairs, n)
    found = varied(counts, signs=[1, -1], redrawn=redrawn)
    share = members / np.tile(n, len(pairs))
    lower, upper = _limits(found, redrawn.confidence)
    p = student_p_values(found.estimate, found.error, found.freedom)
    (n_1, k_1), (n_2, k_2) = np.moveaxis(counts.sum(axis=-1), 0, -1)
    firsts, seconds = (
        np.repeat([pair[side] for pair in pairs], len(n)).tolist() for side in (0, 1)
    )
    return pl.DataFrame({
        "category": draws.category, "measure_1": firsts, "measure_2": seconds,
        "n": np.tile(n, len(pairs)), "size": members, "n_1": n_1, "k_1": k_1, "n_2": n_2,
        "k_2": k_2, "difference": np.where(members == 0, 0.0, share * found.estimate),
        "lower": share * lower, "upper": share * upper, "p_value": p,
        "confidence": redrawn.confidence, "cluster": redrawn.cluster, "clusters": found.clusters,
        "effective_clusters": found.effective, "design_effect": found.design_effect,
    }).fill_nan(None)  # fmt: skip


def _counts(
    draws: ClusteredDraws, pairs: Sequence[tuple[str, str]], n: IntArray
) -> tuple[IntArray, IntArray]:
    """Return |D1|; draws and true positives by cluster, shape (pairs x lists, 2, 2, clusters)."""
    sample = [(draws.category, draws.sample)]
    size = int(draws.clusters.max(initial=0)) + 1
    found = [
        (counts[:, 0, 0].sum(axis=-1), counts[:, :, 1:, draws.drawn])
        for _, counts in set_counts(
            draws.ranks, draws.clusters, sample, pairs=pairs, n=n, size=size
        )
    ]
    members, drawn = (np.concatenate(each) for each in zip(*found, strict=True))
    return members, drawn


def _limits(found: Varied, confidence: float) -> Limits:
    """Return limits of p1 - p2, those of the worst case where nothing varies."""
    limits = student_limits(found.estimate, found.error, found.freedom, confidence=confidence)
    unknown = np.isnan(limits[0])
    lower, upper = (np.clip(limit, -1.0, 1.0) for limit in limits)
    return np.where(unknown, -1.0, lower), np.where(unknown, 1.0, upper)
