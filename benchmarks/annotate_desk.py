"""What benchmarks of annotation share: an invented experiment, its server, its log, the disk."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
LABELS = ("SVC", "figurative", "free")
EXPERIMENT = """
name = "bench"
seed = "s"

[stages.candidates]
use = "extract.table"
path = "pairs.tsv"

[stages.sheet]
use = "sheet.annotation"
candidates = "candidates"
sample = "candidates"
folder = "pairs"
labels = {labels}
annotators = {people}
overlap = 0.1
"""


def furnish(folder: Path, *, people: Sequence[str], items: int) -> None:
    """Write an experiment that asks people for labels."""
    rows = (f"in:noun{number}\tverb{number % 997}\t5\t9\t9\t100000" for number in range(items))
    (folder / "pairs.tsv").write_text("\n".join(["l1\tl2\tf\tf1\tf2\tN", *rows]) + "\n")
    quoted = [f"[{', '.join(f'{each!r}' for each in listed)}]" for listed in (LABELS, people)]
    (folder / "bench.toml").write_text(
        EXPERIMENT.format(labels=quoted[0], people=quoted[1]).replace("'", '"')
    )


@contextmanager
def serve(folder: Path) -> Iterator[dict[str, str]]:
    """Run the command; yield the link of everybody, and stop it in the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline.cli", "annotate", "bench.toml", "--port", "0"],
        cwd=folder, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        links: dict[str, str] = {}
        assert process.stdout is not None
        for line in process.stdout:
            if link := re.search(r"^\s*(\S+)\s+(https?://\S+/[ac]/\S+)", line):
                links[link[1]] = link[2]
            if "/c/" in line:
                break
        else:
            raise SystemExit("the command did not serve")
        yield links
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)


def origin(address: str) -> str:
    """Return scheme, name and port of an address."""
    return re.sub(r"(https?://[^/]+).*", r"\1", address)


def logged_answers(folder: Path) -> dict[str, str]:
    """Return key, as its sender made it, and answer of every decision in the log."""
    (path,) = folder.glob("sheets/*/*/decisions.sqlite")
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT key, answer FROM log").fetchall()
    connection.close()
    answers = {key.rpartition("/")[2]: answer for key, answer in rows}
    assert len(rows) == len(answers), "a key stands there twice"
    return answers


def sync_costs(folder: Path, *, times: int = 200) -> tuple[float, float]:
    """Return median and 99th percentile of the seconds that 4 KB and a sync take."""
    durations = []
    with (folder / "sync").open("wb") as file:
        for _ in range(times):
            started = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            durations.append(time.perf_counter() - started)
    return float(np.median(durations)), float(np.quantile(durations, 0.99))


def spread(seconds: Sequence[float]) -> str:
    """Return median, 99th percentile and maximum in a few words."""
    return (
        f"median {np.median(seconds) * 1e3:.1f} ms, 99 % within"
        f" {np.quantile(seconds, 0.99) * 1e3:.1f} ms, at most {max(seconds) * 1e3:.1f} ms"
    )
