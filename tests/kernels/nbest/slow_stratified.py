"""The comparison of measures by a stratified sample, list by list: the slow twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from pipeline.kernels.nbest.stratified import stratified_difference
from pipeline.kernels.numeric import IntArray

Key = tuple[str, str, str]


def slow_comparison(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame,
    *,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
    confidence: float,
    replicates: int,
    seed: str,
    method: str,
) -> list[tuple[object, ...]]:
    """Return category, measures, n, size, n_1, k_1, n_2, k_2, difference and limits, sorted."""
    rows = []
    for key, n, first, second in slow_sets(ranks, judged, strata, pairs, at):
        size = int(first[0].sum())
        found = stratified_difference(
            first, second, share=size / n, confidence=confidence, replicates=replicates,
            seed=seed, method=method,
        )  # fmt: skip
        counts = [int(part.sum()) for side in (first, second) for part in side[1:]]
        known = (None if np.isnan(value) else value for value in found)
        rows.append((*key, n, size, *counts, *known))
    return sorted(rows, key=lambda row: row[:4])


def slow_sets(
    ranks: pl.DataFrame,
    judged: pl.DataFrame,
    strata: pl.DataFrame,
    pairs: Sequence[tuple[str, str]],
    at: Sequence[int],
) -> Iterator[tuple[Key, int, IntArray, IntArray]]:
    """Yield members, draws and true positives by stratum of both difference sets of each list."""
    base = strata.sort("id").select("id", code=pl.col("stratum").rank("dense").cast(pl.Int64) - 1)
    width = base["code"].n_unique()
    for category in judged["category"].unique().sort():
        own = judged.filter(pl.col("category") == category).select("id", "tp")
        placed = base.join(own, on="id", how="left", maintain_order="left")
        codes = placed["code"].to_numpy()
        weights = [
            np.ones(placed.height, dtype=bool),
            placed["tp"].is_not_null().to_numpy(),
            placed["tp"].fill_null(value=False).to_numpy(),
        ]
        for first, second in pairs:
            r1, r2 = (_ranks_of(ranks, base, name) for name in (first, second))
            for n in (n for n in sorted(set(at)) if 1 <= n <= len(r1)):
                sets = ((r1 <= n) & (r2 > n), (r2 <= n) & (r1 > n))
                sides = [
                    np.stack([np.bincount(codes[inside & w], minlength=width) for w in weights])
                    for inside in sets
                ]
                yield (category, first, second), n, sides[0], sides[1]


def _ranks_of(ranks: pl.DataFrame, base: pl.DataFrame, measure: str) -> IntArray:
    own = ranks.filter(pl.col("measure") == measure).select("id", "rank")
    return base.join(own, on="id", how="inner", maintain_order="left")["rank"].to_numpy()
