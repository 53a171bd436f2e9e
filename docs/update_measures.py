"""Write the tables of docs/measures.md from the registry of measures.

python docs/update_measures.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from pipeline.api.score import measures
from pipeline.cli.measures import by_family

CHAPTER = Path(__file__).with_name("measures.md")
BEGIN, END = "<!-- tables: made by docs/update_measures.py -->\n", "<!-- end of tables -->\n"
HEAD = "measure", "formula", "conventions", "reference"


def tables(measures: pl.DataFrame) -> str:
    """Return a table for each family; ranges and other names are those of `lexassay measures`."""
    return "\n\n".join(f"### {family}\n\n{_table(part)}" for family, part in by_family(measures))


def _table(part: pl.DataFrame) -> str:
    rows = [
        (names, f"`{row['formula']}`", "; ".join(_cases(row["note"])), row["reference"])
        for names, row in _rows(part)
    ]
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [HEAD, ["---"] * len(HEAD), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(part: pl.DataFrame) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the measures; those with a number in their names are beside their family."""
    rows = {row["name"]: row for row in part.iter_rows(named=True)}
    members = {
        name: family for name in rows if (family := re.sub(r"_\d+$", "(n)", name)) in rows
    } | {name: name for name in rows if "(n)" in name}
    for name, row in rows.items():
        if members.get(name, name) == name:
            others = [each for each in rows if members.get(each) == name and each != name]
            others.sort(key=lambda each: int(each.rpartition("_")[2]))
            yield ", ".join(f"`{each}`" for each in [name, *others]), row


def _cases(note: str) -> Iterator[str]:
    """Yield the cases of a convention, with the value after each."""
    for clause in filter(None, note.split("; ")):
        value, _, condition = clause.partition(" where ")
        case, comma, why = condition.partition(",")
        case = case.replace("a margin is empty", "empty margin")
        case = case.replace("two margins are empty", "two empty margins")
        case = re.sub(r"(\w+) = 0 or (\w+) = 0 or (\w+) = 0", r"\1, \2 or \3 = 0", case)
        case = re.sub(r"(\w+) = 0 or (\w+) = 0", r"\1 or \2 = 0", case)
        yield f"{case}: {value}{comma}{why}" if case else clause


def update_chapter(text: str) -> str:
    """Return the chapter with the tables as they are today."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{tables(measures())}\n\n{END}{after}"


if __name__ == "__main__":
    CHAPTER.write_text(update_chapter(CHAPTER.read_text(encoding="utf-8")), encoding="utf-8")
