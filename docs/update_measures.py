"""Write the tables of docs/measures.md from the registry of measures.

python docs/update_measures.py
"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from pipeline.api.score import measures
from pipeline.cli.measures import by_family

CHAPTER = Path(__file__).with_name("measures.md")
BEGIN, END = "<!-- tables: made by docs/update_measures.py -->\n", "<!-- end of tables -->\n"
HEAD = "measure", "formula", "conventions", "reference"


def tables(found: pl.DataFrame) -> str:
    """Return a table for each family; ranges and other names are those of `lexassay measures`."""
    return "\n\n".join(f"### {family}\n\n{_table(part)}" for family, part in by_family(found))


def _table(part: pl.DataFrame) -> str:
    rows = [
        (f"`{row['name']}`", f"`{row['formula']}`", row["note"], row["reference"])
        for row in part.iter_rows(named=True)
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [HEAD, ["---"] * len(HEAD), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def updated(text: str) -> str:
    """Return the chapter with the tables as they are today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(measures())}\n\n{END}{after}"


if __name__ == "__main__":
    CHAPTER.write_text(updated(CHAPTER.read_text(encoding="utf-8")), encoding="utf-8")
