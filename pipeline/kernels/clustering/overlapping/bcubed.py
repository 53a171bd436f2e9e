"""Extended BCubed: precision and recall of pairs of items that may share several groups."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.clustering.measure import overlapping_measure
from pipeline.kernels.clustering.overlapping.memberships import Memberships

_AMIGO = "Amigó, Gonzalo, Artiles & Verdejo 2009, section 5"


@overlapping_measure(
    title="BCubed P", family="overlapping",
    formula="mean_e mean_e' min(|A A'|, |B B'|) / |B B'|, over e' that share a cluster with e",
    range="[0, 1]", reference=_AMIGO,
    aliases=("BCubed P", "b3_precision", "b_cubed_precision"),
)  # fmt: skip
def bcubed_precision(data: Memberships) -> float:
    """How far items that share clusters share as many classes.

    The mean over the items that have a cluster: an item missing from the output has no
    precision, as in information retrieval; it lowers the recall.
    """
    return _mean(data.sharing.precision, data)


@overlapping_measure(
    title="BCubed R", family="overlapping",
    formula="mean_e mean_e' min(|A A'|, |B B'|) / |A A'|, over e' that share a class with e",
    range="[0, 1]", reference=_AMIGO,
    aliases=("BCubed R", "b3_recall", "b_cubed_recall"),
)  # fmt: skip
def bcubed_recall(data: Memberships) -> float:
    """How far items that share classes share as many clusters.

    The mean over all items of the gold; one without a cluster has recall 0.
    """
    return _mean(data.sharing.recall, data)


@overlapping_measure(
    title="BCubed F", family="overlapping", formula="2 P R / (P + R); 0 if both are 0",
    range="[0, 1]", reference=_AMIGO,
    aliases=(
        "bcubed", "BCubed", "BCubed F", "B-cubed", "b-cubed", "b_cubed", "B3", "b3", "bcubed_f1",
        "bcubed_fscore",
    ),
)  # fmt: skip
def bcubed_f(data: Memberships) -> float:
    """Harmonic mean of extended BCubed precision and recall; 0 where no item has a cluster."""
    recall = bcubed_recall(data)
    if recall == 0.0:
        return 0.0
    precision = bcubed_precision(data)
    return 2.0 * precision * recall / (precision + recall)


def _mean(values: FloatArray, data: Memberships) -> float:
    defined = ~np.isnan(values)
    items = int(data.counts[defined].sum())
    return float((values[defined] * data.counts[defined]).sum() / items) if items else float("nan")
