"""Score candidates by lexassay, association-measures and NLTK: time, ratio, peak memory.

python benchmarks/score_peers.py [--runs 5] [--rows 100000 1000000]

Every run is a fresh process that makes the table, scores ten rows to warm up, and then times the
scoring alone. The peers score the measures that they share with lexassay; what each run measures
is the same work on the same candidates, all of them with distinct signatures.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from make_table import distinct_table
from results import record

import pipeline as lx

AM = {
    "z_score": "z_score", "t_score": "t_score", "log_likelihood": "log_likelihood",
    "simple_ll": "simple_ll", "min_sensitivity": "minimum_sensitivity", "liddell": "liddell",
    "dice": "dice", "log_ratio": "log_ratio", "mutual_information": "mi",
    "local_mutual_information": "local_mi", "conservative_log_ratio": "conservative_log_ratio",
}  # fmt: skip
"""Measures of association-measures, and what they are called here."""
NLTK = {
    "student_t": "t_score", "chi_sq": "chi_squared", "likelihood_ratio": "log_likelihood",
    "pmi": "mi", "poisson_stirling": "poisson_stirling", "jaccard": "jaccard", "dice": "dice",
    "phi_sq": "phi", "mi_like": "mi_like",
}  # fmt: skip
"""Measures of NLTK, and what they are called here (phi_sq is phi squared)."""
SLOW = ("exact test", "likelihood", "conservative estimate")
"""Families with special functions; of these only two are closed forms."""
ALSO_CLOSED = ("poisson_stirling", "conservative_log_ratio")


def closed_forms() -> list[str]:
    """Return all measures that are closed forms."""
    known = lx.measures().filter(~pl.col("family").is_in(SLOW) | pl.col("name").is_in(ALSO_CLOSED))
    return known.get_column("name").to_list()


def lexassay(measures: Sequence[str]) -> Callable[[pl.DataFrame], Callable[[], Any]]:
    return lambda table: lambda: lx.score(table, measures=measures)


def association_measures(table: pl.DataFrame) -> Callable[[], Any]:
    from association_measures import measures

    frame = table.select("f", "f1", "f2", "N").to_pandas()
    options = {"discounting": "Hardie2014", "boundary": "normal", "alpha": 0.05, "correct": None}
    return lambda: measures.score(frame, list(AM), freq=False, digits=None, **options)


def nltk(table: pl.DataFrame) -> Callable[[], Any]:
    from nltk.metrics import BigramAssocMeasures

    scorers = [getattr(BigramAssocMeasures, name) for name in NLTK]
    rows = list(table.select("f", "f1", "f2", "N").iter_rows())
    return lambda: [[score(f, (f1, f2), n) for f, f1, f2, n in rows] for score in scorers]


@dataclass(frozen=True)
class Contest:
    """Who scores what: a peer and lexassay with the same measures, or lexassay alone."""

    ours: Sequence[str]
    peer: str = ""
    most: int = 10**9


def contests() -> dict[str, Contest]:
    """Return what is measured; NLTK, row by row in Python, on tables of 100,000 rows at most."""
    return {
        "all closed forms": Contest(closed_forms()),
        "shared with association-measures": Contest(list(AM.values()), "association_measures"),
        "shared with NLTK": Contest(list(NLTK.values()), "nltk", most=100_000),
    }


PEERS = {"association_measures": association_measures, "nltk": nltk}


def work(who: str, contest: str, rows: int) -> None:
    """Time one scoring and print seconds, CPU seconds, and the peak memory in MB."""
    prepare = PEERS[who] if who in PEERS else lexassay(contests()[contest].ours)
    table = distinct_table(rows)
    prepare(table.head(10))()
    run = prepare(table)
    started, used = time.perf_counter(), time.process_time()
    run()
    seconds = [time.perf_counter() - started, time.process_time() - used]
    print(json.dumps([*seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def measure(who: str, contest: str, rows: int, runs: int) -> tuple[float, float, float]:
    """Return the medians of the seconds and CPU seconds, and the largest peak memory."""
    line = [sys.executable, str(Path(__file__)), "--work", who, contest, str(rows)]
    outputs = [
        json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
        for _ in range(runs)
    ]
    seconds, used, peaks = zip(*outputs, strict=True)
    return statistics.median(seconds), statistics.median(used), max(peaks)


def show(who: str, contest: str, count: int, rows: int, costs: tuple[float, float, float]) -> float:
    seconds, used, peak = costs
    ratio = record(f"score_peers: {contest}, {rows:,} candidates: {who}", seconds)
    speed = f"{seconds:8.3f} s {used:8.3f} s CPU {rows / seconds / 1e6:8.3f} M rows/s"
    print(f"  {who:<22}{count:3} measures {speed} {peak:8,.0f} MB  {ratio}", flush=True)
    return seconds


def main() -> int:
    """Print a block per contest and size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--work", nargs=3)
    options = parser.parse_args()
    if options.work:
        work(options.work[0], options.work[1], int(options.work[2]))
        return 0
    print(f"median of {options.runs} runs; peak memory of the whole process, table included")
    for name, contest in contests().items():
        for rows in (size for size in options.rows if size <= contest.most):
            print(f"{name}, {rows:,} distinct candidates", flush=True)
            costs = measure("lexassay", name, rows, options.runs)
            ours = show("lexassay", name, len(contest.ours), rows, costs)
            if contest.peer and importlib.util.find_spec(contest.peer):
                costs = measure(contest.peer, name, rows, options.runs)
                theirs = show(contest.peer, name, len(contest.ours), rows, costs)
                print(f"  {theirs / ours:.1f} times as fast", flush=True)
            elif contest.peer:
                print(f"  {contest.peer} is not installed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
