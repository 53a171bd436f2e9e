"""The tables of a type-level evaluation: summary, mapping, classes, items."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import polars as pl
import scipy

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.encoding import Sparse, distinct_sets, numbered
from pipeline.kernels.clustering.types.entries import Entries
from pipeline.kernels.clustering.types.mapping_one_to_one import overlap
from pipeline.kernels.clustering.types.measures import Score, image, item_counts, united
from schemas import TypeLevel

_SEPARATOR = " "


class Found(NamedTuple):
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


def summary_table(made: Entries, found: Sequence[Found]) -> pl.DataFrame:
    """Return a row for each measure and mapping: table `TypeLevel` without system and run."""
    columns = TypeLevel.columns().items()
    schema = {name: dtype for name, dtype in columns if name not in {"system", "run"}}
    rows = [_summary_row(made, each) for each in found]
    return pl.DataFrame(rows, schema=schema).sort("measure", "mapping")


def _summary_row(made: Entries, found: Found) -> dict[str, str | float | None]:
    value = float(found.score.value)
    sure = found.certificate in {"exact", "proven"}
    bound = value if sure else found.bound
    covered = len(np.unique(found.mapping[found.mapping >= 0]))
    return {
        "measure": found.measure,
        "mapping": found.kind,
        "value": value,
        "recall": float(found.score.recall),
        "precision": _float(found.score.precision),
        "certificate": found.certificate,
        "bound": bound,
        "gap": None if bound is None else bound - value,
        "n_open_clusters": 0 if sure else found.open_clusters,
        "starts": found.starts,
        "starts_reaching_best": found.reached,
        "lower": found.lower,
        "upper": found.upper,
        "interval": found.interval,
        "n_items": len(made.items),
        "n_dropped": made.n_dropped,
        "n_without_cluster": made.n_without_cluster,
        "n_in_several": int(made.patterns.counts[made.patterns.induced.sum(axis=1) > 1].sum()),
        "n_classes": len(made.classes),
        "n_clusters": len(made.clusters),
        "n_clusters_dropped": made.n_clusters_dropped,
        "n_uncovered": len(made.classes) - covered,
    }


def mapping_rows(made: Entries, found: Found) -> pl.DataFrame:
    """Return a row for each cluster: table `ClusterMapping` without system and run."""
    patterns, h = made.patterns, found.mapping
    mapped, rows = h >= 0, np.arange(len(h))
    classes = patterns.gold.T @ patterns.counts
    shared = overlap(patterns)[rows, np.maximum(h, 0)] * mapped
    return pl.DataFrame({
        "measure": [found.measure] * len(h),
        "mapping": [found.kind] * len(h),
        "cluster": made.clusters,
        "gold": _names(made.classes, h),
        "n_ij": shared,
        "n_i": pl.Series(classes[np.maximum(h, 0)]).set(pl.Series(~mapped), None),
        "n_j": patterns.induced.T @ patterns.counts,
    })  # fmt: skip


def class_rows(made: Entries, found: Found) -> pl.DataFrame:
    """Return a row for each class: table `ClassScores` without system and run."""
    z = united(made.patterns, found.mapping)
    n = len(made.classes)
    clusters = np.bincount(found.mapping[found.mapping >= 0], minlength=n)
    n_i, n_j, common = (part.astype(np.float64) for part in (z.classes, z.clusters, z.common))
    precision = np.divide(common, n_j, out=np.full(n, np.nan), where=n_j > 0)
    return pl.DataFrame({
        "measure": [found.measure] * n, "mapping": [found.kind] * n, "gold": made.classes,
        "clusters": clusters, "n_ij": z.common, "n_i": z.classes, "n_j": z.clusters,
        "recall": common / n_i, "precision": pl.Series(precision).fill_nan(None),
        "f": 2.0 * common / (n_i + n_j), "uncovered": clusters == 0,
    })  # fmt: skip


def item_rows(made: Entries, found: Found, *, worst: int | None) -> pl.DataFrame:
    """Return a row for each item, or the worst: table `ItemScores` without system and run."""
    gold, mapped, common = item_counts(made.patterns, found.mapping)
    f = 2.0 * common / (gold + mapped)
    # Items are in the order of their names, and a stable sort keeps them so where F is equal.
    order = np.argsort(f[made.pattern], kind="stable")[:worst]
    pattern = made.pattern[order]
    shown, place = numbered(pattern)
    labels = _joined(made.patterns.gold[shown], made.classes)
    images = _joined(image(made.patterns, found.mapping)[shown], made.classes)
    return pl.DataFrame({
        "measure": pl.repeat(found.measure, len(order), eager=True),
        "mapping": pl.repeat(found.kind, len(order), eager=True),
        "rank": np.arange(1, len(order) + 1), "item": made.items.gather(order),
        "gold": labels.gather(place), "mapped": images.gather(place),
        "common": common[pattern], "f": f[pattern],
    })  # fmt: skip


def _joined(matrix: Sparse, names: pl.Series) -> pl.Series:
    """Return the names of each row, in their order, with spaces between."""
    rows = scipy.sparse.csr_array(matrix).sorted_indices()
    # Many rows hold the same: their text is made once.
    one, place = distinct_sets(rows)
    held, words = rows[one], names.to_list()
    codes, ends = held.indices.tolist(), held.indptr.tolist()
    texts = [
        _SEPARATOR.join(words[code] for code in codes[start:end])
        for start, end in itertools.pairwise(ends)
    ]
    return pl.Series(texts, dtype=pl.String).gather(place)


def _names(names: pl.Series, codes: IntArray) -> pl.Series:
    """Return names by their places; null for -1."""
    places = pl.Series(codes, dtype=pl.Int64)
    return names.gather(pl.select(pl.when(places >= 0).then(places)).to_series())


def _float(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
