"""Forms that paradigms generate under `[run] memory`: the memory of all processes beside the limit.

python benchmarks/paradigms_memory.py [--forms 5000000] [--memory 500MB] [--folder DIR]

So many forms come of lemmas, in no order, that name one of a hundred paradigms of 1 to 99 endings.
Ends with 1 if the peak is more than 1.15 times the limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from lexicon_memory import ALLOWED, MIXED
from process_tree import watch
from pydantic import TypeAdapter

from pipeline.runner.inputs import Bytes

PARADIGMS = 100
EXPERIMENT = """
name = "paradigms-memory"

[run]
memory = "{memory}"

[stages.generated]
use = "extract.paradigms"
entries = "entries.parquet"
paradigms = "paradigms.parquet"
"""


def prepare(folder: Path, forms: int, memory: str) -> Path:
    """Write the entries and the endings, unless they are there, and the experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    number = pl.int_range(forms // (PARADIGMS // 2), eager=True)
    lemma = number * MIXED % len(number)
    entries = pl.DataFrame({"lemma": lemma}).select(
        pl.format("lemma{}", "lemma"), stem=pl.format("stem{}", "lemma"),
        paradigm=pl.format("paradigm{}", 1 + pl.col("lemma") % (PARADIGMS - 1)),
    )  # fmt: skip
    endings = [(f"paradigm{k}", f"~{j}") for k in range(1, PARADIGMS) for j in range(k)]
    table = pl.DataFrame(endings, schema=["paradigm", "ending"], orient="row")
    entries.write_parquet(folder / "entries.parquet")
    table.write_parquet(folder / "paradigms.parquet")
    config = folder / "experiment.toml"
    config.write_text(EXPERIMENT.format(memory=memory))
    return config


def measure(folder: Path, forms: int, memory: str) -> bool:
    """Run the experiment and print a line of the table; return whether the limit was kept."""
    config = prepare(folder, forms, memory)
    runs = folder / f"runs-{time.time_ns()}"
    command = [sys.executable, "-m", "pipeline.cli", "run", str(config), "--no-report"]
    code, costs = watch([*command, "--runs", str(runs)], runs)
    ratio = costs["memory"] * 1e6 / TypeAdapter(Bytes).validate_python(memory)
    print(
        f"| {forms:,} | {memory} | {costs['wall']:,.0f} | {costs['cpu']:,.0f} "
        f"| {costs['memory']:,.0f} | {ratio:.2f} | {costs['disk']:,.0f} |"
    )
    return code == 0 and ratio <= ALLOWED


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--forms", type=int, default=5_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    print("| forms | memory | wall s | CPU s | peak MB | ratio | disk MB |")
    print("|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        return 0 if measure(options.folder or Path(name), options.forms, options.memory) else 1


if __name__ == "__main__":
    sys.exit(main())
