"""Write the corpus that `lexassay new corpus` starts with, and its experiment.

``python data/make_starter.py pipeline/cli/starters/corpus``: the first 1,000 sentences of what
`make_corpus.py` writes.
"""

from __future__ import annotations

import argparse
import gzip
import os
from pathlib import Path

import make_corpus

from pipeline.recipes.templates import experiment_template

SENTENCES = 1_000
CORPUS = "corpus.conllu.gz"


def text() -> str:
    """Return the corpus."""
    corpus = make_corpus.corpus(make_corpus.SEED, n_sentences=SENTENCES)
    documents = enumerate(corpus.documents, start=1)
    return "".join(make_corpus.document(f"invented-{i:03}", each) for i, each in documents)


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where to write; made if it is not there")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / CORPUS).write_bytes(gzip.compress(text().encode(), mtime=0))
    os.chdir(folder)
    experiment = experiment_template("corpus", [Path(CORPUS)], Path())
    # in so small a corpus too few pairs occur three times for lists of 100
    experiment = experiment.replace("min_frequency = 3\n", "min_frequency = 2\n")
    Path("experiment.toml").write_text(experiment, encoding="utf-8")


if __name__ == "__main__":
    main()
