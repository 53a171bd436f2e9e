"""Judged draws by clusters of candidates, and what estimates vary by if these are drawn again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from pipeline.kernels.arrays import FloatArray, IntArray, codes, ratio
from pipeline.kernels.nbest.difference_sets import samples
from pipeline.kernels.nbest.rank_blocks import rank_vectors
from pipeline.kernels.statistics.cluster_bootstrap import (
    effective_clusters,
    error_and_freedom,
    replicate_sums,
)


@dataclass(frozen=True)
class Redrawn:
    """How clusters are drawn again.

    Parameters
    ----------
    cluster : str
        What tells the clusters apart, as the tables call it.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        How often they are drawn again.
    seed : str
        Fixes the draws.
    """

    cluster: str
    confidence: float
    replicates: int
    seed: str


@dataclass(frozen=True)
class ClusteredDraws:
    """The judged draws of one category of true positives, and the clusters of all candidates.

    Parameters
    ----------
    category : str
        Whose true positives.
    sample : pl.DataFrame
        place among the candidates, n and k of each draw.
    ranks : mapping of str to array of int, shape (candidates,)
        Ranks under each measure.
    clusters : array of int, shape (candidates,)
        The cluster of each candidate, from 0.
    """

    category: str
    sample: pl.DataFrame
    ranks: Mapping[str, IntArray]
    clusters: IntArray

    @property
    def places(self) -> IntArray:
        """The places of the draws among the candidates."""
        return self.sample["place"].to_numpy()

    @property
    def drawn(self) -> IntArray:
        """The clusters that have a judged draw, ascending."""
        return np.unique(self.clusters[self.places])


def clustered_draws(
    ranks: pl.DataFrame, judged: pl.DataFrame, clusters: pl.DataFrame, measures: Sequence[str]
) -> Iterator[ClusteredDraws]:
    """Yield the judged draws of each category with their clusters.

    Parameters
    ----------
    ranks : pl.DataFrame
        Table `Ranks`: all candidates under each measure.
    judged : pl.DataFrame
        Columns category, id, tp (null = not judged, which does not count) and multiplicity.
    clusters : pl.DataFrame
        Columns id and cluster (text), one row for each candidate.
    measures : sequence of str
        Whose ranks are looked at.

    Raises
    ------
    ValueError
        If a candidate has no cluster, or two measures rank different candidates.

    Examples
    --------
    >>> ranks = pl.DataFrame({"measure": "mi", "id": ["a", "b", "c"], "rank": [1, 2, 3]})
    >>> judged = pl.DataFrame({"category": "TP", "id": ["a", "c"], "tp": True, "multiplicity": 1})
    >>> verbs = pl.DataFrame({"id": ["a", "b", "c"], "cluster": ["v", "w", "v"]})
    >>> (draws,) = clustered_draws(ranks, judged, verbs, ["mi"])
    >>> draws.places.tolist(), draws.drawn.tolist()
    ([0, 2], [0])
    """
    ids, vectors = rank_vectors(ranks.lazy(), measures)
    placed = pl.DataFrame({"id": ids}).join(clusters, on="id", how="left", maintain_order="left")
    without = placed.filter(pl.col("cluster").is_null())["id"]
    if len(without):
        shown = ", ".join(without.head(3))
        raise ValueError(f"{len(without):,} candidates have no cluster, such as {shown}")
    coded, _ = codes(placed["cluster"])
    for category, sample in samples(ids, judged):
        yield ClusteredDraws(category, sample, vectors, coded)


@dataclass(frozen=True)
class Varied:
    """What estimates vary by if clusters are drawn again; arrays of shape (rows,).

    Parameters
    ----------
    p : array of float, shape (rows, parts)
        Precision of each part, NaN without draws.
    estimate : array of float
        Sum of the signed precisions.
    error, freedom : array of float
        Standard error and degrees of freedom, NaN where there are none.
    clusters : array of int
        Clusters with a draw in any of the parts.
    effective : array of float
        As many clusters of one size would tell as much; NaN where a part has no draws.
    design_effect : array of float
        Variance over the replicates by that of as many independent draws, ``sum p (1 - p) / n``;
        NaN where one of the two is 0.
    """

    p: FloatArray
    estimate: FloatArray
    error: FloatArray
    freedom: FloatArray
    clusters: IntArray
    effective: FloatArray
    design_effect: FloatArray


def varied(counts: IntArray, *, signs: Sequence[int], redrawn: Redrawn) -> Varied:
    """Draw clusters again, and look how much the estimates vary.

    Parameters
    ----------
    counts : array of int, shape (rows, parts, 2, clusters)
        Judged draws and, of these, true positives of each cluster in each part.
    signs : sequence of int, shape (parts,)
        1 and -1 for a difference of two parts.
    redrawn : Redrawn
        How.

    Examples
    --------
    >>> counts = np.array([[[[4, 4, 4, 4]], [[4, 4, 0, 0]]]]).swapaxes(1, 2)
    >>> found = varied(counts, signs=[1], redrawn=Redrawn("l2", 0.95, 2000, "s"))
    >>> found.estimate.tolist(), found.clusters.tolist(), found.design_effect.round().tolist()
    ([0.5], [4], [4.0])
    """
    sign = np.asarray(signs, dtype=np.float64)
    by_cluster = counts.reshape(math.prod(counts.shape[:-1]), counts.shape[-1]).T
    sums = replicate_sums(by_cluster, replicates=redrawn.replicates, seed=redrawn.seed)
    sums = sums.reshape(redrawn.replicates, *counts.shape[:-1])
    again = ratio(sums[..., 1], sums[..., 0]) @ sign
    draws = counts[:, :, 0]
    n, k = draws.sum(axis=-1), counts[:, :, 1].sum(axis=-1)
    p, effective = ratio(k, n), effective_clusters(draws)
    error, freedom = error_and_freedom(again, effective)
    independent = ratio(p * (1.0 - p), n).sum(axis=-1)
    return Varied(
        p, p @ sign, error, freedom, (draws.sum(axis=1) > 0).sum(axis=-1), effective,
        ratio(error**2 * freedom / (freedom + 1.0), independent),
    )  # fmt: skip
