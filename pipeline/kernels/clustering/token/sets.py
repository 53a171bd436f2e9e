"""Matching classes and clusters as sets, each with its best counterpart."""

from __future__ import annotations

import numpy as np

from pipeline.kernels.arrays import FloatArray
from pipeline.kernels.clustering.measure import token_measure
from pipeline.kernels.clustering.token.contingency import Contingency

_NAN = float("nan")


def _f_scores(table: Contingency) -> FloatArray:
    """Return ``2 n_ck / (n_c + n_k)`` of every class with every cluster."""
    both = table.classes[:, None] + table.sizes[None, :]
    return np.asarray(2.0 * table.counts / both)


@token_measure(
    title="F", family="set matching", formula="sum_c n_c/N max_k 2 n_ck / (n_c + n_k)",
    range="(0, 1]", reference="Larsen & Aone 1999; Fung, Wang & Ester 2003",
    aliases=("F", "f_measure", "larsen_aone", "F-measure", "f-measure", "f_score"),
)  # fmt: skip
def clustering_f(table: Contingency) -> float:
    """F-score of each class with the cluster that fits it best, weighted by its tokens."""
    if not table.N:
        return _NAN
    return float((table.classes * _f_scores(table).max(axis=1)).sum() / table.N)


@token_measure(
    title="L", family="set matching", formula="1/m sum_k max_c 2 n_ck / (n_c + n_k)",
    range="(0, 1]", reference="Larsen 1999, as in Meila 2007", aliases=("L",),
)  # fmt: skip
def larsen(table: Contingency) -> float:
    """F-score of each cluster with the class that fits it best, each cluster alike."""
    return float(_f_scores(table).max(axis=0).mean()) if table.N else _NAN


@token_measure(
    title="D", family="set matching",
    formula="1 - (sum_k max_c n_ck + sum_c max_k n_ck) / (2 N)",
    range="[0, 1)", reference="van Dongen 2000", better="lower", symmetric=True,
    aliases=("D", "van_dongen_metric"),
)  # fmt: skip
def van_dongen(table: Contingency) -> float:
    """Share of tokens to move so that one partition is refined by the other, from both sides."""
    if not table.N:
        return _NAN
    fitting = int(table.counts.max(axis=0).sum()) + int(table.counts.max(axis=1).sum())
    return (2 * table.N - fitting) / (2 * table.N)
