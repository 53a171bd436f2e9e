"""The block of a view that a reader can look into: all rows, with what a row opens to."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal, TypeAlias

import polars as pl

Kind: TypeAlias = Literal["text", "label", "flag", "count", "rank", "share", "number"]
"""What a column holds: text that is searched; one of a few labels; yes or no; a whole number; a
rank, 1 the best; a proportion, shown in per cent; any other number."""

MOST_ROWS = 100_000
"""With eight measures; the bytes below allow fewer rows of more columns."""
PAGE_BYTES = 7_500_000
DETAIL_BYTES = 1_500_000
TEXT_LENGTH = 600


@dataclass(frozen=True)
class Attribute:
    """A column of the table.

    Parameters
    ----------
    name : str
        The column of the frame.
    heading : str
        What it is called on the page.
    kind : str
        What it holds, see `Kind`.
    of : str
        What several columns tell of, a measure or a system: an opened row has a line for each.
    part : str
        What this one tells of it: "score", "rank".
    shown : bool
        Whether it is a column of the table at first; else it can be chosen.
    """

    name: str
    heading: str
    kind: Kind
    _: KW_ONLY
    of: str = ""
    part: str = ""
    shown: bool = True


@dataclass(frozen=True)
class Cells:
    """The columns that the contingency table of a row is computed from.

    Parameters
    ----------
    f, f1, f2, N : str
        Cell o11, its row sum, its column sum, and the sum of all cells.
    first, second : str
        The columns that name the two words.
    """

    f: str = "f"
    f1: str = "f1"
    f2: str = "f2"
    N: str = "N"
    first: str = "l1"
    second: str = "l2"


@dataclass(frozen=True)
class Details:
    """Further rows that belong to a row, which it shows when it is opened.

    Parameters
    ----------
    name : str
        A word for it in the page's code.
    heading : str
        What it is called on the page.
    frame : DataFrame
        Its rows, in the order shown, with the key of the row that each belongs to.
    columns : tuple of Attribute
        What is shown of them.
    kind : {"records", "concordance"}
        A table, or lines of text with the marked words, ``[[ ]]``, one below the other: of a
        concordance the last column is the text.
    first : str
        A flag of the table: its rows have their details first, if there is no room for all.
    """

    name: str
    heading: str
    frame: pl.DataFrame
    columns: tuple[Attribute, ...]
    kind: Literal["records", "concordance"] = "records"
    first: str = ""


@dataclass(frozen=True)
class Explorer:
    """A table of all rows.

    Parameters
    ----------
    name : str
        Name of its files, without the ending.
    caption : str
        What it holds.
    what : tuple of str
        What a row is, one and several: ``("candidate", "candidates")``.
    frame : DataFrame
        All rows, those that matter most first: what is left out is left out at the end. Its
        files hold all. Where these are too many to be held, no more than the page may hold.
    columns : tuple of Attribute
        The columns, in the order shown.
    key : str
        The column of the frame that tells rows apart.
    titles : tuple of str
        The columns that an opened row is called by; the key if empty.
    order : str
        The column by which rows stand at first; the order of the frame if empty.
    falling : bool
        Whether from the largest to the smallest.
    matters : str
        Which rows come first in the frame, to finish "those with ...".
    cells : Cells or None
        What the contingency table of a row is computed from, if it has one.
    details : tuple of Details
        What a row opens to, beside its own columns.
    whole : int or None
        How many rows there are, if the frame has not all.
    most_rows : int
        How many rows the page holds at most.
    page_bytes : int
        How many bytes of the page the rows take at most; fewer rows are held otherwise.
    detail_bytes : int
        How many bytes of the page the details take at most.
    """

    name: str
    caption: str
    what: tuple[str, str]
    frame: pl.DataFrame
    columns: tuple[Attribute, ...]
    _: KW_ONLY
    key: str
    titles: tuple[str, ...] = ()
    order: str = ""
    falling: bool = False
    matters: str = ""
    cells: Cells | None = None
    details: tuple[Details, ...] = ()
    whole: int | None = None
    most_rows: int = MOST_ROWS
    page_bytes: int = PAGE_BYTES
    detail_bytes: int = DETAIL_BYTES

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.frame.height if self.whole is None else self.whole
