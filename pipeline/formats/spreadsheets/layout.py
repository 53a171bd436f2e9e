"""The layout of a sheet: columns, escaped characters, guarded texts, instructions."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl
from polars import selectors

from pipeline.errors import DataError
from schemas.errors import count_text

ID = "id"
"""Name of the column in every sheet that identifies rows."""


@dataclass(frozen=True)
class Column:
    """A column of a sheet.

    Parameters
    ----------
    name : str
        Name in the table.
    title : str
        Title in the header of the sheet.
    writable : bool
        True if people fill it in; other columns are locked.
    width : int
        Width in characters; read-only columns with shorter texts may be narrower.
    choices : tuple of str
        Values of the drop-down list; empty if any text is allowed.
    help : str
        A sentence for the instructions.
    required : bool
        True if completed sheets must have it.
    printed : bool
        True if it is printed; columns after the last such column are not printed.
    guarded : bool
        True if texts that look like numbers or dates get an apostrophe in CSV files.
    """

    name: str
    title: str
    writable: bool
    width: int
    choices: tuple[str, ...] = ()
    help: str = ""
    required: bool = True
    printed: bool = True
    guarded: bool = True


@dataclass(frozen=True)
class Layout:
    """The columns of a sheet, from left to right.

    Parameters
    ----------
    columns : tuple of Column
        One of them must be ``id``.

    Raises
    ------
    ValueError
        If there is no column ``id``, or two columns have ambiguous headers.

    Examples
    --------
    >>> label = Column("label", "Label", writable=True, width=10, choices=("SVC", "free"))
    >>> Layout((Column("id", "id", writable=False, width=18), label)).names
    ('id', 'label')
    """

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        if ID not in self.names:
            raise ValueError(f"a sheet needs a column {ID!r}; it has {', '.join(self.names)}")
        headers = [word for each in self.columns for word in {fold(each.name), fold(each.title)}]
        twice = sorted({word for word in headers if headers.count(word) > 1})
        if twice:
            raise ValueError(f"two columns of the sheet match {', '.join(twice)}")

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in the table."""
        return tuple(each.name for each in self.columns)

    @property
    def pinned(self) -> int:
        """Number of frozen columns: up to the first to fill in, inclusive if it has choices."""
        first = next((i for i, each in enumerate(self.columns) if each.writable), 0)
        return first + 1 if self.columns[first].choices else first

    @property
    def printed(self) -> int:
        """Number of printed columns."""
        return max(i for i, each in enumerate(self.columns, start=1) if each.printed)

    def name_of(self, header: str) -> str | None:
        """Return the name of the column with this header, if any.

        Names and titles match, ignoring case and surrounding blanks.
        """
        word = fold(header)
        names = (each.name for each in self.columns if word in (fold(each.name), fold(each.title)))
        return next(names, None)

    def missing_from(self, names: Iterable[str]) -> list[str]:
        """Return the titles of required columns that are missing from these names."""
        there = set(names)
        return [each.title for each in self.columns if each.required and each.name not in there]


def fold(header: str) -> str:
    """Return a header in the form for comparison: lower case, without surrounding blanks.

    A byte-order mark mistaken for text prevents programs from removing quotation marks.
    """
    return header.strip('\ufeff" \t\r\n\u00a0').casefold()


# Control characters: spreadsheets keep, drop or translate them differently, and read ``_x000D_`` as
# one. A sheet has ``\x0D`` for a carriage return and ``\x5Fx000D_`` for ``_x000D_``; ambiguous
# backslashes are doubled.

_CODE = "[01][0-9A-F]|5F"
_TO_ESCAPE = re.compile(
    rf"(\\*)([\x00-\x09\x0b-\x1f]|_(?=x[0-9A-Fa-f]{{4}}_))|(\\+)(?=x(?:{_CODE}))"
)
_ESCAPED = re.compile(rf"(\\+)x({_CODE})")


def escape_controls(text: str) -> str:
    r"""Escape control characters for a sheet.

    Examples
    --------
    >>> print(*(escape_controls(text) for text in ("a\rb", "_x000D_", "C:\\x07", "C:\\new")))
    a\x0Db \x5Fx000D_ C:\\x07 C:\new
    """
    return _TO_ESCAPE.sub(_escape_match, text)


def unescape_controls(text: str) -> str:
    r"""Reverse `escape_controls`.

    Examples
    --------
    >>> unescape_controls(r"a\x0Db"), unescape_controls(r"\x5Fx000D_")
    ('a\rb', '_x000D_')
    >>> unescape_controls(r"C:\\x07") == r"C:\x07"
    True
    """
    return _ESCAPED.sub(_unescape_match, text)


def _escape_match(match: re.Match[str]) -> str:
    before, sign, backslashes = match.groups()
    return 2 * backslashes if backslashes else rf"{2 * before}\x{ord(sign):02X}"


def _unescape_match(match: re.Match[str]) -> str:
    backslashes, code = match.groups()
    prefix = "\\" * (len(backslashes) // 2)
    return prefix + (chr(int(code, 16)) if len(backslashes) % 2 else f"x{code}")


# Cell texts, and texts that spreadsheets cannot contain

MOST_CHARACTERS = 32_767
"""Maximum length of a cell in Excel; UTF-16 units."""
MOST_ROWS = 1_048_576
"""Maximum number of rows of a worksheet, including the header."""
_NO_TEXT = re.compile("[\x00\ufffe\uffff]")
_NO_CHARACTERS = "U+0000, U+FFFE or U+FFFF, which are not text"
_TOO_LONG = f"more than {MOST_CHARACTERS:,} characters, the maximum of a cell"
_EXAMPLES = 3


def texts(rows: pl.DataFrame, layout: Layout) -> list[tuple[str, ...]]:
    """Return the cells of each row in layout order, empty for null, escaped.

    Parameters
    ----------
    rows : DataFrame
        The columns of the layout; columns to fill in may be missing. Other columns are excluded, so
        that scores and ranks cannot leak into the sheet.
    layout : Layout
        The columns.

    Raises
    ------
    ValueError
        If a read-only column is missing.
    DataError
        If there are too many rows, a text is too long, or contains U+0000, U+FFFE or U+FFFF, which
        XML does not allow.
    """
    absent = [each.name for each in layout.columns if each.name not in rows.columns]
    lost = [each.name for each in layout.columns if each.name in absent and not each.writable]
    if lost:
        raise ValueError(f"the sheet lacks the columns {', '.join(lost)}")
    _require_few_rows(rows)
    full = rows.with_columns(pl.lit(None, pl.String).alias(name) for name in absent)
    cells = full.select(pl.col(layout.names).cast(pl.String).fill_null("")).rows()
    refuse(cells, layout, _has_invalid_characters, _NO_CHARACTERS)
    cells = [tuple(map(escape_controls, row)) for row in cells]
    refuse(cells, layout, _too_long, _TOO_LONG)
    return cells


def require_cells(rows: pl.DataFrame) -> None:
    """Reject a table that does not fit in a worksheet.

    Raises
    ------
    DataError
        If there are too many rows, or texts are too long or invalid in XML, with three of them by
        row and column.
    """
    _require_few_rows(rows)
    words = rows.select(selectors.string())
    for wrong, problem in ((_has_invalid_characters, _NO_CHARACTERS), (_too_long, _TOO_LONG)):
        bad = [
            f"row {number}, column {name}: {text[:40]!r}"
            for number, row in enumerate(words.rows(), start=2)
            for name, text in zip(words.columns, row, strict=True)
            if text and wrong(text)
        ]
        _refuse(bad, problem)


def _require_few_rows(rows: pl.DataFrame) -> None:
    if rows.height >= MOST_ROWS:
        raise DataError(
            f"{rows.height:,} rows exceed the {MOST_ROWS - 1:,} of a sheet: split the table"
        )


def refuse(
    rows: Sequence[tuple[str, ...]], layout: Layout, wrong: Callable[[str], bool], problem: str
) -> None:
    """Raise an error for invalid cells.

    Raises
    ------
    DataError
        With the number of cells, and three of them by id and column.
    """
    place = layout.names.index(ID)
    bad = [
        f"id {row[place]}, column {name}: {text[:40]!r}"
        for row in rows
        for name, text in zip(layout.names, row, strict=True)
        if wrong(text)
    ]
    _refuse(bad, problem)


def _refuse(bad: Sequence[str], problem: str) -> None:
    if bad:
        examples = "".join(f"\n  {example}" for example in bad[:_EXAMPLES])
        raise DataError(
            f"{count_text(len(bad), 'cell')} with {problem}:{examples}\nCorrect these texts first."
        )


def _has_invalid_characters(text: str) -> bool:
    return _NO_TEXT.search(text) is not None


def _too_long(text: str) -> bool:
    return len(text) > MOST_CHARACTERS // 2 and len(text.encode("utf-16-le")) > 2 * MOST_CHARACTERS


# Guards: spreadsheets turn ``007`` into 7, ``1-2`` into a date, ``=SUM(A1)`` into a formula and, in
# German, ``wahr`` into a truth value. Such texts are prefixed with an apostrophe; texts that end in
# a blank get one at the end. Texts that look guarded get another one, so that `unguard` restores
# all.

MARK = "'"
_FIRST = frozenset("=+-@＝＋－＠−\ufeff\u200b")
"""Initial characters of formulas, in both widths, and characters that programs strip."""
_ERROR = re.compile(r"#(N/A|[A-Z_/0]+[!?])", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_ID = re.compile("x[0-9a-f]{16}")
"""Ids of candidates, which spreadsheets never read as numbers."""
_MOST_WORDS = 3
"""Dates and amounts have few words: ``Fri 5 Jan 2024, 10 pm``."""
_TRUTH_WORDS = """
    true false wahr falsch vrai faux verdadero falso vero verdadeiro cert fals waar onwaar sand
    falsk sann usann sant falskt tosi epätosi prawda fałsz pravda nepravda igaz hamis doğru
    yanliş yanlış adevărat истина ложь істина хибність αληθης αληθής ψευδης ψευδής resnično
    neresnično istina neistina benar salah đúng sai
"""
_TRUTH = frozenset(_TRUTH_WORDS.split())
"""Localised truth values of spreadsheets."""


def guard(text: str) -> str:
    """Return the text, guarded with an apostrophe if a spreadsheet might change it.

    Examples
    --------
    >>> [guard(text) for text in ("Frage", "007", "=SUM(A1)", "'007", "'tis", "end ")]
    ['Frage', "'007", "'=SUM(A1)", "''007", "'tis", "end '"]
    """
    before = MARK if needs_guard(text.lstrip(MARK)) else ""
    return before + text + (MARK if _ends_in_blank(text) else "")


def unguard(text: str) -> str:
    """Reverse `guard`.

    Examples
    --------
    >>> [unguard(text) for text in ("'007", "007", "''007", "'tis", "end '")]
    ['007', '007', "'007", "'tis", 'end ']
    """
    if text.endswith(MARK) and _ends_in_blank(text):
        text = text[:-1]
    return text[1:] if text.startswith(MARK) and needs_guard(text.lstrip(MARK)) else text


def escape(text: str) -> str:
    """Return a text that `unguard` restores, guarded only if necessary.

    Files that preserve text need no guard, but are read by the same `unguard`, so that people may
    convert one kind of file to the other.

    Examples
    --------
    >>> [escape(text) for text in ("007", "'007", "'tis")]
    ['007', "''007", "'tis"]
    """
    return text if unguard(text) == text else guard(text)


def needs_guard(text: str) -> bool:
    """Return true if a spreadsheet might convert this text.

    Examples
    --------
    >>> [needs_guard(text) for text in ("1e5", "5 Jan 2024", "5 of the 10 green bottles", "nan")]
    [True, True, False, False]
    """
    if not text:
        return False
    first = text[0]
    if first in _FIRST or first.isspace() or unicodedata.category(first) == "Cc":
        return True
    return _like_number(text) or text.strip().lower() in _TRUTH or bool(_ERROR.fullmatch(text))


def _like_number(text: str) -> bool:
    if not _DIGIT.search(text) or _ID.fullmatch(text):
        return False
    bare = "".join(sign for sign in text if unicodedata.category(sign)[0] != "M")
    words = itertools.islice(_LETTERS.finditer(bare), _MOST_WORDS + 1)
    return sum(1 for _ in words) <= _MOST_WORDS


def _ends_in_blank(text: str) -> bool:
    return text.rstrip(MARK)[-1:].isspace()


# Instructions: the second worksheet.

_GENERAL = """\
Fill in the white cells. The grey cells are locked to protect ids and examples; there is no \
password. To sort the rows, unprotect the sheet.
The order of rows and columns does not matter. You may add columns on the right. Do not change the \
column id."""


class InstructionLine(NamedTuple):
    """A line of the instructions, and true for a heading."""

    text: str
    heading: bool = False


def instruction_lines(
    layout: Layout, instructions: str, guidelines: Mapping[str, str]
) -> list[InstructionLine]:
    r"""Return the lines of the instructions.

    Parameters
    ----------
    layout : Layout
        The columns with their choices.
    instructions : str
        Paragraphs, one per line.
    guidelines : mapping of str to str
        Guidelines by choice, shown in the order of the choices.

    Examples
    --------
    >>> layout = Layout((Column("id", "id", writable=False, width=18),))
    >>> lines = instruction_lines(layout, "Judge.", {"SVC": "A light verb.\nAs in: take care."})
    >>> [line.text for line in lines[:5]]
    ['Judge.', '', 'Labels', 'SVC: A light verb.', 'As in: take care.']
    """
    lines = [InstructionLine(text) for text in f"{instructions}\n".split("\n")]
    if guidelines:
        lines += [
            InstructionLine("Labels", heading=True),
            *_guideline_lines(layout, guidelines),
            InstructionLine(""),
        ]
    lines += [InstructionLine(text) for text in f"{_GENERAL}\n".split("\n")]
    lines += [InstructionLine("Columns", heading=True)]
    described = [each for each in layout.columns if each.writable or each.help]
    return lines + [InstructionLine(_describe_column(each)) for each in described]


def _guideline_lines(layout: Layout, guidelines: Mapping[str, str]) -> list[InstructionLine]:
    choices = [choice for each in layout.columns for choice in each.choices]
    ordered = dict.fromkeys(each for each in [*choices, *guidelines] if each in guidelines)
    texts = (f"{label}: {guidelines[label].strip()}" for label in ordered)
    return [InstructionLine(escape_controls(line)) for text in texts for line in text.splitlines()]


def _describe_column(column: Column) -> str:
    choices = f"One of: {', '.join(column.choices)}." if column.choices else ""
    return " ".join(filter(None, (f"{column.title}:", column.help or "to fill in.", choices)))
