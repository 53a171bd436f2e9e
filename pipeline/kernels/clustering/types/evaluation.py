"""Type-level evaluation of clusterings: scores, mappings, bootstrap limits and tables."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.errors import UnknownName, did_you_mean
from pipeline.kernels.clustering.encoding import Sparse, distinct_sets, distinct_values
from pipeline.kernels.clustering.measure import TYPE_LEVEL, TYPE_MEASURES
from pipeline.kernels.clustering.types.bounds import certify
from pipeline.kernels.clustering.types.mapping import (
    Neighbours,
    climb,
    edge_weights,
    is_separable,
    many_to_one,
    one_to_one,
    overlap,
)
from pipeline.kernels.clustering.types.measures import (
    Entries,
    Patterns,
    Score,
    class_unions,
    entries,
    image,
    item_counts,
    select_patterns,
)
from pipeline.kernels.numeric import FloatArray, IntArray, check_bootstrap, percentiles
from pipeline.kernels.sampling import seeded_generator
from schemas import ClassScores, ClusterMapping, ItemScores, TypeLevel
from schemas.base import Table

# Bootstrap limits over items

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
    """Return percentile limits of a measure by a bootstrap over items.

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
        Number of samples, at least 1.
    confidence : float
        Confidence level in (0, 1).
    seed : str
        Seed of the samples, which are independent for different measures and mappings.
    interval : str
        "fixed": all samples are scored under `mapping`. The limits hold for these clusters with
        these classes. "refitted": each sample has its own best mapping (for M-1 by hill climbing
        from `mapping`), which overfits, so that the limits are too high, especially with many
        clusters; hence "fixed" is the default.

    Returns
    -------
    lower, upper : float
        In [0, 1]. Without width if all items have equal scores.

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
        fit = functools.partial(_fit_mapping, measure=by, kind=kind, mapping=mapping)
        values = _resample_each(patterns, fit, measure, replicates, bits)
    elif measure == "MicroC":
        values = _resample_unions(patterns, mapping, replicates, bits)
    elif measure in {"MacroI", "MicroI"}:
        values = _resample_items(patterns, measure, mapping, replicates, bits)
    else:
        values = _resample_each(patterns, lambda _: mapping, measure, replicates, bits)
    lower, upper = np.clip(percentiles(values, confidence=confidence), 0.0, 1.0)
    return float(lower), float(upper)


def check_limits(*, replicates: int, confidence: float, interval: str) -> None:
    """Raise ValueError for an option that is out of range."""
    check_bootstrap(confidence=confidence, replicates=replicates)
    if interval not in INTERVALS:
        raise ValueError(f"interval {interval!r}; valid: {', '.join(INTERVALS)}")


def _resample_items(
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
        whole = (drawn * (gold + mapped)).sum(axis=1)
        return np.asarray(2.0 * (drawn * common).sum(axis=1) / whole)
    return np.asarray((drawn * (2.0 * common / (gold + mapped))).sum(axis=1) / counts.sum())


def _resample_unions(
    patterns: Patterns, mapping: IntArray, replicates: int, bits: np.random.Generator
) -> FloatArray:
    """Score samples under one mapping by the unions of clusters, exactly but for the end."""
    mapped = image(patterns, mapping)
    common = patterns.gold.multiply(mapped).tocsr()
    unmapped = patterns.induced @ (mapping < 0).astype(np.int64)
    values = []
    for drawn in _draw_counts(patterns.counts, replicates, bits):
        n_i, n_j, n_ij = ((part.T @ drawn.T).T for part in (patterns.gold, mapped, common))
        weighted = (2.0 * n_j * n_ij / np.maximum(n_i + n_j, 1)).sum(axis=1)
        values.append(weighted / np.maximum(n_j.sum(axis=1) + (drawn * unmapped).sum(axis=1), 1))
    return np.concatenate(values)


def _draw_counts(
    counts: IntArray, replicates: int, bits: np.random.Generator
) -> Iterator[IntArray]:
    """Draw how many items of a sample have each pattern, some samples at a time."""
    size = max(1, _CELLS // len(counts))
    for start in range(0, replicates, size):
        batch = min(size, replicates - start)
        yield bits.multinomial(counts.sum(), counts / counts.sum(), size=batch)


def _resample_each(
    patterns: Patterns,
    fit: Callable[[Patterns], IntArray],
    measure: str,
    replicates: int,
    bits: np.random.Generator,
) -> FloatArray:
    """Score samples, each under the mapping that is fitted to it."""
    score, values = TYPE_MEASURES.get(measure).score, []
    for batch in _draw_counts(patterns.counts, replicates, bits):
        for counts in batch:
            sample = select_patterns(patterns._replace(counts=counts), counts > 0)
            values.append(float(score(sample, fit(sample)).value))
    return np.array(values)


def _fit_mapping(sample: Patterns, *, measure: str, kind: str, mapping: IntArray) -> IntArray:
    if kind == "1-1":
        return one_to_one(sample, measure)
    if is_separable(sample, measure):
        return np.asarray(edge_weights(sample, measure).argmax(axis=1), dtype=np.int64)
    return climb(Neighbours(sample), measure, mapping)


# Tables: summary, mapping, classes, items

_SEPARATOR = " "


class ScoredMapping(NamedTuple):
    """A mapping, its score, and what is known about it.

    Parameters
    ----------
    measure, kind : str
        "MacroI", "MicroI" or "MicroC"; "1-1", "M-1" or "floor".
    mapping : array of int, shape (clusters,)
        The class of each cluster, or -1.
    score : Score
        The measure.
    certificate : str, optional
        "exact", "proven" or "not proven"; None for a floor.
    starts, reached : int, optional
        Climbs, and those that ended at the value.
    bound : float, optional
        No mapping of this kind is better; None where it is not known.
    open_clusters : int, optional
        Clusters that may have another class in a better mapping; None where it is not known.
    lower, upper, interval : float, float, str, optional
        Limits, and "fixed" or "refitted".
    """

    measure: str
    kind: str
    mapping: IntArray
    score: Score
    certificate: str | None = None
    starts: int | None = None
    reached: int | None = None
    bound: float | None = None
    open_clusters: int | None = None
    lower: float | None = None
    upper: float | None = None
    interval: str | None = None


def summary_table(data: Entries, mappings: Sequence[ScoredMapping]) -> pl.DataFrame:
    """Return a row for each measure and mapping: table `TypeLevel` without system and run."""
    columns = TypeLevel.columns().items()
    schema = {name: dtype for name, dtype in columns if name not in {"system", "run"}}
    rows = [_summary_row(data, each) for each in mappings]
    return pl.DataFrame(rows, schema=schema).sort("measure", "mapping")


def _summary_row(data: Entries, scored_mapping: ScoredMapping) -> dict[str, str | float | None]:
    value = float(scored_mapping.score.value)
    sure = scored_mapping.certificate in {"exact", "proven"}
    bound = value if sure else scored_mapping.bound
    covered = len(np.unique(scored_mapping.mapping[scored_mapping.mapping >= 0]))
    return {
        "measure": scored_mapping.measure,
        "mapping": scored_mapping.kind,
        "value": value,
        "recall": float(scored_mapping.score.recall),
        "precision": None if (p := scored_mapping.score.precision) is None else float(p),
        "certificate": scored_mapping.certificate,
        "bound": bound,
        "gap": None if bound is None else bound - value,
        "n_open_clusters": 0 if sure else scored_mapping.open_clusters,
        "starts": scored_mapping.starts,
        "starts_reaching_best": scored_mapping.reached,
        "lower": scored_mapping.lower,
        "upper": scored_mapping.upper,
        "interval": scored_mapping.interval,
        "n_items": len(data.items),
        "n_dropped": data.n_dropped,
        "n_without_cluster": data.n_without_cluster,
        "n_in_several": int(data.patterns.counts[data.patterns.induced.sum(axis=1) > 1].sum()),
        "n_classes": len(data.classes),
        "n_clusters": len(data.clusters),
        "n_clusters_dropped": data.n_clusters_dropped,
        "n_uncovered": len(data.classes) - covered,
    }


def mapping_rows(data: Entries, scored_mapping: ScoredMapping) -> pl.DataFrame:
    """Return a row for each cluster: table `ClusterMapping` without system and run."""
    patterns, h = data.patterns, scored_mapping.mapping
    mapped, rows = h >= 0, np.arange(len(h))
    classes = patterns.gold.T @ patterns.counts
    shared = overlap(patterns)[rows, np.maximum(h, 0)] * mapped
    return pl.DataFrame({
        "measure": [scored_mapping.measure] * len(h),
        "mapping": [scored_mapping.kind] * len(h),
        "cluster": data.clusters,
        "gold": _names_of(data.classes, h),
        "n_ij": shared,
        "n_i": pl.Series(classes[np.maximum(h, 0)]).set(pl.Series(~mapped), None),
        "n_j": patterns.induced.T @ patterns.counts,
    })  # fmt: skip


def class_rows(data: Entries, scored_mapping: ScoredMapping) -> pl.DataFrame:
    """Return a row for each class: table `ClassScores` without system and run."""
    z = class_unions(data.patterns, scored_mapping.mapping)
    n = len(data.classes)
    clusters = np.bincount(scored_mapping.mapping[scored_mapping.mapping >= 0], minlength=n)
    n_i, n_j, common = (part.astype(np.float64) for part in (z.classes, z.clusters, z.common))
    precision = np.divide(common, n_j, out=np.full(n, np.nan), where=n_j > 0)
    return pl.DataFrame({
        "measure": [scored_mapping.measure] * n, "mapping": [scored_mapping.kind] * n,
        "gold": data.classes, "clusters": clusters,
        "n_ij": z.common, "n_i": z.classes, "n_j": z.clusters,
        "recall": common / n_i, "precision": pl.Series(precision).fill_nan(None),
        "f": 2.0 * common / (n_i + n_j), "uncovered": clusters == 0,
    })  # fmt: skip


def item_rows(
    data: Entries,
    scored_mapping: ScoredMapping,
    *,
    worst: int | None,
    tokens: IntArray | None = None,
) -> pl.DataFrame:
    """Return a row for each item, or the worst: table `ItemScores` without system and run.

    Of items with equal F those with most tokens come first, if these are given.
    """
    gold, mapped, common = item_counts(data.patterns, scored_mapping.mapping)
    f = 2.0 * common / (gold + mapped)
    # Items are in the order of their names, and a stable sort keeps them so where F is equal.
    by = (f[data.pattern],) if tokens is None else (-tokens, f[data.pattern])
    order = np.lexsort(by)[:worst]
    pattern = data.pattern[order]
    distinct, place = distinct_values(pattern)
    labels = _join_names(data.patterns.gold[distinct], data.classes)
    images = _join_names(image(data.patterns, scored_mapping.mapping)[distinct], data.classes)
    return pl.DataFrame({
        "measure": pl.repeat(scored_mapping.measure, len(order), eager=True),
        "mapping": pl.repeat(scored_mapping.kind, len(order), eager=True),
        "rank": np.arange(1, len(order) + 1), "item": data.items.gather(order),
        "gold": labels.gather(place), "mapped": images.gather(place),
        "common": common[pattern], "f": f[pattern],
    })  # fmt: skip


def _join_names(matrix: Sparse, names: pl.Series) -> pl.Series:
    """Return the names of each row, in their order, with spaces between."""
    rows = scipy.sparse.csr_array(matrix).sorted_indices()
    # Many rows hold the same: their text is made once.
    one, place = distinct_sets(rows)
    distinct, words = rows[one], names.to_list()
    codes, ends = distinct.indices.tolist(), distinct.indptr.tolist()
    texts = [
        _SEPARATOR.join(words[code] for code in codes[start:end])
        for start, end in itertools.pairwise(ends)
    ]
    return pl.Series(texts, dtype=pl.String).gather(place)


def _names_of(names: pl.Series, codes: IntArray) -> pl.Series:
    """Return names by their places; null for -1."""
    places = pl.Series(codes, dtype=pl.Int64)
    return names.gather(pl.select(pl.when(places >= 0).then(places)).to_series())


MAPPING_KINDS = ("1-1", "M-1")
_STAGE = ("system", "run")


class TypeLevelTables(NamedTuple):
    """What `evaluate_type_level` found: four tables without system and run."""

    summary: pl.DataFrame
    mapping: pl.DataFrame
    classes: pl.DataFrame
    items: pl.DataFrame


def evaluate_type_level(
    gold: pl.DataFrame,
    induced: pl.DataFrame,
    *,
    measures: Sequence[str] = TYPE_LEVEL,
    mappings: Sequence[str] = MAPPING_KINDS,
    restarts: int | None = None,
    kicks: int | None = None,
    seed: str = "clustering",
    certificate_seconds: float | None = None,
    replicates: int = 0,
    confidence: float = 0.95,
    interval: str = "fixed",
    worst: int | None = None,
    tokens: pl.DataFrame | None = None,
) -> TypeLevelTables:
    """Evaluate induced clusters of items that may have several classes and clusters.

    Parameters
    ----------
    gold : pl.DataFrame
        Columns item and gold (String), a row for each membership; nulls and repetitions are
        none. Items without gold entry are dropped and counted.
    induced : pl.DataFrame
        Columns item and cluster (String), likewise. Items without clusters have F = 0.
    measures : sequence of str
        Names in `TYPE_MEASURES`, or ``all``. "MacroI" (= MacroC), "MicroI" and "MicroC" have
        separate mappings.
    mappings : sequence of str
        Some of "1-1" and "M-1".
    restarts : int, optional
        Random starts of the climbs to an M-1 mapping; see `many_to_one`.
    kicks : int, optional
        Kicks of the best mapping that they reach, each with a climb; see `many_to_one`.
    seed : str
        Fixes the random starts and the bootstrap samples.
    certificate_seconds : float, optional
        Time for proving or bounding inexact M-1 mappings, per measure (default: no proof).
    replicates : int
        Bootstrap samples of items for the limits; 0 for none.
    confidence : float
        Confidence level in (0, 1).
    interval : str
        "fixed" or "refitted"; see `type_level_limits`.
    worst : int, optional
        Number of items to list for each measure and mapping (default: all).
    tokens : pl.DataFrame, optional
        Columns item and tokens: of items with equal F, those with most tokens are listed first.

    Returns
    -------
    Evaluated
        Tables `TypeLevel`, `ClusterMapping`, `ClassScores` and `ItemScores` without the columns
        system and run, in the order of their keys.

    Raises
    ------
    DataError
        If a column is missing or not of strings, a name is empty, or no item has a gold entry.
    ValueError
        If an option is out of range.

    References
    ----------
    Reichart, Abend & Rappoport, Type Level Clustering Evaluation (2010).

    Examples
    --------
    >>> gold = pl.DataFrame({
    ...     "item": ["dog", "run", "run", "eat", "walk", "walk"],
    ...     "gold": ["N", "N", "V", "V", "N", "V"],
    ... })
    >>> induced = pl.DataFrame({
    ...     "item": ["dog", "run", "run", "eat", "walk"], "cluster": ["0", "0", "1", "1", "2"]
    ... })
    >>> tables = evaluate_type_level(gold, induced)
    >>> tables.summary.filter(mapping="M-1").select("measure", pl.col("value").round(4)).rows()
    [('MacroI', 0.9091), ('MicroC', 0.92), ('MicroI', 0.9167)]
    >>> tables.mapping.filter(measure="MicroC", mapping="1-1").select("cluster", "gold").rows()
    [('0', 'N'), ('1', 'V'), ('2', None)]
    """
    options = _Options(restarts, kicks, seed, certificate_seconds, replicates, confidence, interval)
    names = sorted(TYPE_MEASURES.resolve(measures))
    _check_options(mappings, worst, options)
    encoded = entries(gold, induced)
    counts = None
    if tokens is not None:
        table = encoded.items.to_frame("item").join(
            tokens, on="item", how="left", maintain_order="left"
        )
        counts = table["tokens"].fill_null(0).to_numpy()
    neighbours = Neighbours(encoded.patterns)
    results = [
        _add_limits(neighbours, _evaluate_mapping(neighbours, measure, kind, options), options)
        for measure in names
        for kind in sorted(set(mappings))
    ]
    floors = [_evaluate_floor(encoded, measure) for measure in names]
    return TypeLevelTables(
        summary_table(encoded, [*results, *floors]),
        _concat([mapping_rows(encoded, each) for each in results], ClusterMapping),
        _concat([class_rows(encoded, each) for each in results], ClassScores),
        _concat(
            [item_rows(encoded, each, worst=worst, tokens=counts) for each in results], ItemScores
        ),
    )


class _Options(NamedTuple):
    """How to search, and how to draw samples."""

    restarts: int | None
    kicks: int | None
    seed: str
    certificate_seconds: float | None
    replicates: int
    confidence: float
    interval: str


def _check_options(mappings: Sequence[str], worst: int | None, options: _Options) -> None:
    """Check options before any work."""
    for name in mappings:
        if name not in MAPPING_KINDS:
            raise UnknownName(f"unknown name {name!r}; {did_you_mean(name, MAPPING_KINDS)}")
    if worst is not None and worst < 0:
        raise ValueError(f"worst = {worst}: must be 0 or more")
    for number, what in ((options.restarts, "restarts"), (options.kicks, "kicks")):
        if number is not None and (not isinstance(number, Integral) or number < 0):
            raise ValueError(f"{number} {what}: must be an integer, 0 or more")
    if options.certificate_seconds is not None and not options.certificate_seconds > 0:
        raise ValueError(f"{options.certificate_seconds} seconds for the certificate: must be > 0")
    if options.replicates:
        check_limits(
            replicates=options.replicates, confidence=options.confidence, interval=options.interval
        )


def _evaluate_mapping(
    neighbours: Neighbours, measure: str, kind: str, options: _Options
) -> ScoredMapping:
    """Find the best mapping of a kind, and evaluate it.

    A mapping that is best for another measure is not known to be best for this one.
    """
    patterns, facts = neighbours.patterns, TYPE_MEASURES.get(measure)
    best = "exact" if facts.mapped_by == measure else "not proven"
    if kind == "1-1":
        mapping = one_to_one(patterns, facts.mapped_by)
        return ScoredMapping(measure, kind, mapping, facts.score(patterns, mapping), best)
    search = many_to_one(
        neighbours, facts.mapped_by, restarts=options.restarts, kicks=options.kicks,
        seed=options.seed,
    )  # fmt: skip
    score = facts.score(patterns, search.mapping)
    certificate = best if search.exact else "not proven"
    result = ScoredMapping(
        measure, kind, search.mapping, score, certificate, search.starts, search.reached
    )
    if facts.mapped_by != measure or search.exact or options.certificate_seconds is None:
        return result
    return _certify(patterns, result, options.certificate_seconds)


def _certify(patterns: Patterns, scored_mapping: ScoredMapping, seconds: float) -> ScoredMapping:
    """Search for a proof; a better mapping that turns up was reached by no climb."""
    proof = certify(patterns, scored_mapping.measure, scored_mapping.mapping, seconds=seconds)
    return scored_mapping._replace(
        mapping=proof.mapping,
        score=TYPE_MEASURES.get(scored_mapping.measure).score(patterns, proof.mapping),
        certificate="proven" if proof.proven else "not proven",
        bound=proof.bound,
        open_clusters=proof.open_clusters,
        reached=scored_mapping.reached if proof.value == scored_mapping.score.value else 0,
    )


def _add_limits(
    neighbours: Neighbours, scored_mapping: ScoredMapping, options: _Options
) -> ScoredMapping:
    """Add the limits, if wanted."""
    if not options.replicates:
        return scored_mapping
    lower, upper = type_level_limits(
        neighbours.patterns, scored_mapping.measure, scored_mapping.kind, scored_mapping.mapping,
        replicates=options.replicates, confidence=options.confidence, seed=options.seed,
        interval=options.interval,
    )  # fmt: skip
    return scored_mapping._replace(lower=lower, upper=upper, interval=options.interval)


def _evaluate_floor(data: Entries, measure: str) -> ScoredMapping:
    """Map every cluster to the largest class; of equal ones, to the first."""
    patterns = data.patterns
    largest = int((patterns.gold.T @ patterns.counts).argmax())
    mapping = np.full(len(data.clusters), largest, dtype=np.int64)
    return ScoredMapping(
        measure, "floor", mapping, TYPE_MEASURES.get(measure).score(patterns, mapping)
    )


def _concat(tables: list[pl.DataFrame], schema: type[Table]) -> pl.DataFrame:
    """Put tables with one schema below each other; none makes an empty one."""
    columns = [pl.col(name).cast(t) for name, t in schema.columns().items() if name not in _STAGE]
    empty = schema.zero_rows().collect().drop(_STAGE)
    return pl.concat([empty, *(table.select(columns) for table in tables)])
