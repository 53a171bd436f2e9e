"""Write public files that no stage reads as tables that stages read.

``python data/convert_public.py DIR``, where DIR is the folder of the public data, converts the
judgements of noun compounds that it finds there. ``--into`` names another folder for the tables.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

import polars as pl

JUDGES = ("judge_1", "judge_2", "judge_3", "judge_4")
COMPOUNDS = {
    "noun-compounds/nonComp-judgments.csv": "noun-compounds/noncompositional.tsv",
    "noun-compounds/conv-judgments.csv": "noun-compounds/conventional.tsv",
}


def compounds(lines: Iterable[str]) -> pl.DataFrame:
    """Return l1, l2 and the four judgements of each compound.

    >>> compounds(["board game,1,x,1,1"]).row(0)
    ('board', 'game', '1', 'x', '1', '1')
    """
    rows = [line.strip().replace(" ", ",", 1).split(",") for line in lines]
    return pl.DataFrame(rows, schema=["l1", "l2", *JUDGES], orient="row")


def convert(root: Path, folder: Path) -> list[Path]:
    """Convert the files of a data root that are there; return the tables written in a folder."""
    tables: dict[str, pl.DataFrame] = {}
    for source, name in COMPOUNDS.items():
        if (root / source).is_file():
            with (root / source).open(encoding="utf-8") as file:
                tables[name] = compounds(file)
    for name, table in tables.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        table.write_csv(folder / name, separator="\t", quote_style="never")
    return [folder / name for name in tables]


def main() -> None:
    """Convert what is in the folder that is named, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the public data, LEXASSAY_DATA")
    parser.add_argument("--into", type=Path, help="folder of the tables, if it is another one")
    options = parser.parse_args()
    folder = options.folder
    paths = convert(folder, options.into or folder)
    for path in paths:
        print(path)
    if not paths:
        names = ", ".join(COMPOUNDS)
        raise SystemExit(f"{folder} has no file to convert, of {names}; see data/README.md")


if __name__ == "__main__":
    main()
