"""Limits of the type-level measures: a bootstrap over items."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator

import numpy as np

from pipeline.kernels.arrays import FloatArray, IntArray
from pipeline.kernels.clustering.measure import TYPE_MEASURES
from pipeline.kernels.clustering.types.entries import Patterns
from pipeline.kernels.clustering.types.mapping_many_to_one import climb, is_separable
from pipeline.kernels.clustering.types.mapping_one_to_one import edge_weights, one_to_one
from pipeline.kernels.clustering.types.measures import image, item_counts
from pipeline.kernels.clustering.types.neighbours import Neighbours, chosen
from pipeline.kernels.hashing import seeded_generator
from pipeline.kernels.percentiles import check_bootstrap, percentiles

INTERVALS = ("fixed", "refitted")
_CELLS = 4_000_000
"""Counts that are drawn at a time."""


def type_level_limits(
    patterns: Patterns,
    measure: str,
    kind: str,
    mapping: IntArray,
    *,
    replicates: int,
    confidence: float,
    seed: str,
    interval: str = "fixed",
) -> tuple[float, float]:
    """Return percentile limits of a measure over samples of items drawn again with replacement.

    Parameters
    ----------
    patterns : Patterns
        The items. A sample draws how many items have each pattern, from a multinomial.
    measure : str
        A name in `TYPE_MEASURES`; others than "MacroI", "MicroI" and "MicroC" take longer.
    kind : str
        "1-1" or "M-1".
    mapping : array of int, shape (clusters,)
        The class of each cluster, or -1, as found on all items.
    replicates : int
        Samples, from 1.
    confidence : float
        Confidence level in (0, 1).
    seed : str
        Fixes the samples; those of different measures and mappings are independent.
    interval : str
        "fixed": all samples are scored under `mapping`. The limits hold for these clusters
        with these names, other items of the kind being drawn. "refitted": each sample has its
        own best mapping; an M-1 mapping climbs from `mapping`. As the best mapping of a sample
        fits its accidents too, these limits lie too high, the more so the more clusters there
        are for the items; so "fixed" is the default.

    Returns
    -------
    lower, upper : float
        In [0, 1]. Without width where all items score alike.

    Raises
    ------
    ValueError
        If an option is out of range.

    References
    ----------
    Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapter 13.

    Examples
    --------
    >>> from scipy import sparse
    >>> eye = sparse.csr_array(np.eye(2, dtype=np.int64))
    >>> items = Patterns(np.array([30, 10]), eye, sparse.csr_array([[1], [1]]))
    >>> lower, upper = type_level_limits(
    ...     items, "MacroI", "M-1", np.array([0]), replicates=500, confidence=0.95, seed="s"
    ... )
    >>> 0.55 < lower < 0.65 and 0.85 < upper < 0.95
    True
    """
    check_limits(replicates=replicates, confidence=confidence, interval=interval)
    bits = seeded_generator(seed=seed, purpose=f"type level {measure} {kind}")
    if interval == "refitted":
        by = TYPE_MEASURES.get(measure).mapped_by
        fit = functools.partial(_fit, measure=by, kind=kind, mapping=mapping)
        values = _one_by_one(patterns, fit, measure, replicates, bits)
    elif measure == "MicroC":
        values = _by_union(patterns, mapping, replicates, bits)
    elif measure in {"MacroI", "MicroI"}:
        values = _by_item(patterns, measure, mapping, replicates, bits)
    else:
        values = _one_by_one(patterns, lambda _: mapping, measure, replicates, bits)
    lower, upper = np.clip(percentiles(values, confidence=confidence), 0.0, 1.0)
    return float(lower), float(upper)


def check_limits(*, replicates: int, confidence: float, interval: str) -> None:
    """Raise ValueError for an option that is out of range."""
    check_bootstrap(confidence=confidence, replicates=replicates)
    if interval not in INTERVALS:
        raise ValueError(f"interval {interval!r}; valid: {', '.join(INTERVALS)}")


def _by_item(
    patterns: Patterns, measure: str, mapping: IntArray, replicates: int, bits: np.random.Generator
) -> FloatArray:
    """Score samples under one mapping: items with equal numbers of classes are alike."""
    numbers = np.stack(item_counts(patterns, mapping), axis=1)
    alike, place = np.unique(numbers, axis=0, return_inverse=True)
    counts = np.zeros(len(alike), dtype=np.int64)
    np.add.at(counts, place.ravel(), patterns.counts)
    drawn = bits.multinomial(counts.sum(), counts / counts.sum(), size=replicates)
    gold, mapped, common = alike.T
    if measure == "MacroI":
        return np.asarray(
            2.0 * (drawn * common).sum(axis=1) / (drawn * (gold + mapped)).sum(axis=1)
        )
    return np.asarray((drawn * (2.0 * common / (gold + mapped))).sum(axis=1) / counts.sum())


def _by_union(
    patterns: Patterns, mapping: IntArray, replicates: int, bits: np.random.Generator
) -> FloatArray:
    """Score samples under one mapping by the unions of clusters, exactly but for the end."""
    mapped = image(patterns, mapping)
    common = patterns.gold.multiply(mapped).tocsr()
    loose = patterns.induced @ (mapping < 0).astype(np.int64)
    values = []
    for drawn in _draws(patterns.counts, replicates, bits):
        n_i, n_j, n_ij = ((part.T @ drawn.T).T for part in (patterns.gold, mapped, common))
        weighted = (2.0 * n_j * n_ij / np.maximum(n_i + n_j, 1)).sum(axis=1)
        values.append(weighted / np.maximum(n_j.sum(axis=1) + (drawn * loose).sum(axis=1), 1))
    return np.concatenate(values)


def _draws(counts: IntArray, replicates: int, bits: np.random.Generator) -> Iterator[IntArray]:
    """Draw how many items of a sample have each pattern, some samples at a time."""
    size = max(1, _CELLS // len(counts))
    for start in range(0, replicates, size):
        batch = min(size, replicates - start)
        yield bits.multinomial(counts.sum(), counts / counts.sum(), size=batch)


def _one_by_one(
    patterns: Patterns,
    fit: Callable[[Patterns], IntArray],
    measure: str,
    replicates: int,
    bits: np.random.Generator,
) -> FloatArray:
    """Score samples, each under the mapping that is fitted to it."""
    score, values = TYPE_MEASURES.get(measure).score, []
    for batch in _draws(patterns.counts, replicates, bits):
        for counts in batch:
            sample = chosen(patterns._replace(counts=counts), counts > 0)
            values.append(float(score(sample, fit(sample)).value))
    return np.array(values)


def _fit(sample: Patterns, *, measure: str, kind: str, mapping: IntArray) -> IntArray:
    if kind == "1-1":
        return one_to_one(sample, measure)
    if is_separable(sample, measure):
        return np.asarray(edge_weights(sample, measure).argmax(axis=1), dtype=np.int64)
    return climb(Neighbours(sample), measure, mapping)
