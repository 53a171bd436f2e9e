"""Commands without a configuration on public corpora: time and memory of whole processes.

LEXASSAY_DATA=DIR python benchmarks/from_files.py [--runs 3]

Collocates in the first five English novels of ELTeC, in all of them (11.6 M words) and, as a word
sketch, in the English Web Treebank, for a first word and for a second one; keywords of half of the
novels against the other half. Nothing is in the cache but where it is said.
"""

from __future__ import annotations

import argparse
import gzip
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from results import record
from run import COMMAND, Task, measure

NOVELS = "corpora/eltec_eng_level1.txt.gz"
TREEBANK = "corpora/UD_English-EWT.all.conllu.gz"


def write(data: Path, folder: Path) -> None:
    """Write the novels one by one, and the halves of them as two files."""
    novels: list[list[str]] = []
    with gzip.open(data / NOVELS, "rt", encoding="utf-8") as text:
        for line in text:
            if line.startswith("### "):
                novels.append([])
            novels[-1].append(line)
    five = folder / "five"
    five.mkdir()
    for number, novel in enumerate(novels[:5], start=1):
        (five / f"{number}.txt").write_text("".join(novel[1:]), encoding="utf-8")
    half = len(novels) // 2
    for name, some in (("first", novels[:half]), ("second", novels[half:])):
        whole = "".join(line for novel in some for line in novel)
        (folder / f"{name}.txt").write_text(whole, encoding="utf-8")


def tasks(data: Path, folder: Path) -> Iterator[Task]:
    """Yield what is measured."""
    runs = ["--runs", str(folder / "runs")]
    clean = ["rm", "-rf", str(folder / "runs")]
    house = [*COMMAND, "collocates", "house"]
    yield Task("collocates, five novels", [*house, str(folder / "five"), *runs], clean)
    yield Task("collocates, 11.6 M words", [*house, str(data / NOVELS), *runs], clean)
    sketch = [str(data / TREEBANK), *runs]
    yield Task("word sketch, treebank", [*house, *sketch], clean)
    another = [*COMMAND, "collocates", "take", *sketch]
    forgotten = ["rm", "-rf", str(folder / "runs" / "experiments")]
    yield Task("word sketch, treebank, counted before", another, forgotten)
    halves = [str(folder / "first.txt"), str(folder / "second.txt")]
    yield Task("keywords, 2 x 5.8 M words", [*COMMAND, "keywords", *halves, *runs], clean)


def main() -> None:
    """Measure all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs of each")
    runs: int = parser.parse_args().runs
    root = os.environ.get("LEXASSAY_DATA")
    if not root:
        print("set LEXASSAY_DATA to the folder with the public data")
        return
    with tempfile.TemporaryDirectory() as place:
        folder, data = Path(place), Path(root).absolute()
        write(data, folder)
        for task in tasks(data, folder):
            wall, cpu, peak = measure(task, runs)
            ratio = record(f"from_files: {task.name}", wall)
            line = f"{task.name:<40} {wall:7.2f} s {cpu:7.2f} s CPU {peak:8,.0f} MB  {ratio}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
