"""Type-level evaluation of induced clusters: the measures, their mappings, and who is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.errors import did_you_mean
from pipeline.kernels.clustering.measure import TYPE_LEVEL, TYPE_MEASURES
from pipeline.kernels.clustering.types.bootstrap import check_limits, type_level_limits
from pipeline.kernels.clustering.types.certificate import certify
from pipeline.kernels.clustering.types.entries import Entries, Patterns, entries
from pipeline.kernels.clustering.types.mapping_many_to_one import many_to_one
from pipeline.kernels.clustering.types.mapping_one_to_one import one_to_one
from pipeline.kernels.clustering.types.neighbours import Neighbours
from pipeline.kernels.clustering.types.tables import (
    Found,
    class_rows,
    item_rows,
    mapping_rows,
    summary_table,
)
from schemas import ClassScores, ClusterMapping, ItemScores
from schemas.base import Table

MAPPING_KINDS = ("1-1", "M-1")
_STAGE = ("system", "run")


class Evaluated(NamedTuple):
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
) -> Evaluated:
    """Evaluate induced clusters of items against gold classes, items being in several of each.

    Parameters
    ----------
    gold : pl.DataFrame
        Columns item and gold (String), a row for each membership; nulls and repetitions are
        none. Items without gold entry are dropped and counted.
    induced : pl.DataFrame
        Columns item and cluster (String), likewise. Items without clusters have F = 0.
    measures : sequence of str
        Names in `TYPE_MEASURES`; ``all`` stands for every one. "MacroI" (= MacroC), "MicroI" and
        "MicroC" have mappings of their own.
    mappings : sequence of str
        Some of "1-1" and "M-1".
    restarts : int, optional
        Random starts of the climbs to an M-1 mapping; see `many_to_one`.
    kicks : int, optional
        Kicks of the best mapping that they reach, each with a climb; see `many_to_one`.
    seed : str
        Fixes the random starts and the bootstrap samples.
    certificate_seconds : float, optional
        If given, how long to search for a proof that an M-1 mapping is best, or for a bound: for
        each measure whose mapping is not exact.
    replicates : int
        Bootstrap samples of items for the limits; 0 for none.
    confidence : float
        Confidence level in (0, 1).
    interval : str
        "fixed" or "refitted"; see `type_level_limits`.
    worst : int, optional
        How many items to list for each measure and mapping; all by default.

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
    >>> made = evaluate_type_level(gold, induced)
    >>> made.summary.filter(mapping="M-1").select("measure", pl.col("value").round(4)).rows()
    [('MacroI', 0.9091), ('MicroC', 0.92), ('MicroI', 0.9167)]
    >>> made.mapping.filter(measure="MicroC", mapping="1-1").select("cluster", "gold").rows()
    [('0', 'N'), ('1', 'V'), ('2', None)]
    """
    options = _Options(restarts, kicks, seed, certificate_seconds, replicates, confidence, interval)
    names = sorted(TYPE_MEASURES.resolve(measures))
    _check(mappings, worst, options)
    encoded = entries(gold, induced)
    neighbours = Neighbours(encoded.patterns)
    results = [
        _limited(neighbours, _found(neighbours, measure, kind, options), options)
        for measure in names
        for kind in sorted(set(mappings))
    ]
    floors = [_floor(encoded, measure) for measure in names]
    return Evaluated(
        summary_table(encoded, [*results, *floors]),
        _stacked([mapping_rows(encoded, each) for each in results], ClusterMapping),
        _stacked([class_rows(encoded, each) for each in results], ClassScores),
        _stacked([item_rows(encoded, each, worst=worst) for each in results], ItemScores),
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


def _check(mappings: Sequence[str], worst: int | None, options: _Options) -> None:
    """Complain about options before any work."""
    for name in mappings:
        if name not in MAPPING_KINDS:
            raise ValueError(f"unknown name {name!r}; {did_you_mean(name, MAPPING_KINDS)}")
    if worst is not None and worst < 0:
        raise ValueError(f"{worst} of the worst items: give 0 or more")
    for number, what in ((options.restarts, "restarts"), (options.kicks, "kicks")):
        if number is not None and number < 0:
            raise ValueError(f"{number} {what}: give 0 or more")
    if options.certificate_seconds is not None and not options.certificate_seconds > 0:
        raise ValueError(f"{options.certificate_seconds} seconds for the certificate: give more")
    if options.replicates:
        check_limits(
            replicates=options.replicates, confidence=options.confidence, interval=options.interval
        )


def _found(neighbours: Neighbours, measure: str, kind: str, options: _Options) -> Found:
    """Find the best mapping of a kind, and evaluate it.

    A mapping that is best for another measure is not known to be best for this one.
    """
    patterns, facts = neighbours.patterns, TYPE_MEASURES.get(measure)
    best = "exact" if facts.mapped_by == measure else "not proven"
    if kind == "1-1":
        mapping = one_to_one(patterns, facts.mapped_by)
        return Found(measure, kind, mapping, facts.score(patterns, mapping), best)
    search = many_to_one(
        neighbours,
        facts.mapped_by,
        restarts=options.restarts,
        kicks=options.kicks,
        seed=options.seed,
    )
    score = facts.score(patterns, search.mapping)
    certificate = best if search.exact else "not proven"
    result = Found(measure, kind, search.mapping, score, certificate, search.starts, search.reached)
    if facts.mapped_by != measure or search.exact or options.certificate_seconds is None:
        return result
    return _certified(patterns, result, options.certificate_seconds)


def _certified(patterns: Patterns, found: Found, seconds: float) -> Found:
    """Search for a proof; a better mapping that turns up was reached by no climb."""
    proof = certify(patterns, found.measure, found.mapping, seconds=seconds)
    return found._replace(
        mapping=proof.mapping,
        score=TYPE_MEASURES.get(found.measure).score(patterns, proof.mapping),
        certificate="proven" if proof.proven else "not proven",
        bound=proof.bound,
        open_clusters=proof.open_clusters,
        reached=found.reached if proof.value == found.score.value else 0,
    )


def _limited(neighbours: Neighbours, found: Found, options: _Options) -> Found:
    """Add the limits, if wanted."""
    if not options.replicates:
        return found
    lower, upper = type_level_limits(
        neighbours.patterns,
        found.measure,
        found.kind,
        found.mapping,
        replicates=options.replicates,
        confidence=options.confidence,
        seed=options.seed,
        interval=options.interval,
    )
    return found._replace(lower=lower, upper=upper, interval=options.interval)


def _floor(made: Entries, measure: str) -> Found:
    """Map every cluster to the largest class; of equal ones, to the first."""
    patterns = made.patterns
    largest = int((patterns.gold.T @ patterns.counts).argmax())
    mapping = np.full(len(made.clusters), largest, dtype=np.int64)
    return Found(measure, "floor", mapping, TYPE_MEASURES.get(measure).score(patterns, mapping))


def _stacked(tables: list[pl.DataFrame], schema: type[Table]) -> pl.DataFrame:
    """Put tables with one schema below each other; none makes an empty one."""
    typed = [pl.col(name).cast(t) for name, t in schema.columns().items() if name not in _STAGE]
    empty = schema.zero_rows().collect().drop(_STAGE)
    return pl.concat([empty, *(table.select(typed) for table in tables)])
