"""Evaluate clusterings by lexassay, scikit-learn, bcubed, clusim and cdlib: time, ratio, memory.

python benchmarks/clustering.py [--runs 5] [--only twelve|tokens|types|overlapping]

Every run is a fresh process that makes the data, evaluates a hundredth of them to warm up, and then
times the evaluation alone. The values are beside the times: where a peer measures something else
under the same name, that is said. A peer that is not installed, or does not run, is named with the
reason. Ratios are of elapsed time, and of CPU seconds, which other work disturbs less.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clustering_workers import MODULES, WORKERS
from make_memberships import EVEN, Size

LONGEST = 600
"""Seconds after which a peer is stopped."""
MOST_OF_PEERS = 3
"""Runs of a peer."""
SAME = 1e-6
"""Values that differ by less are the same."""
LONG = 20
"""Seconds after which one run is enough."""
Found = tuple[float, float, float, list[float]]
"""Seconds, CPU seconds, peak memory in MB, values."""


@dataclass(frozen=True)
class Contest:
    """What is measured on which data: lexassay, and a peer if there is one."""

    part: str
    title: str
    size: Size
    ours: str
    peers: Sequence[str] = ()


PAPER_SIZES = [Size(39_546, 34, clusters) for clusters in (34, 91, 192)]
MILLION = [Size(1_000_000, 45, 45), Size(1_000_000, 45, 45, EVEN)]
MANY_LABELS = Size(100_000, 43_000, 43_000)
TEN, ONE = Size(10_000, 34, 91), Size(1_000, 34, 91)


def contests() -> list[Contest]:
    """Return all contests; the sizes are what the slowest peer does in a minute or two."""
    large = [*PAPER_SIZES, *MILLION]
    return [
        *(
            Contest("twelve", "12 measures of the paper", size, "lexassay, twelve")
            for size in large
        ),
        *(
            Contest("tokens", "V, AMI, ARI, FM", size, "lexassay, tokens", ["scikit-learn"])
            for size in (*PAPER_SIZES[1:], Size(400_000, 45, 91))
        ),
        Contest(
            "tokens", "V, I, ARI, FM, Rand of random labels", MANY_LABELS, "lexassay, many labels",
            ["scikit-learn, many labels"],
        ),
        Contest("tokens", "all measures of random labels", MANY_LABELS, "lexassay, all measures"),
        *(
            Contest("types", "types of tokens", Size(tokens, 45, 45), "lexassay, types")
            for tokens in (100_000, 1_000_000)
        ),
        *(
            Contest("overlapping", "7 overlapping measures", size, "lexassay, overlapping")
            for size in large
        ),
        Contest("overlapping", "extended BCubed", TEN, "lexassay, BCubed", ["bcubed"]),
        Contest(
            "overlapping", "NMI LFK", TEN, "lexassay, NMI LFK", ["cdlib, NMI LFK", "clusim, onmi"]
        ),
        Contest("overlapping", "NMI max", TEN, "lexassay, NMI max", ["cdlib, NMI max"]),
        Contest("overlapping", "Omega", ONE, "lexassay, Omega", ["cdlib, Omega", "clusim, Omega"]),
        Contest(
            "overlapping", "Omega of partitions", ONE, "lexassay, Omega of partitions",
            ["clusim, Omega of partitions"],
        ),
        Contest("overlapping", "element-centric", TEN, "lexassay, ECS", ["clusim, ECS"]),
        Contest(
            "overlapping", "element-centric of partitions", TEN, "lexassay, ECS of partitions",
            ["clusim, ECS of partitions"],
        ),
    ]  # fmt: skip


def work(who: str, size: Size) -> None:
    """Time one evaluation; print seconds, CPU seconds, peak memory in MB, and the values."""
    WORKERS[who](size._replace(items=max(300, size.items // 100)))()
    run = WORKERS[who](size)
    started, used = time.perf_counter(), time.process_time()
    values = list(run())
    seconds = [time.perf_counter() - started, time.process_time() - used]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps([*seconds, peak, values]))


def measure(who: str, size: Size, runs: int) -> Found:
    """Return the medians of the seconds and CPU seconds, the largest peak memory, the values.

    One run that takes long is enough.

    Raises
    ------
    ChildProcessError
        If it does not run, with the last line that it printed.
    """
    line = [sys.executable, str(Path(__file__)), "--work", who, json.dumps(size)]
    results = [_run(line)]
    while len(results) < runs and results[0][0] < LONG:
        results.append(_run(line))
    seconds, used, peaks, values = zip(*results, strict=True)
    return statistics.median(seconds), statistics.median(used), max(peaks), values[0]


def _run(line: Sequence[str]) -> Found:
    try:
        process = subprocess.run(line, check=False, capture_output=True, text=True, timeout=LONGEST)
    except subprocess.TimeoutExpired as late:
        raise ChildProcessError(f"stopped after {LONGEST} seconds") from late
    if process.returncode:
        raise ChildProcessError((process.stderr.strip().splitlines() or ["no message"])[-1])
    seconds, used, peak, values = json.loads(process.stdout.splitlines()[-1])
    return seconds, used, peak, values


def show(who: str, result: Found) -> Found:
    seconds, used, peak, values = result
    text = " ".join(f"{value:.4f}" for value in values)
    print(f"  {who:<30}{seconds:9.3f} s {used:9.3f} s CPU {peak:7,.0f} MB  {text}", flush=True)
    return result


def compare(contest: Contest, runs: int) -> None:
    """Measure lexassay, then each peer."""
    size = contest.size
    labels = ", as many with one, two and three labels" if size.senses == EVEN else ""
    print(f"{contest.title}: {size.items:,} items{labels}, {size.classes} x {size.clusters}")
    ours = show(contest.ours, measure(contest.ours, size, runs))
    for peer in contest.peers:
        name = peer.split(",", maxsplit=1)[0]
        if importlib.util.find_spec(MODULES.get(name, name)) is None:
            print(f"  {peer}: not installed")
            continue
        try:
            theirs = show(peer, measure(peer, size, min(runs, MOST_OF_PEERS)))
        except ChildProcessError as error:
            print(f"  {peer}: does not run: {error}", flush=True)
            continue
        print(
            f"  {theirs[0] / ours[0]:,.1f} times as fast, {theirs[1] / ours[1]:,.1f} in CPU seconds"
        )
        if any(abs(a - b) > SAME for a, b in zip(ours[3], theirs[3], strict=True)):
            print(f"  {peer}: the values differ, it is not the same measure")


def main() -> int:
    """Print a block per contest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", choices=["twelve", "tokens", "types", "overlapping"])
    parser.add_argument("--work", nargs=2)
    options = parser.parse_args()
    if options.work:
        size: Any = json.loads(options.work[1])
        work(options.work[0], Size(*size))
        return 0
    print(
        f"{os.cpu_count()} cores; median of {options.runs} runs (peers: of {MOST_OF_PEERS} at most)"
    )
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"load average at the start: {load}; peak memory of the whole process, data included")
    for contest in contests():
        if options.only in {None, contest.part}:
            compare(contest, options.runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
