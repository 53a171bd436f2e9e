"""Write public files that no stage reads as tables that stages read.

``python data/convert_public.py DIR``, where DIR is the folder of the public data, converts what it
finds there: the judgements of noun compounds, and the keys of SemEval-2013 task 13. ``--into``
names another folder for the tables.
"""

from __future__ import annotations

import argparse
import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl

JUDGES = ("judge_1", "judge_2", "judge_3", "judge_4")
COMPOUNDS = {
    "noun-compounds/nonComp-judgments.csv": "noun-compounds/noncompositional.tsv",
    "noun-compounds/conv-judgments.csv": "noun-compounds/conventional.tsv",
}
SENSES = {
    "wsi/semeval2013_gold.key.gz": "wsi/gold",
    "wsi/semeval2013_aiku_base.key.gz": "wsi/aiku_base",
    "wsi/semeval2013_unimelb_5p.key.gz": "wsi/unimelb_5p",
}
"""Files of the data root, and the tables made of each, without ``_all.tsv`` and ``_first.tsv``."""


def compounds(lines: Iterable[str]) -> pl.DataFrame:
    """Return l1, l2 and the four judgements of each compound.

    >>> compounds(["board game,1,x,1,1"]).row(0)
    ('board', 'game', '1', 'x', '1', '1')
    """
    rows = [line.strip().replace(" ", ",", 1).split(",") for line in lines]
    return pl.DataFrame(rows, schema=["l1", "l2", *JUDGES], orient="row")


def senses(lines: Iterable[str], *, first: bool) -> Iterator[tuple[str, str]]:
    """Yield each instance with its senses, or with the one of the highest weight alone.

    Senses get the name of their word, since systems number those of each word anew. Of equal
    weights the first counts.

    >>> list(senses(["add.v add.v.3 t.10/0.2 t.6/0.8"], first=False))
    [('add.v.3', 'add.v:t.10'), ('add.v.3', 'add.v:t.6')]
    >>> list(senses(["add.v add.v.3 t.10/0.2 t.6/0.8"], first=True))
    [('add.v.3', 'add.v:t.6')]
    """
    for line in lines:
        word, instance, *given = line.split()
        weighted = [
            (float(weight), sense) for sense, _, weight in (s.rpartition("/") for s in given)
        ]
        chosen = [max(weighted, key=lambda each: each[0])] if first else weighted
        yield from ((instance, f"{word}:{sense}") for _, sense in chosen)


def convert(root: Path, folder: Path) -> list[Path]:
    """Convert the files of a data root that are there; return the tables written in a folder."""
    tables: dict[str, pl.DataFrame] = {}
    for source, name in COMPOUNDS.items():
        if (root / source).is_file():
            with (root / source).open(encoding="utf-8") as file:
                tables[name] = compounds(file)
    for source, name in SENSES.items():
        if (root / source).is_file():
            with gzip.open(root / source, "rt", encoding="utf-8") as file:
                lines = file.readlines()
            label = "gold" if name == "wsi/gold" else "cluster"
            for kind in ("all", "first"):
                rows = list(senses(lines, first=kind == "first"))
                tables[f"{name}_{kind}.tsv"] = pl.DataFrame(rows, ["item", label], orient="row")
            if label == "gold":
                own = tables["wsi/gold_all.tsv"].unique("item", keep="first", maintain_order=True)
                word = own.select("item", cluster=pl.col("gold").str.replace(":.*$", ""))
                tables["wsi/one_sense.tsv"] = word
    for name, table in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table.write_csv(folder / name, separator="\t", quote_style="never")
    return [folder / name for name in tables]


def main() -> None:
    """Convert what is in the folder that is named, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the public data, LEXASSAY_DATA")
    parser.add_argument("--into", type=Path, help="folder of the tables, if it is another one")
    given = parser.parse_args()
    folder = given.folder
    written = convert(folder, given.into or folder)
    for path in written:
        print(path)
    if not written:
        names = ", ".join([*COMPOUNDS, *SENSES])
        raise SystemExit(f"{folder} has no file to convert, of {names}; see data/README.md")


if __name__ == "__main__":
    main()
