"""Small tables of ranks and judgements from plain Python lists, and the Krenn data set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from pipeline.kernels.nbest.stratified import stratified_difference
from pipeline.kernels.numeric import IntArray
from schemas import Ranks

Draw = tuple[bool | None, int] | None
Scores = Mapping[str, Sequence[float | None]]
Draws = Mapping[str, Sequence[Draw]]

JUDGED = {
    "category": pl.String,
    "id": pl.String,
    "tp": pl.Boolean,
    "multiplicity": pl.Int64,
}


def name(candidate: int) -> str:
    return f"c{candidate:05d}"


def ranks_of(scores: Scores) -> pl.DataFrame:
    """Rank candidates 0, 1, ... under each measure; equal scores keep their order."""
    rows = [row for measure, values in scores.items() for row in _ranked(measure, values)]
    return pl.DataFrame(rows, schema=Ranks.columns(), orient="row")


def _ranked(measure: str, values: Sequence[float | None]) -> list[tuple[object, ...]]:
    keys = [float("-inf") if value is None else value for value in values]
    order = sorted(range(len(keys)), key=lambda candidate: (-keys[candidate], candidate))
    tie = {keys[c]: place for place, c in reversed(list(enumerate(order, start=1)))}
    return [
        (measure, place, name(c), values[c], tie[keys[c]], c)
        for place, c in enumerate(order, start=1)
    ]


def judged_of(draws: Draws) -> pl.DataFrame:
    """Give each candidate its (verdict, multiplicity); None leaves it out of the sample."""
    rows = [
        (category, name(candidate), *draw)
        for category, every in draws.items()
        for candidate, draw in enumerate(every)
        if draw is not None
    ]
    return pl.DataFrame(rows, schema=JUDGED, orient="row")


@st.composite
def studies(draw: st.DrawFn, largest: int = 6) -> tuple[Scores, Draws]:
    """Make up to `largest` candidates with many ties, and a sample with gaps."""
    size = draw(st.integers(1, largest))
    score = st.sampled_from([None, 1.0, 2.0, 3.0])
    verdict = st.tuples(st.sampled_from([True, False, None]), st.integers(1, 3))
    scores = {m: draw(st.lists(score, min_size=size, max_size=size)) for m in ("x", "y")}
    sampled = st.lists(st.none() | verdict, min_size=size, max_size=size)
    return scores, {category: draw(sampled) for category in ("A", "B")}


def krenn() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores and full annotation of the Krenn data set, or skip the test."""
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        pytest.skip("LEXASSAY_DATA is not set: no folder with the public data sets")
    path = Path(root) / "collocations" / "krenn_pp_verb.ds"
    if not path.is_file():
        pytest.skip(f"{path} is absent: it is the KrennPPV set of the R package corpora")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    scores = table.select(
        frequency=pl.col("f").cast(pl.Float64),
        t_score="am.t.score",
        log_likelihood="am.log.likelihood",
        chi_squared_corr="am.chi.squared.corr",
    )
    verdicts = [(bool(tp), 1) for tp in table["b.TP"]]
    return ranks_of(scores.to_dict(as_series=False)), judged_of({"TP": verdicts})


# The comparison of measures by a stratified sample, list by list: the slow twin.

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
