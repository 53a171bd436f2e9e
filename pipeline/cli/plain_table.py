"""Tables for pipes and files: as `rich` draws them, in a fraction of the time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len

WIDEST = 1000
"""Columns that a line has room for where no terminal sets them."""


def plain(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[bool], title: str
) -> str | None:
    """Return the table with its borders; None if a line would have to be broken.

    Parameters
    ----------
    head : sequence of str
        Names of the columns.
    rows : iterable of sequence of str
        The cells.
    right : sequence of bool
        Which columns are flush right.
    title : str
        The line above; may be empty.

    Examples
    --------
    >>> print(plain(["measure", "n"], [["mi", "1,200"]], right=[False, True], title=""))
    ┏━━━━━━━━━┳━━━━━━━┓
    ┃ measure ┃     n ┃
    ┡━━━━━━━━━╇━━━━━━━┩
    │ mi      │ 1,200 │
    └─────────┴───────┘
    """
    table = [head, *rows]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    whole = sum(widths) + 3 * len(widths) + 1
    even = all(cell.isprintable() for row in [[title], *table] for cell in row)
    if not (widths and even and cell_len(title) <= whole <= WIDEST):
        return None
    ruled = ["━" * (width + 2) for width in widths]
    lines = [_line(row, widths, right) for row in table]
    return "\n".join([
        *([_padded(title, whole, right=False)] if title else []),
        f"┏{'┳'.join(ruled)}┓",
        f"┃ {' ┃ '.join(lines[0])} ┃",
        f"┡{'╇'.join(ruled)}┩",
        *(f"│ {' │ '.join(line)} │" for line in lines[1:]),
        f"└{'┴'.join(ruled).replace('━', '─')}┘",
    ])  # fmt: skip


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> list[str]:
    return [
        _padded(cell, width, right=flush)
        for cell, width, flush in zip(row, widths, right, strict=True)
    ]


def _padded(cell: str, width: int, *, right: bool) -> str:
    space = " " * (width - cell_len(cell))
    return space + cell if right else cell + space
