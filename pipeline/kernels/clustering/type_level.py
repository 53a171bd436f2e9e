"""Type-level evaluation of induced clusters: the measures, their mappings, and who is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from pipeline.kernels.clustering.entries import Entries, entries
from pipeline.kernels.clustering.mapping_many_to_one import many_to_one
from pipeline.kernels.clustering.mapping_one_to_one import one_to_one
from pipeline.kernels.clustering.neighbours import Neighbours
from pipeline.kernels.clustering.type_measures import TYPE_MEASURES
from pipeline.kernels.clustering.type_tables import (
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
    measures: Sequence[str] = tuple(TYPE_MEASURES),
    mappings: Sequence[str] = MAPPING_KINDS,
    restarts: int | None = None,
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
        Some of "MacroI" (= MacroC), "MicroI", "MicroC"; each has a mapping of its own.
    mappings : sequence of str
        Some of "1-1" and "M-1".
    restarts : int, optional
        Random starts of the climbs to an M-1 mapping; see `many_to_one`.
    seed : str
        Fixes the random starts and the bootstrap samples.
    certificate_seconds : float, optional
        If given, how long to search for a proof that the M-1 mapping of MacroI is best.
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
    made = entries(gold, induced)
    neighbours = Neighbours(made.patterns)
    found = [
        _found(neighbours, measure, kind, restarts=restarts, seed=seed)
        for measure in sorted(measures)
        for kind in sorted(mappings)
    ]
    floors = [_floor(made, measure) for measure in sorted(measures)]
    return Evaluated(
        summary_table(made, [*found, *floors]),
        _stacked([mapping_rows(made, each) for each in found], ClusterMapping),
        _stacked([class_rows(made, each) for each in found], ClassScores),
        _stacked([item_rows(made, each, worst=worst) for each in found], ItemScores),
    )


def _found(
    neighbours: Neighbours, measure: str, kind: str, *, restarts: int | None, seed: str
) -> Found:
    """Find the best mapping of a kind, and evaluate it."""
    patterns = neighbours.patterns
    if kind == "1-1":
        mapping = one_to_one(patterns, measure)
        return Found(measure, kind, mapping, TYPE_MEASURES[measure](patterns, mapping), "exact")
    made = many_to_one(neighbours, measure, restarts=restarts, seed=seed)
    score = TYPE_MEASURES[measure](patterns, made.mapping)
    certificate = "exact" if made.exact else "not proven"
    return Found(measure, kind, made.mapping, score, certificate, made.starts, made.reached)


def _floor(made: Entries, measure: str) -> Found:
    """Map every cluster to the largest class; of equal ones, to the first."""
    patterns = made.patterns
    largest = int((patterns.gold.T @ patterns.counts).argmax())
    mapping = np.full(len(made.clusters), largest, dtype=np.int64)
    return Found(measure, "floor", mapping, TYPE_MEASURES[measure](patterns, mapping))


def _stacked(tables: list[pl.DataFrame], schema: type[Table]) -> pl.DataFrame:
    """Put tables with one schema below each other; none makes an empty one."""
    columns = {name: dtype for name, dtype in schema.columns().items() if name not in _STAGE}
    return pl.concat([pl.DataFrame(schema=columns), *(table.cast(columns) for table in tables)])
