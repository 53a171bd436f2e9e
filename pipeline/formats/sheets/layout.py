"""What a sheet looks like: its columns, and which of them people fill in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ID = "id"
"""Every sheet has a column of this name: it ties a row to what the row is about."""


@dataclass(frozen=True)
class Column:
    """One column of a sheet.

    Parameters
    ----------
    name : str
        Name in the table.
    title : str
        What stands in the header of the sheet.
    writable : bool
        Whether people fill it in; other columns are locked.
    width : int
        Width in characters; what is read may be narrower, if all that stands in it is.
    choices : tuple of str
        The values that a drop-down list offers; empty if anything may be typed.
    help : str
        A sentence for the instructions.
    required : bool
        Whether a sheet that comes back without this column is refused.
    printed : bool
        Whether it is for paper, too; columns behind the last such one are not printed.
    """

    name: str
    title: str
    writable: bool
    width: int
    choices: tuple[str, ...] = ()
    help: str = ""
    required: bool = True
    printed: bool = True


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet, from left to right.

    Parameters
    ----------
    columns : tuple of Column
        One of them is called ``id``.

    Raises
    ------
    ValueError
        If no column is called ``id``, or two could be taken for each other in a header.

    Examples
    --------
    >>> label = Column("label", "Label", writable=True, width=10, choices=("SVC", "free"))
    >>> Layout((Column("id", "id", writable=False, width=18), label)).names
    ('id', 'label')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if ID not in self.names:
            raise ValueError(f"a sheet needs a column {ID!r}; there are {', '.join(self.names)}")
        headers = [word for each in self.columns for word in {fold(each.name), fold(each.title)}]
        twice = sorted({word for word in headers if headers.count(word) > 1})
        if twice:
            raise ValueError(f"two columns of the sheet could be meant by {', '.join(twice)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in the table."""
        return tuple(each.name for each in self.columns)

    @property
    def pinned(self) -> int:
        """How many columns stay in sight: up to the first to fill in, with it if one chooses."""
        first = next((i for i, each in enumerate(self.columns) if each.writable), 0)
        return first + 1 if self.columns[first].choices else first

    @property
    def printed(self) -> int:
        """How many columns are printed."""
        return max(i for i, each in enumerate(self.columns, start=1) if each.printed)

    def name_of(self, header: str) -> str | None:
        """Return the name of the column with this header; None if the layout has none.

        Names and titles both count, in any case and with any blanks around them.
        """
        word = fold(header)
        names = (each.name for each in self.columns if word in (fold(each.name), fold(each.title)))
        return next(names, None)

    def missing_from(self, names: Iterable[str]) -> list[str]:
        """Return the titles of the required columns that are not among these names."""
        there = set(names)
        return [each.title for each in self.columns if each.required and each.name not in there]


def fold(header: str) -> str:
    """Return a header as it is compared: in lower case, without blanks around it.

    A byte-order mark that a program took for text keeps it from taking off the quotation marks.
    """
    return header.strip('\ufeff" \t\r\n\u00a0').casefold()
