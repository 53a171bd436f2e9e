"""Count pairs of generated text under a limit of memory, by every relation that plain text has.

python benchmarks/relation_memory.py [--words 2_000_000] [--memory 500MB] [--only textual_document]

Prints the peak of all processes beside the limit; ends with 1 if one is more than 1.15 times it.
Every fiftieth sentence begins a document. The text is that of tuples_scale.py.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from pydantic import TypeAdapter
from run import COMMAND
from tuples_scale import measure_command, write_words

from pipeline.runner.inputs import Bytes

MOST = 1.15
EXPERIMENT = """
name = "pairs"
[run]
memory = "{memory}"
[stages.found]
use = "extract.{kind}"
corpus = {{ path = "text.txt", format = "text", tokens = "\\\\S+", document = "^### (.*)$" }}
{options}
"""
LABELS = 'left = { label = "{form}" }\nright = { label = "{form}" }\nrelation = '
RELATIONS = {
    "words": 'unit = { label = "{form}" }',
    "adjacent": f'{LABELS}"adjacent"',
    "gap": f'{LABELS}"adjacent"\nadjacent = {{ gap = 2 }}',
    "surface": f'{LABELS}"surface"\nsurface = {{ left = 3, right = 3 }}',
    "nodes": f'{LABELS}"surface"\nsurface = {{ left = 3, right = 3, count = "nodes" }}',
    "sentence": f'{LABELS}"sentence"',
    "textual_sentence": f'{LABELS}"textual"',
    "textual_document": f'{LABELS}"textual"\ntextual = {{ within = "document" }}',
}
SENTENCES = 50


def write_text(folder: Path, words: int) -> None:
    """Write the text, with documents."""
    write_words(folder / "words.txt", words)
    with (folder / "words.txt").open() as lines, (folder / "text.txt").open("w") as text:
        for number, line in enumerate(lines):
            if number % SENTENCES == 0:
                text.write(f"### {number // SENTENCES}\n")
            text.write(line)


def main() -> int:
    """Print a line for each relation."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--words", type=int, default=2_000_000)
    parser.add_argument("--memory", default="500MB")
    parser.add_argument("--only", nargs="+", choices=list(RELATIONS), default=list(RELATIONS))
    options = parser.parse_args()
    limit, worst = TypeAdapter(Bytes).validate_python(options.memory), 0.0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_text(folder, options.words)
        for name in options.only:
            kind = "words" if name == "words" else "pairs"
            text = EXPERIMENT.format(memory=options.memory, kind=kind, options=RELATIONS[name])
            (folder / "x.toml").write_text(text)
            runs = ["--no-report", "--runs", str(folder / f"runs-{name}")]
            wall, cpu, peak = measure_command([*COMMAND, "run", str(folder / "x.toml"), *runs])
            worst = max(worst, peak / limit)
            summary = f"{peak / 2**20:,.0f} MB of {options.memory}, {peak / limit:.2f} times"
            print(f"{name:<18} {wall:6.1f} s wall, {cpu:6.1f} s CPU, {summary}", flush=True)
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
