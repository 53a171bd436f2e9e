"""N-best precision and its differences by cluster bootstrap, for candidates in clusters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.nbest.comparison import samples, set_counts
from pipeline.kernels.nbest.precision import first_list, list_counts
from pipeline.kernels.nbest.ranking import rank_vectors
from pipeline.kernels.numeric import FloatArray, IntArray, codes, ratio
from pipeline.kernels.statistics.cluster_bootstrap import (
    effective_clusters,
    error_and_freedom,
    replicate_sums,
    student_limits,
    student_p_values,
)
from pipeline.kernels.statistics.intervals import Limits
from pipeline.kernels.survey.limits import binomial_limits, checked_tail
from schemas import ClusteredDifferences, ClusteredPrecision
from schemas.errors import count_text


@dataclass(frozen=True)
class ClusterBootstrap:
    """Options of the cluster bootstrap.

    Parameters
    ----------
    cluster : str
        Name of the cluster column.
    confidence : float
        Confidence level in (0, 1).
    replicates : int
        Number of bootstrap samples.
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
        The category of true positives.
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
        The measures to use.

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
    table = pl.DataFrame({"id": ids}).join(clusters, on="id", how="left", maintain_order="left")
    without = table.filter(pl.col("cluster").is_null())["id"]
    if len(without):
        examples = ", ".join(without.head(3))
        raise ValueError(
            f"no cluster for {count_text(len(without), 'candidate')}, for example {examples}"
        )
    coded, _ = codes(table["cluster"])
    for category, sample in samples(ids, judged):
        yield ClusteredDraws(category, sample, vectors, coded)


@dataclass(frozen=True)
class BootstrapVariation:
    """Bootstrap variation of estimates; arrays of shape (rows,).

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
        Equivalent number of clusters of equal size; NaN if a part has no draws.
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


def bootstrap_variation(
    counts: IntArray, *, signs: Sequence[int], bootstrap: ClusterBootstrap
) -> BootstrapVariation:
    """Bootstrap clusters, and compute the variation of estimates.

    Parameters
    ----------
    counts : array of int, shape (rows, parts, 2, clusters)
        Judged draws and, of these, true positives of each cluster in each part.
    signs : sequence of int, shape (parts,)
        1 and -1 for a difference of two parts.
    bootstrap : ClusterBootstrap
        Bootstrap options.

    Examples
    --------
    >>> counts = np.array([[[[4, 4, 4, 4]], [[4, 4, 0, 0]]]]).swapaxes(1, 2)
    >>> bootstrap = ClusterBootstrap("l2", 0.95, 2000, "s")
    >>> spread = bootstrap_variation(counts, signs=[1], bootstrap=bootstrap)
    >>> spread.estimate.tolist(), spread.clusters.tolist(), spread.design_effect.round().tolist()
    ([0.5], [4], [4.0])
    """
    sign = np.asarray(signs, dtype=np.float64)
    by_cluster = counts.reshape(math.prod(counts.shape[:-1]), counts.shape[-1]).T
    sums = replicate_sums(by_cluster, replicates=bootstrap.replicates, seed=bootstrap.seed)
    sums = sums.reshape(bootstrap.replicates, *counts.shape[:-1])
    again = ratio(sums[..., 1], sums[..., 0]) @ sign
    draws = counts[:, :, 0]
    n, k = draws.sum(axis=-1), counts[:, :, 1].sum(axis=-1)
    p, effective = ratio(k, n), effective_clusters(draws)
    error, freedom = error_and_freedom(again, effective)
    independent = ratio(p * (1.0 - p), n).sum(axis=-1)
    return BootstrapVariation(
        p, p @ sign, error, freedom, (draws.sum(axis=1) > 0).sum(axis=-1), effective,
        ratio(error**2 * freedom / (freedom + 1.0), independent),
    )  # fmt: skip


# Differences of n-best precision.

_COLUMNS = 4000  # sums in a replicate: bounds the memory
_ADJUSTED = {"p_adjusted", "correction", "significant", "verdict"}


def clustered_differences(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    bootstrap: ClusterBootstrap,
    alpha: float = 0.05,
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
    bootstrap : ClusterBootstrap
        Bootstrap options.
    alpha : float
        Level of the limits of the family, divided by the number of differences.

    Returns
    -------
    pl.DataFrame
        The table `ClusteredDifferences` without what `comparison.adjust` adds, sorted.
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
    ...     bootstrap=ClusterBootstrap("l2", confidence=0.95, replicates=2000, seed="s")
    ... ).select("clusters", pl.col("difference", "lower", "upper", "p_value").round(1)).rows()
    [(10, 0.2, -0.6, 1.0, 0.6)]
    """
    sizes = np.asarray(at, dtype=np.int64)
    names = sorted({name for pair in pairs for name in pair})
    step = max(1, _COLUMNS // max(1, 4 * len(sizes)))
    level = alpha / max(1, len(pairs) * len(sizes))
    schema = {
        name: kind for name, kind in ClusteredDifferences.columns().items() if name not in _ADJUSTED
    }
    parts = [
        _pair_table(draws, pairs[first : first + step], sizes, bootstrap, level).select(*schema)
        for draws in clustered_draws(ranks, judged, clusters, names)
        for first in range(0, len(pairs), step)
    ]
    return pl.concat([pl.DataFrame(schema=schema), *parts]).sort(*ClusteredDifferences.key())


def _pair_table(
    draws: ClusteredDraws,
    pairs: Sequence[tuple[str, str]],
    n: IntArray,
    bootstrap: ClusterBootstrap,
    level: float,
) -> pl.DataFrame:
    members, counts = _difference_counts(draws, pairs, n)
    spread = bootstrap_variation(counts, signs=[1, -1], bootstrap=bootstrap)
    share = members / np.tile(n, len(pairs))
    lower, upper, lowest, highest = (
        limit
        for confidence in (bootstrap.confidence, 1.0 - level)
        for limit in student_limits(
            spread.estimate, spread.error, spread.freedom, confidence=confidence, most=1.0
        )
    )
    p = student_p_values(spread.estimate, spread.error, spread.freedom)
    (n_1, k_1), (n_2, k_2) = np.moveaxis(counts.sum(axis=-1), 0, -1)
    firsts, seconds = (
        np.repeat([pair[side] for pair in pairs], len(n)).tolist() for side in (0, 1)
    )
    return pl.DataFrame({
        "category": draws.category, "measure_1": firsts, "measure_2": seconds,
        "n": np.tile(n, len(pairs)), "size": members, "n_1": n_1, "k_1": k_1, "n_2": n_2,
        "k_2": k_2, "difference": np.where(members == 0, 0.0, share * spread.estimate),
        "lower": share * lower, "upper": share * upper, "p_value": p,
        "lower_family": share * lowest, "upper_family": share * highest,
        "confidence": bootstrap.confidence, "cluster": bootstrap.cluster,
        "clusters": spread.clusters, "effective_clusters": spread.effective,
        "design_effect": spread.design_effect,
    }).fill_nan(None)  # fmt: skip


def _difference_counts(
    draws: ClusteredDraws, pairs: Sequence[tuple[str, str]], n: IntArray
) -> tuple[IntArray, IntArray]:
    """Return |D1|; draws and true positives by cluster, shape (pairs x lists, 2, 2, clusters)."""
    sample = [(draws.category, draws.sample)]
    size = int(draws.clusters.max(initial=0)) + 1
    parts = [
        (counts[:, 0, 0].sum(axis=-1), counts[:, :, 1:, draws.drawn])
        for _, counts in set_counts(
            draws.ranks, draws.clusters, sample, pairs=pairs, n=n, size=size
        )
    ]
    members, drawn = (np.concatenate(each) for each in zip(*parts, strict=True))
    return members, drawn


# N-best precision.


def clustered_precision(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    clusters: pl.DataFrame,
    *,
    measures: Sequence[str],
    at: Sequence[int],
    bootstrap: ClusterBootstrap,
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
        The measures.
    at : sequence of int
        List sizes, ascending.
    bootstrap : ClusterBootstrap
        Bootstrap options.

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
    >>> bootstrap = ClusterBootstrap("l2", confidence=0.95, replicates=2000, seed="s")
    >>> how = {"measures": ["mi"], "at": [40], "bootstrap": bootstrap}
    >>> clustered_precision(ranks, judged, verbs, **how).select(
    ...     "clusters", pl.col("precision", "lower", "upper", "design_effect").round(1)
    ... ).rows()
    [(10, 0.5, 0.1, 0.9, 4.0)]
    """
    sizes = np.asarray(at, dtype=np.int64)
    whole = pl.DataFrame(schema=ClusteredPrecision.columns())
    parts = [
        _precision_table(draws, measures, sizes, bootstrap)
        for draws in clustered_draws(ranks, judged, clusters, measures)
        if measures
    ]
    return pl.concat([whole, *parts]).sort(*ClusteredPrecision.key())


def _precision_table(
    draws: ClusteredDraws, measures: Sequence[str], n: IntArray, bootstrap: ClusterBootstrap
) -> pl.DataFrame:
    counts = _precision_counts(draws, measures, n)
    spread = bootstrap_variation(counts, signs=[1], bootstrap=bootstrap)
    totals = counts[:, 0].sum(axis=-1)
    lower, upper = _precision_limits(spread, totals[:, 0], bootstrap.confidence)
    return pl.DataFrame({
        "category": draws.category, "measure": np.repeat(measures, len(n)).tolist(),
        "n": np.tile(n, len(measures)), "n_sampled": totals[:, 0], "k_sampled": totals[:, 1],
        "precision": spread.estimate, "lower": lower, "upper": upper,
        "confidence": bootstrap.confidence, "cluster": bootstrap.cluster,
        "clusters": spread.clusters, "effective_clusters": spread.effective,
        "design_effect": spread.design_effect,
    }).fill_nan(None).select(*ClusteredPrecision.columns())  # fmt: skip


def _precision_counts(draws: ClusteredDraws, measures: Sequence[str], n: IntArray) -> IntArray:
    """Return draws and true positives by cluster, shape (measures x lists, 1, 2, clusters)."""
    own = np.searchsorted(draws.drawn, draws.clusters[draws.places])
    shape = (len(n), len(draws.drawn))
    weights = [draws.sample[name].to_numpy() for name in ("n", "k")]
    firsts = (first_list(draws.ranks[name][draws.places], n) for name in measures)
    counts = [[list_counts([first, own], shape, each) for each in weights] for first in firsts]
    return np.stack(counts).swapaxes(1, 2).reshape(len(measures) * len(n), 1, 2, shape[1])


def _precision_limits(variation: BootstrapVariation, draws: IntArray, confidence: float) -> Limits:
    tail = checked_tail(confidence)
    p, n = variation.estimate, draws.astype(np.float64)
    independent, clustered = (
        scipy.special.stdtrit(freedom, tail)
        for freedom in (np.maximum(n - 1.0, 1.0), variation.freedom)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = p * (1.0 - p) / variation.error**2 * (independent / clustered) ** 2
    effective = np.where(np.isnan(effective), variation.effective, np.minimum(effective, n))
    return binomial_limits(p, np.where(np.isnan(effective), 0.0, effective), tail)
