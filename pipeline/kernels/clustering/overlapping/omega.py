"""The Omega index: agreement of two overlapping groupings on pairs, corrected for chance."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import IntArray
from pipeline.kernels.clustering.measure import overlapping_measure
from pipeline.kernels.clustering.overlapping.memberships import Memberships


@overlapping_measure(
    title="Omega", family="overlapping",
    formula="(obs - exp) / (1 - exp), obs = sum_j n_jj / pairs, exp = sum_j n_j. n_.j / pairs^2",
    range="(-inf, 1]", reference="Collins & Dent 1988", symmetric=True,
    aliases=("omega_index", "Omega"),
)  # fmt: skip
def omega(data: Memberships) -> float:
    """Share of pairs of items that are together in as many classes as clusters, over chance.

    For items with one class and one cluster it is the adjusted Rand index. 1 where each pair is
    together in the same number of both; NaN for fewer than two items.
    """
    table = shared_by_pairs(data)
    size = max(table.shape)
    square = np.zeros((size, size), dtype=object)
    square[: table.shape[0], : table.shape[1]] = table
    pairs = int(table.sum())
    observed = int(np.trace(square)) * pairs
    expected = int((square.sum(axis=1) * square.sum(axis=0)).sum())
    if pairs == 0:
        return float("nan")
    return 1.0 if expected == pairs**2 else (observed - expected) / (pairs**2 - expected)


def shared_by_pairs(data: Memberships) -> IntArray:
    """Count the pairs of different items by how many classes and clusters they share.

    Returns
    -------
    array of int, shape (classes + 1, clusters + 1)
        Unordered pairs that share j classes and k clusters.
    """
    ordered = data.sharing.ordered.copy()
    own = data.gold.sizes[data.pairs[:, 0]], data.clusters.sizes[data.pairs[:, 1]]
    np.subtract.at(ordered, own, data.counts)
    return ordered // 2
