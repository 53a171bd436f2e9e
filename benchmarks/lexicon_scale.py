"""L*, F*, E* and best-match F1 of large lexicons: time and memory, against plain Python.

python benchmarks/lexicon_scale.py [--forms 5000000] [--runs 3]

Both programs start from Parquet files with lemma and form, each run in a process of its own; the
plain one holds dictionaries of sets and a Counter for each lemma, and computes L* and F* alone. The
public Spanish pair is measured where LEXASSAY_DATA is set, each pair in both directions.
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
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from pipeline.kernels.lexicon.l_measure import (
    best_match_f,
    entropy,
    f_star,
    l_star,
    lemma_scores,
    lexicon_overlaps,
    matches,
)
from pipeline.kernels.lexicon.wordlists import canonical

PARADIGM = 10
"""Forms of a lemma, before some of them are removed."""
KEPT, SHARED = 0.85, 0.05
"""The share of forms that a lexicon lists, and of those that it takes from elsewhere."""

Result = dict[str, float]


def synthetic(path: Path, forms: int, *, seed: int) -> None:
    """Write a lexicon of about `forms` pairs of lemma and form."""
    random = np.random.default_rng(seed)
    lemmas = round(forms / PARADIGM / KEPT)
    lemma = np.repeat(np.arange(lemmas), PARADIGM)
    form = lemma * PARADIGM + np.tile(np.arange(PARADIGM), lemmas)
    mask = random.random(len(form)) < KEPT
    elsewhere = random.random(len(form)) < SHARED
    form = np.where(elsewhere, random.integers(0, lemmas * PARADIGM, len(form)), form)
    pairs = pl.DataFrame({"lemma": lemma[mask], "form": form[mask]}).unique().sort("lemma", "form")
    texts = pairs.select(lemma=pl.format("lemma{}", "lemma"), form=pl.format("form{}", "form"))
    texts.write_parquet(path)


def ours(gold_file: Path, lexicon_file: Path) -> Result:
    gold, lexicon = (pl.scan_parquet(path) for path in (gold_file, lexicon_file))
    table = lexicon_overlaps(gold, lexicon).collect()
    every = matches(table.lazy(), gold, lexicon).collect()
    scores = lemma_scores(every.lazy().drop_nulls("n_same")).collect().sort("lemma")
    counts = [int(each.select(pl.len()).collect().item()) for each in (gold, lexicon)]
    return {
        "l_star": l_star(scores["size"], scores["L"], float(scores["base"].sum())) or 0.0,
        "f_star": f_star(every) or 0.0,
        "entropy": entropy(table, gold, lexicon).value or 0.0,
        "best_match": best_match_f(table, gold_forms=counts[0], lexicon_forms=counts[1]) or 0.0,
    }


def plain(gold_file: Path, lexicon_file: Path) -> Result:
    """Do what a careful programmer would write first."""
    gold, lexicon = _sets(gold_file), _sets(lexicon_file)
    having: dict[str, list[str]] = defaultdict(list)
    for lemma, forms in lexicon.items():
        for form in forms:
            having[form].append(lemma)
    sums = {"l": [0.0, 0], "f": [0.0, 0]}
    for lemma, forms in gold.items():
        counts = Counter(j for form in forms for j in having.get(form, ()))
        best = max((2 * n / (len(forms) + len(lexicon[j])) for j, n in counts.items()), default=0.0)
        for name in ("l", "f") if lemma in lexicon else ("f",):
            sums[name][0] += len(forms) * best
            sums[name][1] += len(forms)
    return {f"{name}_star": total / n for name, (total, n) in sums.items()}


def _sets(path: Path) -> dict[str, set[str]]:
    sets: dict[str, set[str]] = defaultdict(set)
    for lemma, form in pl.read_parquet(path).iter_rows():
        sets[lemma].add(form)
    return sets


PROGRAMS: dict[str, Callable[[Path, Path], Result]] = {"lexassay": ours, "plain Python": plain}


def one_run(program: str, gold: Path, lexicon: Path) -> None:
    """Print the seconds, the peak memory and the results of one run, as JSON."""
    started = time.perf_counter()
    result = PROGRAMS[program](gold, lexicon)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(json.dumps({"seconds": seconds, "gigabytes": peak, **result}))


def measure_program(program: str, gold: Path, lexicon: Path, *, runs: int) -> Result:
    """Return the median of several runs."""
    command = [sys.executable, __file__, "--one", program, str(gold), str(lexicon)]
    environment = {**os.environ, "POLARS_MAX_THREADS": "2"}
    times = [
        json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
        for _ in range(runs)
    ]
    return {name: statistics.median(each[name] for each in times) for name in times[0]}


def pairs(folder: Path, forms: int) -> Iterator[tuple[str, Path, Path]]:
    """Yield the name of each pair and its two files."""
    root = os.environ.get("LEXASSAY_DATA")
    if root:
        names = {"Apertium": "apertium_es_base.tsv.gz", "hunspell": "hunspell_es_ES.tsv.gz"}
        for name, file in names.items():
            table = pl.read_csv(Path(root) / "lexicon" / file, separator="\t", quote_char=None)
            canonical(table.lazy()).collect().write_parquet(folder / f"{name}.parquet")
        yield "Spanish", folder / "Apertium.parquet", folder / "hunspell.parquet"
    if forms:
        one, two = (folder / f"{number}.parquet" for number in (1, 2))
        for seed, path in enumerate((one, two)):
            synthetic(path, forms, seed=seed)
        yield "synthetic", one, two


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--forms", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--one", nargs=3)
    options = parser.parse_args(arguments)
    if options.one:
        program, gold, lexicon = options.one
        one_run(program, Path(gold), Path(lexicon))
        return 0
    print(
        "| gold | lexicon | program | seconds | peak GB | L* | F* |\n|---|---|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as name:
        for _pair, one, two in pairs(Path(name), options.forms):
            for gold, lexicon in ((one, two), (two, one)):
                _compare(gold, lexicon, runs=options.runs)
    return 0


def _compare(gold: Path, lexicon: Path, *, runs: int) -> None:
    forms = [pl.scan_parquet(path).select(pl.len()).collect().item() for path in (gold, lexicon)]
    for program in PROGRAMS:
        times = measure_program(program, gold, lexicon, runs=runs)
        print(
            f"| {gold.stem}: {forms[0]:,} forms | {lexicon.stem}: {forms[1]:,} | {program} "
            f"| {times['seconds']:.2f} | {times['gigabytes']:.2f} "
            f"| {times['l_star']:.6f} | {times['f_star']:.6f} |",
            flush=True,
        )


if __name__ == "__main__":
    sys.exit(main())
