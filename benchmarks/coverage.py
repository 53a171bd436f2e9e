"""Simulate how often the confidence intervals cover the true precision.

Draws many random samples from a fully annotated data set, estimates the precision of the n-best
lists from each as the pipeline does, and counts the intervals that hold the true value.

    python benchmarks/coverage.py [--samples 1000] [--rates 0.1] [--output FILE.csv]
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from pipeline.kernels.association import score
from pipeline.kernels.hashing import candidate_id
from pipeline.kernels.judging import judged
from pipeline.kernels.nbest import nbest_counts, positives, precision_columns
from pipeline.kernels.ranking import rank
from pipeline.kernels.sampling import sample_size, with_replacement, without_replacement

MEASURES = (
    "frequency", "t_score", "log_likelihood", "chi_squared", "chi_squared_corr", "mi", "dice",
)  # fmt: skip
CUTS = (500, 1000, 2000)
KEY = ["category", "measure", "n"]


def krenn(root: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return ranks and verdicts of the public PP-verb data set."""
    path = root / "collocations" / "krenn_pp_verb.ds"
    table = pl.read_csv(path, separator="\t", quote_char=None)
    candidates = table.with_columns(candidate_id("l1", "l2"))
    scores = score(candidates.lazy(), measures=MEASURES)
    ranks = rank(scores, measures=MEASURES, seed="coverage").collect()
    verdicts = candidates.select(
        "id", category=pl.lit("TP"), tp=pl.col("b.TP").cast(pl.Boolean)
    ).select("category", "id", "tp")
    return ranks, verdicts


def estimates(ranks: pl.DataFrame, draws: pl.DataFrame, *, method: str) -> pl.DataFrame:
    """Return the estimates at the cuts from judged draws."""
    counts = nbest_counts(ranks.lazy(), draws.lazy()).filter(pl.col("n").is_in(CUTS)).collect()
    found = positives(draws).collect()
    return precision_columns(counts, positives=found, method=method, confidence=0.95)


def coverage(
    ranks: pl.DataFrame,
    verdicts: pl.DataFrame,
    *,
    rate: float,
    samples: int,
    replacement: bool,
    method: str = "clopper_pearson",
) -> pl.DataFrame:
    """Return, per measure and n, how often the interval held the truth, and its mean width.

    Parameters
    ----------
    ranks, verdicts : DataFrame
        Rankings and the full annotation.
    rate : float
        Sampling rate.
    samples : int
        How many samples to draw.
    replacement : bool
        Whether to draw with replacement.
    method : str
        Interval method.
    """
    ids = ranks.select(pl.col("id").unique(maintain_order=True))
    everything = judged(ids.lazy().with_columns(multiplicity=pl.lit(1)), verdicts.lazy()).collect()
    truth = estimates(ranks, everything, method=method).select(*KEY, truth="precision")
    size = sample_size(ids.height, rate=rate)
    draw = with_replacement if replacement else without_replacement
    hits = []
    for number in range(samples):
        sample = draw(ids, size=size, seed=f"coverage-{number}")
        draws = judged(sample.lazy(), verdicts.lazy()).collect()
        hits.append(estimates(ranks, draws, method=method))
    inside = pl.col("truth").is_between("lower", "upper")
    width = pl.col("upper") - pl.col("lower")
    joined = pl.concat(hits).join(truth, on=KEY)
    return (
        joined.group_by(KEY)
        .agg(truth=pl.first("truth"), coverage=inside.mean(), width=width.mean(), samples=pl.len())
        .with_columns(rate=pl.lit(rate), replacement=pl.lit(replacement), method=pl.lit(method))
        .sort("measure", "n")
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--samples", type=int, default=1000)
    parser.add_argument("--rates", type=float, nargs="+", default=[0.1])
    parser.add_argument("--output", type=Path)
    given = parser.parse_args(arguments)
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        print("LEXASSAY_DATA is not set: public data is needed", file=sys.stderr)
        return 2
    ranks, verdicts = krenn(Path(root))
    started = time.perf_counter()
    found = pl.concat(
        coverage(ranks, verdicts, rate=rate, samples=given.samples, replacement=replacement)
        for rate in given.rates
        for replacement in (False, True)
    )
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=4):
        print(found.drop("category", "method"))
        lowest = found.group_by("rate", "replacement").agg(pl.min("coverage")).sort(pl.all())
        print(lowest)
    print(f"{time.perf_counter() - started:.0f} s")
    if given.output:
        found.write_csv(given.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
