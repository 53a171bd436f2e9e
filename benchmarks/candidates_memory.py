"""From a text to a report under `[run] memory`: the memory of all processes beside the limit.

python benchmarks/candidates_memory.py [--tokens 5000000] [--memory 500MB] [--folder DIR]

A text is made from a seed, and every bigram of it is a candidate. They are counted, scored,
ranked, pooled, evaluated for every list size, compared, as a subset, sampled, merged with
themselves, and reported; those of the first 100,000 tokens have a judgement, one in three a
true positive. Ends with 1 if the peak is more than 1.15 times the limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import polars as pl
from growing_text import LINE, block, blocks, write_block
from lexicon_memory import ALLOWED
from process_tree import watch
from pydantic import TypeAdapter

from pipeline.runner.inputs import Bytes

SEED = 1
JUDGED = 100_000
"""Tokens whose bigrams are judged."""
EXPERIMENT = r"""
name = "candidates-memory"
seed = "memory"

[run]
memory = "{memory}"

[stages.candidates]
use = "extract.pairs"
corpus = {{ path = "text.txt", format = "text", tokens = "\\S+" }}
relation = "adjacent"
left = {{ label = "{{form}}" }}
right = {{ label = "{{form}}" }}

[stages.scores]
use = "score.association"
candidates = "candidates"
measures = ["frequency", "t_score", "log_likelihood", "mi"]

[stages.ranks]
use = "score.rank"
scores = "scores"

[stages.judgements]
use = "join.table"
path = "judged.tsv"
candidates = "candidates"
categories = {{ TP = "TP" }}

[stages.pool]
use = "score.pool"
ranks = "ranks"
depth = 2000

[stages.precision]
use = "evaluate.precision"
ranks = "ranks"
judgements = "judgements"

[stages.comparison]
use = "evaluate.comparison"
ranks = "ranks"
judgements = "judgements"
every = 0

[stages.frequent]
use = "evaluate.subset"
ranks = "ranks"
judgements = "judgements"
subset = "candidates"
where = "f >= 5"

[stages.sample]
use = "sample.random"
candidates = "candidates"
size = 1000

[stages.strata]
use = "sample.stratified"
ranks = "ranks"
boundaries = [1000, 10000, 100000]
sizes = [200, 200, 100, 100]

[stages.again]
use = "extract.merge"
first = "candidates"
second = "candidates"
min_frequency = 2
"""


def prepare(folder: Path, tokens: int, memory: str) -> Path:
    """Write the text and the judgements, unless they are there, and the experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    text, judged = folder / "text.txt", folder / "judged.tsv"
    if not judged.is_file():
        text.unlink(missing_ok=True)
        for number, count in blocks(tokens):
            write_block(text, block(SEED, number, count))
        _bigrams(text).write_csv(judged, separator="\t")
    config = folder / "experiment.toml"
    config.write_text(EXPERIMENT.format(memory=memory))
    return config


def _bigrams(text: Path) -> pl.DataFrame:
    """Return the different bigrams at the beginning of a text, every third with TP 1."""
    with text.open(encoding="utf-8") as lines:
        words = [next(lines, "").split() for _ in range(JUDGED // LINE)]
    pairs = {pair: None for line in words for pair in pairwise(line)}
    frame = pl.DataFrame(list(pairs), schema=["l1", "l2"], orient="row")
    return frame.with_columns(TP=(pl.int_range(pl.len()) % 3 == 0).cast(pl.Int8))


def measure(folder: Path, tokens: int, memory: str) -> bool:
    """Run the experiment and print a line of the table; return whether the limit was kept."""
    config = prepare(folder, tokens, memory)
    runs = folder / f"runs-{time.time_ns()}"
    command = [sys.executable, "-m", "pipeline.cli", "run", str(config), "--quiet"]
    code, costs = watch([*command, "--runs", str(runs)], runs)
    ranks = pl.scan_parquet(runs / "candidates-memory" / "scores" / "*" / "**" / "*.parquet")
    candidates = ranks.select(pl.len()).collect().item()
    ratio = costs["memory"] * 1e6 / TypeAdapter(Bytes).validate_python(memory)
    print(
        f"| {tokens:,} | {candidates:,} | {memory} | {costs['wall']:,.0f} | {costs['cpu']:,.0f} "
        f"| {costs['memory']:,.0f} | {ratio:.2f} | {costs['disk']:,.0f} |"
    )
    return code == 0 and ratio <= ALLOWED


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tokens", type=int, default=5_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    print("| tokens | candidates | memory | wall s | CPU s | peak MB | ratio | disk MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        return 0 if measure(options.folder or Path(name), options.tokens, options.memory) else 1


if __name__ == "__main__":
    sys.exit(main())
