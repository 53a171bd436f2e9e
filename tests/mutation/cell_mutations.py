"""Mutations of tables: cells, rows and columns that people and programs get wrong."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.mutation.byte_mutations import LINES, Mutation

NUMBERS = ("-1", "0", "1.5", "1e3", "3.0", "03", "+3", " 3", "3 ", "NaN", "inf", "-inf", "1,5", "1_000",
           "9223372036854775807", "9223372036854775808", "4611686018427387904", "1" * 40, "0x10", "٣",
           "1e400", "-0", "", "NA", "null", "None", "−1", "²")  # fmt: skip
"""What may stand where a count is expected."""
TEXTS = ("", " ", "\u00a0", "\u200b", "x" * 5_000, "=1+1", "+1", "-1", "@SUM(A1)", '"', '""', 'a"b', "'",
         "a\\tb", "NULL", "nan", "TRUE", "é", "e\u0301", "İ", "ß", "كتاب", "\u202ex", "a\x00b", "a\x01b",
         "_x000D_", "a,b", "a;b", "<b>", "{0}", "%s", "\ufeff", "😀", "a\x1fb", "a b")  # fmt: skip
"""What may stand where a text is expected."""

Table = list[list[str]]
Change = Callable[[Random, Table], None]


def _a_row(random: Random, table: Table) -> int:
    """Choose a row, seldom the header."""
    return random.randrange(1, len(table)) if len(table) > 1 and random.random() < 0.95 else 0


def other_cell(random: Random, table: Table) -> None:
    """Put another value into a cell."""
    row = table[_a_row(random, table)]
    if row:
        place = random.randrange(len(row))
        digits = row[place].strip().isdigit() == (random.random() < 0.85)
        row[place] = random.choice(NUMBERS if digits else TEXTS)


def changed_cell(random: Random, table: Table) -> None:
    """Change the value of a cell by a bit."""
    row = table[_a_row(random, table)]
    if row:
        place = random.randrange(len(row))
        piece = random.choice([" ", "\u00a0", "x", "0", '"', "'", "\u0301", "."])
        row[place] = random.choice([piece + row[place], row[place] + piece, row[place].upper()])


def moved_cell(random: Random, table: Table) -> None:
    """Exchange a cell with one of another row of the same column."""
    one, other = table[_a_row(random, table)], table[_a_row(random, table)]
    place = random.randrange(max(1, min(len(one), len(other))))
    if place < min(len(one), len(other)):
        one[place], other[place] = other[place], one[place]


def cell_more_or_less(random: Random, table: Table) -> None:
    """Leave a cell out, or put one in."""
    row = table[_a_row(random, table)]
    place = random.randrange(len(row) + 1)
    if random.random() < 0.5 or not row:
        row.insert(place, random.choice(TEXTS))
    else:
        del row[min(place, len(row) - 1)]


def row_again(random: Random, table: Table) -> None:
    """Put a row in again, whole or with another cell."""
    row = list(table[_a_row(random, table)])
    table.insert(random.randrange(1, len(table) + 1), row)
    if row and random.random() < 0.5:
        row[random.randrange(len(row))] = random.choice(NUMBERS)


def rows_elsewhere(random: Random, table: Table) -> None:
    """Sort or shuffle the rows, or leave some out."""
    rows = table[1:]
    random.shuffle(rows)
    table[1:] = rows[: random.choice([len(rows), len(rows), len(rows) // 2, 1, 0])]


def other_columns(random: Random, table: Table) -> None:
    """Move, rename, repeat or leave out a column."""
    act = random.choice(["moved", "moved", "gone", "renamed", "twice", "more"])
    place = random.randrange(max(1, len(table[0])))
    to = random.randrange(max(1, len(table[0])))
    for number, row in enumerate(table):
        if place >= len(row):
            continue
        if act == "moved":
            row.insert(min(to, len(row) - 1), row.pop(place))
        elif act == "gone":
            del row[place]
        elif act == "twice":
            row.append(row[place])
        elif act == "more":
            row.append("more" if number == 0 else str(number))
        elif number == 0:
            row[place] = random.choice([row[place].upper(), f" {row[place]}", "other", "", "line"])


CHANGES: tuple[Change, ...] = (
    *(other_cell, other_cell, other_cell, changed_cell, changed_cell, moved_cell),
    *(cell_more_or_less, row_again, rows_elsewhere, other_columns),
)


def delimited(separator: str, *, top: int = 0) -> Mutation:
    """Return the mutation of a table in text.

    Parameters
    ----------
    separator : str
        What stands between cells.
    top : int
        Lines before the table, which stay.
    """

    def mutation(random: Random, content: bytes) -> bytes:
        if random.random() < 0.35:
            return random.choice(LINES)(random, content)
        lines = content.decode("utf-8", errors="surrogateescape").split("\n")
        table = [line.split(separator) for line in lines[top:] if line]
        if not table:
            return content
        for _ in range(random.choice([1, 1, 2])):
            random.choice(CHANGES)(random, table)
        rows = [*lines[:top], *(separator.join(row) for row in table)]
        return ("\n".join(rows) + "\n").encode("utf-8", errors="surrogateescape")

    return mutation
