"""Differences from a sample of any design, for candidates to come that share words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.numeric import BoolArray, FloatArray, IntArray, ratio
from pipeline.kernels.statistics.cluster_bootstrap import (
    effective_clusters,
    student_limits,
    student_p_values,
)
from pipeline.kernels.survey.ratio_estimator import Moments, ratio_or_zero
from pipeline.kernels.survey.study import Study, blocks, difference_sums
from pipeline.kernels.survey.tables import chosen_measures, merge_thin_classes, study_sums
from schemas import ClusteredDesignedDifferences

_LIMITS = ("lower", "upper", "lower_family", "upper_family")
_NEGLIGIBLE = 1e-12  # variances and numbers of clusters that differ by less


class ClusterVariation(NamedTuple):
    """Variation of estimates over clusters; arrays of shape (rows,) unless noted."""

    error: FloatArray
    """Standard error; NaN without a variance, or with one cluster."""
    freedom: FloatArray
    clusters: IntArray
    """Clusters of each column with a draw, shape (columns, rows)."""
    effective: FloatArray
    """Effective number of clusters, the smaller one of two columns."""
    design_effect: FloatArray
    """Variance relative to that of independent draws; NaN where one of the two is 0."""


def cluster_variation(
    shares: FloatArray, terms: FloatArray, clusters: IntArray
) -> ClusterVariation:
    """Return standard errors of sums over draws that share clusters, in one column or in two.

    ``V = V_a + V_b - V_ab``, at least V_a and V_b, each ``g / (g - 1) sum_c (sum_i z_i)^2`` over
    the draws i of a cluster c, g the effective number of clusters: of one column, of the other, and
    of those of both together. The smaller g of the columns less one is the degrees of freedom.

    Parameters
    ----------
    shares : array of float, shape (rows, parts, draws)
        Weight of each draw in the mean of each part; 0 outside.
    terms : array of float, shape (rows, draws)
        z, what each draw adds to the error of the estimate.
    clusters : array of int, shape (columns, draws)
        The cluster of each draw, in one or two columns.

    References
    ----------
    Cameron, Gelbach & Miller, Robust Inference with Multiway Clustering (2011); Carter, Schnepel &
    Steigerwald (2017), for g.

    Examples
    --------
    >>> shares, terms = np.full((1, 1, 4), 0.25), np.array([[0.1, 0.1, -0.1, -0.1]])
    >>> spread = cluster_variation(shares, terms, np.array([[0, 0, 1, 1], [0, 1, 0, 1]]))
    >>> float(spread.error[0].round(4)), float(spread.effective[0]), spread.clusters.tolist()
    (0.4, 2.0, [[2], [2]])
    """
    draws = np.arange(terms.shape[-1])
    ways = [*clusters, draws]
    if len(clusters) == 2:
        ways.insert(2, np.unique(clusters, axis=1, return_inverse=True)[1].ravel())
    spreads, numbers, counts = [], [], []
    for way in ways:
        weights = _sums_by_cluster(shares, way)
        g = effective_clusters(weights)
        factor = ratio(g, np.where(g > 1.0 + _NEGLIGIBLE, g - 1.0, 0.0))
        spreads.append(factor * (_sums_by_cluster(terms, way) ** 2).sum(axis=-1))
        numbers.append(g)
        counts.append((weights.sum(axis=1) > 0).sum(axis=-1))
    variance = spreads[0]
    if len(clusters) == 2:
        first, second, both = spreads[:3]
        variance = np.maximum(np.maximum(first, second), first + second - both)
    effective = np.min(numbers[: len(clusters)], axis=0)
    usable = variance > _NEGLIGIBLE
    variance = np.where(usable, variance, np.nan)
    return ClusterVariation(
        np.sqrt(variance), np.where(usable, effective - 1.0, np.nan),
        np.stack(counts[: len(clusters)]), effective, ratio(variance, spreads[-1]),
    )  # fmt: skip


def _sums_by_cluster(values: FloatArray, cluster: IntArray) -> FloatArray:
    """Add up the last axis by cluster."""
    order = np.argsort(cluster, kind="stable")
    starts = np.unique(cluster[order], return_index=True)[1]
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1))


class DrawShares(NamedTuple):
    """The judged draws, and their weights in the estimates of difference sets."""

    places: IntArray
    y: FloatArray
    shares: FloatArray
    """Shape (cuts, pairs, 2, draws): the estimate of a set is ``shares @ y``."""


def draw_shares(
    study: Study, first: IntArray, pairs: Sequence[tuple[int, int]], cuts: range
) -> DrawShares:
    """Return the weight of each judged draw in the estimates of difference sets.

    ``1/N`` for certain draws of a set of N, and where all uncertain members of a class are judged;
    else ``(N_h/N) w_i / sum w`` over the draws of the class h of i.

    Parameters
    ----------
    study : Study
        Ranks and sample, without predictions, of one phase.
    first : array of int, shape (measures, candidates)
        The place of the first list that holds a candidate.
    pairs : sequence of (int, int)
        Rows of `first`.
    cuts : range
        The places of the lists that are compared.

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ranks = pl.DataFrame({
    ...     "measure": ["dice"] * 4 + ["mi"] * 4, "id": list("abcddcba"), "rank": [1, 2, 3, 4] * 2,
    ... })
    >>> draws = pl.DataFrame(
    ...     {"id": ["a", "b", "c"], "tp": [True, True, False], "pi": [1.0, 0.5, 0.5]}
    ... )
    >>> study = build_study(ranks, draws)
    >>> shares = draw_shares(study, (study.ranks > 2).astype(int), [(0, 1)], range(1))
    >>> [study.ids[int(place)] for place in shares.places], shares.shares[0, 0].tolist()
    (['b', 'c', 'a'], [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    """
    drawn, rest, known = study_sums(study, first, partial(difference_sums, pairs=pairs, cuts=cuts))
    sums, into = drawn[..., None], np.arange(study.strata)
    if study.classes > 1:
        sums, rest, merged = merge_thin_classes(sums, rest, study.classes)
        starts = np.arange(0, study.strata, study.classes)[:, None]
        into = (starts + merged.into).reshape(*rest.shape[1:])
    judged = Moments(*sums[..., 0])
    size = rest[0].sum(axis=-1) + known[3]
    complete = judged.draws >= rest[0] * (1.0 - 1e-12)
    scale, whole = (
        np.take_along_axis(each, np.broadcast_to(into, each.shape), axis=-1)[..., study.cell]
        for each in (ratio_or_zero(rest[0], judged.w), complete)
    )
    shares = np.where(whole, 1.0, scale / study.chances)
    certain = study.other_columns[:2].any(axis=0)
    places = np.concatenate([study.places, study.other_places[certain]])
    every = np.concatenate([shares, np.ones((*size.shape, int(certain.sum())))], axis=-1)
    member = _members(first[:, places], pairs, cuts)
    y = np.concatenate([study.moments[1], study.other_columns[0, certain]])
    return DrawShares(places, y, ratio_or_zero(member * every, size[..., None]))


def _members(first: IntArray, pairs: Sequence[tuple[int, int]], cuts: range) -> BoolArray:
    """Return the members of difference sets, shape (cuts, pairs, 2, units)."""
    inside = first <= np.array(cuts)[:, None, None]
    one, two = (inside[:, side] for side in np.array(pairs, dtype=np.int64).reshape(-1, 2).T)
    return np.stack([one & ~two, two & ~one], axis=2)


def two_way_differences(
    study: Study,
    differences: pl.DataFrame,
    clusters: IntArray,
    *,
    columns: Sequence[str],
    confidence: float,
) -> pl.DataFrame:
    """Test differences of n-best precision for candidates to come, whose words vary, too.

    The error of ``p_1 - p_2`` is that of ``z_i = g_1i (y_i - p_1) - g_2i (y_i - p_2)`` over
    clusters (`cluster_variation`), g the weights of `draw_shares`; limits and p-values are those of
    Student's distribution. Nothing is known of candidates to come: no finite population factor is
    used, and a certain draw varies as any other one does. Nor is more known of them than of the
    present ones: limits include those of `differences`, and p-values are at least as large, which
    matters where a set has few hits or misses, and its variance is too small.

    Parameters
    ----------
    study : Study
        Ranks and sample, without predictions, of one phase.
    differences : pl.DataFrame
        Table `DesignedDifferences` of one category.
    clusters : array of int, shape (columns, candidates)
        The cluster of each candidate, from 0, in one or two columns.
    columns : sequence of str
        Their names.
    confidence : float
        Confidence level in (0, 1), of each difference and of all of them.

    Returns
    -------
    pl.DataFrame
        The table `ClusteredDesignedDifferences` without what `comparison.adjust` adds. Without an
        estimate, or if nothing varies, the p-value is null and the limits are -|D1|/n and |D1|/n.

    Raises
    ------
    ValueError
        If the study has predictions or several phases.

    References
    ----------
    Cameron, Gelbach & Miller (2011).

    Examples
    --------
    >>> from pipeline.kernels.survey.study import build_study
    >>> ids = [f"c{place}" for place in range(8)]
    >>> ranks = pl.DataFrame(
    ...     {"measure": ["a"] * 8 + ["b"] * 8, "id": ids + ids[::-1], "rank": [*range(1, 9)] * 2}
    ... )
    >>> draws = pl.DataFrame({"id": ids, "tp": [True, True, True, False] * 2, "pi": 0.5})
    >>> known = {"n": 4, "size": 4, "n_1": 4, "k_1": 3, "n_2": 4, "k_2": 3, "difference": 0.0}
    >>> known |= {"lower": -0.6, "upper": 0.6, "lower_family": -0.6, "upper_family": 0.6}
    >>> pair = pl.DataFrame(
    ...     {"category": "TP", "measure_1": "a", "measure_2": "b", **known, "p_value": 1.0}
    ... )
    >>> words = np.array([[0, 1, 2, 3, 0, 1, 2, 3], [0, 0, 1, 1, 2, 2, 3, 3]])
    >>> table = two_way_differences(
    ...     build_study(ranks, draws), pair, words, columns=["l1", "l2"], confidence=0.95
    ... )
    >>> table.select("clusters", pl.col("standard_error", "lower", "upper").round(2)).rows()
    [(4, 0.29, -0.92, 0.92)]
    """
    if study.predicted or study.earlier:
        raise ValueError("clusters require a sample of one phase, and no predictions")
    key = ["measure_1", "measure_2", "n"]
    counts = ["size", "n_1", "k_1", "n_2", "k_2", "difference"]
    if differences.is_empty():
        return ClusteredDesignedDifferences.zero_rows().collect()
    pairs = differences.select("measure_1", "measure_2").unique().sort(pl.all()).rows()
    n = differences["n"].unique().sort().to_numpy()
    measures, rows = chosen_measures(study, pairs)
    first = np.searchsorted(n, study.ranks[measures], side="left")
    numbers = 8 * len(pairs) * (len(study.places) + len(study.other_places))
    parts = [
        _rows(draw_shares(study, first, rows, cuts), clusters, pairs, n[list(cuts)])
        for cuts in blocks(len(n), numbers=numbers)
    ]
    here = differences.select("category", *key, *counts, *_LIMITS, "p_value")
    table = here.join(pl.concat(parts), on=key, how="left", maintain_order="left")
    return _with_tests(table, confidence).with_columns(
        confidence=pl.lit(confidence), cluster=pl.lit(", ".join(columns))
    )


def _rows(
    drawn: DrawShares, clusters: IntArray, pairs: Sequence[tuple[str, str]], n: IntArray
) -> pl.DataFrame:
    """Return the variation of p_1 - p_2 for some cuts."""
    shares = drawn.shares.reshape(len(n) * len(pairs), 2, len(drawn.y))
    parts = shares * (drawn.y - (shares @ drawn.y)[..., None])
    variation = cluster_variation(shares, parts[:, 0] - parts[:, 1], clusters[:, drawn.places])
    second = variation.clusters[1] if len(clusters) == 2 else [None] * len(shares)
    return pl.DataFrame({
        "measure_1": [one for one, _ in pairs] * len(n),
        "measure_2": [two for _, two in pairs] * len(n), "n": np.repeat(n, len(pairs)),
        "error": variation.error, "freedom": variation.freedom, "clusters": variation.clusters[0],
        "clusters_2": pl.Series(second, dtype=pl.Int64), "effective_clusters": variation.effective,
        "design_effect": variation.design_effect,
    })  # fmt: skip


def _with_tests(table: pl.DataFrame, confidence: float) -> pl.DataFrame:
    """Add the standard error, and widen limits and p-values by it."""
    d, error, freedom, size, n = (
        table[name].cast(pl.Float64).fill_null(np.nan).to_numpy()
        for name in ("difference", "error", "freedom", "size", "n")
    )
    most = size / n
    error = np.where(np.isnan(d), np.nan, most * error)
    limits = [
        pl.Series(limit)
        for level in (confidence, 1.0 - (1.0 - confidence) / max(1, table.height))
        for limit in student_limits(d, error, freedom, confidence=level, most=most)
    ]
    widest = (pl.min_horizontal, pl.max_horizontal) * 2
    p = pl.Series(student_p_values(d, error, freedom)).fill_nan(None)
    return table.drop("error").with_columns(
        pl.Series("standard_error", error).fill_nan(None),
        pl.col("freedom", "effective_clusters", "design_effect").fill_nan(None),
        *(
            wide(name, each).alias(name)
            for name, each, wide in zip(_LIMITS, limits, widest, strict=True)
        ),
        p_value=pl.when(p.is_not_null()).then(pl.max_horizontal("p_value", p)),
    )
