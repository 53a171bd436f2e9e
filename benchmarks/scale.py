"""From a text of any length to scores: seconds, CPU, memory of all processes, disk. Linux.

python benchmarks/scale.py 1000000000 --folder FOLDER [--memory 4GB] [--seed 1] [--curve]

The text is made from the seed, shard by shard; what is there is not made again. Then bigrams are
counted, a threshold set and measures computed by ``lexassay run`` with two workers. Killed at any
place, the same command goes on; FOLDER/log.jsonl has a line for each attempt, and result.json the
sums: CPU of an attempt that was killed is not in them. Half of the memory is given to counting, the
rest is for the processes themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
from growing_text import BLOCK, block, blocks, growth, write_block
from process_tree import size, watch

SHARD_BLOCKS = 10
"""Blocks of a million tokens in a file."""
CURVE = (1, 3, 10, 30, 100, 300, 1000)
"""Points of the curve of growth, in blocks."""
EXPERIMENT = """name = "scale"
[run]
engine = "processes"
workers = 2
memory = "{memory}MB"
[stages.candidates]
use = "extract.pairs"
corpus = {{ path = {paths}, format = "text", tokens = "\\\\S+" }}
relation = "adjacent"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}
min_frequency = 3
[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["frequency", "t_score", "log_likelihood", "mi"]
"""


def make_shards(folder: Path, tokens: int, seed: int) -> list[Path]:
    """Write the files of the text that are not there; each is renamed when it is whole."""
    every = list(blocks(tokens))
    paths = []
    for start in range(0, len(every), SHARD_BLOCKS):
        shard = every[start : start + SHARD_BLOCKS]
        last = sum(count for _, count in shard)
        path = folder / f"text-{seed}-{start // SHARD_BLOCKS:05}-{last}.txt"
        paths.append(path)
        if path.exists():
            continue
        partial = path.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        for number, count in shard:
            write_block(partial, block(seed, number, count))
        partial.rename(path)
    return paths


def log(folder: Path, **figures: object) -> None:
    """Append a line to the log of the attempts, and print it."""
    line = json.dumps(figures)
    print(line, flush=True)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def run(folder: Path, paths: list[Path], megabytes: int) -> int:
    """Run the experiment, watched; return its exit code."""
    config, runs = folder / "scale.toml", folder / "runs"
    names = json.dumps([path.name for path in paths])
    config.write_text(EXPERIMENT.format(memory=megabytes // 2, paths=names))
    command = [sys.executable, "-m", "pipeline.cli", "run", str(config)]
    code, costs = watch([*command, "--no-report", "--runs", str(runs)], runs)
    log(folder, phase="run", code=code, load=round(os.getloadavg()[0], 1), **costs)
    return code


def result(folder: Path, tokens: int) -> dict[str, object]:
    """Return the sums over attempts, the rows of the tables and the seconds of the stages."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    runs = [line for line in lines if line["phase"] == "run"]
    figures: dict[str, object] = {"tokens": tokens, "attempts": len(runs)}
    for name, total in (("wall", sum), ("cpu", sum), ("memory", max), ("disk", max)):
        figures[name] = round(total(line[name] for line in runs), 1)
    figures["text seconds"] = round(
        sum(line["wall"] for line in lines if line["phase"] == "text"), 1
    )
    figures["text MB"] = round(sum(path.stat().st_size for path in folder.glob("*.txt")) / 1e6)
    figures["runs MB"] = round(size(folder / "runs") / 1e6)
    for event in _events(folder):
        if event["event"] == "stage_done":
            figures[f"{event['stage']} seconds"] = event["seconds"]
            figures[f"{event['stage']} rows"] = max(event["rows"].values())
    parts = list((folder / "runs/scale/candidates/counts").glob("*/counts/*.parquet"))
    figures["distinct bigrams"] = pl.scan_parquet(parts).select(pl.len()).collect().item()
    return figures


def _events(folder: Path) -> list[dict[str, Any]]:
    logs = sorted((folder / "runs/scale/history").glob("*.jsonl"))
    return [json.loads(line) for path in logs for line in path.read_text().splitlines()]


def megabytes(text: str) -> int:
    """Read a size such as 4GB or 500MB."""
    match = re.fullmatch(r"(\d+) ?(MB|GB)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"not a size such as 4GB or 500MB: {text}")
    return int(match[1]) * {"MB": 1, "GB": 1000}[match[2]]


def main() -> int:
    """Make the text, run the experiment, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tokens", type=int)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--memory", type=megabytes, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--curve", action="store_true", help="print how words and bigrams grow")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    paths = make_shards(options.folder, options.tokens, options.seed)
    log(options.folder, phase="text", wall=round(time.perf_counter() - started, 1))
    if code := run(options.folder, paths, options.memory):
        return code
    figures = result(options.folder, options.tokens)
    (options.folder / "result.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))
    points = [point * BLOCK for point in CURVE if point * BLOCK <= options.tokens]
    for reached, words, pairs in growth(options.seed, points) if options.curve and points else ():
        print(f"{reached:14,} tokens {words:12,} words {pairs:14,} bigrams", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
