"""Small tables of text, plain and as HTML that a notebook shows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from html import escape

MOST = 6_000
"""How many bytes of rows a notebook is given; what is left out is counted."""
_WIDEST, _WIDER = 70, 110
"""Characters of a cell: of text, of HTML."""


def short(text: str, most: int = _WIDEST) -> str:
    """Return a text in one line, cut off where it is too long.

    Examples
    --------
    >>> short("a  b", 9), short("abcdef", 4)
    ('a b', 'abc…')
    """
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def texts(head: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as lines of text.

    Examples
    --------
    >>> print(texts("1 table", ("name", "rows"), [("scores", "12")]))
    1 table
      name    rows
      scores  12
    """
    cells = [tuple(map(short, row)) for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in cells)
    return "\n".join([head, *(f"  {line}" for line in lines)])


def grid(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Collection[int] = ()
) -> str:
    """Return a table as HTML, escaped; of very many rows the first, and how many there are more.

    Parameters
    ----------
    columns : sequence of str
        The heads.
    rows : iterable of sequence of str
        The cells.
    right : collection of int
        The columns that are flush right.

    Examples
    --------
    >>> grid(("a",), [("<b>",)], right=[0])
    '<table><thead><tr><th style="text-align:right">a</th>...&lt;b&gt;</td></tr></tbody></table>'
    """
    made, size, left_out = [], 0, 0
    for row in rows:
        line = _line("td", row, right)
        size += len(line.encode())
        if size > MOST:
            left_out += 1
        else:
            made.append(line)
    more = f'<tr><td colspan="{len(columns)}">and {left_out:,} more</td></tr>' if left_out else ""
    head = _line("th", columns, right)
    return f"<table><thead>{head}</thead><tbody>{''.join(made)}{more}</tbody></table>"


def _line(tag: str, row: Sequence[str], right: Collection[int]) -> str:
    cells = (
        f"<{tag}{_RIGHT if place in right else _LEFT}>{escape(short(text, _WIDER))}</{tag}>"
        for place, text in enumerate(row)
    )
    return f"<tr>{''.join(cells)}</tr>"


_RIGHT, _LEFT = ' style="text-align:right"', ' style="text-align:left"'
