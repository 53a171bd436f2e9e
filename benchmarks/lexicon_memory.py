"""Lexicons of any size under `[run] memory`: the memory of all processes beside the limit.

python benchmarks/lexicon_memory.py [--forms 5000000] [--memory 500MB] [--whole] [--folder DIR]

Two lexicons of so many forms and a further dictionary of a tenth, Parquet, are made from a seed;
their lemmas are in no order. One command reads them, unites the dictionaries, counts the overlaps,
draws one lemma in a hundred (with --whole: takes all), and evaluates, without a report. Ends with 1
if the peak is more than 1.15 times the limit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from process_tree import watch
from pydantic import TypeAdapter

from pipeline.runner.inputs import Bytes

PARADIGM = 10
"""Forms of a lemma, before some of them are removed."""
KEPT, SHARED = 0.85, 0.05
"""The share of forms that a lexicon lists, and of those that it takes from elsewhere."""
BLOCK = 50_000
"""Lemmas that are made at a time."""
MIXED = 1_000_003
"""A prime: lemmas come in steps of it, and so in no order of their names."""
ALLOWED = 1.15
"""Times the limit."""
EXPERIMENT = """
name = "lexicon-memory"
seed = "memory"

[run]
memory = "{memory}"

[stages.dictionary]
use = "extract.lexicon"
path = "dictionary.parquet"

[stages.further]
use = "extract.lexicon"
path = "further.parquet"

[stages.lexicon]
use = "extract.lexicon"
path = "lexicon.parquet"

[stages.gold]
use = "extract.union"
lexicons = ["dictionary", "further"]

[stages.overlaps]
use = "score.lexicon"
gold = "gold"
lexicon = "lexicon"
{sample}
[stages.quality]
use = "evaluate.lexicon"
gold = "gold"
lexicon = "lexicon"
overlaps = "overlaps"
"""
SAMPLE = """
[stages.sample]
use = "sample.lemmas"
gold = "gold"
lexicons = ["lexicon"]
rate = 0.01
"""


def write_lexicon(path: Path, forms: int, *, lemmas: int, seed: int) -> None:
    """Write a lexicon of about `forms` pairs of lemma and form, of the first so many lemmas."""
    schema = pa.schema({"lemma": pa.string(), "form": pa.string()})
    listed = round(forms / PARADIGM / KEPT)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, listed, BLOCK):
            numbers = np.arange(start, min(start + BLOCK, listed), dtype=np.int64)
            pairs = _pairs(numbers * MIXED % lemmas, lemmas, seed=[seed, start])
            writer.write_table(pairs.to_arrow().cast(schema))


def _pairs(
    numbers: np.ndarray[tuple[int], np.dtype[np.int64]], lemmas: int, *, seed: list[int]
) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    lemma = np.repeat(numbers, PARADIGM)
    form = lemma * PARADIGM + np.tile(np.arange(PARADIGM), len(numbers))
    elsewhere = random.random(len(form)) < SHARED
    form = np.where(elsewhere, random.integers(0, lemmas * PARADIGM, len(form)), form)
    mask = random.random(len(form)) < KEPT
    pairs = pl.DataFrame({"lemma": lemma[mask], "form": form[mask]})
    return pairs.select(lemma=pl.format("lemma{}", "lemma"), form=pl.format("form{}", "form"))


def prepare(folder: Path, forms: int, memory: str, *, whole: bool) -> Path:
    """Write the lexicons, unless they are there, and the experiment."""
    folder.mkdir(parents=True, exist_ok=True)
    lemmas = round(forms / PARADIGM / KEPT)
    sizes = {"dictionary": forms, "lexicon": forms, "further": forms // 10}
    for seed, (name, size) in enumerate(sizes.items()):
        if not (path := folder / f"{name}.parquet").is_file():
            write_lexicon(path, size, lemmas=lemmas, seed=seed)
    config = folder / "experiment.toml"
    text = EXPERIMENT.format(memory=memory, sample="" if whole else SAMPLE)
    config.write_text(text + ("" if whole else 'sample = "sample"\n'))
    return config


def measure(folder: Path, forms: int, memory: str, *, whole: bool) -> bool:
    """Run the experiment and print a line of the table; return whether the limit was kept."""
    config, limit = prepare(folder, forms, memory, whole=whole), TypeAdapter(Bytes)
    runs = folder / f"runs-{time.time_ns()}"
    command = [sys.executable, "-m", "pipeline.cli", "run", str(config), "--no-report"]
    code, costs = watch([*command, "--runs", str(runs)], runs)
    ratio = costs["memory"] * 1e6 / limit.validate_python(memory)
    print(
        f"| {forms:,} | {'all' if whole else '1 %'} | {memory} | {costs['wall']:,.0f} "
        f"| {costs['cpu']:,.0f} | {costs['memory']:,.0f} | {ratio:.2f} | {costs['disk']:,.0f} |"
    )
    return code == 0 and ratio <= ALLOWED


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--forms", type=int, default=5_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    print("| forms a side | lemmas | memory | wall s | CPU s | peak MB | ratio | disk MB |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or Path(name)
        return 0 if measure(folder, options.forms, options.memory, whole=options.whole) else 1


if __name__ == "__main__":
    sys.exit(main())
