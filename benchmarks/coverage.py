"""Simulate how often the confidence intervals of a simple sample hold the true precision.

Draws many random samples from a fully annotated data set with the project's own sampling
functions, counts draws and true positives in the n-best lists of several measures, and sees how
many intervals hold the true precision.

    python benchmarks/coverage.py [--samples 5000] [--rates 0.05 0.1] [--output FILE.csv]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from pipeline.kernels.association.scoring import score
from pipeline.kernels.nbest.ranking import rank
from pipeline.kernels.sampling import (
    candidate_id,
    sample_size,
    with_replacement,
    without_replacement,
)
from pipeline.kernels.statistics.intervals import INTERVALS

MEASURES = (
    "frequency", "t_score", "log_likelihood", "chi_squared", "chi_squared_corr", "mi", "dice",
)  # fmt: skip
RATES = (0.05, 0.1, 0.15, 0.2)
SAMPLES = 5000
BATCH = 250
WHERE = "data set KrennPPV of the R package corpora, or the UCS data sets at collocations.de"
"""Where the data can be had."""

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float32]


class Lists(NamedTuple):
    """N-best lists of fully annotated candidates.

    Parameters
    ----------
    ids : DataFrame
        Column id: the candidates.
    cells : DataFrame
        measure, n and true (true positives in the list), a row per list.
    member, hit : arrays, shape (candidates, lists)
        1 where the candidate is in the list; where it is in it and a true positive.
    """

    ids: pl.DataFrame
    cells: pl.DataFrame
    member: FloatArray
    hit: FloatArray


class Counts(NamedTuple):
    """Draws and true positives in each list for each sample, shape (samples, lists)."""

    n_sampled: IntArray
    k_sampled: IntArray


def krenn(root: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return ranks and verdicts of the public PP-verb data set.

    Raises
    ------
    FileNotFoundError
        If it is not there; the message says where it can be had.
    """
    path = root / "collocations" / "krenn_pp_verb.ds"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: {WHERE}")
    table = pl.read_csv(path, separator="\t", quote_char=None)
    candidates = table.with_columns(candidate_id("l1", "l2"))
    scores = score(candidates.lazy(), measures=MEASURES)
    ranks = rank(scores, measures=MEASURES, seed="coverage").collect()
    return ranks, candidates.select("id", tp=pl.col("b.TP").cast(pl.Boolean))


def nbest_lists(ranks: pl.DataFrame, verdicts: pl.DataFrame, cuts: Sequence[int]) -> Lists:
    """Return the lists of every measure at every cut."""
    ids = ranks.select(pl.col("id").unique().sort())
    tp = ids.join(verdicts, on="id", how="left", maintain_order="left")["tp"].to_numpy()
    columns, rows = [], []
    for measure in ranks["measure"].unique().sort():
        ranked = ranks.filter(measure=measure).select("id", "rank")
        place = ids.join(ranked, on="id", how="left", maintain_order="left")["rank"].to_numpy()
        for n in cuts:
            columns.append(place <= n)
            rows.append({"measure": measure, "n": n, "true": int((columns[-1] & tp).sum())})
    member = np.stack(columns, axis=1).astype(np.float32)
    return Lists(ids, pl.DataFrame(rows), member, member * tp[:, None])


def samples_of(
    ids: pl.DataFrame, sizes: Sequence[int], seeds: Sequence[str], *, replacement: bool
) -> Iterator[FloatArray]:
    """Yield, for each size, how often each candidate is in each sample, (seeds, candidates).

    Without replacement a smaller sample is the beginning of the largest one.
    """
    place = {name: index for index, name in enumerate(ids["id"])}
    tables = [np.zeros((len(seeds), len(place)), dtype=np.float32) for _ in sizes]
    for row, seed in enumerate(seeds):
        if not replacement:
            largest = without_replacement(ids, size=max(sizes), seed=seed)["id"]
            places = np.fromiter((place[name] for name in largest), dtype=np.int64)
            for table, size in zip(tables, sizes, strict=True):
                table[row, places[:size]] = 1
            continue
        for table, size in zip(tables, sizes, strict=True):
            drawn = with_replacement(ids, size=size, seed=seed)
            places = np.fromiter((place[name] for name in drawn["id"]), dtype=np.int64)
            table[row, places] = drawn["multiplicity"].to_numpy()
    yield from tables


def count_samples(
    lists: Lists, *, rates: Sequence[float], samples: int, replacement: bool, seed: str
) -> dict[float, Counts]:
    """Return the counts of every sample in every list, for each rate."""
    sizes = [sample_size(lists.ids.height, rate=rate) for rate in rates]
    parts: dict[float, list[Counts]] = {rate: [] for rate in rates}
    for start in range(0, samples, BATCH):
        seeds = [f"{seed}-{number}" for number in range(start, min(start + BATCH, samples))]
        tables = samples_of(lists.ids, sizes, seeds, replacement=replacement)
        for rate, table in zip(rates, tables, strict=True):
            # sums of small whole numbers are exact in Float32
            pair = Counts(*((table @ m).astype(np.int64) for m in (lists.member, lists.hit)))
            parts[rate].append(pair)
    return {
        rate: Counts(*(np.concatenate(side) for side in zip(*pairs, strict=True)))
        for rate, pairs in parts.items()
    }


def interval_coverage(
    lists: Lists, counts: Counts, *, method: str, confidence: float = 0.95
) -> pl.DataFrame:
    """Return, for each list, how often the interval held the truth, and its mean width."""
    interval = INTERVALS.get(method)
    n = np.broadcast_to(lists.cells["n"].to_numpy(), counts.n_sampled.shape)
    rows = [counts.n_sampled, counts.k_sampled, n if interval.finite else np.zeros_like(n)]
    # each distinct row once: three counts below 2**20 in one number
    code = (rows[0] << 40) | (rows[1] << 20) | rows[2]
    distinct, inverse = np.unique(code, return_inverse=True)
    mask = (1 << 20) - 1
    draws, hits, size = distinct >> 40, (distinct >> 20) & mask, distinct & mask
    limits = interval(hits, draws, confidence=confidence, population=size)
    lower, upper = (limit[inverse.reshape(code.shape)] for limit in limits)
    truth = lists.cells["true"].to_numpy() / lists.cells["n"].to_numpy()
    inside = (lower <= truth) & (truth <= upper)
    return lists.cells.with_columns(
        truth=pl.Series(truth),
        method=pl.lit(method),
        coverage=pl.Series(inside.mean(axis=0)),
        width=pl.Series((upper - lower).mean(axis=0)),
        samples=pl.lit(len(inside)),
    )


def coverage(
    ranks: pl.DataFrame,
    verdicts: pl.DataFrame,
    *,
    cuts: Sequence[int],
    rates: Sequence[float] = RATES,
    samples: int = SAMPLES,
    replacement: bool = False,
    seed: str = "coverage",
) -> pl.DataFrame:
    """Return how often each interval held the true precision.

    Parameters
    ----------
    ranks, verdicts : DataFrame
        Rankings, and the full annotation (id, tp).
    cuts : sequence of int
        Sizes of the n-best lists.
    rates : sequence of float
        Sampling rates.
    samples : int
        How many samples to draw for each rate.
    replacement : bool
        Whether to draw with replacement; then there is no hypergeometric interval.
    seed : str
        Fixes the samples.

    Returns
    -------
    DataFrame
        rate, replacement, measure, n, true, truth, method, coverage, width, samples.
    """
    lists = nbest_lists(ranks, verdicts, cuts)
    table = count_samples(lists, rates=rates, samples=samples, replacement=replacement, seed=seed)
    return pl.concat(
        interval_coverage(lists, counts, method=method).select(
            pl.lit(rate).alias("rate"), pl.lit(replacement).alias("replacement"), pl.all()
        )
        for rate, counts in table.items()
        for method in INTERVALS
        if not (replacement and INTERVALS.get(method).finite)
    )


def summary(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the mean and the lowest coverage of each interval at each rate, in per cent."""
    return cells.group_by("replacement", "rate", "method", maintain_order=True).agg(
        (100 * pl.mean("coverage")).round(1).alias("mean"),
        (100 * pl.min("coverage")).round(1).alias("lowest"),
        pl.format("{}, {}", "measure", "n").sort_by("coverage", "measure", "n").first().alias("at"),
        (100 * pl.mean("width")).round(1),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate, and print the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--rates", type=float, nargs="+", default=list(RATES))
    parser.add_argument("--output", type=Path, help="every cell, as CSV")
    options = parser.parse_args(arguments)
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        print(
            f"LEXASSAY_DATA is not set; it names the folder of public data: {WHERE}",
            file=sys.stderr,
        )
        return 2
    started = time.perf_counter()
    try:
        ranks, verdicts = krenn(Path(root))
    except FileNotFoundError as absent:
        print(absent, file=sys.stderr)
        return 2
    cuts = range(100, verdicts.height, 100)
    parts = []
    for replacement in (False, True):
        parts.append(
            coverage(
                ranks, verdicts, cuts=cuts, rates=options.rates, samples=options.samples,
                replacement=replacement,
            )
        )  # fmt: skip
        kind = "with" if replacement else "without"
        print(f"{kind} replacement: {time.perf_counter() - started:.0f} s", file=sys.stderr)
    results = pl.concat(parts)
    with pl.Config(tbl_rows=-1, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True):
        print(summary(results))
    if options.output:
        results.write_csv(options.output)
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
