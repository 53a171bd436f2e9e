"""Measure likelihoods, exact tests and conservative estimates: candidates a second, peak memory.

python benchmarks/exact_tests.py [--runs 5] [--sizes 100000 1000000]

Each measure is scored in a process of its own, from a frame of distinct frequency signatures
to the scores; the same function of SciPy, where there is one, on some of the candidates. The
signatures are those of a generated corpus of twelve million pair tokens with Zipfian words,
four tenths of them with a partner of their own. As in the adjacent pairs of a hundred English
novels (11.4 million tokens), 3 in 10 signatures expect more than one token, 1 in 6 are below
their expectation, and 1 in 150 expect more than a hundred.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special, stats

from pipeline.kernels.association.contingency import COLUMNS, tables
from pipeline.kernels.association.scoring import score
from pipeline.kernels.measure import MEASURES

FAMILIES = ("likelihood", "exact test", "conservative estimate")
TOKENS, WORDS, EXPONENT, SHIFT, TIED = 12_000_000, 60_000, 1.15, 2.7, 0.4
PEER_ROWS = 2_000
Array = npt.NDArray[np.float64]


def pair_signatures(*, tokens: int = TOKENS, seed: int = 1) -> pl.DataFrame:
    """Count a generated corpus of pair tokens; return its distinct frequency signatures."""
    generator = np.random.default_rng(seed)
    shares = np.cumsum(1.0 / (np.arange(WORDS) + SHIFT) ** EXPONENT)
    shares /= shares[-1]
    left, right = (np.searchsorted(shares, generator.random(tokens)) for _ in range(2))
    tied = np.flatnonzero(generator.random(tokens) < TIED)
    partner = (generator.random(tied.size) ** 2 * (60 + left[tied] % 997)).astype(np.int64)
    place = (left[tied] * 0.6180339887498949 + partner * 0.7548776662466927) % 1.0
    right[tied] = np.searchsorted(shares, place)
    pairs = pl.DataFrame({"l1": left, "l2": right}).group_by("l1", "l2").len("f")
    counted = pairs.with_columns(pl.col("f").cast(pl.Int64)).with_columns(
        f1=pl.col("f").sum().over("l1"), f2=pl.col("f").sum().over("l2"), N=pl.lit(tokens, pl.Int64)
    )
    return counted.select("f", "f1", "f2", "N").unique().sort("f", "f1", "f2")


def _fisher(c: dict[str, Array]) -> Array:
    cells = np.stack([c[name] for name in ("o11", "o12", "o21", "o22")], axis=1)
    p = [stats.fisher_exact(each.reshape(2, 2).astype(np.int64))[1] for each in cells[:200]]
    return np.array(p)


def _upper(c: dict[str, Array], times: int) -> Array:
    return np.asarray(stats.poisson.logsf(c["o11"] - 1, times * c["e11"]))


def _multinomial(c: dict[str, Array]) -> Array:
    cells = np.stack([c[f"o{ij}"] for ij in ("11", "12", "21", "22")], axis=1)
    means = np.stack([c[f"e{ij}"] for ij in ("11", "12", "21", "22")], axis=1)
    return np.asarray(stats.multinomial.logpmf(cells, c["N"].astype(int), means / c["N"][:, None]))


PEERS: dict[str, Callable[[dict[str, Array]], Any]] = {
    "fisher_pv": lambda c: stats.hypergeom.logsf(c["o11"] - 1, c["N"], c["r1"], c["c1"]),
    "fisher_left_pv": lambda c: stats.hypergeom.logcdf(c["o11"], c["N"], c["r1"], c["c1"]),
    "fisher_two_sided_pv": _fisher,
    "binomial_pv": lambda c: stats.binom.logsf(c["o11"] - 1, c["N"], c["e11"] / c["N"]),
    "poisson_pv": lambda c: _upper(c, 1),
    "poisson_mu_2": lambda c: _upper(c, 2),
    "hypergeometric_likelihood_pv": lambda c: stats.hypergeom.logpmf(
        c["o11"], c["N"], c["r1"], c["c1"]
    ),
    "binomial_likelihood_pv": lambda c: stats.binom.logpmf(c["o11"], c["N"], c["e11"] / c["N"]),
    "poisson_likelihood_pv": lambda c: stats.poisson.logpmf(c["o11"], c["e11"]),
    "multinomial_likelihood_pv": _multinomial,
    "mi_conf_2": lambda c: special.gammaincinv(c["o11"], 0.005),
    "positive_lrc": lambda c: special.betaincinv(c["o11"], c["o21"] + 1, 0.05),
}


def _median(function: Callable[[], object], runs: int) -> float:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def one(name: str, path: Path, runs: int) -> dict[str, float]:
    """Return candidates a second of the measure and of its peer, and the peak memory in MB."""
    frame = pl.read_parquet(path)
    seconds = _median(lambda: score(frame.lazy(), measures=[name]).collect(), runs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result = {"rate": frame.height / seconds, "peak": peak}
    if name in PEERS:
        few = frame.head(PEER_ROWS)
        columns = tables(few.lazy()).select(COLUMNS).collect().to_dict(as_series=False)
        arrays = {column: np.array(values) for column, values in columns.items()}
        rows = len(PEERS[name](arrays))
        result["peer"] = rows / _median(lambda: PEERS[name](arrays), 3)
    return result


def main() -> int:
    """Print a line per measure and size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, metavar=("MEASURE", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.table:
        pair_signatures().sample(fraction=1, shuffle=True, seed=1).write_parquet(options.table)
        return 0
    if options.one:
        print(json.dumps(one(options.one[0], Path(options.one[1]), options.runs)))
        return 0
    print(f"{os.cpu_count()} cores; median of {options.runs}; distinct signatures; peak memory")
    names = ["frequency", *(m for m in MEASURES if MEASURES.get(m).family in FAMILIES)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "signatures.parquet"
        # by a process of its own, since a child's peak memory starts at its parent's
        subprocess.run([sys.executable, __file__, "--table", str(table)], check=True)
        for size in options.sizes:
            path = Path(folder) / f"{size}.parquet"
            pl.scan_parquet(table).head(size).sink_parquet(path)
            for name in names:
                _print_one(name, path, size, options.runs)
    return 0


def _print_one(name: str, path: Path, size: int, runs: int) -> None:
    command = [sys.executable, __file__, "--one", name, str(path), "--runs", str(runs)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result = json.loads(printed)
    line = f"{name:<30} {size:>9,} {result['rate'] / 1e6:7.2f} M/s {result['peak']:6,.0f} MB"
    if "peer" in result:
        line += (
            f"   SciPy {result['peer'] / 1e6:8.4f} M/s, ratio {result['rate'] / result['peer']:.3g}"
        )
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
