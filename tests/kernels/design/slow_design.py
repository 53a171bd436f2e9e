"""Questions as rows of a matrix, one candidate after the other: the slow twin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.numeric import FloatArray
from pipeline.kernels.survey.allocation import Sets, question_sets


def sets_of(
    ranks: Mapping[str, Sequence[int]], pairs: Sequence[tuple[str, str]], n: Sequence[int]
) -> Sets:
    """Return the sets of a few candidates c0, c1, ..."""
    count = len(next(iter(ranks.values())))
    vectors = {name: np.array(vector, dtype=np.int64) for name, vector in ranks.items()}
    ids = pl.Series([f"c{i:03}" for i in range(count)])
    return question_sets(ids, vectors, pairs=pairs, n=np.array(n, dtype=np.int64))


def coefficients(
    ranks: Mapping[str, Sequence[int]], pairs: Sequence[tuple[str, str]], n: Sequence[int]
) -> list[list[float]]:
    """Return a_qi, question by question, in the order of `declared_questions`."""
    count = len(next(iter(ranks.values())))
    rows = [[1 / size if r <= size else 0.0 for r in ranks[m]] for m in ranks for size in n]
    for one, two in pairs:
        for size in n:
            both = zip(ranks[one], ranks[two], strict=True)
            rows.append([((a <= size) - (b <= size)) / size for a, b in both])
    return [*rows, [1 / count] * count]


def residuals(
    a: Sequence[float], p: Sequence[float], judged: Sequence[bool], *, assisted: bool
) -> list[float]:
    """Return v_qi; each sign of a is a set of its own."""
    found = [0.0] * len(a)
    for sign in (1, -1):
        inside = [i for i in range(len(a)) if a[i] * sign > 0 and not judged[i]]
        mean = sum(p[i] for i in inside) / len(inside) if inside else 0.0
        for i in inside:
            spread = 0.0 if assisted else (p[i] - mean) ** 2
            found[i] = max(p[i] * (1 - p[i]), 0.01) + spread
    return found


def squares(
    rows: Sequence[Sequence[float]],
    p: Sequence[float],
    judged: Sequence[bool],
    *,
    assisted: bool,
) -> FloatArray:
    """Return a_qi^2 v_qi, shape (questions, candidates)."""
    return np.array(
        [
            [c * c * v for c, v in zip(a, residuals(a, p, judged, assisted=assisted), strict=True)]
            for a in rows
        ]
    )
