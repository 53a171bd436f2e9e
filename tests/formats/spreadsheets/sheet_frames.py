"""A layout, rows that spreadsheets tend to damage, and texts of every kind."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from hypothesis import strategies as st

from pipeline.formats.spreadsheets import Column, Layout

LABELS = ("SVC", "figurative", "free")
LAYOUT = Layout(
    (
        Column("id", "id", writable=False, width=19),
        Column("l1", "Preposition and noun", writable=False, width=20),
        Column("l2", "Verb", writable=False, width=14),
        Column("example_1", "Example 1", writable=False, width=44, required=False),
        Column("label", "Label", writable=True, width=12, choices=LABELS, help="Which kind?"),
        Column("note", "Note", writable=True, width=30, required=False),
    )
)
_WORDS = """
    nan null NA None 007 =SUM(A1) +49 -keit @home 1e5 1-2 TRUE wahr '90 'tis '' ' (5) $5 5% 1,5
    1.500,00 #N/A #REF! a;b a,b _x0041_ =HYPERLINK("http://x") http://x.org me@x.org ½ 2020-01-01
    2020-01-01T10:00:00 12:30 MARCH1 − ＝1 ٣ १२ "quoted" שלום مرحبا - + = E INF 😀
"""
NASTY = _WORDS.split()
NASTY += ["5 Jan 2024", "  lead", "trail  ", "tab\tin", "line\nbreak", "a\r\nb", "c\r", "it's '"]
NASTY += [
    "\u200fשלום",
    "\u00a0x",
    "\u2028",
    "x\x07y\x1b",
    "' ",
    "\n",
    "2020-01-01 00:00:00",
    "true",
]

cells = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufffe\uffff")),
    st.text("01.,-+=@'\" \t\n\r;:/eETRUE#_x", max_size=8),
    st.sampled_from(NASTY),
)
"""Any text that a cell can hold."""


def sheet_rows(l1: list[str], **columns: Sequence[str | None]) -> pl.DataFrame:
    """Return rows with the ids x0, x1 ...; other columns are empty."""
    empty: Sequence[str | None] = [None] * len(l1)
    data: dict[str, Sequence[str | None]] = {"id": [f"x{i}" for i in range(len(l1))], "l1": l1}
    data |= {name: columns.get(name, empty) for name in LAYOUT.names[2:]}
    return pl.DataFrame(data, schema=dict.fromkeys(LAYOUT.names, pl.String))


def empty_cells(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows as they are read back: an empty text becomes an empty cell."""
    return rows.with_columns(pl.when(pl.all() != "").then(pl.all()))
